//! Shapes and dtypes of results, where they differ from an input's. Fusion and the client of the remote backend need
//! them before anything runs.
//!
//! A function takes the arguments of its operation.

use super::with_dim;
use crate::{ScanOp, SortOrder};
use burn::backend::fusion::custom::TensorSpec;
use burn::tensor::{BoolDType, IntDType, Shape};

pub(crate) fn adjoint(
    flow: &TensorSpec,
    _decay: &TensorSpec,
    _results: &TensorSpec,
    _dim: &usize,
    _reverse: &bool,
) -> (TensorSpec, TensorSpec) {
    (flow.clone(), flow.clone())
}

pub(crate) fn adjoint_from(
    flow: &TensorSpec,
    _decay: &TensorSpec,
    _results: &TensorSpec,
    initial: &TensorSpec,
    _dim: &usize,
    _reverse: &bool,
) -> (TensorSpec, TensorSpec, TensorSpec) {
    (flow.clone(), flow.clone(), initial.clone())
}

pub(crate) fn extremum(
    tensor: &TensorSpec,
    _dim: &usize,
    _is_max: &bool,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    let positions = TensorSpec::new(tensor.shape.clone(), (*int_dtype).into());
    (tensor.clone(), positions)
}

pub(crate) fn mask_indices(mask: &TensorSpec, int_dtype: &IntDType) -> (TensorSpec, TensorSpec) {
    let n = mask.shape.num_elements();
    let spec = |n: usize| TensorSpec::new([n].into(), (*int_dtype).into());
    (spec(n), spec(1))
}

#[cfg(feature = "remote")]
pub(crate) fn mask_count(_mask: &TensorSpec, int_dtype: &IntDType) -> TensorSpec {
    TensorSpec::new([1].into(), (*int_dtype).into())
}

pub(crate) fn partition_ranks(
    keys: &TensorSpec,
    num_keys: &usize,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    let spec = |n: usize| TensorSpec::new([n].into(), (*int_dtype).into());
    (spec(keys.shape.num_elements()), spec(num_keys + 1))
}

pub(crate) fn partition(
    values: &TensorSpec,
    keys: &TensorSpec,
    num_keys: &usize,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    let (_, offsets) = partition_ranks(keys, num_keys, int_dtype);
    (values.clone(), offsets)
}

pub(crate) fn segment_ids(offsets: &TensorSpec, len: &usize) -> TensorSpec {
    TensorSpec::new([*len].into(), offsets.dtype)
}

pub(crate) fn segment_starts(
    _offsets: &TensorSpec,
    len: &usize,
    bool_dtype: &BoolDType,
) -> TensorSpec {
    TensorSpec::new([*len].into(), (*bool_dtype).into())
}

pub(crate) fn segment_reduce(
    values: &TensorSpec,
    offsets: &TensorSpec,
    _op: &ScanOp,
) -> TensorSpec {
    TensorSpec::new(
        with_dim(&values.shape, 0, offsets.shape[0] - 1),
        values.dtype,
    )
}

pub(crate) fn compact_padded(
    values: &TensorSpec,
    _mask: &TensorSpec,
    _fill: &bool,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    let flat = [values.shape.num_elements()].into();
    (
        TensorSpec::new(flat, values.dtype),
        TensorSpec::new([1].into(), (*int_dtype).into()),
    )
}

pub(crate) fn front(values: &TensorSpec, count: &usize) -> TensorSpec {
    TensorSpec::new([*count].into(), values.dtype)
}

pub(crate) fn expand_by_mask(values: &TensorSpec, mask: &TensorSpec) -> TensorSpec {
    TensorSpec::new(mask.shape.clone(), values.dtype)
}

pub(crate) fn compact_dim_padded(
    values: &TensorSpec,
    _mask: &TensorSpec,
    _dim: &usize,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    (
        values.clone(),
        TensorSpec::new([1].into(), (*int_dtype).into()),
    )
}

pub(crate) fn expand_dim(values: &TensorSpec, mask: &TensorSpec, dim: &usize) -> TensorSpec {
    TensorSpec::new(with_dim(&values.shape, *dim, mask.shape[0]), values.dtype)
}

pub(crate) fn compact_along(
    values: &TensorSpec,
    _mask: &TensorSpec,
    dim: &usize,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    let counts = TensorSpec::new(with_dim(&values.shape, *dim, 1), (*int_dtype).into());
    (values.clone(), counts)
}

pub(crate) fn repeat_rows(values: &TensorSpec, _offsets: &TensorSpec, total: &usize) -> TensorSpec {
    TensorSpec::new(with_dim(&values.shape, 0, *total), values.dtype)
}

pub(crate) fn run_lengths_padded(
    values: &TensorSpec,
    _fill: &bool,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec, TensorSpec) {
    let int = |shape: Shape| TensorSpec::new(shape, (*int_dtype).into());
    (values.clone(), int(values.shape.clone()), int([1].into()))
}

pub(crate) fn radix_argsort(
    tensor: &TensorSpec,
    _dim: &usize,
    _order: &SortOrder,
    int_dtype: &IntDType,
) -> TensorSpec {
    TensorSpec::new(tensor.shape.clone(), (*int_dtype).into())
}

pub(crate) fn radix_sort_with_indices(
    tensor: &TensorSpec,
    dim: &usize,
    order: &SortOrder,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    (tensor.clone(), radix_argsort(tensor, dim, order, int_dtype))
}

pub(crate) fn radix_topk(
    tensor: &TensorSpec,
    k: &usize,
    dim: &usize,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    let spec = |dtype| TensorSpec::new(with_dim(&tensor.shape, *dim, *k), dtype);
    (spec(tensor.dtype), spec((*int_dtype).into()))
}

pub(crate) fn radix_sort_bits(
    keys: &TensorSpec,
    _bits: &usize,
    order: &SortOrder,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    radix_sort_with_indices(keys, &0, order, int_dtype)
}
