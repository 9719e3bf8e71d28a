//! Sorts of lines. [`rows`](super::rows) says what a row means.

#![expect(
    unused_parens,
    reason = "a row has its results in parentheses, one or several"
)]

use super::rows::trait_of;
use crate::SortOrder;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, backend_extension};
use burn::tensor::IntDType;

/// As [`scan_operations`](super::scans::scan_operations).
macro_rules! sort_operations {
    ($callback:ident($Float:ident, $Int:ident, $Bool:ident) $($extra:tt)*) => {
        $callback! {
            $($extra)* SortOps: Backend;
            queued {
                /// Each line along `dim` in order.
                float_radix_sort = radix_sort(tensor: $Float; dim: usize, order: SortOrder) -> ($Float)
                    as (dtype = tensor, shape = tensor) if (dimension(tensor, dim), numbered(tensor));

                /// The same for integers.
                int_radix_sort = radix_sort(tensor: $Int; dim: usize, order: SortOrder) -> ($Int)
                    as (dtype = tensor, shape = tensor) if (dimension(tensor, dim), numbered(tensor));

                /// The positions of the elements of each line along `dim`, in the order of the elements.
                float_radix_argsort = radix_argsort(tensor: $Float; dim: usize, order: SortOrder, int_dtype: IntDType)
                    -> ($Int)
                    as (meta = specs::radix_argsort) if (dimension(tensor, dim), numbered(tensor), has_int(int_dtype));

                /// The same for integers.
                int_radix_argsort = radix_argsort(tensor: $Int; dim: usize, order: SortOrder, int_dtype: IntDType)
                    -> ($Int)
                    as (meta = specs::radix_argsort) if (dimension(tensor, dim), numbered(tensor), has_int(int_dtype));

                /// Each line along `dim` in order, and the positions of its elements.
                float_radix_sort_with_indices = radix_sort_with_indices(
                    tensor: $Float; dim: usize, order: SortOrder, int_dtype: IntDType
                ) -> ($Float, $Int)
                    as (meta = specs::radix_sort_with_indices)
                    if (dimension(tensor, dim), numbered(tensor), has_int(int_dtype));

                /// The same for integers.
                int_radix_sort_with_indices = radix_sort_with_indices(
                    tensor: $Int; dim: usize, order: SortOrder, int_dtype: IntDType
                ) -> ($Int, $Int)
                    as (meta = specs::radix_sort_with_indices)
                    if (dimension(tensor, dim), numbered(tensor), has_int(int_dtype));

                /// The `k` largest elements of each line along `dim`, largest first, and their positions. Of equal
                /// elements the first ones count.
                float_radix_topk = radix_topk(tensor: $Float; k: usize, dim: usize, int_dtype: IntDType)
                    -> ($Float, $Int)
                    as (meta = specs::radix_topk) if (along_line(k, tensor, dim), numbered(tensor), has_int(int_dtype));

                /// The same for integers.
                int_radix_topk = radix_topk(tensor: $Int; k: usize, dim: usize, int_dtype: IntDType) -> ($Int, $Int)
                    as (meta = specs::radix_topk) if (along_line(k, tensor, dim), numbered(tensor), has_int(int_dtype));

                /// One-dimensional keys in the order of their lowest `bits` bits, read as numbers without a sign; and
                /// their positions.
                radix_sort_bits = radix_sort_bits(keys: $Int; bits: usize, order: SortOrder, int_dtype: IntDType)
                    -> ($Int, $Int)
                    as (meta = specs::radix_sort_bits)
                    if (vector(keys), key_bits(bits, keys), numbered(keys), has_int(int_dtype));
            }
            exact {
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
pub(crate) use sort_operations;

sort_operations! {
    trait_of(FloatTensor, IntTensor, BoolTensor)
    /// Sorts of lines, all stable. NaN are equal and above every number, −0.0 equals 0.0, and elements keep their bits.
    /// Positions are those along the dimension.
    ///
    /// A payload follows its keys by the [`gather_from`](crate::ops::FloatSelectionOps::float_gather_from) of its kind.
}
