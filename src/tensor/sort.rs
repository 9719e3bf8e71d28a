//! [`TensorSort`] and [`TensorSortByKey`].

use super::kind::{Selectable, Sortable, tensors};
use crate::ops::SortOps;
use crate::{SortOrder, check};
use burn::backend::Dispatch;
use burn::tensor::kind::Basic;
use burn::tensor::{AsIndex, Int, IntDType, Tensor};

/// Stable sorts along a dimension, for `Tensor<D, Float>` and `Tensor<D, Int>` of any rank and dtype.
///
/// Burn's own `sort` and `argsort` sort on the host. Here the elements stay on the device, and nothing waits
/// for it.
///
/// Equal elements keep the order of the input, in either [`SortOrder`]. NaN equal each other and are above every
/// number: last in ascending order, first in descending order. −0.0 equals 0.0. Elements keep their bits. Positions are
/// those along the dimension, in the device's int dtype.
///
/// Sorted floats are differentiable: the gradient of a result goes to where the element came from.
///
/// # Panics
///
/// In Burn's message form: `dim` out of range, `k` above the length of the dimension, a quantized tensor, a dtype the
/// device cannot compute with, positions that the device's int dtype cannot hold.
///
/// # Algorithm
///
/// This is a radix sort from the lowest digit to the highest, where each pass is a stable grouping by one digit. On
/// CubeCL devices all lines of a tensor are in each launch: lines of at most a tile are sorted in shared memory, and a
/// pass over longer ones looks back for its counts (Adinets & Merrill 2022). On the CPU long lines are first split by
/// their highest digit into buckets that fit a cache, and passes whose digit is the same in all keys are skipped.
pub trait TensorSort<const D: usize>: Sized {
    /// Each line along `dim` in order.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<2>::from_data([[3., -1., 2.], [0., 5., -5.]], &device);
    /// let rows = tensor.clone().radix_sort(1, SortOrder::Ascending);
    /// assert_eq!(rows.into_data().try_to_vec::<f32>().unwrap(), [-1., 2., 3., -5., 0., 5.]);
    /// let columns = tensor.radix_sort(0, SortOrder::Descending);
    /// assert_eq!(columns.into_data().try_to_vec::<f32>().unwrap(), [3., 5., 2., 0., -1., -5.]);
    /// ```
    fn radix_sort<I: AsIndex>(self, dim: I, order: SortOrder) -> Self;

    /// The positions of the elements of each line along `dim`, in the order of the elements.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<1, Int>::from_data([7, 2, 7, 1], &device);
    /// let positions = tensor.radix_argsort(0, SortOrder::Descending);
    /// assert_eq!(positions.into_data().try_to_vec::<i32>().unwrap(), [0, 2, 1, 3]);
    /// ```
    fn radix_argsort<I: AsIndex>(self, dim: I, order: SortOrder) -> Tensor<D, Int>;

    /// Each line along `dim` in order, and the positions of its elements.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<1>::from_data([2., f32::NAN, -1.], &device);
    /// let (sorted, positions) = tensor.radix_sort_with_indices(0, SortOrder::Ascending);
    /// assert_eq!(sorted.into_data().try_to_vec::<f32>().unwrap()[..2], [-1., 2.]);
    /// assert_eq!(positions.into_data().try_to_vec::<i32>().unwrap(), [2, 0, 1]);
    /// ```
    fn radix_sort_with_indices<I: AsIndex>(
        self,
        dim: I,
        order: SortOrder,
    ) -> (Self, Tensor<D, Int>);

    /// The `k` largest elements of each line along `dim`, largest first: the front of the descending sort. Of equal
    /// elements, those at the lowest positions count. A `k` of 0 gives an empty dimension.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<2>::from_data([[3., -1., 2.], [0., 5., -5.]], &device);
    /// let largest = tensor.radix_topk(2, -1);
    /// assert_eq!(largest.into_data().try_to_vec::<f32>().unwrap(), [3., 2., 5., 0.]);
    /// ```
    fn radix_topk<I: AsIndex>(self, k: usize, dim: I) -> Self;

