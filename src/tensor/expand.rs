//! [`TensorExpand`].

use super::kind::{Selectable, tensors};
use crate::check;
use burn::tensor::kind::Basic;
use burn::tensor::{Bool, Int, Tensor};

/// The inverse of compaction, and grouping by key, for one-dimensional float, int and bool tensors.
///
/// Nothing waits for the device. Float results are differentiable with respect to the values.
///
/// # Panics
///
/// In Burn's message form: tensors on different devices, keys and values of different length, `num_keys` of 0 with
/// values to place, `num_keys` of 2³¹ − 1 or more, a quantized tensor, a dtype the device cannot compute with, a result
/// that no buffer of the device holds.
///
/// # Algorithm
///
/// On CubeCL devices expansion reads where compaction writes. Grouping is a stable radix sort of positions, 4 bits per
/// pass (Zagha & Blelloch 1991).
pub trait TensorExpand<K: Basic>: Sized {
    /// The inverse of [`compact_by_mask`](crate::TensorCompact::compact_by_mask): the `i`-th `true` of `mask` receives
    /// `values[i]`; `false` positions are zero (or false). Values beyond the number of trues are ignored; missing ones
    /// are zero.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let mask = Tensor::<2, Bool>::from_bool([[true, false], [true, true]], &device);
    /// let values = Tensor::<1, Int>::from_data([5, 6, 7], &device);
    /// assert_eq!(values.expand_by_mask(mask).into_data().try_to_vec::<i32>().unwrap(), [5, 0, 6, 7]);
    /// ```
    fn expand_by_mask<const D: usize>(self, mask: Tensor<D, Bool>) -> Tensor<D, K>;

    /// Groups values by a key in `0..num_keys` and keeps the order within each group. Returns the grouped values, as
    /// many as the input, and the offsets at which groups start: `num_keys + 1` entries of the device's int dtype, of
    /// which the last is the number of placed values. Elements with a key out of range are dropped: zeros follow the
    /// last group.
    ///
    /// Group sizes follow from the offsets, so this is also a histogram.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let values = Tensor::<1>::from_data([0.1, 0.9, 0.2, 0.7, 0.3], &device);
    /// let bins = Tensor::<1, Int>::from_data([0, 2, 0, 2, 1], &device);
    /// let (grouped, offsets) = values.partition_by_key(bins, 3);
    /// assert_eq!(grouped.into_data().try_to_vec::<f32>().unwrap(), [0.1, 0.2, 0.3, 0.9, 0.7]);
    ///
    /// let histogram = offsets.clone().slice(1..) - offsets.slice(..3);
    /// assert_eq!(histogram.into_data().try_to_vec::<i32>().unwrap(), [2, 1, 2]);
    /// ```
    fn partition_by_key(
        self,
        keys: Tensor<1, Int>,
        num_keys: usize,
    ) -> (Tensor<1, K>, Tensor<1, Int>);
}

impl<K: Selectable> TensorExpand<K> for Tensor<1, K> {
    fn expand_by_mask<const D: usize>(self, mask: Tensor<D, Bool>) -> Tensor<D, K> {
        let operation = "Expand By Mask";
        check::dtype(operation, &self);
        check::same_device(operation, &self, &mask, "mask");
        let elements = mask.shape().num_elements();
        check::fits(operation, &self.device(), elements, self.dtype());
        check::countable(operation, &self.device(), elements);
        Tensor::from_dispatch(K::expand_by_mask(
            self.into_dispatch(),
            mask.into_dispatch(),
        ))
    }

    fn partition_by_key(
        self,
        keys: Tensor<1, Int>,
        num_keys: usize,
    ) -> (Tensor<1, K>, Tensor<1, Int>) {
        let operation = "Partition By Key";
        check::dtype(operation, &self);
        check::dtype(operation, &keys);
        check::same_device(operation, &self, &keys, "keys");
        check::shapes(
            operation,
            "There must be one key per value.",
            &self.shape(),
            "keys",
            &keys.shape(),
        );
        check::num_keys(operation, num_keys, self.dims()[0]);
        let int = check::position_dtype(operation, &self.device(), self.dims()[0]);
        check::fits(operation, &self.device(), num_keys + 1, int.into());
        let (values, keys) = (self.into_dispatch(), keys.into_dispatch());
        tensors(K::partition(values, keys, num_keys, int))
    }
}
