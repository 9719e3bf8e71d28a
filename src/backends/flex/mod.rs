//! The CPU backend: tensors as slices for the CPU engine.

mod cache;
mod cached_bytes;
mod dtypes;
mod masks;
mod scans;
mod segments;
mod selections;
mod slices;
mod sort;

pub use cache::{free_kept_memory, set_cache_limit};

use crate::ops::ScanOps;
use crate::{ScanOp, ScanOptions};
use burn::tensor::{BoolDType, IntDType};
use burn_flex::{Flex, FlexTensor};

impl ScanOps for Flex {
    fn float_scan(tensor: FlexTensor, dim: usize, op: ScanOp, options: ScanOptions) -> FlexTensor {
        scans::scan(tensor, dim, op, options)
    }

    fn int_scan(tensor: FlexTensor, dim: usize, op: ScanOp, options: ScanOptions) -> FlexTensor {
        scans::scan(tensor, dim, op, options)
    }

    fn float_linear_recurrence(
        values: FlexTensor,
        decay: FlexTensor,
        dim: usize,
        options: ScanOptions,
    ) -> FlexTensor {
        scans::recurrence::<false>(values, decay, None, dim, options)
    }

    fn float_linear_recurrence_from(
        values: FlexTensor,
        decay: FlexTensor,
        initial: FlexTensor,
        dim: usize,
        options: ScanOptions,
    ) -> FlexTensor {
        scans::recurrence::<false>(values, decay, Some(initial), dim, options)
    }

    fn float_reset_recurrence(
        values: FlexTensor,
        decay: FlexTensor,
        dim: usize,
        options: ScanOptions,
    ) -> FlexTensor {
        scans::recurrence::<true>(values, decay, None, dim, options)
    }

    fn float_recurrence_adjoint(
        flow: FlexTensor,
        decay: FlexTensor,
        results: FlexTensor,
        dim: usize,
        reverse: bool,
    ) -> (FlexTensor, FlexTensor) {
        let [of_values, of_decay, _] =
            scans::recurrence_adjoint(flow, decay, results, None, dim, reverse);
        (of_values, of_decay)
    }

    fn float_recurrence_adjoint_from(
        flow: FlexTensor,
        decay: FlexTensor,
        results: FlexTensor,
        initial: FlexTensor,
        dim: usize,
        reverse: bool,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        scans::recurrence_adjoint(flow, decay, results, Some(initial), dim, reverse).into()
    }

    fn float_segmented_scan(
        tensor: FlexTensor,
        starts: FlexTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FlexTensor {
        scans::segmented_scan(tensor, starts, dim, op, options)
    }

    fn int_segmented_scan(
        tensor: FlexTensor,
        starts: FlexTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FlexTensor {
        scans::segmented_scan(tensor, starts, dim, op, options)
    }

    fn float_extremum_with_indices(
        tensor: FlexTensor,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (FlexTensor, FlexTensor) {
        scans::extremum_with_indices(tensor, dim, is_max, int_dtype)
    }

    fn int_extremum_with_indices(
        tensor: FlexTensor,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (FlexTensor, FlexTensor) {
        scans::extremum_with_indices(tensor, dim, is_max, int_dtype)
    }

    fn float_segment_sums(
        values: FlexTensor,
        heads: FlexTensor,
        dim: usize,
        reverse: bool,
    ) -> FlexTensor {
        segments::segment_sums(values, heads, dim, reverse)
    }

    fn mask_indices_unpadded(mask: FlexTensor, int: IntDType) -> (FlexTensor, FlexTensor) {
        masks::mask_indices_unpadded(mask, int)
    }

    fn mask_indices(mask: FlexTensor, int: IntDType) -> FlexTensor {
        masks::mask_indices(mask, int)
    }

    fn mask_argwhere(mask: FlexTensor, int: IntDType) -> FlexTensor {
        masks::mask_argwhere(mask, int)
    }

    fn mask_count(mask: FlexTensor, int: IntDType) -> FlexTensor {
        masks::mask_count(mask, int)
    }

    fn segment_ids(offsets: FlexTensor, len: usize) -> FlexTensor {
        segments::segment_ids(offsets, len)
    }

    fn segment_starts(offsets: FlexTensor, len: usize, bool_dtype: BoolDType) -> FlexTensor {
        segments::segment_starts(offsets, len, bool_dtype)
    }

    fn float_segment_reduce(values: FlexTensor, offsets: FlexTensor, op: ScanOp) -> FlexTensor {
        segments::segment_reduce(values, offsets, op)
    }

    fn int_segment_reduce(values: FlexTensor, offsets: FlexTensor, op: ScanOp) -> FlexTensor {
        segments::segment_reduce(values, offsets, op)
    }

    fn partition_ranks(
        keys: FlexTensor,
        num_keys: usize,
        int: IntDType,
    ) -> (FlexTensor, FlexTensor) {
        masks::partition_ranks(keys, num_keys, int)
    }
}
