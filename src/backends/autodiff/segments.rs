//! The gradient of a reduction of segments. `g` is the gradient of the segment's total, at each of its elements.
//!
//! | operator | gradient of an element |
//! |---|---|
//! | sum | `g` |
//! | log-sum-exp | `g·exp(x − total)` |
//! | product | `g` times the product of the elements before it and the product of those after it, without a division |
//! | max, min | `g` at the element that set the total, the last of equal ones; 0 elsewhere |
//!
//! For f16 and bf16, log-sum-exp and products are computed in f32. Elements outside all segments have no gradient,
//! whatever they are, and a factor of zero leaves none: they are masked, because zero times NaN or infinity is NaN.

use super::log_sum_exp::{equal_to, ratio};
use super::prod::times;
use super::sources::dtype_of_positions;
use super::widened::widened;
use crate::ops::shift::zeros;
use crate::ops::{ScanBackend, with_dim};
use crate::{ScanOp, ScanOptions};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::tensor::{DType, IntDType, Shape};
use burn_backend::get_device_settings;

/// A reduction and what its gradient needs.
#[derive(Clone, Debug)]
pub(super) struct Reduction<B: ScanBackend> {
    pub(super) op: ScanOp,
    pub(super) offsets: IntTensor<B>,
    pub(super) len: usize,
    /// Input and result; sums need neither.
    pub(super) values: Option<(FloatTensor<B>, FloatTensor<B>)>,
}

impl<B: ScanBackend> Reduction<B> {
    /// The segment of each row, counted from 1; 0 before all segments, and one more than the last after them. There may be
    /// more segments than 8 or 16 bits can number: empty ones.
    fn ids(&self) -> IntTensor<B> {
        let device = self.offsets.device();
        let offsets = match self.offsets.dtype() {
            DType::I8 | DType::U8 | DType::I16 | DType::U16 => {
                B::int_cast(self.offsets.clone(), IntDType::I32)
            }
            _ => self.offsets.clone(),
        };
        let zero = B::int_zeros([1].into(), &device, offsets.dtype().into());
        B::segment_ids(B::int_cat(vec![zero, offsets], 0), self.len)
    }

    /// The value of each row's segment; 0 at rows outside all segments.
    fn at_rows(&self, of_segments: FloatTensor<B>, ids: &IntTensor<B>) -> FloatTensor<B> {
        let (shape, dtype) = (of_segments.shape(), of_segments.dtype().into());
        let device = of_segments.device();
        if shape.num_elements() == 0 {
            let shape = with_dim(&shape, 0, self.len);
            return zeros::<B>(shape, &device, of_segments.dtype());
        }
        let zeros = || B::float_zeros(with_dim(&shape, 0, 1), &device, dtype);
        let rows = B::float_cat(vec![zeros(), of_segments, zeros()], 0);
        B::float_select(rows, 0, ids.clone())
    }

    pub(super) fn adjoint(self, grad: FloatTensor<B>) -> FloatTensor<B> {
        if with_dim(&grad.shape(), 0, self.len).num_elements() == 0 {
            // On CubeCL's devices, Burn's kernels fail on tensors without elements.
            let shape = with_dim(&grad.shape(), 0, self.len);
            return B::float_zeros(shape, &grad.device(), grad.dtype().into());
        }
        let ids = self.ids();
        let g = self.at_rows(grad, &ids);
        let Some((input, total)) = self.values.clone() else {
            return g;
        };
        let shape = input.shape();
        match self.op {
            ScanOp::Sum => g,
            ScanOp::LogSumExp => widened::<B>([input, g], |[input, g]| {
                // A rounded total would not fit the elements.
                let total = if total.dtype() == input.dtype() {
                    total
                } else {
                    B::float_segment_reduce(input.clone(), self.offsets.clone(), self.op)
                };
                let total = self.at_rows(total, &ids);
                let grad = B::float_mul(g, ratio::<B>(input.clone(), total));
                let is_nothing = equal_to::<B>(input, f64::NEG_INFINITY);
                let grad = B::float_mask_fill(grad, is_nothing, 0.into());
                self.within_segments(grad, &ids)
            }),
            ScanOp::Prod => widened::<B>([input, g], |[input, g]| {
                let starts = self.starts(&input, &shape);
                let others = |options: ScanOptions| {
                    let (input, starts) = (input.clone(), starts.clone());
                    B::float_segmented_scan(input, starts, 0, ScanOp::Prod, options.exclusive())
                };
                let before = others(ScanOptions::default());
                let after = others(ScanOptions::default().reverse());
                times::<B>(g, times::<B>(before, after))
            }),
            ScanOp::Max | ScanOp::Min => {
                let settings = get_device_settings::<B>(&input.device());
                let starts = self.starts(&input, &shape);
                let total = self.at_rows(total, &ids);
                let (bools, int) = (settings.bool_dtype, dtype_of_positions(self.len));
                // NaN equals nothing: if the total is NaN, a NaN set it.
                let is_nan = B::float_is_nan(input.clone(), bools);
                let is_it = B::bool_or(B::float_equal(input, total, bools), is_nan);
                let backwards = ScanOptions::default().reverse();
                let hits = B::bool_into_int(is_it.clone(), int);
                let hits = B::int_segmented_scan(hits, starts, 0, ScanOp::Sum, backwards);
                let is_last = B::int_equal_elem(hits, 1.into(), bools);
                let is_set = B::bool_and(is_last, is_it);
                B::float_mask_fill(g, B::bool_not(is_set), 0.into())
            }
        }
    }

    /// Zero at rows outside all segments.
    fn within_segments(&self, grad: FloatTensor<B>, ids: &IntTensor<B>) -> FloatTensor<B> {
        let bools = get_device_settings::<B>(&grad.device()).bool_dtype;
        let after = self.offsets.shape()[0];
        let is_outside = |id: i64| B::int_equal_elem(ids.clone(), id.into(), bools);
        let is_outside = B::bool_or(is_outside(0), is_outside(after as i64));
        let is_outside = self.of_rows(is_outside, &grad.shape());
        B::float_mask_fill(grad, is_outside, 0.into())
    }

    /// The starts of segments, in the shape of the values.
    fn starts(&self, input: &FloatTensor<B>, shape: &Shape) -> BoolTensor<B> {
        let settings = get_device_settings::<B>(&input.device());
        let starts = B::segment_starts(self.offsets.clone(), self.len, settings.bool_dtype);
        self.of_rows(starts, shape)
    }

    /// A flag for each row, in the shape of the values.
    fn of_rows(&self, flags: BoolTensor<B>, shape: &Shape) -> BoolTensor<B> {
        let mut of_rows = vec![1; shape.num_dims()];
        of_rows[0] = self.len;
        B::bool_expand(B::bool_reshape(flags, of_rows.into()), shape.clone())
    }
}
