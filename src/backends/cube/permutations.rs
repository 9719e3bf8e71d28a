//! Slices that go to destinations or come from them, and the destinations of keys.

use super::{accept, empty_like, typed};
use burn::backend::TensorMetadata;
use burn::tensor::{IntDType, Shape};
use burn_backend::cubecl::dtype_to_storage_type;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use cubecl_scan::compact::{self, PermutationShape};
use cubecl_scan::scan::LaunchOptions;

fn permutation_shape(
    shape: &Shape,
    dim: usize,
    slices: usize,
    destinations: usize,
) -> PermutationShape {
    PermutationShape {
        outer: shape[..dim].iter().product(),
        slices,
        destinations,
        inner: shape[dim + 1..].iter().product(),
    }
}

/// `output[o, destinations[s], i] = values[o, s, i]`, zero after the destinations. The last of `taken` is their number.
pub(super) fn scatter(
    values: CubeTensor,
    destinations: CubeTensor,
    taken: CubeTensor,
    dim: usize,
) -> CubeTensor {
    let values = into_contiguous(values);
    let shape = values.shape();
    let output = empty_like(&values, shape.clone(), values.dtype);
    let client = values.client.clone();
    let (values, dtype) = typed(values);
    let launched = compact::scatter_ranks(
        &client,
        values,
        typed(into_contiguous(destinations)),
        into_contiguous(taken).binding(),
        output.clone().binding(),
        dtype,
        permutation_shape(&shape, dim, shape[dim], shape[dim]),
    );
    accept("Move Slices", launched);
    output
}

/// `output[o, s, i] = values[o, destinations[s], i]`, zero where there is no destination; shaped `shape`.
pub(super) fn gather(
    values: CubeTensor,
    destinations: CubeTensor,
    dim: usize,
    shape: Shape,
) -> CubeTensor {
    let values = into_contiguous(values);
    let from = values.shape();
    let output = empty_like(&values, shape, values.dtype);
    let client = values.client.clone();
    let slices = destinations.shape().num_elements();
    let (values, dtype) = typed(values);
    let launched = compact::gather(
        &client,
        values,
        typed(into_contiguous(destinations)),
        output.clone().binding(),
        dtype,
        permutation_shape(&from, dim, slices, from[dim]),
    );
    accept("Move Slices", launched);
    output
}

/// The destination of each key, and the offset at which each group starts.
pub(super) fn partition_ranks(
    keys: CubeTensor,
    num_keys: usize,
    int_dtype: IntDType,
) -> (CubeTensor, CubeTensor) {
    let keys = into_contiguous(keys);
    let destinations = empty_like(&keys, keys.shape(), int_dtype.into());
    let offsets = empty_like(&keys, [num_keys + 1].into(), int_dtype.into());
    let client = keys.client.clone();
    let launched = compact::partition_ranks(
        &client,
        typed(keys),
        destinations.clone().binding(),
        offsets.clone().binding(),
        num_keys,
        dtype_to_storage_type(int_dtype.into()),
        LaunchOptions::default(),
    );
    accept("Partition By Key", launched);
    (destinations, offsets)
}

/// Values grouped by their keys, and the offset at which each group starts.
pub(super) fn partition(
    values: CubeTensor,
    keys: CubeTensor,
    num_keys: usize,
    int_dtype: IntDType,
) -> (CubeTensor, CubeTensor) {
    let (values, keys) = (into_contiguous(values), into_contiguous(keys));
    let grouped = empty_like(&values, values.shape(), values.dtype);
    let offsets = empty_like(&keys, [num_keys + 1].into(), int_dtype.into());
    let client = keys.client.clone();
    let launched = compact::partition(
        &client,
        typed(keys),
        typed(values),
        grouped.clone().binding(),
        typed(offsets.clone()),
        num_keys,
        LaunchOptions::default(),
    );
    accept("Partition By Key", launched);
    (grouped, offsets)
}
