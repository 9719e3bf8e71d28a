//! [`TensorCompact`].

use super::kind::{Selectable, tensors};
use super::runs::read_async;
use crate::check;
use crate::ops::{range, with_dim};
use burn::backend::Dispatch;
use burn::tensor::kind::Basic;
use burn::tensor::{AsIndex, Bool, Int, Tensor};

/// Keeps the elements that a mask marks, in order, for float, int and bool tensors.
///
/// Replaces `mask_select`, which copies the whole mask to the host on CubeCL devices. Here the mask stays on the
/// device. The exact forms read back one number, the count. The padded forms read back nothing and stay lazy under
/// fusion.
///
/// Values keep their dtype. Float results are differentiable with respect to the values. The gradient of a compaction
/// is the expansion by the same mask.
///
/// # Panics
///
/// In Burn's message form: a mask of another shape (or length) or on another device, `dim` out of range, a quantized
/// tensor, a dtype the device cannot compute with.
///
/// # Algorithm
///
/// On CubeCL devices compaction takes one pass over the mask. Each tile counts its survivors, learns the count before
/// it by the scan's decoupled lookback, and writes its survivors at once; the scan of the mask is never stored. Strided
/// tensors and masks are read in place.
pub trait TensorCompact<const D: usize, K: Basic>: Sized {
    /// The elements under `true`, flattened row-major. Waits for the device to read the count.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<2>::from_data([[1., -2.], [-3., 4.]], &device);
    /// let positive = tensor.clone().greater_elem(0.);
    /// assert_eq!(tensor.compact_by_mask(positive).into_data().try_to_vec::<f32>().unwrap(), [1., 4.]);
    /// ```
    fn compact_by_mask(self, mask: Tensor<D, Bool>) -> Tensor<1, K>;

    /// [`compact_by_mask`](Self::compact_by_mask) for hosts that must not block, such as a browser.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// async fn kept(values: Tensor<1, Int>, mask: Tensor<1, Bool>) -> Vec<i32> {
    ///     let values = values.compact_by_mask_async(mask).await;
    ///     values.into_data_async().await.unwrap().to_vec().unwrap()
    /// }
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<1, Int>::from_data([7, 0, 8], &device);
    /// let mask = tensor.clone().greater_elem(0);
    /// assert_eq!(burn::tensor::read_sync(kept(tensor, mask)), [7, 8]); // any executor will do
    /// ```
    fn compact_by_mask_async(self, mask: Tensor<D, Bool>) -> impl Future<Output = Tensor<1, K>>;

    /// The elements under `true` at the front of a tensor as long as the input, zeros (or false) after them, and their
    /// number as a `[1]` tensor of the device's int dtype. Waits for nothing.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<1, Int>::from_data([7, 0, 8, 0, 9], &device);
    /// let kept = tensor.clone().greater_elem(0);
    /// let (values, count) = tensor.compact_by_mask_padded(kept);
    /// assert_eq!(values.into_data().try_to_vec::<i32>().unwrap(), [7, 8, 9, 0, 0]);
    /// assert_eq!(count.into_scalar::<i64>(), 3);
    /// ```
    fn compact_by_mask_padded(self, mask: Tensor<D, Bool>) -> (Tensor<1, K>, Tensor<1, Int>);

    /// The first `size` of the elements under `true`, zeros (or false) after them where there are fewer, and the number
    /// of all elements under `true` as a `[1]` tensor of the device's int dtype. `size` may be 0, or exceed the number
    /// of elements. Waits for nothing.
    ///
    /// # Panics
    ///
    /// Also where no buffer of the device holds `size` elements.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<1, Int>::from_data([7, 0, 8, 0, 9], &device);
    /// let kept = tensor.clone().greater_elem(0);
    /// let (values, count) = tensor.compact_by_mask_into(kept, 2);
    /// assert_eq!(values.into_data().try_to_vec::<i32>().unwrap(), [7, 8]);
    /// assert_eq!(count.into_scalar::<i64>(), 3);
    /// ```
    fn compact_by_mask_into(
        self,
        mask: Tensor<D, Bool>,
        size: usize,
    ) -> (Tensor<1, K>, Tensor<1, Int>);

