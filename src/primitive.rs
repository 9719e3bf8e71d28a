//! The kernels on [`CubeTensor`], for those who write kernels on Burn: no dispatch, no fusion, no graph of gradients.
//!
//! A function takes tensors of one device and returns tensors of that device. It launches at once and waits for
//! nothing. Tensors have any dtype that the device holds; strided ones are read in place or copied. Positions, offsets
//! and counts have the device's int dtype. [`cubecl_scan`] is one level below: it takes buffers of CubeCL, and knows
//! nothing about Burn.
//!
//! # Panics
//!
//! In Burn's message form: a dimension that the tensor does not have, shapes that do not fit, more elements than 31
//! bits can number, a quantized tensor, a dtype that the device does not hold.
//!
//! # Example
//!
//! ```
//! use burn_cubecl::tensor::CubeTensor;
//! use burn_scan::{SortOrder, primitive};
//!
//! /// Splats by tile, and by depth within a tile. Returns the splats, and where each one's tile begins.
//! fn binned(splats: CubeTensor, depths: CubeTensor, tiles: CubeTensor) -> (CubeTensor, CubeTensor) {
//!     let order = primitive::radix_argsort(depths, 0, SortOrder::Ascending);
//!     let splats = primitive::gather(splats, order.clone());
//!     primitive::partition_by_key(splats, primitive::gather(tiles, order), 8160)
//! }
//! ```

use crate::check::{self, fail, key_bits, largest_int, numbers};
use crate::ops::{FloatSelectionOps, ScanOps, SortOps};
use crate::{ScanOp, ScanOptions, SortOrder};
use burn::backend::TensorMetadata;
use burn::tensor::{DType, IntDType};
use burn_backend::get_or_init_device_settings;
use burn_cubecl::CubeBackend;
use burn_cubecl::tensor::CubeTensor;

/// Scans along `dim`, as [`TensorScan::scan`](crate::TensorScan::scan).
///
/// # Example
///
/// ```
/// use burn_cubecl::tensor::CubeTensor;
/// use burn_scan::{ScanOp, ScanOptions, primitive};
///
/// fn running_maximum(rows: CubeTensor) -> CubeTensor {
///     primitive::scan(rows, 1, ScanOp::Max, ScanOptions::default())
/// }
/// ```
pub fn scan(tensor: CubeTensor, dim: usize, op: ScanOp, options: ScanOptions) -> CubeTensor {
    let operation = "Scan";
    check_dimension(operation, &tensor, dim);
    if op == ScanOp::LogSumExp && !tensor.dtype.is_float() {
        fail(operation, &format!("{op:?} is for float tensors only."));
    }
    CubeBackend::float_scan(tensor, dim, op, options)
}

/// The inclusive prefix sum along `dim`.
///
/// # Example
///
/// ```
/// use burn_cubecl::tensor::CubeTensor;
/// use burn_scan::primitive;
///
/// fn cumulated_hits(hits: CubeTensor) -> CubeTensor {
///     primitive::inclusive_sum(hits, 0)
/// }
/// ```
pub fn inclusive_sum(tensor: CubeTensor, dim: usize) -> CubeTensor {
    scan(tensor, dim, ScanOp::Sum, ScanOptions::default())
}

/// The exclusive prefix sum along `dim`.
///
/// # Example
///
/// ```
/// use burn_cubecl::tensor::CubeTensor;
/// use burn_scan::primitive;
///
/// fn first_slots(lengths: CubeTensor) -> CubeTensor {
///     primitive::exclusive_sum(lengths, 0)
/// }
/// ```
pub fn exclusive_sum(tensor: CubeTensor, dim: usize) -> CubeTensor {
    scan(tensor, dim, ScanOp::Sum, ScanOptions::default().exclusive())
}

