//! The selections, by the keys of their rows in [`ops::selections`](crate::ops::selections).

use super::masks::{compact_into, mask_destinations};
use super::permutations::{gather, partition, scatter};
use super::segments::repeat_rows;
use super::{accept, empty_like, typed};
use crate::ops::rows::functions_of;
use crate::ops::selections::for_each_kind;
use crate::ops::{BoolSelectionOps, FloatSelectionOps, IntSelectionOps, MOST_KEPT, with_dim};
use burn::backend::TensorMetadata;
use burn::tensor::IntDType;
use burn_backend::cubecl::dtype_to_storage_type;
use burn_cubecl::CubeBackend;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use burn_std::Metadata;
use cubecl_scan::compact::{self, Emit};
use cubecl_scan::scan::LaunchOptions;

for_each_kind! { functions_of(CubeTensor, CubeTensor, CubeTensor) CubeBackend queued }

fn compact_padded(
    values: CubeTensor,
    mask: CubeTensor,
    fill: bool,
    int_dtype: IntDType,
) -> (CubeTensor, CubeTensor) {
    let output = empty_like(
        &values,
        [values.shape().num_elements()].into(),
        values.dtype,
    );
    let count = compact_into(Some(values), mask, &output, int_dtype, emit(fill));
    (output, count)
}

/// The slots after the values are zeros if `fill`, else arbitrary.
fn emit(fill: bool) -> Emit {
    if fill {
        Emit::Values
    } else {
        Emit::ValuesUnpadded
    }
}

/// The first values: a view if they are a fair part of the buffer, else a copy.
///
/// Burn's own slice copies unless the end is aligned. A copy of half of 2^22 values took 10 ms on lavapipe, as long as
/// the compaction itself.
fn front(values: CubeTensor, count: usize) -> CubeTensor {
    if count == 0 {
        return empty_like(&values, [0].into(), values.dtype);
    }
    let len = values.shape().num_elements();
    let unused = ((len - count) * values.dtype.size()) as u64;
    let alignment = values.client.properties().memory.alignment;
    if MOST_KEPT * count < len || !values.is_contiguous() {
        let front = burn_cubecl::kernel::slice(values, std::slice::from_ref(&(0..count)));
        // Where its end is aligned, the slice is a view, too.
        return if unused.is_multiple_of(alignment) {
            front.copy()
        } else {
            front
        };
    }
    let handle = values.handle.offset_end(unused - unused % alignment);
    let metadata = Metadata::new([count], [1usize]);
    CubeTensor::new(values.client, handle, metadata, values.device, values.dtype)
}

fn expand_by_mask(values: CubeTensor, mask: CubeTensor) -> CubeTensor {
    let values = into_contiguous(values);
    let output = empty_like(&values, mask.shape(), values.dtype);
    let client = values.client.clone();
    let (values, dtype) = typed(values);
    let launched = compact::expand(
        &client,
        values,
        typed(mask),
        output.clone().binding(),
        dtype,
        LaunchOptions::default(),
    );
    accept("Expand By Mask", launched);
    output
}

fn compact_dim_padded(
    values: CubeTensor,
    mask: CubeTensor,
    dim: usize,
    int_dtype: IntDType,
) -> (CubeTensor, CubeTensor) {
    let (destinations, count) = mask_destinations(mask, int_dtype);
    let output = scatter(values, destinations, count.clone(), dim);
    (output, count)
}

/// The type of destinations that no caller sees. `check::countable` ensures that they fit.
const DESTINATION: IntDType = IntDType::I32;

fn expand_dim(values: CubeTensor, mask: CubeTensor, dim: usize) -> CubeTensor {
    let shape = with_dim(&values.shape(), dim, mask.shape()[0]);
    let (destinations, _) = mask_destinations(mask, DESTINATION);
    gather(values, destinations, dim, shape)
}

fn compact_along(
    values: CubeTensor,
    mask: CubeTensor,
    dim: usize,
    int_dtype: IntDType,
) -> (CubeTensor, CubeTensor) {
    let shape = values.shape();
    let output = empty_like(&values, shape.clone(), values.dtype);
    let counts = empty_like(&values, with_dim(&shape, dim, 1), int_dtype.into());
    let client = values.client.clone();
    let launched = compact::compact_lines(
        &client,
        typed(values),
        typed(mask),
        output.clone().binding(),
        counts.clone().binding(),
        dim,
        dtype_to_storage_type(int_dtype.into()),
        LaunchOptions::default(),
    );
    accept("Compact Along By Mask", launched);
    (output, counts)
}

fn run_lengths_padded(
    values: CubeTensor,
    fill: bool,
    int_dtype: IntDType,
) -> (CubeTensor, CubeTensor, CubeTensor) {
    let shape = values.shape();
    let output = empty_like(&values, shape.clone(), values.dtype);
    let lengths = empty_like(&values, shape, int_dtype.into());
    let count = empty_like(&values, [1].into(), int_dtype.into());
    let client = values.client.clone();
    let launched = compact::run_lengths(
        &client,
        typed(values),
        output.clone().binding(),
        lengths.clone().binding(),
        count.clone().binding(),
        dtype_to_storage_type(int_dtype.into()),
        emit(fill),
        LaunchOptions::default(),
    );
    accept("Run Length Encode", launched);
    (output, lengths, count)
}

fn scatter_to(values: CubeTensor, destinations: CubeTensor, offsets: CubeTensor) -> CubeTensor {
    scatter(values, destinations, offsets, 0)
}

fn gather_from(values: CubeTensor, destinations: CubeTensor, _offsets: CubeTensor) -> CubeTensor {
    let shape = values.shape();
    gather(values, destinations, 0, shape)
}
