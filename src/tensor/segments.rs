//! [`TensorSegments`].

use super::kind::Scannable;
use crate::{ScanOp, check};
use burn::tensor::{Int, Tensor};

/// Reductions of the segments of a tensor's first dimension, for float and int tensors of any rank.
///
/// The result keeps the dtype; f16 and bf16 are accumulated in f32. A float result has the same bits in every run on
/// one device. Nothing waits for the device. Float results are differentiable with respect to the tensor.
///
/// # Panics
///
/// In Burn's message form: no offsets, offsets on another device, [`ScanOp::LogSumExp`] of integers, a quantized
/// tensor, a dtype the device cannot compute with.
///
/// # Algorithm
///
/// On CubeCL devices this is a segmented scan (Blelloch 1990): its last result in each segment is the total. The work
/// is balanced by elements: one giant segment among a million small ones costs no more than its bytes.
pub trait TensorSegments: Sized {
    /// `[len, ..]` to `[n, ..]`: segment `j` is rows `offsets[j]..offsets[j + 1]` (CSR). An empty segment gives the
    /// identity: 0 for sums, 1 for products, the lowest value for maxima, the highest for minima, −∞ for log-sum-exp.
    /// Offsets that decrease, or leave `0..=len`, give unspecified totals; nothing out of bounds is read or written.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tokens = Tensor::<2>::from_data([[1., 2.], [3., 4.], [5., 6.]], &device);
    /// let offsets = Tensor::<1, Int>::from_data([0, 2, 2, 3], &device);
    /// let pooled = tokens.segment_reduce(offsets, ScanOp::Sum);
    /// assert_eq!(pooled.into_data().try_to_vec::<f32>().unwrap(), [4., 6., 0., 0., 5., 6.]);
    /// ```
    fn segment_reduce(self, offsets: Tensor<1, Int>, op: ScanOp) -> Self;
}

impl<const D: usize, K: Scannable> TensorSegments for Tensor<D, K> {
    fn segment_reduce(self, offsets: Tensor<1, Int>, op: ScanOp) -> Self {
        let operation = "Segment Reduce";
        check::dtype(operation, &self);
        check::operator::<K>(operation, op);
        check::offsets(operation, &offsets);
        check::same_device(operation, &self, &offsets, "offsets");
        let width: usize = self.dims()[1..].iter().product();
        let elements = (offsets.dims()[0] - 1).saturating_mul(width);
        check::fits(operation, &self.device(), elements, self.dtype());
        let (values, offsets) = (self.into_dispatch(), offsets.into_dispatch());
        Tensor::from_dispatch(K::segment_reduce(values, offsets, op))
    }
}
