//! CubeCL runtimes: every operation on the kernels of `cubecl-scan`, without leaving the device.

mod masks;
mod permutations;
mod scans;
mod segments;
mod selections;
pub(crate) mod sort;

#[cfg(feature = "fusion")]
pub(crate) use scans::{kernel_op, launch_options, scan};

use crate::check::fail;
use crate::ops::ScanOps;
use crate::{ScanOp, ScanOptions};
use burn::tensor::{BoolDType, DType, IntDType, Shape};
use burn_backend::cubecl::dtype_to_storage_type;
use burn_cubecl::CubeBackend;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::TensorBinding;
use cubecl_scan::ScanError;
use cubecl_scan::compact::Emit;

fn empty_like(like: &CubeTensor, shape: Shape, dtype: DType) -> CubeTensor {
    empty_device_contiguous_dtype(like.client.clone(), like.device.clone(), shape, dtype)
}

/// A kernel argument and its element type.
fn typed(tensor: CubeTensor) -> (TensorBinding, cubecl::ir::ElemType) {
    let dtype = dtype_to_storage_type(tensor.dtype);
    (tensor.binding(), dtype)
}

/// Panics if the kernels refused. The tensor layer has checked everything that needs no device. Reasons that remain:
/// the device does not hold a type, or its tiles cannot look back.
fn accept(operation: &str, result: Result<(), ScanError>) {
    if let Err(error) = result {
        fail(operation, &error.to_string());
    }
}

impl ScanOps for CubeBackend {
    fn float_scan(tensor: CubeTensor, dim: usize, op: ScanOp, options: ScanOptions) -> CubeTensor {
        scans::scan(tensor, None, dim, op, options)
    }

    fn int_scan(tensor: CubeTensor, dim: usize, op: ScanOp, options: ScanOptions) -> CubeTensor {
        scans::scan(tensor, None, dim, op, options)
    }

    fn float_scan_from(
        tensor: CubeTensor,
        initial: CubeTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> CubeTensor {
        scans::scan(tensor, Some(initial), dim, op, options)
    }

    fn int_scan_from(
        tensor: CubeTensor,
        initial: CubeTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> CubeTensor {
        scans::scan(tensor, Some(initial), dim, op, options)
    }

    fn float_linear_recurrence(
        values: CubeTensor,
        decay: CubeTensor,
        dim: usize,
        options: ScanOptions,
    ) -> CubeTensor {
        scans::linear_recurrence(values, decay, None, dim, options)
    }

    fn float_linear_recurrence_from(
        values: CubeTensor,
        decay: CubeTensor,
        initial: CubeTensor,
        dim: usize,
        options: ScanOptions,
    ) -> CubeTensor {
        scans::linear_recurrence(values, decay, Some(initial), dim, options)
    }

    fn float_reset_recurrence(
        values: CubeTensor,
        decay: CubeTensor,
        dim: usize,
        options: ScanOptions,
    ) -> CubeTensor {
        scans::reset_recurrence(values, decay, dim, options)
    }

    fn float_recurrence_adjoint(
        flow: CubeTensor,
        decay: CubeTensor,
        results: CubeTensor,
        dim: usize,
        reverse: bool,
    ) -> (CubeTensor, CubeTensor) {
        let (of_values, of_decay, _) = scans::adjoint(flow, decay, results, None, dim, reverse);
        (of_values, of_decay)
    }

    fn float_recurrence_adjoint_from(
        flow: CubeTensor,
        decay: CubeTensor,
        results: CubeTensor,
        initial: CubeTensor,
        dim: usize,
        reverse: bool,
    ) -> (CubeTensor, CubeTensor, CubeTensor) {
        let initial = Some(initial);
        let (of_values, of_decay, of_initial) =
            scans::adjoint(flow, decay, results, initial, dim, reverse);
        (
            of_values,
            of_decay,
            of_initial.expect("there is an initial value"),
        )
    }

    fn float_segmented_scan(
        tensor: CubeTensor,
        starts: CubeTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> CubeTensor {
        scans::segmented_scan(tensor, starts, dim, op, options)
    }

    fn int_segmented_scan(
        tensor: CubeTensor,
        starts: CubeTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> CubeTensor {
        scans::segmented_scan(tensor, starts, dim, op, options)
    }

    fn float_extremum_with_indices(
        tensor: CubeTensor,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (CubeTensor, CubeTensor) {
        scans::extremum_with_indices(tensor, dim, is_max, int_dtype)
    }

    fn int_extremum_with_indices(
        tensor: CubeTensor,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (CubeTensor, CubeTensor) {
        scans::extremum_with_indices(tensor, dim, is_max, int_dtype)
    }

    fn float_segment_sums(
        values: CubeTensor,
        heads: CubeTensor,
        dim: usize,
        reverse: bool,
    ) -> CubeTensor {
        segments::segment_sums(values, heads, dim, reverse)
    }

    fn mask_indices_unpadded(mask: CubeTensor, int_dtype: IntDType) -> (CubeTensor, CubeTensor) {
        masks::emit_indices(mask, int_dtype, Emit::IndicesUnpadded)
    }

    fn segment_ids(offsets: CubeTensor, len: usize) -> CubeTensor {
        segments::segment_ids(offsets, len)
    }

    fn segment_starts(offsets: CubeTensor, len: usize, bool_dtype: BoolDType) -> CubeTensor {
        segments::segment_starts(offsets, len, bool_dtype)
    }

    fn float_segment_reduce(values: CubeTensor, offsets: CubeTensor, op: ScanOp) -> CubeTensor {
        segments::segment_reduce(values, offsets, op)
    }

    fn int_segment_reduce(values: CubeTensor, offsets: CubeTensor, op: ScanOp) -> CubeTensor {
        segments::segment_reduce(values, offsets, op)
    }

    fn partition_ranks(
        keys: CubeTensor,
        num_keys: usize,
        int_dtype: IntDType,
    ) -> (CubeTensor, CubeTensor) {
        permutations::partition_ranks(keys, num_keys, int_dtype)
    }
}
