//! From the kind of a tensor to the backend operations of that kind.

use crate::ops::selections::for_each_kind;
use crate::ops::{
    BoolSelectionOps, FloatSelectionOps, IntSelectionOps, ScanOps, SortOps, first_slices,
};
use crate::{ScanOp, ScanOptions, SortOrder};
use burn::backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn::backend::{Dispatch, DispatchTensor};
use burn::tensor::kind::Basic;
use burn::tensor::{Bool, Float, Int, IntDType};

/// A tensor of [`Dispatch`] has one type, whatever its kind.
macro_rules! dispatched {
    ($Kind:ident) => {
        DispatchTensor
    };
}

/// The trait [`Selectable`], made from the rows of floats. The rows of the other kinds have the same keys.
macro_rules! selectable_trait {
    (
        FloatSelectionOps: $($Super:ident)+, $kind:literal $Values:ident, $slice:ident $reshape:ident;
        $($group:ident {$(
            $(#[$($doc:tt)*])*
            $op:ident = $key:ident($($t:ident: $T:ident),+; $($a:ident: $A:ident),*)
                -> ($($Out:ident),+) $body:tt
        )+})+
    ) => {
        /// A kind whose tensors have selections: every kind. The methods are the keys of
        /// [`ops::selections`](crate::ops::selections).
        #[expect(unused_parens, reason = "a row has its results in parentheses, one or several")]
        pub trait Selectable: Basic {
            $($(
                $(#[$($doc)*])*
                fn $key($($t: DispatchTensor,)+ $($a: $A),*) -> ($(dispatched!($Out)),+);
            )+)+

            /// The first `count` slices along `dim`. Unlike `Tensor::slice`, this is a step of the graph even if
            /// nothing is left; `front` is one, too.
            fn first_slices(values: DispatchTensor, dim: usize, count: usize) -> DispatchTensor;
        }
    };
    ($Other:ident $($rest:tt)*) => {};
}

for_each_kind! { selectable_trait(Float, Int, Bool) }

/// The selections of one kind, on [`Dispatch`].
macro_rules! selectable {
    (
        $Trait:ident: $($Super:ident)+, $kind:literal $Values:ident, $slice:ident $reshape:ident;
        $($group:ident {$(
            $(#[$($doc:tt)*])*
            $op:ident = $key:ident($($t:ident: $T:ident),+; $($a:ident: $A:ident),*)
                -> ($($Out:ident),+) $body:tt
        )+})+
    ) => {
        #[expect(unused_parens, reason = "a row has its results in parentheses, one or several")]
        impl Selectable for $Values {
            $($(
                fn $key($($t: DispatchTensor,)+ $($a: $A),*) -> ($(dispatched!($Out)),+) {
                    <Dispatch as $Trait>::$op($($t,)+ $($a),*)
                }
            )+)+

            fn first_slices(values: DispatchTensor, dim: usize, count: usize) -> DispatchTensor {
                first_slices(values, dim, count, Dispatch::$slice, Dispatch::$reshape)
            }
        }
    };
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
