//! Compaction of values and of positions under a mask.

use super::{accept, empty_like, typed};
use burn::backend::TensorMetadata;
use burn::backend::ops::{BoolTensorOps, IntTensorOps};
use burn::tensor::IntDType;
use burn_backend::cubecl::dtype_to_storage_type;
use burn_cubecl::CubeBackend;
use burn_cubecl::tensor::CubeTensor;
use cubecl_scan::compact::{self, Emit};
use cubecl_scan::scan::LaunchOptions;

/// Compacts `mask` into `output` and returns the count.
pub(super) fn compact_into(
    values: Option<CubeTensor>,
    mask: CubeTensor,
    output: &CubeTensor,
    int_dtype: IntDType,
    emit: Emit,
) -> CubeTensor {
    let count = empty_like(&mask, [1].into(), int_dtype.into());
    let client = mask.client.clone();
    let launched = compact::compact(
        &client,
        values.map(typed),
        typed(mask),
        output.clone().binding(),
        count.clone().binding(),
        dtype_to_storage_type(int_dtype.into()),
        emit,
        LaunchOptions::default(),
    );
    accept("Compact", launched);
    count
}

fn emit_indices(mask: CubeTensor, int_dtype: IntDType, emit: Emit) -> (CubeTensor, CubeTensor) {
    let output = empty_like(
        &mask,
        [mask.shape().num_elements()].into(),
        int_dtype.into(),
    );
    let count = compact_into(None, mask, &output, int_dtype, emit);
    (output, count)
}

pub(super) fn mask_indices_unpadded(
    mask: CubeTensor,
    int_dtype: IntDType,
) -> (CubeTensor, CubeTensor) {
    emit_indices(mask, int_dtype, Emit::IndicesUnpadded)
}

pub(super) fn mask_count(mask: CubeTensor, int_dtype: IntDType) -> CubeTensor {
    CubeBackend::int_sum(CubeBackend::bool_into_int(mask, int_dtype))
}

/// The rank of each true among the trues, −1 for each false, and the number of trues.
pub(super) fn mask_destinations(mask: CubeTensor, int_dtype: IntDType) -> (CubeTensor, CubeTensor) {
    emit_indices(mask, int_dtype, Emit::Destinations)
}
