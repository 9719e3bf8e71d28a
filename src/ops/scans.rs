//! Scans, recurrences and segments, and the positions of masks and keys.

use super::composed::{
    adjoint_by_scan, adjoint_from_by_scan, float_scan_from_by_scan, scan_from_by_scan,
    segment_sums_by_index,
};
#[cfg(feature = "fusion")]
use super::specs;
use super::{coordinates, first, read_count};
use crate::{ScanOp, ScanOptions};
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::backend::{Backend, TensorMetadata, backend_extension};
use burn::tensor::{BoolDType, IntDType};

/// Scans, recurrences, segments, and the positions of masks and keys.
#[backend_extension(
    Fusion: cfg(feature = "fusion"),
    Flex: cfg(feature = "flex"),
    Cube: cfg(feature = "cubecl-backend"),
    Autodiff: cfg(feature = "autodiff"),
    Remote: cfg(feature = "remote"),
)]
pub trait ScanOps: Backend {
    /// Scans along `dim`.
    #[fusion(dtype = tensor, shape = tensor)]
    fn float_scan(
        tensor: FloatTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self>;

    /// Scans along `dim`.
    #[fusion(dtype = tensor, shape = tensor)]
    fn int_scan(
        tensor: IntTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> IntTensor<Self>;

    /// As [`float_scan`](Self::float_scan), but each line starts with `initial` instead of the identity. `initial` has
    /// size 1 along `dim`.
    #[fusion(dtype = tensor, shape = tensor)]
    fn float_scan_from(
        tensor: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self> {
        float_scan_from_by_scan::<Self>(tensor, initial, dim, op, options)
    }

    /// As [`int_scan`](Self::int_scan), but each line starts with `initial` instead of the identity. `initial` has size
    /// 1 along `dim`.
    #[fusion(dtype = tensor, shape = tensor)]
    fn int_scan_from(
        tensor: IntTensor<Self>,
        initial: IntTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> IntTensor<Self> {
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

    /// `h[t] = decay[t]·h[t−1] + values[t]` along `dim`, from 0. In reverse it is `h[t+1]`, from the end. The result is
    /// `h[t]`, and if exclusive the state before it. The decay has the shape of the values.
    #[fusion(dtype = values, shape = values)]
    fn float_linear_recurrence(
        values: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        dim: usize,
        options: ScanOptions,
    ) -> FloatTensor<Self>;

    /// The same from `initial`, which has size 1 along `dim`.
    #[fusion(dtype = values, shape = values)]
    fn float_linear_recurrence_from(
        values: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        dim: usize,
        options: ScanOptions,
    ) -> FloatTensor<Self>;

    /// As [`float_linear_recurrence`](Self::float_linear_recurrence), except that a decay of 0 forgets everything
    /// before it, even infinities and NaN: `h[t] = values[t]` there. A product of decays that underflows may forget as
    /// well.
    #[fusion(dtype = values, shape = values)]
    fn float_reset_recurrence(
        values: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        dim: usize,
        options: ScanOptions,
    ) -> FloatTensor<Self>;

    /// The gradients of the values and of the decay of a [linear recurrence](Self::float_linear_recurrence). `flow` is
    /// the gradient of its `results`. No tensor is empty.
    #[fusion(meta = specs::adjoint)]
    fn float_recurrence_adjoint(
        flow: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        results: FloatTensor<Self>,
        dim: usize,
        reverse: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let recurrence = Self::float_linear_recurrence;
        adjoint_by_scan::<Self>(recurrence, flow, decay, results, None, dim, reverse)
    }

    /// The same for a recurrence [from `initial`](Self::float_linear_recurrence_from). The last result is the gradient
    /// of `initial`.
    #[fusion(meta = specs::adjoint_from)]
    fn float_recurrence_adjoint_from(
        flow: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        results: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        dim: usize,
        reverse: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        adjoint_from_by_scan::<Self>(flow, decay, results, initial, dim, reverse)
    }

    /// As [`float_scan`](Self::float_scan), but for each segment of a line on its own. A segment starts at a line's
    /// first element, and where `starts` is true in the order of memory.
    #[fusion(dtype = tensor, shape = tensor)]
    fn float_segmented_scan(
        tensor: FloatTensor<Self>,
        starts: BoolTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self>;

    /// The same for integers.
    #[fusion(dtype = tensor, shape = tensor)]
    fn int_segmented_scan(
        tensor: IntTensor<Self>,
        starts: BoolTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> IntTensor<Self>;

    /// The running maxima along `dim`, or minima, and their positions along it. Of equal elements the last counts, and
    /// so does the last of several NaN.
    #[fusion(meta = specs::extremum)]
    fn float_extremum_with_indices(
        tensor: FloatTensor<Self>,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>);

    /// The same for integers.
    #[fusion(meta = specs::extremum)]
    fn int_extremum_with_indices(
        tensor: IntTensor<Self>,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>);

    /// At each head the sum of the values from it up to the next head along `dim`; zero elsewhere. In `reverse` a line
    /// is read from its end. The first element of a line is a head, whatever `heads` says. This is the adjoint of a
    /// running maximum.
    #[fusion(dtype = values, shape = values)]
    fn float_segment_sums(
        values: FloatTensor<Self>,
        heads: BoolTensor<Self>,
        dim: usize,
        reverse: bool,
    ) -> FloatTensor<Self> {
        segment_sums_by_index::<Self>(values, heads, dim, reverse)
    }

    /// The row-major positions of the trues, at the front of a tensor as long as the mask; and their number. What
    /// follows the positions is arbitrary.
    #[fusion(meta = specs::mask_indices)]
    fn mask_indices_unpadded(
        mask: BoolTensor<Self>,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>);

    /// The row-major positions of the trues. Reads their number back.
    #[fusion(default)]
    fn mask_indices(mask: BoolTensor<Self>, int_dtype: IntDType) -> IntTensor<Self> {
        let (indices, count) = Self::mask_indices_unpadded(mask, int_dtype);
        Self::int_slice(indices, &[first(read_count::<Self>(count))])
    }

    /// The coordinates of the trues, one row each, in row-major order. Reads their number back.
    #[fusion(default)]
    fn mask_argwhere(mask: BoolTensor<Self>, int_dtype: IntDType) -> IntTensor<Self> {
        let shape = mask.shape();
        coordinates::<Self>(Self::mask_indices(mask, int_dtype), &shape, int_dtype)
    }

    /// The number of trues, in one element.
    #[fusion(default)]
    fn mask_count(mask: BoolTensor<Self>, int_dtype: IntDType) -> IntTensor<Self> {
        Self::int_sum(Self::bool_into_int(mask, int_dtype))
    }

    /// The segment of each of `len` elements. The offsets say where segments start and where the last one ends; after
    /// that the result is the number of segments. Bad offsets give bad results and do no other harm.
    #[fusion(meta = specs::segment_ids)]
    fn segment_ids(offsets: IntTensor<Self>, len: usize) -> IntTensor<Self>;

    /// For each of `len` elements whether a segment starts there, or the last segment ends before it.
    #[fusion(meta = specs::segment_starts)]
    fn segment_starts(
        offsets: IntTensor<Self>,
        len: usize,
        bool_dtype: BoolDType,
    ) -> BoolTensor<Self>;

    /// The total of each segment along the first dimension; the identity for an empty segment. The offsets say where
    /// segments start and where the last one ends.
    #[fusion(meta = specs::segment_reduce)]
    fn float_segment_reduce(
        values: FloatTensor<Self>,
        offsets: IntTensor<Self>,
        op: ScanOp,
    ) -> FloatTensor<Self>;

    /// The same for integers.
    #[fusion(meta = specs::segment_reduce)]
    fn int_segment_reduce(
        values: IntTensor<Self>,
        offsets: IntTensor<Self>,
        op: ScanOp,
    ) -> IntTensor<Self>;

    /// For each key its destination in a stable grouping by `0..num_keys`, −1 for a key out of range; and the offset at
    /// which each group starts. The last offset is the number of keys in range.
    #[fusion(meta = specs::partition_ranks)]
    fn partition_ranks(
        keys: IntTensor<Self>,
        num_keys: usize,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>);
}