    /// [`radix_topk`](Self::radix_topk), and the positions of its elements.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<1, Int>::from_data([7, 2, 7, 9], &device);
    /// let (largest, positions) = tensor.radix_topk_with_indices(2, 0);
    /// assert_eq!(largest.into_data().try_to_vec::<i32>().unwrap(), [9, 7]);
    /// assert_eq!(positions.into_data().try_to_vec::<i32>().unwrap(), [3, 0]);
    /// ```
    fn radix_topk_with_indices<I: AsIndex>(self, k: usize, dim: I) -> (Self, Tensor<D, Int>);
}

impl<const D: usize, K: Sortable> TensorSort<D> for Tensor<D, K> {
    fn radix_sort<I: AsIndex>(self, dim: I, order: SortOrder) -> Self {
        let operation = "Radix Sort";
        let dim = check::dim(operation, dim, D);
        check::dtype(operation, &self);
        check::countable(operation, &self.device(), self.shape().num_elements());
        Tensor::from_dispatch(K::sort(self.into_dispatch(), dim, order))
    }

    fn radix_argsort<I: AsIndex>(self, dim: I, order: SortOrder) -> Tensor<D, Int> {
        let operation = "Radix Argsort";
        let dim = check::dim(operation, dim, D);
        let int = position_dtype(operation, &self, dim);
        Tensor::from_dispatch(K::argsort(self.into_dispatch(), dim, order, int))
    }

    fn radix_sort_with_indices<I: AsIndex>(
        self,
        dim: I,
        order: SortOrder,
    ) -> (Self, Tensor<D, Int>) {
        sort_with_indices("Radix Sort With Indices", self, dim, order)
    }

    fn radix_topk<I: AsIndex>(self, k: usize, dim: I) -> Self {
        topk("Radix Topk", self, k, dim).0
    }

    fn radix_topk_with_indices<I: AsIndex>(self, k: usize, dim: I) -> (Self, Tensor<D, Int>) {
        topk("Radix Topk With Indices", self, k, dim)
    }
}

/// The device's int dtype, which numbers the elements of each line. The positions fit a buffer.
#[track_caller]
fn position_dtype<const D: usize, K: Basic>(
    operation: &str,
    tensor: &Tensor<D, K>,
    dim: usize,
) -> IntDType {
    check::dtype(operation, tensor);
    let (device, elements) = (tensor.device(), tensor.shape().num_elements());
    check::countable(operation, &device, elements);
    let int = check::position_dtype(operation, &device, tensor.dims()[dim]);
    check::fits(operation, &device, elements, int.into());
    int
}

#[track_caller]
fn sort_with_indices<const D: usize, K: Sortable, I: AsIndex>(
    operation: &str,
    tensor: Tensor<D, K>,
    dim: I,
    order: SortOrder,
) -> (Tensor<D, K>, Tensor<D, Int>) {
    let dim = check::dim(operation, dim, D);
    let int = position_dtype(operation, &tensor, dim);
    tensors(K::sort_with_indices(
        tensor.into_dispatch(),
        dim,
        order,
        int,
    ))
}

#[track_caller]
fn topk<const D: usize, K: Sortable, I: AsIndex>(
    operation: &str,
    tensor: Tensor<D, K>,
    k: usize,
    dim: I,
) -> (Tensor<D, K>, Tensor<D, Int>) {
    let dim = check::dim(operation, dim, D);
    check::largest(operation, &tensor, k, dim);
    let int = position_dtype(operation, &tensor, dim);
    tensors(K::topk(tensor.into_dispatch(), k, dim, int))
}

