//! The adjoint of each selection, by the key of its row in [`ops::selections`](crate::ops::selections). Compaction and
//! expansion are each other's adjoint, and so are scatter and gather.
//!
//! A function takes the shape of the values and the other arguments of its selection.

use crate::ops::shift::zeros;
use crate::ops::{ScanBackend, first_slices, with_dim};
use crate::{ScanOp, ScanOptions};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::tensor::{IntDType, Shape};
use burn_backend::get_device_settings;
use core::fmt;
use std::sync::Arc;

/// From the gradient of a result to that of the values.
#[derive(Clone)]
pub(super) struct SelectionAdjoint<B: ScanBackend>(Arc<AdjointFn<B>>);

type AdjointFn<B> = dyn Fn(FloatTensor<B>) -> FloatTensor<B> + Send + Sync;

impl<B: ScanBackend> SelectionAdjoint<B> {
    fn new(adjoint: impl Fn(FloatTensor<B>) -> FloatTensor<B> + Send + Sync + 'static) -> Self {
        Self(Arc::new(adjoint))
    }

    pub(super) fn of(&self, grad: FloatTensor<B>) -> FloatTensor<B> {
        (self.0)(grad)
    }
}

impl<B: ScanBackend> fmt::Debug for SelectionAdjoint<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SelectionAdjoint")
    }
}

pub(super) fn compact<B: ScanBackend>(
    values: &Shape,
    mask: &BoolTensor<B>,
    _int: &IntDType,
) -> SelectionAdjoint<B> {
    let (mask, shape) = (mask.clone(), values.clone());
    SelectionAdjoint::<B>::new(move |grad| {
        let values = B::float_expand_by_mask(grad, mask.clone());
        B::float_reshape(values, shape.clone())
    })
}

pub(super) fn compact_padded<B: ScanBackend>(
    values: &Shape,
    mask: &BoolTensor<B>,
    _fill: &bool,
    int: &IntDType,
) -> SelectionAdjoint<B> {
    compact(values, mask, int)
}

/// What is not in front has no gradient.
pub(super) fn front<B: ScanBackend>(values: &Shape, _count: &usize) -> SelectionAdjoint<B> {
    let shape = values.clone();
    SelectionAdjoint::<B>::new(move |grad| match grad.shape()[0] {
        0 => zeros::<B>(shape.clone(), &grad.device(), grad.dtype()),
        _ => fit::<B>(grad, 0, shape[0]),
    })
}

pub(super) fn expand_by_mask<B: ScanBackend>(
    values: &Shape,
    mask: &BoolTensor<B>,
) -> SelectionAdjoint<B> {
    let (mask, len) = (mask.clone(), values[0]);
    SelectionAdjoint::<B>::new(move |grad| {
        let (survivors, _) = B::float_compact_padded(grad, mask.clone(), true, IntDType::I32);
        fit::<B>(survivors, 0, len)
    })
}

pub(super) fn compact_dim<B: ScanBackend>(
    _values: &Shape,
    mask: &BoolTensor<B>,
    dim: &usize,
    _int: &IntDType,
) -> SelectionAdjoint<B> {
    let (mask, dim) = (mask.clone(), *dim);
    SelectionAdjoint::<B>::new(move |grad| B::float_expand_dim(grad, mask.clone(), dim))
}

pub(super) fn compact_dim_padded<B: ScanBackend>(
    values: &Shape,
    mask: &BoolTensor<B>,
    dim: &usize,
    int: &IntDType,
) -> SelectionAdjoint<B> {
    compact_dim(values, mask, dim, int)
}

pub(super) fn expand_dim<B: ScanBackend>(
    values: &Shape,
    mask: &BoolTensor<B>,
    dim: &usize,
) -> SelectionAdjoint<B> {
    let (mask, dim, slices) = (mask.clone(), *dim, values[*dim]);
    SelectionAdjoint::<B>::new(move |grad| {
        let mask = mask.clone();
        let (survivors, _) = B::float_compact_dim_padded(grad, mask, dim, IntDType::I32);
        fit::<B>(survivors, dim, slices)
    })
}