    /// The slices along `dim` whose entry in `mask` is true (ONNX `Compress` with an axis). The mask has one entry per
    /// slice. Waits for the device to read the count.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<2, Int>::from_data([[1, 2, 3], [4, 5, 6]], &device);
    /// let columns = Tensor::<1, Bool>::from_bool([true, false, true], &device);
    /// assert_eq!(tensor.compact_dim_by_mask(columns, 1).into_data().try_to_vec::<i32>().unwrap(), [1, 3, 4, 6]);
    /// ```
    fn compact_dim_by_mask<I: AsIndex>(self, mask: Tensor<1, Bool>, dim: I) -> Tensor<D, K>;

    /// [`compact_dim_by_mask`](Self::compact_dim_by_mask) for hosts that must not block, such as a browser.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<2, Int>::from_data([[1, 2, 3], [4, 5, 6]], &device);
    /// let columns = Tensor::<1, Bool>::from_bool([true, false, true], &device);
    /// let kept = burn::tensor::read_sync(tensor.compact_dim_by_mask_async(columns, 1)); // any executor will do
    /// assert_eq!(kept.into_data().try_to_vec::<i32>().unwrap(), [1, 3, 4, 6]);
    /// ```
    fn compact_dim_by_mask_async<I: AsIndex>(
        self,
        mask: Tensor<1, Bool>,
        dim: I,
    ) -> impl Future<Output = Tensor<D, K>>;

    /// Each line along `dim` on its own, by a mask of the tensor's shape: survivors first and in order, zeros (or
    /// false) after them. Also returns their number in each line, with size 1 along `dim`, in the device's int dtype.
    /// Waits for nothing.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let rows = Tensor::<2, Int>::from_data([[1, 0, 2], [0, 0, 3]], &device);
    /// let tokens = rows.clone().not_equal_elem(0);
    /// let (left, counts) = rows.compact_along_by_mask(tokens, 1);
    /// assert_eq!(left.into_data().try_to_vec::<i32>().unwrap(), [1, 2, 0, 3, 0, 0]);
    /// assert_eq!(counts.into_data().try_to_vec::<i32>().unwrap(), [2, 1]);
    /// ```
    fn compact_along_by_mask<I: AsIndex>(
        self,
        mask: Tensor<D, Bool>,
        dim: I,
    ) -> (Tensor<D, K>, Tensor<D, Int>);

    /// [`compact_dim_by_mask`](Self::compact_dim_by_mask) in the input's shape, with slices of zeros after the
    /// survivors, and the number of survivors as a `[1]` tensor of the device's int dtype. Waits for nothing.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<2, Int>::from_data([[1, 2], [3, 4], [5, 6]], &device);
    /// let rows = Tensor::<1, Bool>::from_bool([true, false, true], &device);
    /// let (kept, count) = tensor.compact_dim_by_mask_padded(rows, 0);
    /// assert_eq!(kept.into_data().try_to_vec::<i32>().unwrap(), [1, 2, 5, 6, 0, 0]);
    /// assert_eq!(count.into_scalar::<i64>(), 2);
    /// ```
    fn compact_dim_by_mask_padded<I: AsIndex>(
        self,
        mask: Tensor<1, Bool>,
        dim: I,
    ) -> (Tensor<D, K>, Tensor<1, Int>);
}

impl<const D: usize, K: Selectable> TensorCompact<D, K> for Tensor<D, K> {
    fn compact_by_mask(self, mask: Tensor<D, Bool>) -> Tensor<1, K> {
        let operation = "Compact By Mask";
        check::dtype(operation, &self);
        check::mask(operation, &self, &mask);
        let elements = self.shape().num_elements();
        let int = check::position_dtype(operation, &self.device(), elements);
        check::waits(operation, &self.device(), "`compact_by_mask_async`");
        Tensor::from_dispatch(K::compact(self.into_dispatch(), mask.into_dispatch(), int))
    }

    async fn compact_by_mask_async(self, mask: Tensor<D, Bool>) -> Tensor<1, K> {
        if check::is_cpu(self.device().as_dispatch()) {
            return self.compact_by_mask(mask);
        }
        let (values, count) = compact_padded("Compact By Mask", self, mask, false);
        let count = read_async(count).await;
        Tensor::from_dispatch(K::front(values.into_dispatch(), count))
    }

    fn compact_by_mask_padded(self, mask: Tensor<D, Bool>) -> (Tensor<1, K>, Tensor<1, Int>) {
        compact_padded("Compact By Mask Padded", self, mask, true)
    }

    fn compact_by_mask_into(
        self,
        mask: Tensor<D, Bool>,
        size: usize,
    ) -> (Tensor<1, K>, Tensor<1, Int>) {
        let operation = "Compact By Mask Into";
        let device = self.device();
        check::fits(operation, &device, size, self.dtype());
        check::countable(operation, &device, size);
        let (values, count) = compact_padded(operation, self, mask, true);
        (of_size(values, size), count)
    }