/// The elements under `true`, row-major and in order, with zeros after them up to the number of elements; and their
/// number in a tensor of one element. The mask has the shape of the values.
///
/// # Example
///
/// ```
/// use burn_cubecl::tensor::CubeTensor;
/// use burn_scan::primitive;
///
/// fn visible(splats: CubeTensor, is_visible: CubeTensor) -> (CubeTensor, CubeTensor) {
///     primitive::compact(splats, is_visible)
/// }
/// ```
pub fn compact(values: CubeTensor, mask: CubeTensor) -> (CubeTensor, CubeTensor) {
    let operation = "Compact";
    check_tensor(operation, &values);
    check_alike(operation, &values, &mask, "mask");
    if !mask.dtype.is_bool() {
        fail(operation, &format!("The mask is of {:?}.", mask.dtype));
    }
    let int = int_dtype(operation, &values, values.shape().num_elements());
    CubeBackend::float_compact_padded(values, mask, true, int)
}

/// One-dimensional values, grouped by keys in `0..num_keys`, as
/// [`TensorExpand::partition_by_key`](crate::TensorExpand::partition_by_key); and the `num_keys + 1` offsets of the
/// groups.
///
/// # Example
///
/// ```
/// use burn_cubecl::tensor::CubeTensor;
/// use burn_scan::primitive;
///
/// fn by_expert(tokens: CubeTensor, experts: CubeTensor) -> (CubeTensor, CubeTensor) {
///     primitive::partition_by_key(tokens, experts, 64)
/// }
/// ```
pub fn partition_by_key(
    values: CubeTensor,
    keys: CubeTensor,
    num_keys: usize,
) -> (CubeTensor, CubeTensor) {
    let operation = "Partition By Key";
    check_keys(operation, &values, &keys);
    let elements = values.shape().num_elements();
    check::num_keys(operation, num_keys, elements);
    let int = int_dtype(operation, &values, elements);
    CubeBackend::float_partition(values, keys, num_keys, int)
}

/// Each line along `dim` in order, as [`TensorSort::radix_sort`](crate::TensorSort::radix_sort).
///
/// # Example
///
/// ```
/// use burn_cubecl::tensor::CubeTensor;
/// use burn_scan::{SortOrder, primitive};
///
/// fn falling(rows: CubeTensor) -> CubeTensor {
///     primitive::radix_sort(rows, 1, SortOrder::Descending)
/// }
/// ```
pub fn radix_sort(keys: CubeTensor, dim: usize, order: SortOrder) -> CubeTensor {
    check_dimension("Radix Sort", &keys, dim);
    CubeBackend::float_radix_sort(keys, dim, order)
}

/// The positions of the elements of each line along `dim` in order, as
/// [`TensorSort::radix_argsort`](crate::TensorSort::radix_argsort).
///
/// # Example
///
/// ```
/// use burn_cubecl::tensor::CubeTensor;
/// use burn_scan::{SortOrder, primitive};
///
/// fn nearest_first(depths: CubeTensor) -> CubeTensor {
///     primitive::radix_argsort(depths, 0, SortOrder::Ascending)
/// }
/// ```
pub fn radix_argsort(keys: CubeTensor, dim: usize, order: SortOrder) -> CubeTensor {
    let operation = "Radix Argsort";
    check_dimension(operation, &keys, dim);
    let int = int_dtype(operation, &keys, keys.shape()[dim]);
    CubeBackend::float_radix_argsort(keys, dim, order, int)
}

