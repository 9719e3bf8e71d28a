//! Compaction along the split dimension.

use super::super::kind::Selectable;
use super::super::runs::read_async;
use super::together::together;
use super::{Sharded, checks};
use crate::TensorCompact;
use crate::check::is_cpu;
use burn::tensor::kind::{Basic, Kind};
use burn::tensor::{Bool, Float, Int, Tensor, read_sync};
use core::future::poll_fn;
use core::pin::Pin;
use core::task::Poll;

impl<const D: usize, K: Basic> Sharded<D, K>
where
    Tensor<D, K>: TensorCompact<D, K>,
{
    /// Keeps the slices along the split dimension whose entry in `mask` is true, as
    /// [`TensorCompact::compact_dim_by_mask`]. Survivors stay on the device of their shard. A shard may be left without
    /// any.
    ///
    /// Each shard of the mask has one entry for each slice of its shard of values, and lies on the same device. Reads
    /// back one number for each shard; all reads start before the first is waited for.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let devices = vec![device.clone(); 2];
    /// let tensor = Tensor::<1, Int>::from_data([3, 1, 4, 1, 5], &device);
    /// let large = Sharded::split(tensor.clone().greater_elem(2), 0, &devices);
    /// let kept = Sharded::split(tensor, 0, &devices).compact_dim_by_mask(large);
    /// assert_eq!(kept.shards()[0].clone().into_data().try_to_vec::<i32>().unwrap(), [3, 4]);
    /// assert_eq!(kept.shards()[1].clone().into_data().try_to_vec::<i32>().unwrap(), [5]);
    /// ```
    pub fn compact_dim_by_mask(self, mask: Sharded<1, Bool>) -> Self {
        checks::masks(&self, &mask);
        let Self { shards, dim } = self;
        let masks = mask.shards;
        let kept = together(&shards, |shard, number| {
            let (shard, mask) = (shard.clone(), masks[number].clone());
            let eager = is_cpu(shard.device().as_dispatch());
            Some(if eager || shard.dims()[dim] == 0 {
                (shard.compact_dim_by_mask(mask, dim), None)
            } else {
                let (values, count) = shard.compact_dim_by_mask_padded(mask, dim);
                (values, Some(count))
            })
        });
        // A shard with a count is padded.
        let (kept, counts): (Vec<Tensor<D, K>>, Vec<Option<Tensor<1, Int>>>) =
            kept.into_iter().flatten().unzip();
        let is_padded: Vec<bool> = counts.iter().map(Option::is_some).collect();
        let mut counts = read_all(counts.into_iter().flatten().collect()).into_iter();
        let exact = |(values, is_padded): (Tensor<D, K>, bool)| {
            let count = is_padded.then(|| counts.next().expect("one for each"));
            match count {
                Some(count) if count < values.dims()[dim] => first_slices(values, dim, count),
                _ => values,
            }
        };
        Self {
            shards: kept.into_iter().zip(is_padded).map(exact).collect(),
            dim,
        }
    }
}

/// The first `count` slices, which do not keep many others.
fn first_slices<const D: usize, K: Basic>(
    values: Tensor<D, K>,
    dim: usize,
    count: usize,
) -> Tensor<D, K> {
    let of_kind = match K::KIND {
        Kind::Float => <Float as Selectable>::first_slices,
        Kind::Int => <Int as Selectable>::first_slices,
        Kind::Bool => <Bool as Selectable>::first_slices,
    };
    Tensor::from_dispatch(of_kind(values.into_dispatch(), dim, count))
}

/// Reads numbers from any devices. All reads start before the first is waited for.
fn read_all(numbers: Vec<Tensor<1, Int>>) -> Vec<usize> {
    type Read = Pin<Box<dyn Future<Output = usize>>>;
    let mut found = vec![None; numbers.len()];
    let read = |number| Box::pin(read_async(number)) as Read;
    let mut reads: Vec<Read> = numbers.into_iter().map(read).collect();
    read_sync(poll_fn(|context| {
        for (read, found) in reads.iter_mut().zip(&mut found) {
            if found.is_none()
                && let Poll::Ready(number) = read.as_mut().poll(context)
            {
                *found = Some(number);
            }
        }
        if found.iter().all(Option::is_some) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }));
    found.into_iter().flatten().collect()
}
