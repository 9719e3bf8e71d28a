//! The selections: operations that move elements and compute nothing, for each kind of values. [`rows`](super::rows)
//! says what a row means.
//!
//! To add a selection: a row below, its name for each kind in [`for_each_kind`], and a function of its key on each
//! backend.

#![expect(
    unused_parens,
    reason = "a row has its results in parentheses, one or several"
)]

use super::rows::trait_of;
use super::{first, read_count};
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::backend::{Backend, backend_extension};
use burn::tensor::IntDType;

/// `for_each_kind! { callback(A, B, C) … }` calls `callback!` with the selections of floats, of ints and of bools, each
/// with `…` in front. The rows call the tensor types of the three kinds `A`, `B` and `C`.
macro_rules! for_each_kind {
    ($callback:ident($Float:ident, $Int:ident, $Bool:ident) $($extra:tt)*) => {
        $crate::ops::selections::selections_of! {
            $callback { $($extra)* } FloatSelectionOps: Backend IntSelectionOps,
            $Float $Int $Bool, float_slice float_reshape,
            float_compact_padded float_front float_expand_by_mask float_compact_dim_padded float_expand_dim
            float_compact_along float_repeat_rows float_run_lengths_padded float_scatter_to float_gather_from
            float_partition
            float_compact float_compact_dim float_run_lengths float_first_slices
        }
        $crate::ops::selections::selections_of! {
            $callback { $($extra)* } IntSelectionOps: Backend,
            $Int $Int $Bool, int_slice int_reshape,
            int_compact_padded int_front int_expand_by_mask int_compact_dim_padded int_expand_dim
            int_compact_along int_repeat_rows int_run_lengths_padded int_scatter_to int_gather_from
            int_partition
            int_compact int_compact_dim int_run_lengths int_first_slices
        }
        $crate::ops::selections::selections_of! {
            $callback { $($extra)* } BoolSelectionOps: Backend IntSelectionOps,
            $Bool $Int $Bool, bool_slice bool_reshape,
            bool_compact_padded bool_front bool_expand_by_mask bool_compact_dim_padded bool_expand_dim
            bool_compact_along bool_repeat_rows bool_run_lengths_padded bool_scatter_to bool_gather_from
            bool_partition
            bool_compact bool_compact_dim bool_run_lengths bool_first_slices
        }
    };
}