/// One-dimensional values and keys, both in the order of the keys. With `bits`, only this many of the lowest bits of
/// integer keys count, as a number without a sign; fewer bits take fewer passes.
///
/// # Example
///
/// ```
/// use burn_cubecl::tensor::CubeTensor;
/// use burn_scan::{SortOrder, primitive};
///
/// fn by_tile(splats: CubeTensor, tiles: CubeTensor) -> (CubeTensor, CubeTensor) {
///     primitive::radix_sort_by_key(splats, tiles, Some(13), SortOrder::Ascending)
/// }
/// ```
pub fn radix_sort_by_key(
    values: CubeTensor,
    keys: CubeTensor,
    bits: Option<usize>,
    order: SortOrder,
) -> (CubeTensor, CubeTensor) {
    let operation = "Radix Sort By Key";
    check_keys(operation, &values, &keys);
    let (dtype, elements) = (keys.dtype, keys.shape().num_elements());
    let int = int_dtype(operation, &keys, elements);
    let (keys, positions) = match bits {
        None => CubeBackend::float_radix_sort_with_indices(keys, 0, order, int),
        Some(_) if dtype.is_float() => fail(operation, "Float keys have no `bits`."),
        Some(bits) => {
            key_bits(operation, dtype, elements, bits);
            CubeBackend::radix_sort_bits(keys, bits, order, int)
        }
    };
    (gathered(values, positions), keys)
}

/// One-dimensional values from these positions, one for each value; zero where a position is negative.
///
/// # Example
///
/// ```
/// use burn_cubecl::tensor::CubeTensor;
/// use burn_scan::{SortOrder, primitive};
///
/// /// Two payloads that follow one sort.
/// fn both(x: CubeTensor, y: CubeTensor, keys: CubeTensor) -> (CubeTensor, CubeTensor) {
///     let positions = primitive::radix_argsort(keys, 0, SortOrder::Ascending);
///     (primitive::gather(x, positions.clone()), primitive::gather(y, positions))
/// }
/// ```
pub fn gather(values: CubeTensor, positions: CubeTensor) -> CubeTensor {
    let operation = "Gather";
    check_keys(operation, &values, &positions);
    gathered(values, positions)
}

fn gathered(values: CubeTensor, positions: CubeTensor) -> CubeTensor {
    // Only the adjoint reads the number of positions.
    CubeBackend::float_gather_from(values, positions.clone(), positions)
}

/// The int dtype of the tensor's device, if it holds the positions of this many elements and their number.
#[track_caller]
fn int_dtype(operation: &str, tensor: &CubeTensor, elements: usize) -> IntDType {
    let int = get_or_init_device_settings::<CubeBackend>(&tensor.device).int_dtype;
    let who = format!("the device's int dtype {int:?}");
    numbers(operation, &who, elements, largest_int(int.into()));
    int
}

#[track_caller]
fn check_tensor(operation: &str, tensor: &CubeTensor) {
    if let DType::QFloat(_) = tensor.dtype {
        fail(operation, "The tensor is quantized. Dequantize it first.");
    }
    let elements = tensor.shape().num_elements();
    numbers(operation, "a Cube device", elements, i32::MAX as u64);
}

#[track_caller]
fn check_dimension(operation: &str, tensor: &CubeTensor, dim: usize) {
    check_tensor(operation, tensor);
    let rank = tensor.shape().num_dims();
    if dim >= rank {
        fail(
            operation,
            &format!("BoundsError: dimension {dim} out of bounds: 0..{rank}"),
        );
    }
}

/// There is one key for each of one-dimensional values.
#[track_caller]
fn check_keys(operation: &str, values: &CubeTensor, keys: &CubeTensor) {
    check_dimension(operation, values, 0);
    check_tensor(operation, keys);
    check_alike(operation, values, keys, "keys");
    if values.shape().num_dims() != 1 {
        fail(
            operation,
            &format!("The values have the shape {:?}.", values.shape().to_vec()),
        );
    }
}

/// The tensors have one shape and one device.
#[track_caller]
fn check_alike(operation: &str, tensor: &CubeTensor, other: &CubeTensor, what: &str) {
    let (shape, of_other) = (tensor.shape(), other.shape());
    if shape != of_other || tensor.device != other.device {
        fail(
            operation,
            &format!(
                "The {what} must have the shape and the device of the tensor. Tensor: {:?} on {:?}, {what}: {:?} on {:?}.",
                shape.to_vec(),
                tensor.device,
                of_other.to_vec(),
                other.device
            ),
        );
    }
}
