//! From the kind of a tensor to the backend operations of that kind.

use crate::ops::{BoolSelectionOps, FloatSelectionOps, IntSelectionOps, ScanOps, first_slices};
use crate::{ScanOp, ScanOptions};
use burn::backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn::backend::{Dispatch, DispatchTensor};
use burn::tensor::kind::Basic;
use burn::tensor::{Bool, Float, Int, IntDType};

type Padded = (DispatchTensor, DispatchTensor);
type Runs = (DispatchTensor, DispatchTensor, DispatchTensor);

/// A kind whose values can be moved: all of them.
pub trait Selectable: Basic {
    fn compact_padded(
        values: DispatchTensor,
        mask: DispatchTensor,
        fill: bool,
        int: IntDType,
    ) -> Padded;
    fn compact(values: DispatchTensor, mask: DispatchTensor, int: IntDType) -> DispatchTensor;
    fn compact_dim_padded(
        values: DispatchTensor,
        mask: DispatchTensor,
        dim: usize,
        int: IntDType,
    ) -> Padded;
    fn compact_dim(
        values: DispatchTensor,
        mask: DispatchTensor,
        dim: usize,
        int: IntDType,
    ) -> DispatchTensor;
    fn expand(values: DispatchTensor, mask: DispatchTensor) -> DispatchTensor;
    fn scatter(
        values: DispatchTensor,
        destinations: DispatchTensor,
        offsets: DispatchTensor,
    ) -> DispatchTensor;
    fn compact_along(
        values: DispatchTensor,
        mask: DispatchTensor,
        dim: usize,
        int: IntDType,
    ) -> Padded;
    fn repeat_rows(values: DispatchTensor, offsets: DispatchTensor, total: usize)
    -> DispatchTensor;
    fn run_lengths_padded(values: DispatchTensor, int: IntDType) -> Runs;
    fn run_lengths(values: DispatchTensor, int: IntDType) -> Padded;
    /// The first `count` values. Unlike `Tensor::slice`, which leaves the graph where nothing is left, it is always a step of it.
    fn front(values: DispatchTensor, count: usize) -> DispatchTensor;
    /// The first `count` slices along `dim`; always a step of the graph, too.
    fn first_slices(values: DispatchTensor, dim: usize, count: usize) -> DispatchTensor;
}