    fn compact_dim_by_mask<I: AsIndex>(self, mask: Tensor<1, Bool>, dim: I) -> Tensor<D, K> {
        let operation = "Compact Dim By Mask";
        let dim = check::dim(operation, dim, D);
        check::dtype(operation, &self);
        check::dim_mask(operation, &self, &mask, dim);
        let int = check::position_dtype(operation, &self.device(), self.dims()[dim]);
        check::waits(operation, &self.device(), "`compact_dim_by_mask_async`");
        Tensor::from_dispatch(K::compact_dim(
            self.into_dispatch(),
            mask.into_dispatch(),
            dim,
            int,
        ))
    }

    async fn compact_dim_by_mask_async<I: AsIndex>(
        self,
        mask: Tensor<1, Bool>,
        dim: I,
    ) -> Tensor<D, K> {
        if check::is_cpu(self.device().as_dispatch()) {
            return self.compact_dim_by_mask(mask, dim);
        }
        let operation = "Compact Dim By Mask";
        let axis = check::dim(operation, dim, D);
        let (values, count) = compact_dim_padded(operation, self, mask, axis);
        let count = read_async(count).await;
        Tensor::from_dispatch(K::first_slices(values.into_dispatch(), axis, count))
    }

    fn compact_along_by_mask<I: AsIndex>(
        self,
        mask: Tensor<D, Bool>,
        dim: I,
    ) -> (Tensor<D, K>, Tensor<D, Int>) {
        let operation = "Compact Along By Mask";
        let dim = check::dim(operation, dim, D);
        check::dtype(operation, &self);
        check::mask(operation, &self, &mask);
        let (device, shape) = (self.device(), self.shape());
        check::countable(operation, &device, shape.num_elements());
        let int = check::position_dtype(operation, &device, shape[dim]);
        let counts = with_dim(&shape, dim, 1).num_elements();
        check::fits(operation, &device, counts, int.into());
        let (values, mask) = (self.into_dispatch(), mask.into_dispatch());
        tensors(K::compact_along(values, mask, dim, int))
    }

    fn compact_dim_by_mask_padded<I: AsIndex>(
        self,
        mask: Tensor<1, Bool>,
        dim: I,
    ) -> (Tensor<D, K>, Tensor<1, Int>) {
        let operation = "Compact Dim By Mask Padded";
        let dim = check::dim(operation, dim, D);
        compact_dim_padded(operation, self, mask, dim)
    }
}

#[track_caller]
fn compact_dim_padded<const D: usize, K: Selectable>(
    operation: &str,
    tensor: Tensor<D, K>,
    mask: Tensor<1, Bool>,
    dim: usize,
) -> (Tensor<D, K>, Tensor<1, Int>) {
    check::dtype(operation, &tensor);
    check::dim_mask(operation, &tensor, &mask, dim);
    let int = check::position_dtype(operation, &tensor.device(), tensor.dims()[dim]);
    let (values, mask) = (tensor.into_dispatch(), mask.into_dispatch());
    tensors(K::compact_dim_padded(values, mask, dim, int))
}

#[track_caller]
fn compact_padded<const D: usize, K: Selectable>(
    operation: &str,
    tensor: Tensor<D, K>,
    mask: Tensor<D, Bool>,
    fill: bool,
) -> (Tensor<1, K>, Tensor<1, Int>) {
    check::dtype(operation, &tensor);
    check::mask(operation, &tensor, &mask);
    let elements = tensor.shape().num_elements();
    let int = check::position_dtype(operation, &tensor.device(), elements);
    let (values, mask) = (tensor.into_dispatch(), mask.into_dispatch());
    tensors(K::compact_padded(values, mask, fill, int))
}

/// The first `size` values, with zeros after them where there are fewer.
fn of_size<K: Selectable>(values: Tensor<1, K>, size: usize) -> Tensor<1, K> {
    let len = values.dims()[0];
    if size <= len {
        return Tensor::from_dispatch(K::front(values.into_dispatch(), size));
    }
    // Each value is repeated once.
    let device = values.device();
    let offsets = range::<Dispatch>(len + 1, device.as_dispatch(), device.settings().int_dtype);
    Tensor::from_dispatch(K::repeat_rows(values.into_dispatch(), offsets, size))
}
