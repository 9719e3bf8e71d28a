//! Scans along the split dimension.

use super::super::running::carry::{accumulated, float, of_kind};
use super::carry::{handed_on, is_followed, visited};
use super::together::together;
use super::total::total;
use super::{Sharded, checks};
use crate::{ScanOp, ScanOptions, TensorScan};
use burn::tensor::kind::Basic;
use burn::tensor::{DType, Device, Tensor};

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
        let wide = match op {
            // They are elements: no dtype rounds them.
            ScanOp::Max | ScanOp::Min => dtype,
            _ => accumulated(dtype),
        };
        self.cast(wide).scanned(op, options).cast(dtype)
    }

    fn scanned(self, op: ScanOp, options: ScanOptions) -> Self {
        let Self { shards, dim } = self;
        let devices: Vec<Device> = shards.iter().map(Tensor::device).collect();
        let visited = visited(&shards, options.reverse);
        let totals = together(&shards, |shard, number| {
            is_followed(&visited, number).then(|| total(shard, dim, op, options))
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

impl<const D: usize, K: Basic> Sharded<D, K> {
    /// Shards of floats in another float dtype.
    pub(super) fn cast(mut self, dtype: DType) -> Self {
        if self.shards[0].dtype() != dtype {
            let cast = |shard| of_kind(float(shard).cast(dtype));
            self.shards = self.shards.into_iter().map(cast).collect();
        }
        self
    }
}
