//! From the kind of a tensor to the backend operations of that kind.

use crate::ops::selections::for_each_kind;
use crate::ops::{
    BoolSelectionOps, FloatSelectionOps, IntSelectionOps, ScanOps, SortOps, booleans,
};
use crate::{ScanOp, ScanOptions, SortOrder};
use burn::backend::{Dispatch, DispatchTensor};
use burn::tensor::kind::Basic;
use burn::tensor::{Bool, Float, Int, IntDType, Tensor};

/// A tensor of [`Dispatch`] has one type, whatever its kind.
macro_rules! dispatched {
    ($Kind:ident) => {
        DispatchTensor
    };
}

/// A tensor of a kind, as the operations take it.
macro_rules! as_kind {
    (Bool $tensor:ident) => {
        booleans::<Dispatch>($tensor)
    };
    ($Other:ident $tensor:ident) => {
        $tensor
    };
}

/// The kind whose selections a trait has.
macro_rules! kind_of {
    (FloatSelectionOps) => {
        Float
    };
    (IntSelectionOps) => {
        Int
    };
    (BoolSelectionOps) => {
        Bool
    };
}

/// A kind's implementation of [`Selectable`], by [`Dispatch`]; for floats the trait as well. The rows of all kinds have
/// the same keys.
macro_rules! selectable {
    (
        $Trait:ident: $($Super:ident)+;
        $($group:ident {$(
            $(#[$($doc:tt)*])*
            $op:ident = $key:ident($($t:ident: $T:ident),+; $($a:ident: $A:ident),*)
                -> ($($Out:ident),+) as ($($how:tt)*) if ($($rule:ident($($what:ident),*)),*) $body:tt
        )*})+
    ) => {
        selectable! {
            @trait $Trait
            $($($(#[$($doc)*])* fn $key($($t: DispatchTensor,)+ $($a: $A),*) -> ($(dispatched!($Out)),+);)*)+
        }

        #[expect(unused_parens, reason = "a row has its results in parentheses, one or several")]
        impl Selectable for kind_of!($Trait) {$($(
            fn $key($($t: DispatchTensor,)+ $($a: $A),*) -> ($(dispatched!($Out)),+) {
                <Dispatch as $Trait>::$op($(as_kind!($T $t),)+ $($a),*)
            }
        )*)+}
    };
    (@trait FloatSelectionOps $($methods:tt)*) => {
        /// A kind whose tensors have selections: every kind. The methods are the keys of
        /// [`ops::selections`](crate::ops::selections).
        #[expect(unused_parens, reason = "a row has its results in parentheses, one or several")]
        pub trait Selectable: Basic {
            $($methods)*
        }
    };
    (@trait $Other:ident $($methods:tt)*) => {};
}

for_each_kind! { selectable(Float, Int, Bool) }

/// A trait of kinds with one method for each operation, and its implementations for floats and ints.
macro_rules! for_numbers {
    (
        $(#[$($about:tt)*])* $Numbers:ident by $Ops:ident
        $($key:ident($($t:ident),+; $($a:ident: $A:ty),*) -> $Out:ty = $of_floats:ident $of_ints:ident;)+
    ) => {
        $(#[$($about)*])*
        pub trait $Numbers: Basic {
            const IS_FLOAT: bool;

            $(fn $key($($t: DispatchTensor,)+ $($a: $A),*) -> $Out;)+
        }

        impl $Numbers for Float {
            const IS_FLOAT: bool = true;

            $(fn $key($($t: DispatchTensor,)+ $($a: $A),*) -> $Out {
                <Dispatch as $Ops>::$of_floats($($t,)+ $($a),*)
            })+
        }

        impl $Numbers for Int {
            const IS_FLOAT: bool = false;

            $(fn $key($($t: DispatchTensor,)+ $($a: $A),*) -> $Out {
                <Dispatch as $Ops>::$of_ints($($t,)+ $($a),*)
            })+
        }
    };
}

type Pair = (DispatchTensor, DispatchTensor);

/// Both results of an operation.
pub(super) fn tensors<const D: usize, K: Basic, const E: usize, Q: Basic>(
    (one, other): Pair,
) -> (Tensor<D, K>, Tensor<E, Q>) {
    (Tensor::from_dispatch(one), Tensor::from_dispatch(other))
}

for_numbers! {
    /// A kind that can be scanned: numbers.
    Scannable by ScanOps
    scan(tensor; dim: usize, op: ScanOp, options: ScanOptions) -> DispatchTensor = float_scan int_scan;
    scan_from(tensor, initial; dim: usize, op: ScanOp, options: ScanOptions) -> DispatchTensor
        = float_scan_from int_scan_from;
    segmented_scan(tensor, starts; dim: usize, op: ScanOp, options: ScanOptions) -> DispatchTensor
        = float_segmented_scan int_segmented_scan;
    extremum_with_indices(tensor; dim: usize, is_max: bool, int: IntDType) -> Pair
        = float_extremum_with_indices int_extremum_with_indices;
    segment_reduce(values, offsets; op: ScanOp) -> DispatchTensor = float_segment_reduce int_segment_reduce;
}

for_numbers! {
    /// A kind that can be sorted: numbers.
    Sortable by SortOps
    sort(tensor; dim: usize, order: SortOrder) -> DispatchTensor = float_radix_sort int_radix_sort;
    argsort(tensor; dim: usize, order: SortOrder, int: IntDType) -> DispatchTensor
        = float_radix_argsort int_radix_argsort;
    sort_with_indices(tensor; dim: usize, order: SortOrder, int: IntDType) -> Pair
        = float_radix_sort_with_indices int_radix_sort_with_indices;
    topk(tensor; k: usize, dim: usize, int: IntDType) -> Pair = float_radix_topk int_radix_topk;
}
