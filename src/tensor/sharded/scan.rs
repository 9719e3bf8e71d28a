//! Scans along the split dimension.

use super::carry::{handed_on, visited};
use super::together::together;
use super::total::total;
use super::{Sharded, checks};
use crate::{ScanOp, ScanOptions, TensorScan};
use burn::tensor::kind::Basic;
use burn::tensor::{DType, Device, Float, Tensor};

impl<const D: usize, K: Basic> Sharded<D, K>
where
    Tensor<D, K>: TensorScan,
{
    /// Scans along the split dimension, as [`TensorScan::scan`] scans the whole tensor. The results stay on the devices
    /// of the shards.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<1, Int>::from_data([3, 1, 4, 1, 5], &device);
    /// let shards = Sharded::split(tensor, 0, &[device.clone(), device.clone()]);
    /// let before = shards.scan(ScanOp::Max, ScanOptions::default().exclusive().reverse());
    /// assert_eq!(before.gather(&device).into_data().try_to_vec::<i32>().unwrap(), [5, 5, 5, 5, i32::MIN]);
    /// ```
    pub fn scan(self, op: ScanOp, options: ScanOptions) -> Self {
        checks::scanned(&self.shards, op);
        let dtype = self.shards[0].dtype();
        // Maxima and minima are elements: no dtype rounds them.
        if !matches!(op, ScanOp::Max | ScanOp::Min) && is_half(dtype) {
            self.cast(DType::F32).scanned(op, options).cast(dtype)
        } else {
            self.scanned(op, options)
        }
    }

    fn scanned(self, op: ScanOp, options: ScanOptions) -> Self {
        let Self { shards, dim } = self;
        let devices: Vec<Device> = shards.iter().map(Tensor::device).collect();
        let visited = visited(&shards, options.reverse);
        let is_followed = |number| {
            visited
                .split_last()
                .is_some_and(|(_, visited)| visited.contains(&number))
        };
        let totals = together(&shards, |shard, number| {
            is_followed(number).then(|| total(shard, dim, op, options))
        });
        let initials = handed_on(&devices, &visited, |number, initial| {
            let total = totals[number].clone().expect("a later shard waits for it");
            match initial {
                None => total,
                Some(initial) => total.scan_from(initial, dim, op, options.inclusive()),
            }
        });
        let scans = together(&shards, |shard, number| {
            let shard = shard.clone();
            Some(match initials[number].clone() {
                None => shard.scan(dim, op, options),
                Some(initial) => shard.scan_from(initial, dim, op, options),
            })
        });
        Self {
            shards: scans.into_iter().flatten().collect(),
            dim,
        }
    }

    /// The sum up to and including each element, as [`TensorScan::inclusive_cumsum`].
    pub fn inclusive_cumsum(self) -> Self {
        self.scan(ScanOp::Sum, ScanOptions::default())
    }

    /// The sum of all elements before each one, as [`TensorScan::exclusive_cumsum`].
    pub fn exclusive_cumsum(self) -> Self {
        self.scan(ScanOp::Sum, ScanOptions::default().exclusive())
    }

    /// The sum from each element to the last, as [`TensorScan::reverse_cumsum`].
    pub fn reverse_cumsum(self) -> Self {
        self.scan(ScanOp::Sum, ScanOptions::default().reverse())
    }
}

/// A float of 16 bits. Its carries would be rounded to 8 or 11 bits between shards.
pub(super) fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

impl<const D: usize, K: Basic> Sharded<D, K> {
    /// Shards of floats in another float dtype.
    pub(super) fn cast(self, dtype: DType) -> Self {
        let cast = |shard: Tensor<D, K>| {
            let floats = Tensor::<D, Float>::from_dispatch(shard.into_dispatch());
            Tensor::from_dispatch(floats.cast(dtype).into_dispatch())
        };
        Self {
            shards: self.shards.into_iter().map(cast).collect(),
            dim: self.dim,
        }
    }
}