/// Values in the order of keys, for one-dimensional float, int and bool tensors.
///
/// There is one key for each value. The keys are sorted as [`TensorSort`] does, and their values follow them. Nothing
/// waits for the device. Float values and float keys are differentiable.
///
/// # Panics
///
/// In Burn's message form: values and keys of different length or on different devices, a quantized tensor, a dtype the
/// device cannot compute with, positions that the device's int dtype cannot hold.
///
/// # Algorithm
///
/// The algorithm of [`TensorSort`]. The positions of the keys are sorted with them, and the values are gathered from
/// these positions.
pub trait TensorSortByKey<K: Basic>: Sized {
    /// Values and keys, both in the order of the keys.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let splats = Tensor::<1, Int>::from_data([0, 1, 2], &device);
    /// let depths = Tensor::<1>::from_data([2.5, 0.5, 1.5], &device);
    /// let (splats, depths) = splats.radix_sort_by_key(depths, SortOrder::Ascending);
    /// assert_eq!(splats.into_data().try_to_vec::<i32>().unwrap(), [1, 2, 0]);
    /// assert_eq!(depths.into_data().try_to_vec::<f32>().unwrap(), [0.5, 1.5, 2.5]);
    /// ```
    fn radix_sort_by_key<Q: Basic>(
        self,
        keys: Tensor<1, Q>,
        order: SortOrder,
    ) -> (Self, Tensor<1, Q>)
    where
        Tensor<1, Q>: TensorSort<1>;

    /// [`radix_sort_by_key`](Self::radix_sort_by_key) where only the lowest `bits` of the keys count, as a number
    /// without a sign. Fewer bits take fewer passes. Keys that differ only in higher bits are equal, and come back as
    /// they were.
    ///
    /// # Panics
    ///
    /// Also where `bits` is above the width of the keys, or 0 with keys to sort.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let values = Tensor::<1>::from_data([0.1, 0.2, 0.3], &device);
    /// let tiles = Tensor::<1, Int>::from_data([5, 0, 3], &device); // below 8
    /// let (values, tiles) = values.radix_sort_by_key_bits(tiles, 3, SortOrder::Ascending);
    /// assert_eq!(values.into_data().try_to_vec::<f32>().unwrap(), [0.2, 0.3, 0.1]);
    /// assert_eq!(tiles.into_data().try_to_vec::<i32>().unwrap(), [0, 3, 5]);
    /// ```
    fn radix_sort_by_key_bits(
        self,
        keys: Tensor<1, Int>,
        bits: usize,
        order: SortOrder,
    ) -> (Self, Tensor<1, Int>);
}

impl<K: Selectable> TensorSortByKey<K> for Tensor<1, K> {
    fn radix_sort_by_key<Q: Basic>(
        self,
        keys: Tensor<1, Q>,
        order: SortOrder,
    ) -> (Self, Tensor<1, Q>)
    where
        Tensor<1, Q>: TensorSort<1>,
    {
        by_key("Radix Sort By Key", &self, &keys);
        let (keys, positions) = keys.radix_sort_with_indices(0, order);
        (moved(self, positions), keys)
    }

    fn radix_sort_by_key_bits(
        self,
        keys: Tensor<1, Int>,
        bits: usize,
        order: SortOrder,
    ) -> (Self, Tensor<1, Int>) {
        let operation = "Radix Sort By Key Bits";
        let int = by_key(operation, &self, &keys);
        check::key_bits(operation, keys.dtype(), keys.dims()[0], bits);
        let sorted = <Dispatch as SortOps>::radix_sort_bits(keys.into_dispatch(), bits, order, int);
        let (keys, positions) = tensors(sorted);
        (moved(self, positions), keys)
    }
}

/// The device's int dtype, which numbers the values. The keys fit them.
#[track_caller]
fn by_key<K: Basic, Q: Basic>(
    operation: &str,
    values: &Tensor<1, K>,
    keys: &Tensor<1, Q>,
) -> IntDType {
    check::dtype(operation, values);
    check::same_device(operation, values, keys, "keys");
    check::shapes(
        operation,
        "There must be one key per value.",
        &values.shape(),
        "keys",
        &keys.shape(),
    );
    position_dtype(operation, keys, 0)
}

/// The values from these positions, each of which occurs once.
fn moved<K: Selectable>(values: Tensor<1, K>, positions: Tensor<1, Int>) -> Tensor<1, K> {
    let (device, len) = (values.device(), values.dims()[0]);
    let number = Tensor::<1, Int>::full([1], len as i64, (&device, positions.dtype()));
    Tensor::from_dispatch(K::gather_from(
        values.into_dispatch(),
        positions.into_dispatch(),
        number.into_dispatch(),
    ))
}
