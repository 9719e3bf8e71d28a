//! CubeCL runtimes: every operation on the kernels of `cubecl-scan`, without leaving the device.

mod masks;
mod permutations;
mod scans;
mod segments;
mod selections;
mod sort;

#[cfg(feature = "fusion")]
pub(crate) use scans::{launch_options, scan};

use crate::check::fail;
use crate::ops::ScanOps;
use crate::ops::rows::functions_of;
use crate::ops::scans::scan_operations;
use crate::{ScanOp, ScanOptions};
use burn::tensor::{BoolDType, DType, IntDType, Shape};
use burn_backend::cubecl::dtype_to_storage_type;
use burn_cubecl::CubeBackend;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::TensorBinding;
use cubecl_scan::ScanError;
use {masks::*, permutations::*, scans::*, segments::*};

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

scan_operations! { functions_of(CubeTensor, CubeTensor, CubeTensor) CubeBackend queued }
