//! Scans, recurrences and their adjoints.

use super::cached_bytes;
use super::dtypes::{by_float, by_index, by_number};
use super::layouts::{InMemory, contiguous};
use super::masks::byte_mask;
use super::slices::{around, elements, indices, lines, tensor, view};
use crate::cpu;
use crate::ops::with_dim;
use crate::{ScanOp, ScanOptions};
use burn::backend::TensorMetadata;
use burn::backend::ops::FloatTensorOps;
use burn::tensor::{IntDType, Shape};
use burn_flex::{Flex, FlexTensor};

pub(super) fn scan(input: FlexTensor, dim: usize, op: ScanOp, options: ScanOptions) -> FlexTensor {
    if op == ScanOp::LogSumExp {
        return scan_view(input, None, None, dim, op, options);
    }
    let dtype = input.dtype();
    let (input, order) = InMemory::of(input, dim);
    let reverse = options.reverse != order.is_flipped;
    by_number!(dtype, T => {
        let scanned = cpu::scan::<T>(order.elements(&input), order.axis, order.apart, op, options.exclusive, reverse);
        FlexTensor::new(cached_bytes::bytes(scanned), order.layout, dtype)
    })
}

pub(super) fn scan_from(
    input: FlexTensor,
    initial: FlexTensor,
    dim: usize,
    op: ScanOp,
    options: ScanOptions,
) -> FlexTensor {
    let is_in_order = input.layout().is_contiguous() && op != ScanOp::LogSumExp;
    if !is_in_order {
        return scan_view(input, None, Some(initial), dim, op, options);
    }
    let (shape, dtype, initial) = (input.shape(), input.dtype(), contiguous(initial));
    let (outer, inner) = around(&shape, dim);
    by_number!(dtype, T => {
        let (values, initial) = (elements(&input), elements(&initial));
        let axis = [outer, shape[dim], inner];
        let scanned = cpu::scan_from::<T>(values, initial, axis, op, options.exclusive, options.reverse);
        tensor(scanned, shape.clone(), dtype)
    })
}

pub(super) fn segmented_scan(
    input: FlexTensor,
    starts: FlexTensor,
    dim: usize,
    op: ScanOp,
    options: ScanOptions,
) -> FlexTensor {
    scan_view(input, Some(starts), None, dim, op, options)
}

/// A scan of segments, from initial values, or by an operator whose state is more than an element.
fn scan_view(
    input: FlexTensor,
    starts: Option<FlexTensor>,
    initial: Option<FlexTensor>,
    dim: usize,
    op: ScanOp,
    options: ScanOptions,
) -> FlexTensor {
    let (shape, dtype) = (input.shape(), input.dtype());
    let (starts, initial) = (starts.map(byte_mask), initial.map(contiguous));
    let starts = starts.as_ref().map(|starts| view(starts, dim));
    let lines = lines(&shape, dim, options.reverse);
    macro_rules! scanned {
        ($scan:path, $T:ty $(, $op:expr)?) => {{
            let initial = initial.as_ref().map(elements);
            let scanned = $scan(
                &view::<$T>(&input, dim), starts.as_ref(), initial, $($op,)? options.exclusive, lines,
            );
            tensor(scanned, shape.clone(), dtype)
        }};
    }
    match op {
        ScanOp::LogSumExp => {
            by_float!(dtype, T => scanned!(cpu::fold_scan::<T, cpu::LogSumExpFold>, T))
        }
        op => by_number!(dtype, T => scanned!(cpu::scan_view, T, op)),
    }
}

pub(super) fn broadcast(tensor: FlexTensor, shape: Shape) -> FlexTensor {
    Flex::float_expand(tensor, shape)
}

pub(super) fn linear_recurrence(
    values: FlexTensor,
    decay: FlexTensor,
    dim: usize,
    options: ScanOptions,
) -> FlexTensor {
    recurrence::<false>(values, decay, None, dim, options)
}

pub(super) fn linear_recurrence_from(
    values: FlexTensor,
    decay: FlexTensor,
    initial: FlexTensor,
    dim: usize,
    options: ScanOptions,
) -> FlexTensor {
    recurrence::<false>(values, decay, Some(initial), dim, options)
}

pub(super) fn reset_recurrence(
    values: FlexTensor,
    decay: FlexTensor,
    dim: usize,
    options: ScanOptions,
) -> FlexTensor {
    recurrence::<true>(values, decay, None, dim, options)
}

/// A linear recurrence. If it `RESETS`, a decay of 0 forgets what is before it.
fn recurrence<const RESETS: bool>(
    values: FlexTensor,
    decay: FlexTensor,
    initial: Option<FlexTensor>,
    dim: usize,
    options: ScanOptions,
) -> FlexTensor {
    let shape = values.shape();
    let initial = initial.map(contiguous);
    by_float!(values.dtype(), T => {
        let walked = cpu::recurrence::<T, RESETS>(
            &view(&values, dim), &view(&decay, dim), initial.as_ref().map(elements), options.exclusive,
            lines(&shape, dim, options.reverse),
        );
        tensor(walked, shape, values.dtype())
    })
}

pub(super) fn recurrence_adjoint(
    flow: FlexTensor,
    decay: FlexTensor,
    results: FlexTensor,
    dim: usize,
    reverse: bool,
) -> (FlexTensor, FlexTensor) {
    let [of_values, of_decay, _] = adjoint(flow, decay, results, None, dim, reverse);
    (of_values, of_decay)
}

pub(super) fn recurrence_adjoint_from(
    flow: FlexTensor,
    decay: FlexTensor,
    results: FlexTensor,
    initial: FlexTensor,
    dim: usize,
    reverse: bool,
) -> (FlexTensor, FlexTensor, FlexTensor) {
    adjoint(flow, decay, results, Some(initial), dim, reverse).into()
}

/// The gradients of the values, of the decay and of the initial values.
fn adjoint(
    flow: FlexTensor,
    decay: FlexTensor,
    results: FlexTensor,
    initial: Option<FlexTensor>,
    dim: usize,
    reverse: bool,
) -> [FlexTensor; 3] {
    let shape = flow.shape();
    let (results, initial) = (contiguous(results), initial.map(contiguous));
    by_float!(flow.dtype(), T => {
        let adjoint = cpu::recurrence_adjoint::<T>(
            &view(&flow, dim), &view(&decay, dim), elements(&results), initial.as_ref().map(elements),
            lines(&shape, dim, !reverse),
        );
        let of_line = with_dim(&shape, dim, 1);
        [(adjoint.of_values, shape.clone()), (adjoint.of_decay, shape), (adjoint.of_initial, of_line)]
            .map(|(elements, shape)| tensor(elements, shape, flow.dtype()))
    })
}

pub(super) fn extremum_with_indices(
    input: FlexTensor,
    dim: usize,
    is_max: bool,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let shape = input.shape();
    let lines = lines(&shape, dim, false);
    by_number!(input.dtype(), T => by_index!(int, I => {
        let (values, positions) = cpu::extremum::<T, I>(&view(&input, dim), is_max, lines);
        (
            tensor(values, shape.clone(), input.dtype()),
            indices(positions, shape, int),
        )
    }))
}
