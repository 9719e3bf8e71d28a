//! Segments: their totals, sums at their heads, and what offsets say about each element.

use super::dtypes::{by_float, by_int, by_number, by_size};
use super::layouts::contiguous;
use super::masks::byte_mask;
use super::slices::{around, elements, mask_tensor, tensor};
use crate::ScanOp;
use crate::cpu;
use crate::ops::with_dim;
use burn::backend::TensorMetadata;
use burn::tensor::BoolDType;
use burn_flex::FlexTensor;

pub(super) fn segment_ids(offsets: FlexTensor, len: usize) -> FlexTensor {
    let offsets = contiguous(offsets);
    let bounds = bounds(&offsets, len);
    by_size!(offsets.dtype(), I => {
        tensor(cpu::segment_ids::<I>(&bounds), [len].into(), offsets.dtype())
    })
}

pub(super) fn segment_starts(offsets: FlexTensor, len: usize, bool_dtype: BoolDType) -> FlexTensor {
    let offsets = contiguous(offsets);
    let starts = by_int!(offsets.dtype(), I => {
        cpu::segment_starts::<I>(elements(&offsets), len)
    });
    mask_tensor(starts, bool_dtype)
}

pub(super) fn segment_reduce(values: FlexTensor, offsets: FlexTensor, op: ScanOp) -> FlexTensor {
    let (values, offsets) = (contiguous(values), contiguous(offsets));
    let shape = values.shape();
    let (bounds, width) = (bounds(&offsets, shape[0]), shape[1..].iter().product());
    let reduced = with_dim(&shape, 0, offsets.shape()[0] - 1);
    match op {
        ScanOp::LogSumExp => by_float!(values.dtype(), T => {
            let totals = cpu::segment_fold::<T, cpu::LogSumExpFold>(elements(&values), &bounds, width);
            tensor(totals, reduced, values.dtype())
        }),
        op => by_number!(values.dtype(), T => {
            let totals = cpu::segment_reduce::<T>(elements(&values), &bounds, width, op);
            tensor(totals, reduced, values.dtype())
        }),
    }
}

/// The rows of contiguous offsets, in `len` elements.
fn bounds(offsets: &FlexTensor, len: usize) -> cpu::Bounds<'_> {
    by_int!(offsets.dtype(), I => cpu::Bounds::new::<I>(elements(offsets), len))
}

pub(super) fn segment_sums(
    values: FlexTensor,
    heads: FlexTensor,
    dim: usize,
    reverse: bool,
) -> FlexTensor {
    let (values, heads) = (contiguous(values), contiguous(byte_mask(heads)));
    let shape = values.shape();
    let (outer, inner) = around(&shape, dim);
    let lines = [outer, shape[dim], inner];
    by_float!(values.dtype(), T => {
        let sums = cpu::segment_sums::<T>(elements(&values), elements(&heads), lines, reverse);
        tensor(sums, shape, values.dtype())
    })
}

pub(super) fn repeat_rows(values: FlexTensor, offsets: FlexTensor, total: usize) -> FlexTensor {
    let (values, offsets) = (contiguous(values), contiguous(offsets));
    let shape = values.shape();
    let width = shape[1..].iter().product();
    let bounds = bounds(&offsets, total);
    by_size!(values.dtype(), T => {
        let rows = cpu::repeat_rows::<T>(elements(&values), &bounds, width);
        tensor(rows, with_dim(&shape, 0, total), values.dtype())
    })
}
