//! [`RaggedIndices`].

use crate::ops::ScanOps;
use crate::{TensorScan, check};
use burn::backend::Dispatch;
use burn::tensor::{Bool, DType, Device, Int, Tensor, TensorData};

/// Ragged rows, which lie one after the other: from their lengths to their offsets, and from the offsets to the row of
/// each element. For one-dimensional int tensors.
///
/// Nothing waits for the device, and nothing has a gradient. Results keep the dtype of the lengths or offsets. Offsets
/// that decrease, or leave `0..=len`, give unspecified rows; nothing out of bounds is read or written.
///
/// # Panics
///
/// In Burn's message form: no offsets, a dtype the device cannot compute with, a result that no buffer of the device
/// holds.
///
/// # Algorithm
///
/// On CubeCL devices marks are scattered to the offsets, and a running maximum carries them to the elements that
/// follow: no search per element.
pub trait RaggedIndices: Sized {
    /// `[n]` lengths to `[n + 1]` offsets. The first is 0 and the last the total. They are also known as `cu_seqlens`
    /// or CSR row pointers.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let lengths = Tensor::<1, Int>::from_data([3, 0, 2], &burn::tensor::Device::flex());
    /// assert_eq!(lengths.lengths_to_offsets().into_data().try_to_vec::<i32>().unwrap(), [0, 3, 3, 5]);
    /// ```
    fn lengths_to_offsets(self) -> Tensor<1, Int>;

    /// `[n + 1]` offsets to the row of each of `len` elements. Empty rows are skipped; elements after the last offset
    /// get `n`.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let offsets = Tensor::<1, Int>::from_data([0, 3, 3, 5], &burn::tensor::Device::flex());
    /// let rows = offsets.offsets_to_segment_ids(6);
    /// assert_eq!(rows.into_data().try_to_vec::<i32>().unwrap(), [0, 0, 0, 2, 2, 3]);
    /// ```
    fn offsets_to_segment_ids(self, len: usize) -> Tensor<1, Int>;

    /// `[n + 1]` offsets to `[len]`: true where a row with elements starts, and at the last offset if it is below
    /// `len`. [`segmented_scan`](TensorScan::segmented_scan) takes such starts.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let offsets = Tensor::<1, Int>::from_data([0, 3, 3, 5], &burn::tensor::Device::flex());
    /// let starts = offsets.offsets_to_starts(5).int();
    /// assert_eq!(starts.into_data().try_to_vec::<i32>().unwrap(), [1, 0, 0, 1, 0]);
    /// ```
    fn offsets_to_starts(self, len: usize) -> Tensor<1, Bool>;
}

impl RaggedIndices for Tensor<1, Int> {
    fn lengths_to_offsets(self) -> Tensor<1, Int> {
        check::dtype("Lengths To Offsets", &self);
        let zero = zero(&self.device(), self.dtype());
        match self.dims() {
            [0] => zero,
            _ => Tensor::cat(vec![zero, self.inclusive_cumsum(0)], 0),
        }
    }

    fn offsets_to_segment_ids(self, len: usize) -> Tensor<1, Int> {
        let operation = "Offsets To Segment Ids";
        check::offsets(operation, &self);
        check::fits(operation, &self.device(), len, self.dtype());
        check::countable(operation, &self.device(), len);
        let segments = self.dims()[0] - 1;
        check::holds(operation, self.dtype(), segments);
        Tensor::from_dispatch(<Dispatch as ScanOps>::segment_ids(
            self.into_dispatch(),
            len,
        ))
    }

    fn offsets_to_starts(self, len: usize) -> Tensor<1, Bool> {
        let operation = "Offsets To Starts";
        check::offsets(operation, &self);
        let device: Device = self.device();
        let bool_dtype = device.settings().bool_dtype;
        check::fits(operation, &device, len, DType::from(bool_dtype));
        check::countable(operation, &device, len);
        Tensor::from_dispatch(<Dispatch as ScanOps>::segment_starts(
            self.into_dispatch(),
            len,
            bool_dtype,
        ))
    }
}

/// A zero from the host. Burn would fuse a fill of one element with pending operations on empty lengths, and then fill
/// nothing.
pub(super) fn zero(device: &Device, dtype: DType) -> Tensor<1, Int> {
    let zero = TensorData::zeros::<i32, _>([1]).convert_dtype(dtype);
    Tensor::from_data(zero, (device, dtype))
}
