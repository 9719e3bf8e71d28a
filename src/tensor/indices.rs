//! [`MaskIndices`].

use super::kind::Selectable;
use super::runs::read_async;
use crate::check;
use crate::ops::{ScanOps, coordinates};
use burn::backend::{Dispatch, DispatchTensor};
use burn::tensor::{Bool, Int, IntDType, Tensor};

/// Where the trues of a mask are: device-side replacements of Burn's host-side `argwhere` and `nonzero`.
///
/// Positions and counts have the device's int dtype. Masks have any shape, empty ones too.
///
/// # Panics
///
/// In Burn's message form, if the device's int dtype cannot number all elements; and but for `count_true`, if their
/// positions would not fit a buffer of the device.
///
/// # Algorithm
///
/// On CubeCL devices the compaction of [`TensorCompact`](crate::TensorCompact), with positions as values.
pub trait MaskIndices<const D: usize>: Sized {
    /// The row-major flat positions of the trues, in order. Waits for the device to read the count.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let mask = Tensor::<2, Bool>::from_bool([[true, false], [true, true]], &device);
    /// assert_eq!(mask.compact_indices().into_data().try_to_vec::<i32>().unwrap(), [0, 2, 3]);
    /// ```
    fn compact_indices(self) -> Tensor<1, Int>;

    /// The coordinates of the trues as rows `[count, D]`, in row-major order, as Burn's `argwhere`. Waits for the
    /// device to read the count.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let mask = Tensor::<2, Bool>::from_bool([[true, false], [true, true]], &device);
    /// let rows = mask.compact_argwhere();
    /// assert_eq!(rows.into_data().try_to_vec::<i32>().unwrap(), [0, 0, 1, 0, 1, 1]);
    /// ```
    fn compact_argwhere(self) -> Tensor<2, Int>;

    /// [`compact_indices`](Self::compact_indices) for hosts that must not block, such as a browser.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let mask = Tensor::<1, Bool>::from_bool([true, false, true], &burn::tensor::Device::flex());
    /// let positions = burn::tensor::read_sync(mask.compact_indices_async()); // any executor will do
    /// assert_eq!(positions.into_data().try_to_vec::<i32>().unwrap(), [0, 2]);
    /// ```
    fn compact_indices_async(self) -> impl Future<Output = Tensor<1, Int>>;

    /// [`compact_argwhere`](Self::compact_argwhere) for hosts that must not block, such as a browser.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let mask = Tensor::<2, Bool>::from_bool([[true, false], [true, true]], &burn::tensor::Device::flex());
    /// let rows = burn::tensor::read_sync(mask.compact_argwhere_async()); // any executor will do
    /// assert_eq!(rows.into_data().try_to_vec::<i32>().unwrap(), [0, 0, 1, 0, 1, 1]);
    /// ```
    fn compact_argwhere_async(self) -> impl Future<Output = Tensor<2, Int>>;

    /// The number of trues as a `[1]` tensor. Waits for nothing.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let mask = Tensor::<1, Bool>::from_bool([true, false, true], &device);
    /// assert_eq!(mask.count_true().into_scalar::<i64>(), 2);
    /// ```
    fn count_true(self) -> Tensor<1, Int>;
}

impl<const D: usize> MaskIndices<D> for Tensor<D, Bool> {
    fn compact_indices(self) -> Tensor<1, Int> {
        let int = index_dtype("Compact Indices", &self);
        Tensor::from_dispatch(<Dispatch as ScanOps>::mask_indices(
            self.into_dispatch(),
            int,
        ))
    }

    fn compact_argwhere(self) -> Tensor<2, Int> {
        let int = index_dtype("Compact Argwhere", &self);
        Tensor::from_dispatch(<Dispatch as ScanOps>::mask_argwhere(
            self.into_dispatch(),
            int,
        ))
    }

    async fn compact_indices_async(self) -> Tensor<1, Int> {
        if check::is_cpu(self.device().as_dispatch()) {
            return self.compact_indices();
        }
        let int = index_dtype("Compact Indices", &self);
        let indices = indices_front(self.into_dispatch(), int).await;
        Tensor::from_dispatch(indices)
    }

    async fn compact_argwhere_async(self) -> Tensor<2, Int> {
        if check::is_cpu(self.device().as_dispatch()) {
            return self.compact_argwhere();
        }
        let int = index_dtype("Compact Argwhere", &self);
        let shape = self.shape();
        let indices = indices_front(self.into_dispatch(), int).await;
        Tensor::from_dispatch(coordinates::<Dispatch>(indices, &shape, int))
    }

    fn count_true(self) -> Tensor<1, Int> {
        let elements = self.shape().num_elements();
        let int = check::position_dtype("Count True", &self.device(), elements);
        Tensor::from_dispatch(<Dispatch as ScanOps>::mask_count(self.into_dispatch(), int))
    }
}

/// The positions of the trues, as many as there are.
async fn indices_front(mask: DispatchTensor, int: IntDType) -> DispatchTensor {
    let (indices, count) = <Dispatch as ScanOps>::mask_indices_unpadded(mask, int);
    let count = read_async(Tensor::from_dispatch(count)).await;
    <Int as Selectable>::front(indices, count)
}

/// The device's int dtype, in which the positions of all elements of the mask fit a buffer.
#[track_caller]
fn index_dtype<const D: usize>(operation: &str, mask: &Tensor<D, Bool>) -> IntDType {
    let device = mask.device();
    let elements = mask.shape().num_elements();
    let int = check::position_dtype(operation, &device, elements);
    check::fits(operation, &device, elements, int.into());
    int
}