/// The rows of one kind.
macro_rules! selections_of {
    (
        $callback:ident { $($extra:tt)* } $Trait:ident: $($Super:ident)+,
        $Values:ident $Int:ident $Bool:ident, $slice:ident $reshape:ident,
        $compact_padded:ident $front:ident $expand_by_mask:ident $compact_dim_padded:ident $expand_dim:ident
        $compact_along:ident $repeat_rows:ident $run_lengths_padded:ident $scatter_to:ident $gather_from:ident
        $partition:ident
        $compact:ident $compact_dim:ident $run_lengths:ident $first_slices:ident
    ) => {
        $callback! {
            $($extra)* $Trait: $($Super)+;
            queued {
                /// The values under `true`, row-major and in order, at the front of a tensor as long as the values; and
                /// their number. They are followed by zeros if `fill`, else by anything.
                $compact_padded = compact_padded(values: $Values, mask: $Bool; fill: bool, int_dtype: IntDType)
                    -> ($Values, $Int)
                    as (meta = specs::compact_padded) if (same_shape(mask, values), numbered(mask), has_int(int_dtype));

                /// The first `count` of the values of a one-dimensional tensor.
                $front = front(values: $Values; count: usize) -> ($Values)
                    as (meta = specs::front) if (within(count, values)) {
                    Self::$slice(values, &[first(count)])
                }

                /// The `i`-th true of `mask` receives `values[i]`; zero elsewhere and where values are missing.
                $expand_by_mask = expand_by_mask(values: $Values, mask: $Bool;) -> ($Values)
                    as (meta = specs::expand_by_mask) if (vector(values), numbered(mask));

                /// The slices along `dim` under `true`, in order, with zeros after them; and their number.
                $compact_dim_padded = compact_dim_padded(
                    values: $Values, mask: $Bool; dim: usize, int_dtype: IntDType
                ) -> ($Values, $Int)
                    as (meta = specs::compact_dim_padded)
                    if (along(mask, values, dim), numbered(mask), has_int(int_dtype));

                /// The inverse along one dimension: the `i`-th true of `mask` receives slice `i` of `values`; zero
                /// elsewhere.
                $expand_dim = expand_dim(values: $Values, mask: $Bool; dim: usize) -> ($Values)
                    as (meta = specs::expand_dim) if (dimension(values, dim), vector(mask), numbered(mask));

                /// Each line along `dim` on its own: its values under `true` in order, with zeros after them; and their
                /// number.
                $compact_along = compact_along(values: $Values, mask: $Bool; dim: usize, int_dtype: IntDType)
                    -> ($Values, $Int)
                    as (meta = specs::compact_along)
                    if (dimension(values, dim), same_shape(mask, values), numbered(mask), has_int(int_dtype));

                /// Row `j` of the first dimension from `offsets[j]` up to the next offset, in `total` rows; zeros after
                /// the last offset. There is one offset more than rows.
                $repeat_rows = repeat_rows(values: $Values, offsets: $Int; total: usize) -> ($Values)
                    as (meta = specs::repeat_rows) if (offsets_of(offsets, values), countable(total));

                /// The runs of equal elements of a one-dimensional tensor: the value of each and its length; and their
                /// number. They are followed by zeros if `fill`, else by anything. NaN equals nothing.
                $run_lengths_padded = run_lengths_padded(values: $Values; fill: bool, int_dtype: IntDType)
                    -> ($Values, $Int, $Int)
                    as (meta = specs::run_lengths_padded) if (vector(values), numbered(values), has_int(int_dtype));

                /// `output[destinations[i]] = values[i]`, with zeros after the destinations. Destinations below 0 point
                /// nowhere. The others are ranks, as [`partition_ranks`](crate::ops::ScanOps::partition_ranks) gives
                /// them; the last of its `offsets` is their number.
                $scatter_to = scatter_to(values: $Values, destinations: $Int, offsets: $Int;) -> ($Values)
                    as (dtype = values, shape = values)
                    if (vector(values), same_shape(destinations, values), offsets(offsets),
                        same_dtype(offsets, destinations));

                /// `output[i] = values[destinations[i]]`, zero where the destination is below 0: the adjoint of
                /// scattering to these destinations.
                $gather_from = gather_from(values: $Values, destinations: $Int, offsets: $Int;) -> ($Values)
                    as (dtype = values, shape = values)
                    if (vector(values), same_shape(destinations, values), offsets(offsets),
                        same_dtype(offsets, destinations));

                /// The values of a one-dimensional tensor, grouped by their keys `0..num_keys`: those of key 0, those
                /// of key 1, and so on, each group in order, and zeros after them for keys out of range. And where each
                /// group begins, with the end of the last.
                $partition = partition(values: $Values, keys: $Int; num_keys: usize, int_dtype: IntDType)
                    -> ($Values, $Int)
                    as (meta = specs::partition)
                    if (same_shape(values, keys), grouped(keys), numbered(keys), groups(num_keys), has_int(int_dtype));
            }
            exact {
                /// The values under `true`, row-major and in order. Reads their number back.
                $compact = compact(values: $Values, mask: $Bool; int_dtype: IntDType) -> ($Values)
                    as (default) if () {
                    let (padded, count) = Self::$compact_padded(values, mask, false, int_dtype);
                    Self::$front(padded, read_count::<Self>(count))
                }

                /// The slices along `dim` under `true`, in order. Reads their number back.
                $compact_dim = compact_dim(values: $Values, mask: $Bool; dim: usize, int_dtype: IntDType) -> ($Values)
                    as (default) if () {
                    let (padded, count) = Self::$compact_dim_padded(values, mask, dim, int_dtype);
                    Self::$first_slices(padded, dim, read_count::<Self>(count))
                }

                /// The runs of equal elements: the value of each and its length. Reads their number back.
                $run_lengths = run_lengths(values: $Values; int_dtype: IntDType) -> ($Values, $Int)
                    as (default) if () {
                    let (values, lengths, count) = Self::$run_lengths_padded(values, false, int_dtype);
                    let count = read_count::<Self>(count);
                    let lengths = <Self as IntSelectionOps>::int_front(lengths, count);
                    (Self::$front(values, count), lengths)
                }

                /// The first `count` slices along `dim`. Unlike Burn's slice, this is a step of the graph even if
                /// nothing is left.
                $first_slices = first_slices(values: $Values; dim: usize, count: usize) -> ($Values)
                    as (default) if () {
                    super::first_slices(values, dim, count, Self::$front, Self::$slice, Self::$reshape)
                }
            }
        }
    };
}

pub(crate) use {for_each_kind, selections_of};

for_each_kind! {
    trait_of(FloatTensor, IntTensor, BoolTensor)
    /// Selections of the tensors of one kind: they move elements and compute nothing.
}
