//! The selections: operations that move elements and compute nothing, for each kind of values.
//!
//! This file lists them once. [`for_each_kind`] gives the rows of the list to a callback macro, once for each kind.
//! Everything that needs an item for each selection is such a callback: the three traits below, their implementations
//! on the backends, `Selectable` in the tensor layer, and both ends of the remote backend.
//!
//! ```text
//! name = key(tensor: Type, …; argument: Type, …) -> (Type, …) ;  or its default body in braces
//! ```
//!
//! The name is the method of the trait. The key is the name without its kind. The callbacks find by the key:
//!
//! | what | where |
//! |---|---|
//! | shapes and dtypes of the results | [`specs`] |
//! | the operation on CubeCL's devices | a function in `backends/cube/selections.rs`; of queued selections only |
//! | the operation on the CPU | a function in `backends/flex/selections.rs` |
//! | the rules of a server | a method in `remote/rules/selections.rs`; of queued selections only |
//!
//! Gradients are written by hand, in `backends/autodiff/selections.rs` and `adjoints.rs`.
//!
//! A *queued* selection is one operation: fusion queues it, and it travels to remote devices. An *exact* selection
//! reads back the number of survivors; its default body calls queued ones.
//!
//! To add a selection: a row below, its name for each kind in [`for_each_kind`], and the functions of this table.

#![expect(
    unused_parens,
    reason = "a row has its results in parentheses, one or several"
)]

#[cfg(feature = "fusion")]
use super::specs;
use super::{first, first_slices, read_count};
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::backend::{Backend, backend_extension};
use burn::tensor::IntDType;

/// `for_each_kind! { callback(A, B, C) … }` calls `callback!` with the selections of floats, of ints and of bools, each
/// with `…` in front. The rows call the tensor types of the three kinds `A`, `B` and `C`.
macro_rules! for_each_kind {
    ($callback:ident($Float:ident, $Int:ident, $Bool:ident) $($extra:tt)*) => {
        $crate::ops::selections::selections_of! {
            $callback { $($extra)* } FloatSelectionOps: Backend IntSelectionOps,
            "float", $Float $Int $Bool, float_slice float_reshape,
            float_compact_padded float_front float_expand_by_mask float_compact_dim_padded float_expand_dim
            float_compact_along float_repeat_rows float_run_lengths_padded float_scatter_to float_gather_from
            float_partition
            float_compact float_compact_dim float_run_lengths
        }
        $crate::ops::selections::selections_of! {
            $callback { $($extra)* } IntSelectionOps: Backend,
            "int", $Int $Int $Bool, int_slice int_reshape,
            int_compact_padded int_front int_expand_by_mask int_compact_dim_padded int_expand_dim
            int_compact_along int_repeat_rows int_run_lengths_padded int_scatter_to int_gather_from
            int_partition
            int_compact int_compact_dim int_run_lengths
        }
        $crate::ops::selections::selections_of! {
            $callback { $($extra)* } BoolSelectionOps: Backend IntSelectionOps,
            "bool", $Bool $Int $Bool, bool_slice bool_reshape,
            bool_compact_padded bool_front bool_expand_by_mask bool_compact_dim_padded bool_expand_dim
            bool_compact_along bool_repeat_rows bool_run_lengths_padded bool_scatter_to bool_gather_from
            bool_partition
            bool_compact bool_compact_dim bool_run_lengths
        }
    };
}

