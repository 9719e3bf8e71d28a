//! Gradients, each a hand-written adjoint.
//!
//! | forward | gradient of the input | state |
//! |---|---|---|
//! | sum scan | the same scan in the other direction | none |
//! | product scan | see [`prod`] | the input |
//! | max, min scan | each gradient goes to the element that set the result | the input |
//! | log-sum-exp scan | see [`log_sum_exp`] | the input |
//! | segmented scan | as above, of each segment | as above, and where segments begin |
//! | maxima, minima with positions | each gradient goes to the position | the positions |
//! | scan from a value | of sums as above, and their total; else that of a scan of all that is seen | |
//! | linear recurrence | see [`recurrence`] | decays, results, initial values |
//! | compact | expand by the same mask | the mask |
//! | expand | compact by the same mask | the mask |
//! | partition (scatter to destinations) | gather from the same destinations | the destinations |
//! | compact lines | each survivor's from its place in the line | the mask |
//! | repeat rows | sums of the segments that they became | the offsets |
//! | run lengths | that of a run goes to its first element | the lengths |
//! | segment reduction | see [`segments`] | the input, where segments begin, the result |
//!
//! Inputs that are not tracked cost nothing but the forward operation.

mod extrema;
mod log_sum_exp;
mod prod;
mod recurrence;
mod scans;
mod segments;
mod selections;
#[cfg(all(test, feature = "flex"))]
mod tests;

use crate::ops::{BoolSelectionOps, IntSelectionOps, ScanBackend, ScanOps};
use crate::{ScanOp, ScanOptions};
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::tensor::{BoolDType, IntDType};
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use scans::Scan;