/// A kind that can be scanned: numbers.
pub trait Scannable: Basic {
    fn scan(tensor: DispatchTensor, dim: usize, op: ScanOp, options: ScanOptions)
    -> DispatchTensor;
    fn scan_from(
        tensor: DispatchTensor,
        initial: DispatchTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> DispatchTensor;
    fn segmented_scan(
        tensor: DispatchTensor,
        starts: DispatchTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> DispatchTensor;
    fn extremum_with_indices(
        tensor: DispatchTensor,
        dim: usize,
        is_max: bool,
        int: IntDType,
    ) -> Padded;
    fn segment_reduce(
        values: DispatchTensor,
        offsets: DispatchTensor,
        op: ScanOp,
    ) -> DispatchTensor;
    /// Whether the operator is one for numbers of this kind.
    fn has(op: ScanOp) -> bool;
}

macro_rules! selectable {
    (
        $Kind:ty, $Ops:ident, $compact_padded:ident, $compact:ident, $compact_dim_padded:ident, $compact_dim:ident,
        $expand:ident, $scatter:ident, $front:ident, $compact_along:ident, $repeat_rows:ident,
        $run_lengths_padded:ident, $run_lengths:ident, $slice:ident, $reshape:ident
    ) => {
        impl Selectable for $Kind {
            fn compact_padded(
                values: DispatchTensor,
                mask: DispatchTensor,
                fill: bool,
                int: IntDType,
            ) -> Padded {
                <Dispatch as $Ops>::$compact_padded(values, mask, fill, int)
            }
            fn compact(
                values: DispatchTensor,
                mask: DispatchTensor,
                int: IntDType,
            ) -> DispatchTensor {
                <Dispatch as $Ops>::$compact(values, mask, int)
            }
            fn compact_dim_padded(
                values: DispatchTensor,
                mask: DispatchTensor,
                dim: usize,
                int: IntDType,
            ) -> Padded {
                <Dispatch as $Ops>::$compact_dim_padded(values, mask, dim, int)
            }
            fn compact_dim(
                values: DispatchTensor,
                mask: DispatchTensor,
                dim: usize,
                int: IntDType,
            ) -> DispatchTensor {
                <Dispatch as $Ops>::$compact_dim(values, mask, dim, int)
            }
            fn expand(values: DispatchTensor, mask: DispatchTensor) -> DispatchTensor {
                <Dispatch as $Ops>::$expand(values, mask)
            }
            fn scatter(
                values: DispatchTensor,
                destinations: DispatchTensor,
                offsets: DispatchTensor,
            ) -> DispatchTensor {
                <Dispatch as $Ops>::$scatter(values, destinations, offsets)
            }
            fn front(values: DispatchTensor, count: usize) -> DispatchTensor {
                <Dispatch as $Ops>::$front(values, count)
            }
            fn compact_along(
                values: DispatchTensor,
                mask: DispatchTensor,
                dim: usize,
                int: IntDType,
            ) -> Padded {
                <Dispatch as $Ops>::$compact_along(values, mask, dim, int)
            }
            fn repeat_rows(
                values: DispatchTensor,
                offsets: DispatchTensor,
                total: usize,
            ) -> DispatchTensor {
                <Dispatch as $Ops>::$repeat_rows(values, offsets, total)
            }
            fn run_lengths_padded(values: DispatchTensor, int: IntDType) -> Runs {
                <Dispatch as $Ops>::$run_lengths_padded(values, true, int)
            }
            fn run_lengths(values: DispatchTensor, int: IntDType) -> Padded {
                <Dispatch as $Ops>::$run_lengths(values, int)
            }
            fn first_slices(values: DispatchTensor, dim: usize, count: usize) -> DispatchTensor {
                first_slices(values, dim, count, Dispatch::$slice, Dispatch::$reshape)
            }
        }
    };
}

selectable!(
    Float,
    FloatSelectionOps,
    float_compact_padded,
    float_compact,
    float_compact_dim_padded,
    float_compact_dim,
    float_expand_by_mask,
    float_scatter_to,
    float_front,
    float_compact_along,
    float_repeat_rows,
    float_run_lengths_padded,
    float_run_lengths,
    float_slice,
    float_reshape
);
selectable!(
    Int,
    IntSelectionOps,
    int_compact_padded,
    int_compact,
    int_compact_dim_padded,
    int_compact_dim,
    int_expand_by_mask,
    int_scatter_to,
    int_front,
    int_compact_along,
    int_repeat_rows,
    int_run_lengths_padded,
    int_run_lengths,
    int_slice,
    int_reshape
);
selectable!(
    Bool,
    BoolSelectionOps,
    bool_compact_padded,
    bool_compact,
    bool_compact_dim_padded,
    bool_compact_dim,
    bool_expand_by_mask,
    bool_scatter_to,
    bool_front,
    bool_compact_along,
    bool_repeat_rows,
    bool_run_lengths_padded,
    bool_run_lengths,
    bool_slice,
    bool_reshape
);

/// The scans of one kind of numbers.
macro_rules! scannable {
    (
        $Kind:ty, $has:expr, $scan:ident, $scan_from:ident, $segmented_scan:ident, $extremum_with_indices:ident,
        $segment_reduce:ident
    ) => {
        impl Scannable for $Kind {
            fn scan(
                tensor: DispatchTensor,
                dim: usize,
                op: ScanOp,
                options: ScanOptions,
            ) -> DispatchTensor {
                <Dispatch as ScanOps>::$scan(tensor, dim, op, options)
            }
            fn scan_from(
                tensor: DispatchTensor,
                initial: DispatchTensor,
                dim: usize,
                op: ScanOp,
                options: ScanOptions,
            ) -> DispatchTensor {
                <Dispatch as ScanOps>::$scan_from(tensor, initial, dim, op, options)
            }
            fn segmented_scan(
                tensor: DispatchTensor,
                starts: DispatchTensor,
                dim: usize,
                op: ScanOp,
                options: ScanOptions,
            ) -> DispatchTensor {
                <Dispatch as ScanOps>::$segmented_scan(tensor, starts, dim, op, options)
            }
            fn extremum_with_indices(
                tensor: DispatchTensor,
                dim: usize,
                is_max: bool,
                int: IntDType,
            ) -> Padded {
                <Dispatch as ScanOps>::$extremum_with_indices(tensor, dim, is_max, int)
            }
            fn segment_reduce(
                values: DispatchTensor,
                offsets: DispatchTensor,
                op: ScanOp,
            ) -> DispatchTensor {
                <Dispatch as ScanOps>::$segment_reduce(values, offsets, op)
            }
            fn has(op: ScanOp) -> bool {
                $has(op)
            }
        }
    };
}

scannable!(
    Float,
    |_| true,
    float_scan,
    float_scan_from,
    float_segmented_scan,
    float_extremum_with_indices,
    float_segment_reduce
);
scannable!(
    Int,
    |op| op != ScanOp::LogSumExp,
    int_scan,
    int_scan_from,
    int_segmented_scan,
    int_extremum_with_indices,
    int_segment_reduce
);
