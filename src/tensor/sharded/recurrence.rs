//! Recurrences along the split dimension.

use super::super::running::carry::accumulated;
use super::carry::{handed_on, is_followed, visited};
use super::together::together;
use super::total::total;
use super::{Sharded, checks};
use crate::ops::ScanOps;
use crate::{RecurrenceOptions, ScanOp, ScanOptions, TensorRecurrence};
use burn::backend::Dispatch;
use burn::tensor::{Device, Float, Tensor};

impl<const D: usize> Sharded<D, Float> {
    /// `h[t] = decay[t]·h[t−1] + x[t]` along the split dimension, from 0, as [`TensorRecurrence::linear_recurrence`].
    /// The results stay on the devices of the shards.
    ///
    /// The decay is split as the values are, or broadcast: each of its shards lies on the device of its shard of values
    /// and broadcasts to it.
    ///
    /// The total of a shard is a map `h ↦ a·h + x`. It takes two numbers for each line: the product of the decays, and
    /// the last state from 0. One number for each line moves on: the state. If a product of decays leaves the range of
    /// the dtype, `0·∞` shows as NaN.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let devices = vec![device.clone(); 2];
    /// let x = Sharded::split(Tensor::<1>::from_data([4., 2., 1.], &device), 0, &devices);
    /// let half = vec![Tensor::<1>::from_data([0.5], &device); 2];
    /// let h = x.linear_recurrence(Sharded::new(half, 0)).gather(&device);
    /// assert_eq!(h.into_data().try_to_vec::<f32>().unwrap(), [4., 4., 3.]);
    /// ```
    pub fn linear_recurrence(self, decay: Sharded<D, Float>) -> Self {
        checks::recurrence(&self, &decay);
        let dtype = self.shards[0].dtype();
        let wide = accumulated(dtype);
        recurrence(self.cast(wide), decay.cast(wide)).cast(dtype)
    }
}

fn recurrence<const D: usize>(
    values: Sharded<D, Float>,
    decay: Sharded<D, Float>,
) -> Sharded<D, Float> {
    let Sharded { shards, dim } = values;
    let decays = decay.shards;
    let devices: Vec<Device> = shards.iter().map(Tensor::device).collect();
    let visited = visited(&shards, false);
    let totals = together(&shards, |shard, number| {
        is_followed(&visited, number).then(|| {
            let decay = decays[number].clone();
            let len = shard.dims()[dim];
            let states = shard.clone().linear_recurrence(decay.clone(), dim);
            let state = states.narrow(dim, len - 1, 1);
            // Nothing multiplies the first state.
            let product = (visited[0] != number).then(|| product(decay, dim, len));
            (product, state)
        })
    });
    let initials = handed_on(&devices, &visited, |number, initial| {
        let (product, state) = totals[number].clone().expect("a later shard waits for it");
        match (initial, product) {
            (Some(initial), Some(product)) => {
                let options = RecurrenceOptions::default().initial(initial);
                state.linear_recurrence_with(product, dim, options)
            }
            _ => state,
        }
    });
    let results = together(&shards, |shard, number| {
        let options = RecurrenceOptions {
            initial: initials[number].clone(),
            ..Default::default()
        };
        let decay = decays[number].clone();
        Some(shard.clone().linear_recurrence_with(decay, dim, options))
    });
    Sharded {
        shards: results.into_iter().flatten().collect(),
        dim,
    }
}

/// The product of `len` decays along `dim`, for each line of the decay. A decay of size 1 along `dim` counts `len`
/// times.
fn product<const D: usize>(decay: Tensor<D>, dim: usize, len: usize) -> Tensor<D> {
    let mut shape = decay.dims();
    let decay = if shape[dim] == len {
        decay
    } else {
        shape[dim] = len;
        let decay = <Dispatch as ScanOps>::float_broadcast(decay.into_dispatch(), shape.into());
        Tensor::from_dispatch(decay)
    };
    total(&decay, dim, ScanOp::Prod, ScanOptions::default())
}
