//! [`MaskIndices`].

use crate::check;
use crate::ops::ScanOps;
use burn::backend::Dispatch;
use burn::tensor::{Bool, Int, IntDType, Tensor};

/// Where the trues of a mask are: device-side replacements of Burn's host-side `argwhere` and `nonzero`.
///
/// Positions and counts have the device's int dtype. Masks have any shape, empty ones too.
///
/// # Panics
///
/// In Burn's message form, where the positions of all elements would not fit a buffer of the device; `count_true` does not.
///
/// # Algorithm
///
/// On CubeCL devices the compaction of [`TensorCompact`](crate::TensorCompact) with positions for values.
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

    /// The coordinates of the trues as rows `[count, D]`, in row-major order, as Burn's `argwhere`. Waits for the device to read the
    /// count.
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

    fn count_true(self) -> Tensor<1, Int> {
        self.int().sum()
    }
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
