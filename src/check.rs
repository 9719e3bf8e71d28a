//! Checks for bad input, in the message form of Burn's own tensor checks.

mod backends;
mod broadcast;

use crate::ScanOp;
pub(crate) use crate::refusal::{fail, numbers};
use crate::tensor::kind::Scannable;
use backends::{backend, largest_buffer};
pub(crate) use backends::{is_cpu, waits};
pub(crate) use broadcast::{broadcast, expand, initial, same_dtype};
use burn::tensor::kind::Basic;
use burn::tensor::{AsIndex, Bool, DType, Device, Int, IntDType, Shape, Tensor};

/// `dim` as an index below `rank`.
#[track_caller]
pub(crate) fn dim(operation: &str, dim: impl AsIndex, rank: usize) -> usize {
    dim.try_dim_index(rank)
        .unwrap_or_else(|error| fail(operation, &error.to_string()))
}

/// Results up to this size are not checked: every device should hold them. WebGPU guarantees buffers of 128 MiB.
const SMALL_BYTES: u64 = 128 << 20;

/// A result of this number of elements fits a buffer of the device. Its inputs may be far smaller: broadcasts, or a
/// length from corrupt data.
///
/// This is checked here, because CubeCL detects it only after the launch is queued. It then reports the error at the
/// next read of any result, and drops the memory through which the tiles of the stream communicate. On the CPU the
/// allocator would end the process.
#[track_caller]
pub(crate) fn fits(operation: &str, device: &Device, elements: usize, dtype: DType) {
    // On a host of 32 bits the product may leave `usize`.
    let bytes = (elements as u64).saturating_mul(dtype.size() as u64);
    if bytes <= SMALL_BYTES {
        return;
    }
    if let Some(limit) = largest_buffer(device) {
        if bytes > limit {
            fail(
                operation,
                &format!(
                    "The result takes {bytes} bytes; a buffer of the device {device:?} holds at most {limit}."
                ),
            );
        }
    } else if is_cpu(device.as_dispatch()) && !can_allocate(bytes) {
        fail(
            operation,
            &format!("The result takes {bytes} bytes, which the system does not have."),
        );
    }
}

/// Whether the system has this memory. The memory is allocated, not touched, and freed at once.
fn can_allocate(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}

/// The int dtype holds the number `most`.
#[track_caller]
pub(crate) fn holds(operation: &str, dtype: DType, most: usize) {
    let limit = largest_int(dtype);
    if most as u64 > limit {
        fail(
            operation,
            &format!("The results go up to {most}; their dtype {dtype:?} holds at most {limit}."),
        );
    }
}

/// The largest number of an int dtype that can also be a position.
pub(crate) fn largest_int(dtype: DType) -> u64 {
    match dtype {
        DType::I8 => i8::MAX as u64,
        DType::U8 => u8::MAX.into(),
        DType::I16 => i16::MAX as u64,
        DType::U16 => u16::MAX.into(),
        DType::I32 => i32::MAX as u64,
        DType::U32 => u32::MAX.into(),
        _ => i64::MAX as u64,
    }
}

/// The device's int dtype, if it holds each of `elements` positions and their number.
#[track_caller]
pub(crate) fn position_dtype(operation: &str, device: &Device, elements: usize) -> IntDType {
    let int = device.settings().int_dtype;
    positions(
        operation,
        device,
        elements,
        largest_int(int.into()),
        &format!("the device's int dtype {int:?}"),
    );
    int
}

/// Cube devices number the elements of a mask in 31 bits, whatever the int dtype.
#[track_caller]
pub(crate) fn countable(operation: &str, device: &Device, elements: usize) {
    positions(operation, device, elements, u64::MAX, "a Cube device");
}

#[track_caller]
fn positions(operation: &str, device: &Device, elements: usize, most: u64, who: &str) {
    backend(operation, device.as_dispatch());
    let is_cube = largest_buffer(device).is_some();
    let (most, who) = numbered_by(is_cube, most, who);
    numbers(operation, who, elements, most);
}

/// The limit and what sets it: `who` or the device itself.
fn numbered_by(is_cube: bool, most: u64, who: &str) -> (u64, &str) {
    let on_cube = i32::MAX as u64;
    if is_cube && most > on_cube {
        (on_cube, "a Cube device")
    } else {
        (most, who)
    }
}

/// The device computes with the tensor's dtype, and a result of the tensor's size fits a buffer.
#[track_caller]
pub(crate) fn dtype<const D: usize, K: Basic>(operation: &str, tensor: &Tensor<D, K>) {
    backend(operation, tensor.device().as_dispatch());
    let dtype = tensor.dtype();
    match dtype {
        DType::F32 | DType::I32 | DType::U32 | DType::Bool(_) => {}
        DType::QFloat(_) => fail(
            operation,
            "The tensor is quantized. Dequantize it first: `tensor.dequantize()`.",
        ),
        _ if !supports(&tensor.device(), dtype) => fail(
            operation,
            &format!(
                "The device {:?} cannot compute with {dtype:?}.",
                tensor.device()
            ),
        ),
        _ => {}
    }
    let elements = tensor.shape().num_elements();
    fits(operation, &tensor.device(), elements, dtype);
}

/// A remote device is asked once for each dtype: each question is a round trip.
fn supports(device: &Device, dtype: DType) -> bool {
    #[cfg(feature = "remote")]
    return crate::remote::supports(device, dtype);
    #[cfg(not(feature = "remote"))]
    device.supports_dtype(dtype)
}