/// The rows of one kind.
macro_rules! selections_of {
    (
        $callback:ident { $($extra:tt)* } $Trait:ident: $($Super:ident)+,
        $kind:literal, $Values:ident $Int:ident $Bool:ident, $slice:ident $reshape:ident,
        $compact_padded:ident $front:ident $expand_by_mask:ident $compact_dim_padded:ident $expand_dim:ident
        $compact_along:ident $repeat_rows:ident $run_lengths_padded:ident $scatter_to:ident $gather_from:ident
        $partition:ident
        $compact:ident $compact_dim:ident $run_lengths:ident
    ) => {
        $callback! {
            $($extra)* $Trait: $($Super)+, $kind $Values,
            $slice $reshape;
            queued {
                /// The values under `true`, row-major and in order, at the front of a tensor as long as the values; and
                /// their number. They are followed by zeros if `fill`, else by anything.
                $compact_padded = compact_padded(values: $Values, mask: $Bool; fill: bool, int_dtype: IntDType)
                    -> ($Values, $Int);

                /// The first `count` of the values of a one-dimensional tensor.
                $front = front(values: $Values; count: usize) -> ($Values) {
                    Self::$slice(values, &[first(count)])
                }

                /// The `i`-th true of `mask` receives `values[i]`; zero elsewhere and where values are missing.
                $expand_by_mask = expand_by_mask(values: $Values, mask: $Bool;) -> ($Values);

                /// The slices along `dim` under `true`, in order, with zeros after them; and their number.
                $compact_dim_padded = compact_dim_padded(
                    values: $Values, mask: $Bool; dim: usize, int_dtype: IntDType
                ) -> ($Values, $Int);

                /// The inverse along one dimension: the `i`-th true of `mask` receives slice `i` of `values`; zero
                /// elsewhere.
                $expand_dim = expand_dim(values: $Values, mask: $Bool; dim: usize) -> ($Values);

                /// Each line along `dim` on its own: its values under `true` in order, with zeros after them; and their
                /// number.
                $compact_along = compact_along(values: $Values, mask: $Bool; dim: usize, int_dtype: IntDType)
                    -> ($Values, $Int);

                /// Row `j` of the first dimension from `offsets[j]` up to the next offset, in `total` rows; zeros after
                /// the last offset. There is one offset more than rows.
                $repeat_rows = repeat_rows(values: $Values, offsets: $Int; total: usize) -> ($Values);

                /// The runs of equal elements of a one-dimensional tensor: the value of each and its length; and their
                /// number. They are followed by zeros if `fill`, else by anything. NaN equals nothing.
                $run_lengths_padded = run_lengths_padded(values: $Values; fill: bool, int_dtype: IntDType)
                    -> ($Values, $Int, $Int);

                /// `output[destinations[i]] = values[i]`, with zeros after the destinations. Destinations below 0 point
                /// nowhere. The others are ranks, as [`partition_ranks`](crate::ops::ScanOps::partition_ranks) gives
                /// them; the last of its `offsets` is their number.
                $scatter_to = scatter_to(values: $Values, destinations: $Int, offsets: $Int;) -> ($Values);

                /// `output[i] = values[destinations[i]]`, zero where the destination is below 0: the adjoint of
                /// scattering to these destinations.
                $gather_from = gather_from(values: $Values, destinations: $Int, offsets: $Int;) -> ($Values);

                /// The values of a one-dimensional tensor, grouped by their keys `0..num_keys`: those of key 0, those
                /// of key 1, and so on, each group in order, and zeros after them for keys out of range. And where each
                /// group begins, with the end of the last.
                $partition = partition(values: $Values, keys: $Int; num_keys: usize, int_dtype: IntDType)
                    -> ($Values, $Int);
            }
            exact {
                /// The values under `true`, row-major and in order. Reads their number back.
                $compact = compact(values: $Values, mask: $Bool; int_dtype: IntDType) -> ($Values) {
                    let (padded, count) = Self::$compact_padded(values, mask, false, int_dtype);
                    Self::$front(padded, read_count::<Self>(count))
                }

                /// The slices along `dim` under `true`, in order. Reads their number back.
                $compact_dim = compact_dim(values: $Values, mask: $Bool; dim: usize, int_dtype: IntDType) -> ($Values) {
                    let (padded, count) = Self::$compact_dim_padded(values, mask, dim, int_dtype);
                    let count = read_count::<Self>(count);
                    first_slices(padded, dim, count, Self::$slice, Self::$reshape)
                }

                /// The runs of equal elements: the value of each and its length. Reads their number back.
                $run_lengths = run_lengths(values: $Values; int_dtype: IntDType) -> ($Values, $Int) {
                    let (values, lengths, count) = Self::$run_lengths_padded(values, false, int_dtype);
                    let count = read_count::<Self>(count);
                    let lengths = <Self as IntSelectionOps>::int_front(lengths, count);
                    (Self::$front(values, count), lengths)
                }
            }
        }
    };
}

pub(crate) use {for_each_kind, selections_of};

/// The trait of one kind of values. Kinds differ only in their tensor type.
macro_rules! selection_trait {
    (
        $Trait:ident: $($Super:ident)+, $kind:literal $Values:ident, $slice:ident $reshape:ident;
        queued {$(
            $(#[$($doc:tt)*])*
            $op:ident = $key:ident($($t:ident: $T:ident),+; $($a:ident: $A:ident),*)
                -> ($($Out:ident),+) $body:tt
        )+}
        exact {$(
            $(#[$($edoc:tt)*])*
            $eop:ident = $ekey:ident($($et:ident: $ET:ident),+; $($ea:ident: $EA:ident),*)
                -> ($($EOut:ident),+) $ebody:tt
        )+}
    ) => {
        #[doc = concat!("Selections of ", $kind, " tensors.")]
        #[backend_extension(
            Fusion: cfg(feature = "fusion"),
            Flex: cfg(feature = "flex"),
            Cube: cfg(feature = "cubecl-backend"),
            Autodiff: cfg(feature = "autodiff"),
            Remote: cfg(feature = "remote"),
        )]
        pub trait $Trait: $($Super +)+ {
            $(
                $(#[$($doc)*])*
                #[fusion(meta = specs::$key)]
                fn $op($($t: $T<Self>,)+ $($a: $A),*) -> ($($Out<Self>),+) $body
            )+
            $(
                $(#[$($edoc)*])*
                #[fusion(default)]
                fn $eop($($et: $ET<Self>,)+ $($ea: $EA),*) -> ($($EOut<Self>),+) $ebody
            )+
        }
    };
}

for_each_kind! { selection_trait(FloatTensor, IntTensor, BoolTensor) }