impl<B: ScanBackend, C: CheckpointStrategy> ScanOps for Autodiff<B, C> {
    fn float_scan(
        tensor: FloatTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self> {
        scans::scan::<B, C>(tensor, Scan::whole(dim, op, options))
    }

    fn int_scan(
        tensor: IntTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> IntTensor<Self> {
        B::int_scan(tensor, dim, op, options)
    }

    fn float_scan_from(
        tensor: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self> {
        scans::scan_from::<B, C>(tensor, initial, Scan::whole(dim, op, options))
    }

    fn int_scan_from(
        tensor: IntTensor<Self>,
        initial: IntTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> IntTensor<Self> {
        B::int_scan_from(tensor, initial, dim, op, options)
    }

    fn float_segmented_scan(
        tensor: FloatTensor<Self>,
        starts: BoolTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self> {
        let scan = Scan {
            starts: Some(starts),
            ..Scan::whole(dim, op, options)
        };
        scans::scan::<B, C>(tensor, scan)
    }

    fn int_segmented_scan(
        tensor: IntTensor<Self>,
        starts: BoolTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> IntTensor<Self> {
        B::int_segmented_scan(tensor, starts, dim, op, options)
    }

    fn float_extremum_with_indices(
        tensor: FloatTensor<Self>,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>) {
        scans::extremum_with_indices::<B, C>(tensor, dim, is_max, int_dtype)
    }

    fn int_extremum_with_indices(
        tensor: IntTensor<Self>,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>) {
        B::int_extremum_with_indices(tensor, dim, is_max, int_dtype)
    }

    fn float_linear_recurrence(
        values: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        dim: usize,
        reverse: bool,
    ) -> FloatTensor<Self> {
        recurrence::linear_recurrence::<B, C>(values, decay, dim, reverse)
    }

    fn float_linear_recurrence_from(
        values: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        dim: usize,
        reverse: bool,
    ) -> FloatTensor<Self> {
        recurrence::linear_recurrence_from::<B, C>(values, decay, initial, dim, reverse)
    }

    fn mask_indices_unpadded(
        mask: BoolTensor<Self>,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>) {
        B::mask_indices_unpadded(mask, int_dtype)
    }

    fn mask_indices(mask: BoolTensor<Self>, int_dtype: IntDType) -> IntTensor<Self> {
        B::mask_indices(mask, int_dtype)
    }

    fn mask_argwhere(mask: BoolTensor<Self>, int_dtype: IntDType) -> IntTensor<Self> {
        B::mask_argwhere(mask, int_dtype)
    }

    fn segment_ids(offsets: IntTensor<Self>, len: usize) -> IntTensor<Self> {
        B::segment_ids(offsets, len)
    }

    fn segment_starts(
        offsets: IntTensor<Self>,
        len: usize,
        bool_dtype: BoolDType,
    ) -> BoolTensor<Self> {
        B::segment_starts(offsets, len, bool_dtype)
    }

    fn float_segment_reduce(
        values: FloatTensor<Self>,
        offsets: IntTensor<Self>,
        op: ScanOp,
    ) -> FloatTensor<Self> {
        segments::segment_reduce::<B, C>(values, offsets, op)
    }

    fn int_segment_reduce(
        values: IntTensor<Self>,
        offsets: IntTensor<Self>,
        op: ScanOp,
    ) -> IntTensor<Self> {
        B::int_segment_reduce(values, offsets, op)
    }

    fn partition_ranks(
        keys: IntTensor<Self>,
        num_keys: usize,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>) {
        B::partition_ranks(keys, num_keys, int_dtype)
    }
}

macro_rules! inner_selections {
    (
        $Trait:ident, $Tensor:ident, $compact_padded:ident, $compact:ident, $expand:ident, $compact_dim_padded:ident,
        $compact_dim:ident, $expand_dim:ident, $scatter:ident, $gather:ident, $compact_along:ident,
        $repeat_rows:ident, $run_lengths_padded:ident, $run_lengths:ident
    ) => {
        impl<B: ScanBackend, C: CheckpointStrategy> $Trait for Autodiff<B, C> {
            fn $compact_padded(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                fill: bool,
                int: IntDType,
            ) -> ($Tensor<Self>, IntTensor<Self>) {
                B::$compact_padded(values, mask, fill, int)
            }

            fn $compact(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                int: IntDType,
            ) -> $Tensor<Self> {
                B::$compact(values, mask, int)
            }

            fn $expand(values: $Tensor<Self>, mask: BoolTensor<Self>) -> $Tensor<Self> {
                B::$expand(values, mask)
            }

            fn $compact_dim_padded(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                dim: usize,
                int: IntDType,
            ) -> ($Tensor<Self>, IntTensor<Self>) {
                B::$compact_dim_padded(values, mask, dim, int)
            }

            fn $compact_dim(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                dim: usize,
                int: IntDType,
            ) -> $Tensor<Self> {
                B::$compact_dim(values, mask, dim, int)
            }

            fn $expand_dim(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                dim: usize,
            ) -> $Tensor<Self> {
                B::$expand_dim(values, mask, dim)
            }

            fn $compact_along(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                dim: usize,
                int: IntDType,
            ) -> ($Tensor<Self>, IntTensor<Self>) {
                B::$compact_along(values, mask, dim, int)
            }

            fn $repeat_rows(
                values: $Tensor<Self>,
                offsets: IntTensor<Self>,
                total: usize,
            ) -> $Tensor<Self> {
                B::$repeat_rows(values, offsets, total)
            }

            fn $run_lengths_padded(
                values: $Tensor<Self>,
                fill: bool,
                int: IntDType,
            ) -> ($Tensor<Self>, IntTensor<Self>, IntTensor<Self>) {
                B::$run_lengths_padded(values, fill, int)
            }

            fn $run_lengths(
                values: $Tensor<Self>,
                int: IntDType,
            ) -> ($Tensor<Self>, IntTensor<Self>) {
                B::$run_lengths(values, int)
            }

            fn $scatter(
                values: $Tensor<Self>,
                destinations: IntTensor<Self>,
                offsets: IntTensor<Self>,
            ) -> $Tensor<Self> {
                B::$scatter(values, destinations, offsets)
            }

            fn $gather(
                values: $Tensor<Self>,
                destinations: IntTensor<Self>,
                offsets: IntTensor<Self>,
            ) -> $Tensor<Self> {
                B::$gather(values, destinations, offsets)
            }
        }
    };
}

inner_selections!(
    IntSelectionOps,
    IntTensor,
    int_compact_padded,
    int_compact,
    int_expand_by_mask,
    int_compact_dim_padded,
    int_compact_dim,
    int_expand_dim,
    int_scatter_to,
    int_gather_from,
    int_compact_along,
    int_repeat_rows,
    int_run_lengths_padded,
    int_run_lengths
);
inner_selections!(
    BoolSelectionOps,
    BoolTensor,
    bool_compact_padded,
    bool_compact,
    bool_expand_by_mask,
    bool_compact_dim_padded,
    bool_compact_dim,
    bool_expand_dim,
    bool_scatter_to,
    bool_gather_from,
    bool_compact_along,
    bool_repeat_rows,
    bool_run_lengths_padded,
    bool_run_lengths
);