pub(super) fn scatter_to<B: ScanBackend>(
    _values: &Shape,
    destinations: &IntTensor<B>,
    offsets: &IntTensor<B>,
) -> SelectionAdjoint<B> {
    moved(B::float_gather_from, destinations, offsets)
}

pub(super) fn gather_from<B: ScanBackend>(
    _values: &Shape,
    destinations: &IntTensor<B>,
    offsets: &IntTensor<B>,
) -> SelectionAdjoint<B> {
    moved(B::float_scatter_to, destinations, offsets)
}

/// A gradient that goes to the same destinations, or comes from them.
fn moved<B: ScanBackend>(
    selection: fn(FloatTensor<B>, IntTensor<B>, IntTensor<B>) -> FloatTensor<B>,
    destinations: &IntTensor<B>,
    offsets: &IntTensor<B>,
) -> SelectionAdjoint<B> {
    let (destinations, offsets) = (destinations.clone(), offsets.clone());
    SelectionAdjoint::<B>::new(move |grad| selection(grad, destinations.clone(), offsets.clone()))
}

/// Each line's survivors back at their places, zero elsewhere.
pub(super) fn compact_along<B: ScanBackend>(
    _values: &Shape,
    mask: &BoolTensor<B>,
    dim: &usize,
    int: &IntDType,
) -> SelectionAdjoint<B> {
    let (mask, dim, int) = (mask.clone(), *dim, *int);
    SelectionAdjoint::<B>::new(move |grad| {
        if grad.shape().num_elements() == 0 {
            return grad;
        }
        let options = ScanOptions::default().exclusive();
        let trues = B::bool_into_int(mask.clone(), int);
        let ranks = B::int_scan(trues, dim, ScanOp::Sum, options);
        let values = B::float_gather(dim, grad, ranks);
        B::float_mask_fill(values, B::bool_not(mask.clone()), 0.into())
    })
}

pub(super) fn repeat_rows<B: ScanBackend>(
    _values: &Shape,
    offsets: &IntTensor<B>,
    _total: &usize,
) -> SelectionAdjoint<B> {
    let offsets = offsets.clone();
    SelectionAdjoint::<B>::new(move |grad| {
        B::float_segment_reduce(grad, offsets.clone(), ScanOp::Sum)
    })
}

/// The gradient of a run belongs to its first element. After the `lengths` of the runs there are zeros, or nothing.
pub(super) fn run_lengths<B: ScanBackend>(
    values: &Shape,
    lengths: &IntTensor<B>,
) -> SelectionAdjoint<B> {
    let (lengths, elements) = (lengths.clone(), values.num_elements());
    let bool_dtype = get_device_settings::<B>(&lengths.device()).bool_dtype;
    SelectionAdjoint::<B>::new(move |grad| {
        if elements == 0 {
            return grad;
        }
        let options = ScanOptions::default().exclusive();
        let starts = B::int_scan(lengths.clone(), 0, ScanOp::Sum, options);
        let heads = B::segment_starts(starts, elements, bool_dtype);
        B::float_expand_by_mask(grad, heads)
    })
}

/// Shortens or zero-pads `tensor` to `size` slices along `dim`: values beyond the trues have no effect and no gradient.
fn fit<B: ScanBackend>(tensor: FloatTensor<B>, dim: usize, size: usize) -> FloatTensor<B> {
    let shape = tensor.shape();
    if shape[dim] < size {
        let rest = with_dim(&shape, dim, size - shape[dim]);
        let zeros = B::float_zeros(rest, &tensor.device(), tensor.dtype().into());
        return B::float_cat(vec![tensor, zeros], dim);
    }
    let (front, slice, reshape) = (B::float_front, B::float_slice, B::float_reshape);
    first_slices(tensor, dim, size, front, slice, reshape)
}
