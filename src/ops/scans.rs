//! Scans, recurrences and segments, and the positions of masks and keys. [`rows`](super::rows) says what a row means.

#![expect(
    unused_parens,
    reason = "a row has its results in parentheses, one or several"
)]

use super::composed::{
    adjoint_by_scan, adjoint_from_by_scan, float_scan_from_by_scan, scan_from_by_scan,
    segment_sums_by_index,
};
use super::rows::trait_of;
use super::{coordinates, first, read_count};
use crate::{ScanOp, ScanOptions};
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::backend::{Backend, TensorMetadata, backend_extension};
use burn::tensor::{BoolDType, IntDType, Shape};

/// `scan_operations! { callback(A, B, C) … }` calls `callback!` with the rows, and with `…` in front. The rows call the
/// types of float, int and bool tensors `A`, `B` and `C`.
macro_rules! scan_operations {
    ($callback:ident($Float:ident, $Int:ident, $Bool:ident) $($extra:tt)*) => {
        $callback! {
            $($extra)* ScanOps: Backend;
            queued {
                /// Scans along `dim`.
                float_scan = scan(tensor: $Float; dim: usize, op: ScanOp, options: ScanOptions) -> ($Float)
                    as (dtype = tensor, shape = tensor) if (dimension(tensor, dim));

                /// Scans along `dim`.
                int_scan = scan(tensor: $Int; dim: usize, op: ScanOp, options: ScanOptions) -> ($Int)
                    as (dtype = tensor, shape = tensor) if (dimension(tensor, dim), of_ints(op));

                /// As [`float_scan`](Self::float_scan), but each line starts with `initial` instead of the identity.
                /// `initial` has size 1 along `dim`.
                float_scan_from = scan_from(
                    tensor: $Float, initial: $Float; dim: usize, op: ScanOp, options: ScanOptions
                ) -> ($Float)
                    as (dtype = tensor, shape = tensor) if (one_a_line(initial, tensor, dim), joined(tensor, initial)) {
                    float_scan_from_by_scan::<Self>(tensor, initial, dim, op, options)
                }

                /// As [`int_scan`](Self::int_scan), but each line starts with `initial` instead of the identity.
                /// `initial` has size 1 along `dim`.
                int_scan_from = scan_from(tensor: $Int, initial: $Int; dim: usize, op: ScanOp, options: ScanOptions)
                    -> ($Int)
                    as (dtype = tensor, shape = tensor)
                    if (one_a_line(initial, tensor, dim), joined(tensor, initial), of_ints(op)) {
                    let scan = |tensor| Self::int_scan(tensor, dim, op, options.inclusive());
                    scan_from_by_scan(
                        tensor,
                        initial,
                        dim,
                        options,
                        Self::int_slice,
                        Self::int_cat,
                        scan,
                    )
                }

                /// `h[t] = decay[t]·h[t−1] + values[t]` along `dim`, from 0. In reverse it is `h[t+1]`, from the end.
                /// The result is `h[t]`, and if exclusive the state before it. The decay has the shape of the values.
                float_linear_recurrence = linear_recurrence(
                    values: $Float, decay: $Float; dim: usize, options: ScanOptions
                ) -> ($Float)
                    as (dtype = values, shape = values) if (dimension(values, dim), alike(decay, values));

                /// The same from `initial`, which has size 1 along `dim`.
                float_linear_recurrence_from = linear_recurrence_from(
                    values: $Float, decay: $Float, initial: $Float; dim: usize, options: ScanOptions
                ) -> ($Float)
                    as (dtype = values, shape = values) if (alike(decay, values), one_a_line(initial, values, dim));

                /// As [`float_linear_recurrence`](Self::float_linear_recurrence), except that 0 times infinity or NaN is
                /// 0: a decay of 0 forgets everything before it, and a state of 0 passes every decay. A product of
                /// decays that underflows may forget as well.
                float_reset_recurrence = reset_recurrence(
                    values: $Float, decay: $Float; dim: usize, options: ScanOptions
                ) -> ($Float)
                    as (dtype = values, shape = values) if (dimension(values, dim), alike(decay, values));

                /// The gradients of the values and of the decay of a [linear
                /// recurrence](Self::float_linear_recurrence). `flow` is the gradient of its `results`. No tensor is
                /// empty.
                float_recurrence_adjoint = recurrence_adjoint(
                    flow: $Float, decay: $Float, results: $Float; dim: usize, reverse: bool
                ) -> ($Float, $Float)
                    as (meta = specs::adjoint)
                    if (dimension(flow, dim), alike(decay, flow), alike(results, flow), has_elements(flow)) {
                    let recurrence = Self::float_linear_recurrence;
                    adjoint_by_scan::<Self>(recurrence, flow, decay, results, None, dim, reverse)
                }

                /// The same for a recurrence [from `initial`](Self::float_linear_recurrence_from). The last result is
                /// the gradient of `initial`.
                float_recurrence_adjoint_from = recurrence_adjoint_from(
                    flow: $Float, decay: $Float, results: $Float, initial: $Float; dim: usize, reverse: bool
                ) -> ($Float, $Float, $Float)
                    as (meta = specs::adjoint_from)
                    if (alike(decay, flow), alike(results, flow), one_a_line(initial, flow, dim), has_elements(flow)) {
                    adjoint_from_by_scan::<Self>(flow, decay, results, initial, dim, reverse)
                }

                /// As [`float_scan`](Self::float_scan), but for each segment of a line on its own. A segment starts at
                /// a line's first element, and where `starts` is true in the order of memory.
                float_segmented_scan = segmented_scan(
                    tensor: $Float, starts: $Bool; dim: usize, op: ScanOp, options: ScanOptions
                ) -> ($Float)
                    as (dtype = tensor, shape = tensor) if (dimension(tensor, dim), same_shape(starts, tensor));

                /// The same for integers.
                int_segmented_scan = segmented_scan(
                    tensor: $Int, starts: $Bool; dim: usize, op: ScanOp, options: ScanOptions
                ) -> ($Int)
                    as (dtype = tensor, shape = tensor)
                    if (dimension(tensor, dim), same_shape(starts, tensor), of_ints(op));

                /// The running maxima along `dim`, or minima, and their positions along it. Of equal elements the last
                /// counts, and so does the last of several NaN.
                float_extremum_with_indices = extremum_with_indices(
                    tensor: $Float; dim: usize, is_max: bool, int_dtype: IntDType
                ) -> ($Float, $Int)
                    as (meta = specs::extremum) if (dimension(tensor, dim), has_int(int_dtype));

                /// The same for integers.
                int_extremum_with_indices = extremum_with_indices(
                    tensor: $Int; dim: usize, is_max: bool, int_dtype: IntDType
                ) -> ($Int, $Int)
                    as (meta = specs::extremum) if (dimension(tensor, dim), has_int(int_dtype));

                /// At each head the sum of the values from it up to the next head along `dim`; zero elsewhere. In
                /// `reverse` a line is read from its end. The first element of a line is a head, whatever `heads` says.
                /// This is the adjoint of a running maximum.
                float_segment_sums = segment_sums(values: $Float, heads: $Bool; dim: usize, reverse: bool) -> ($Float)
                    as (dtype = values, shape = values) if (dimension(values, dim), same_shape(heads, values)) {
                    segment_sums_by_index::<Self>(values, heads, dim, reverse)
                }

                /// The row-major positions of the trues, at the front of a tensor as long as the mask; and their
                /// number. What follows the positions is arbitrary.
                mask_indices_unpadded = mask_indices_unpadded(mask: $Bool; int_dtype: IntDType) -> ($Int, $Int)
                    as (meta = specs::mask_indices) if (numbered(mask), has_int(int_dtype));

                /// The number of trues, in one element.
                mask_count = mask_count(mask: $Bool; int_dtype: IntDType) -> ($Int)
                    as (default) if (numbered(mask), has_int(int_dtype)) {
                    Self::int_sum(Self::bool_into_int(mask, int_dtype))
                }

                /// The segment of each of `len` elements. The offsets say where segments start and where the last one
                /// ends; after that the result is the number of segments. Bad offsets give bad results and do no other
                /// harm.
                segment_ids = segment_ids(offsets: $Int; len: usize) -> ($Int)
                    as (meta = specs::segment_ids) if (bounds(offsets), countable(len));

                /// For each of `len` elements whether a segment starts there, or the last segment ends before it.
                segment_starts = segment_starts(offsets: $Int; len: usize, bool_dtype: BoolDType) -> ($Bool)
                    as (meta = specs::segment_starts) if (offsets(offsets), countable(len), has_bool(bool_dtype));

                /// The total of each segment along the first dimension; the identity for an empty segment. The offsets
                /// say where segments start and where the last one ends.
                float_segment_reduce = segment_reduce(values: $Float, offsets: $Int; op: ScanOp) -> ($Float)
                    as (meta = specs::segment_reduce) if (reduced(values), bounds(offsets));

                /// The same for integers.
                int_segment_reduce = segment_reduce(values: $Int, offsets: $Int; op: ScanOp) -> ($Int)
                    as (meta = specs::segment_reduce) if (reduced(values), bounds(offsets), of_ints(op));

                /// For each key its destination in a stable grouping by `0..num_keys`, −1 for a key out of range; and
                /// the offset at which each group starts. The last offset is the number of keys in range.
                partition_ranks = partition_ranks(keys: $Int; num_keys: usize, int_dtype: IntDType) -> ($Int, $Int)
                    as (meta = specs::partition_ranks)
                    if (grouped(keys), numbered(keys), groups(num_keys), has_int(int_dtype));
            }
            exact {
                /// The tensor expanded to `shape`, as Burn expands it. Its gradient is made of scans.
                float_broadcast = broadcast(tensor: $Float; shape: Shape) -> ($Float)
                    as (default) if () {
                    Self::float_expand(tensor, shape)
                }

                /// The row-major positions of the trues. Reads their number back.
                mask_indices = mask_indices(mask: $Bool; int_dtype: IntDType) -> ($Int)
                    as (default) if () {
                    let (indices, count) = Self::mask_indices_unpadded(mask, int_dtype);
                    Self::int_slice(indices, &[first(read_count::<Self>(count))])
                }

                /// The coordinates of the trues, one row each, in row-major order. Reads their number back.
                mask_argwhere = mask_argwhere(mask: $Bool; int_dtype: IntDType) -> ($Int)
                    as (default) if () {
                    let shape = mask.shape();
                    coordinates::<Self>(Self::mask_indices(mask, int_dtype), &shape, int_dtype)
                }
            }
        }
    };
}

#[cfg(any(
    feature = "flex",
    feature = "cubecl-backend",
    feature = "autodiff",
    feature = "fusion",
    feature = "remote"
))]
pub(crate) use scan_operations;

scan_operations! {
    trait_of(FloatTensor, IntTensor, BoolTensor)
    /// Scans, recurrences, segments, and the positions of masks and keys.
}
