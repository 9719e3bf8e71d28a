//! Sorts of lines.

#[cfg(feature = "fusion")]
use super::specs;
use crate::SortOrder;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, backend_extension};
use burn::tensor::IntDType;

/// Sorts of lines, all stable. NaN are equal and above every number, −0.0 equals 0.0, and elements keep their bits.
/// Positions are those along the dimension.
///
/// A payload follows its keys by the [`gather_from`](crate::ops::FloatSelectionOps::float_gather_from) of its kind.
#[backend_extension(
    Fusion: cfg(feature = "fusion"),
    Flex: cfg(feature = "flex"),
    Cube: cfg(feature = "cubecl-backend"),
    Autodiff: cfg(feature = "autodiff"),
    Remote: cfg(feature = "remote"),
)]
pub trait SortOps: Backend {
    /// Each line along `dim` in order.
    #[fusion(dtype = tensor, shape = tensor)]
    fn float_radix_sort(
        tensor: FloatTensor<Self>,
        dim: usize,
        order: SortOrder,
    ) -> FloatTensor<Self>;

    /// The same for integers.
    #[fusion(dtype = tensor, shape = tensor)]
    fn int_radix_sort(tensor: IntTensor<Self>, dim: usize, order: SortOrder) -> IntTensor<Self>;

    /// The positions of the elements of each line along `dim`, in the order of the elements.
    #[fusion(meta = specs::radix_argsort)]
    fn float_radix_argsort(
        tensor: FloatTensor<Self>,
        dim: usize,
        order: SortOrder,
        int_dtype: IntDType,
    ) -> IntTensor<Self>;

    /// The same for integers.
    #[fusion(meta = specs::radix_argsort)]
    fn int_radix_argsort(
        tensor: IntTensor<Self>,
        dim: usize,
        order: SortOrder,
        int_dtype: IntDType,
    ) -> IntTensor<Self>;

    /// Each line along `dim` in order, and the positions of its elements.
    #[fusion(meta = specs::radix_sort_with_indices)]
    fn float_radix_sort_with_indices(
        tensor: FloatTensor<Self>,
        dim: usize,
        order: SortOrder,
        int_dtype: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>);

    /// The same for integers.
    #[fusion(meta = specs::radix_sort_with_indices)]
    fn int_radix_sort_with_indices(
        tensor: IntTensor<Self>,
        dim: usize,
        order: SortOrder,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>);

    /// The `k` largest elements of each line along `dim`, largest first, and their positions. Of equal elements the
    /// first ones count.
    #[fusion(meta = specs::radix_topk)]
    fn float_radix_topk(
        tensor: FloatTensor<Self>,
        k: usize,
        dim: usize,
        int_dtype: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>);

    /// The same for integers.
    #[fusion(meta = specs::radix_topk)]
    fn int_radix_topk(
        tensor: IntTensor<Self>,
        k: usize,
        dim: usize,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>);

    /// One-dimensional keys in the order of their lowest `bits` bits, read as numbers without a sign; and their
    /// positions.
    #[fusion(meta = specs::radix_sort_bits)]
    fn radix_sort_bits(
        keys: IntTensor<Self>,
        bits: usize,
        order: SortOrder,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>);
}