/// Two tensors of one operation are on one device, autodiff or not.
#[track_caller]
pub(crate) fn same_device<const D: usize, const D2: usize, K: Basic, K2: Basic>(
    operation: &str,
    tensor: &Tensor<D, K>,
    other: &Tensor<D2, K2>,
    what: &str,
) {
    if tensor.device() != other.device() {
        fail(
            operation,
            &format!(
                "The tensor and the {what} must be on the same device. Tensor device: {:?}, {what} device: {:?}.",
                tensor.device(),
                other.device()
            ),
        );
    }
}

/// A mask has the tensor's shape and device.
#[track_caller]
pub(crate) fn mask<const D: usize, K: Basic>(
    operation: &str,
    tensor: &Tensor<D, K>,
    mask: &Tensor<D, Bool>,
) {
    flags(operation, tensor, mask, "mask", "Mask");
}

/// The starts of segments have the tensor's shape and device.
#[track_caller]
pub(crate) fn starts<const D: usize, K: Basic>(
    operation: &str,
    tensor: &Tensor<D, K>,
    starts: &Tensor<D, Bool>,
) {
    flags(operation, tensor, starts, "starts", "Starts");
}

/// There is one flag for each element, on the tensor's device. `title` is the name of the flags with a capital letter.
#[track_caller]
fn flags<const D: usize, K: Basic>(
    operation: &str,
    tensor: &Tensor<D, K>,
    flags: &Tensor<D, Bool>,
    name: &str,
    title: &str,
) {
    same_device(operation, tensor, flags, name);
    let rule = format!("The {name} must have the shape of the tensor.");
    shapes(operation, &rule, &tensor.shape(), title, &flags.shape());
}

/// A mask over one dimension has its length and the tensor's device.
#[track_caller]
pub(crate) fn dim_mask<const D: usize, K: Basic>(
    operation: &str,
    tensor: &Tensor<D, K>,
    mask: &Tensor<1, Bool>,
    dim: usize,
) {
    same_device(operation, tensor, mask, "mask");
    if tensor.dims()[dim] != mask.dims()[0] {
        fail(
            operation,
            &format!(
                "The mask must have one entry per slice along dimension {dim}. Tensor shape: {:?}, mask shape: {:?}.",
                tensor.dims(),
                mask.dims()
            ),
        );
    }
}

/// There is at least one offset: the end of the last segment.
#[track_caller]
pub(crate) fn offsets(operation: &str, offsets: &Tensor<1, Int>) {
    dtype(operation, offsets);
    if offsets.dims()[0] == 0 {
        fail(
            operation,
            "There are no offsets; segments have one offset more than there are segments.",
        );
    }
}

/// Lines along `dim` have that many elements.
#[track_caller]
pub(crate) fn largest<const D: usize, K: Basic>(
    operation: &str,
    tensor: &Tensor<D, K>,
    k: usize,
    dim: usize,
) {
    let len = tensor.dims()[dim];
    if k > len {
        fail(
            operation,
            &format!("`k` is {k}, but there are {len} elements along dimension {dim}."),
        );
    }
}

/// Keys have that many bits; there is at least one if there are keys.
#[track_caller]
pub(crate) fn key_bits(operation: &str, dtype: DType, elements: usize, bits: usize) {
    let width = 8 * dtype.size();
    if bits > width {
        fail(
            operation,
            &format!("`bits` is {bits}; keys of {dtype:?} have {width} bits."),
        );
    }
    if bits == 0 && elements > 0 {
        fail(
            operation,
            &format!("`bits` is 0, but there are {elements} keys to sort."),
        );
    }
}

/// There are groups if there are values, and 31 bits number them.
#[track_caller]
pub(crate) fn num_keys(operation: &str, num_keys: usize, values: usize) {
    if num_keys == 0 && values > 0 {
        fail(
            operation,
            &format!("`num_keys` is 0, but there are {values} values to place."),
        );
    }
    if num_keys >= i32::MAX as usize {
        fail(
            operation,
            &format!("`num_keys` is {num_keys}; groups are numbered in 31 bits."),
        );
    }
}

/// The int dtype holds a number that the caller chose.
#[track_caller]
pub(crate) fn filler(operation: &str, int: IntDType, fill: i64) {
    let dtype = DType::from(int);
    let lowest = match dtype {
        DType::I8 => i8::MIN.into(),
        DType::I16 => i16::MIN.into(),
        DType::I32 => i32::MIN.into(),
        DType::I64 => i64::MIN,
        _ => 0,
    };
    if fill < lowest || fill > 0 && fill as u64 > largest_int(dtype) {
        fail(
            operation,
            &format!("`fill` is {fill}; the device's int dtype {int:?} does not hold it."),
        );
    }
}

/// The operator exists for numbers of that kind.
#[track_caller]
pub(crate) fn operator<K: Scannable>(operation: &str, op: ScanOp) {
    if op == ScanOp::LogSumExp && !K::IS_FLOAT {
        fail(operation, &format!("{op:?} is for float tensors only."));
    }
}

/// Two shapes are equal.
#[track_caller]
pub(crate) fn shapes(operation: &str, rule: &str, tensor: &Shape, what: &str, other: &Shape) {
    if tensor != other {
        fail(
            operation,
            &format!(
                "{rule} Tensor shape: {:?}, {what} shape: {:?}.",
                tensor.to_vec(),
                other.to_vec()
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::numbered_by;

    #[test]
    fn cube_devices_number_in_31_bits() {
        let (i8, i32, u32) = (i8::MAX as u64, i32::MAX as u64, u32::MAX as u64);
        assert_eq!(numbered_by(true, u32, "u32"), (i32, "a Cube device"));
        assert_eq!(numbered_by(true, i32, "i32"), (i32, "i32"));
        assert_eq!(numbered_by(true, i8, "i8"), (i8, "i8"));
        assert_eq!(numbered_by(false, u32, "u32"), (u32, "u32"));
    }
}
