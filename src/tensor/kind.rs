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
    ) -> (DispatchTensor, DispatchTensor);
    fn segment_reduce(
        values: DispatchTensor,
        offsets: DispatchTensor,
        op: ScanOp,
    ) -> DispatchTensor;
    /// Whether the operator is one for numbers of this kind.
    fn has(op: ScanOp) -> bool;
}

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
            ) -> (DispatchTensor, DispatchTensor) {
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

/// A kind that can be sorted: numbers.
pub trait Sortable: Basic {
    fn sort(tensor: DispatchTensor, dim: usize, order: SortOrder) -> DispatchTensor;
    fn argsort(
        tensor: DispatchTensor,
        dim: usize,
        order: SortOrder,
        int: IntDType,
    ) -> DispatchTensor;
    fn sort_with_indices(
        tensor: DispatchTensor,
        dim: usize,
        order: SortOrder,
        int: IntDType,
    ) -> (DispatchTensor, DispatchTensor);
    fn topk(
        tensor: DispatchTensor,
        k: usize,
        dim: usize,
        int: IntDType,
    ) -> (DispatchTensor, DispatchTensor);
}

/// The sorts of one kind of numbers.
macro_rules! sortable {
    ($Kind:ty, $sort:ident, $argsort:ident, $sort_with_indices:ident, $topk:ident) => {
        impl Sortable for $Kind {
            fn sort(tensor: DispatchTensor, dim: usize, order: SortOrder) -> DispatchTensor {
                <Dispatch as SortOps>::$sort(tensor, dim, order)
            }
            fn argsort(
                tensor: DispatchTensor,
                dim: usize,
                order: SortOrder,
                int: IntDType,
            ) -> DispatchTensor {
                <Dispatch as SortOps>::$argsort(tensor, dim, order, int)
            }
            fn sort_with_indices(
                tensor: DispatchTensor,
                dim: usize,
                order: SortOrder,
                int: IntDType,
            ) -> (DispatchTensor, DispatchTensor) {
                <Dispatch as SortOps>::$sort_with_indices(tensor, dim, order, int)
            }
            fn topk(
                tensor: DispatchTensor,
                k: usize,
                dim: usize,
                int: IntDType,
            ) -> (DispatchTensor, DispatchTensor) {
                <Dispatch as SortOps>::$topk(tensor, k, dim, int)
            }
        }
    };
}

sortable!(
    Float,
    float_radix_sort,
    float_radix_argsort,
    float_radix_sort_with_indices,
    float_radix_topk
);
sortable!(
    Int,
    int_radix_sort,
    int_radix_argsort,
    int_radix_sort_with_indices,
    int_radix_topk
);
