//! Segments: their totals, sums at their heads, and what offsets say about each element.

use super::scans::built_in;
use super::{accept, empty_like, typed};
use crate::ScanOp;
use crate::ops::with_dim;
use burn::backend::TensorMetadata;
use burn::tensor::BoolDType;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use cubecl_scan::segments;

pub(super) fn segment_ids(offsets: CubeTensor, len: usize) -> CubeTensor {
    let offsets = into_contiguous(offsets);
    let ids = empty_like(&offsets, [len].into(), offsets.dtype);
    let client = offsets.client.clone();
    let launched = segments::segment_ids(&client, typed(offsets), ids.clone().binding(), len);
    accept("Offsets To Segment Ids", launched);
    ids
}

pub(super) fn segment_starts(offsets: CubeTensor, len: usize, bool_dtype: BoolDType) -> CubeTensor {
    let offsets = into_contiguous(offsets);
    let starts = empty_like(&offsets, [len].into(), bool_dtype.into());
    let client = offsets.client.clone();
    let launched = segments::segment_starts(&client, typed(offsets), typed(starts.clone()), len);
    accept("Offsets To Starts", launched);
    starts
}

pub(super) fn segment_reduce(values: CubeTensor, offsets: CubeTensor, op: ScanOp) -> CubeTensor {
    let (values, offsets) = (into_contiguous(values), into_contiguous(offsets));
    let shape = values.shape();
    let sizes = [shape[0], shape[1..].iter().product()];
    let reduced = with_dim(&shape, 0, offsets.shape()[0] - 1);
    let output = empty_like(&values, reduced, values.dtype);
    let client = values.client.clone();
    let (values, dtype) = typed(values);
    let (offsets, totals) = (typed(offsets), output.clone().binding());
    let op = built_in(op);
    let launched =
        segments::segment_reduce_built_in(&client, values, offsets, totals, sizes, dtype, op);
    accept("Segment Reduce", launched);
    output
}

/// The sum of each segment, at its head.
pub(super) fn segment_sums(
    values: CubeTensor,
    heads: CubeTensor,
    dim: usize,
    reverse: bool,
) -> CubeTensor {
    let (values, heads) = (into_contiguous(values), into_contiguous(heads));
    let output = empty_like(&values, values.shape(), values.dtype);
    let client = values.client.clone();
    let (values, dtype) = typed(values);
    let launched = segments::segment_sums(
        &client,
        values,
        typed(heads),
        output.clone().binding(),
        dim,
        dtype,
        reverse,
    );
    accept("Scan", launched);
    output
}

pub(super) fn repeat_rows(values: CubeTensor, offsets: CubeTensor, total: usize) -> CubeTensor {
    let (values, offsets) = (into_contiguous(values), into_contiguous(offsets));
    let shape = values.shape();
    let sizes = [total, shape[1..].iter().product()];
    let output = empty_like(&values, with_dim(&shape, 0, total), values.dtype);
    let client = values.client.clone();
    let (values, dtype) = typed(values);
    let room = output.clone().binding();
    let launched = segments::repeat(&client, values, typed(offsets), room, sizes, dtype);
    accept("Repeat By Lengths", launched);
    output
}
