//! What a scan or a compaction refuses, and why.

use crate::scan::strategy::RoutineKind;
use cubecl::client::Client;
use cubecl::ir::{AddressType, ElemType};
use cubecl::prelude::TensorBinding;
use cubecl::std::tensor::is_contiguous;
use thiserror::Error;

/// A call that was refused. Nothing was launched and the device goes on working.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The scan axis does not exist.
    #[error("axis {axis} is out of range for a tensor of rank {rank}")]
    AxisOutOfRange {
        /// The axis asked for.
        axis: usize,
        /// The rank of the tensor.
        rank: usize,
    },
    /// The number of tensors is not what the operator reads or writes.
    #[error("the operator has {expected} {operand}, but got {found}")]
    TensorCount {
        /// Inputs or outputs.
        operand: &'static str,
        /// How many the operator has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// The device binds fewer buffers to a kernel than the scan needs: its tensors, and one of its own.
    #[error("{buffers} buffers are needed at once, and the device binds {most}")]
    TooManyBuffers {
        /// How many the scan needs.
        buffers: usize,
        /// How many the device binds.
        most: usize,
    },
    /// Input and output differ in shape.
    #[error("the shape {found:?} of the {operand} differs from that of the input, {expected:?}")]
    ShapeMismatch {
        /// Which argument differs.
        operand: &'static str,
        /// The shape of the input.
        expected: Vec<usize>,
        /// The shape found.
        found: Vec<usize>,
    },
    /// The device cannot hold the element type.
    #[error("the device {device} cannot compute with {dtype:?}")]
    UnsupportedType {
        /// The element type.
        dtype: ElemType,
        /// The name of the device's runtime.
        device: &'static str,
    },
    /// An output is not contiguous.
    #[error("the output must be contiguous")]
    InvalidOutput,
    /// An output shares memory with another tensor of the call. Kernels read and write in no fixed order, so an output
    /// must not be an input.
    #[error("the {output} shares memory with the {other}")]
    OverlappingMemory {
        /// Which output.
        output: &'static str,
        /// The input, or the output named before it.
        other: &'static str,
    },
    /// An operation whose tiles look back cannot run on the device, or in its present state.
    #[error("tiles cannot look back: {reason}")]
    LookbackUnsupported {
        /// The reason.
        reason: &'static str,
    },
    /// A sort compares more bits than a key has, or none, or the bits of floats.
    #[error("{bits} bits of keys of {dtype:?} cannot be compared")]
    KeyBits {
        /// The bits asked for.
        bits: u32,
        /// The type of the keys.
        dtype: ElemType,
    },
    /// The positions in a line exceed their type, or 32 bits.
    #[error("{index:?} cannot hold the positions in a line of {len} elements")]
    PositionsTooLarge {
        /// The elements of a line.
        len: usize,
        /// The type of positions, or of 32 bits.
        index: ElemType,
    },
    /// More of the largest elements are asked for than a line has.
    #[error("cannot take the {k} largest of {len} elements")]
    TopKTooLarge {
        /// How many were asked for.
        k: usize,
        /// The elements of a line.
        len: usize,
    },
    /// A forced routine cannot serve this problem on this device.
    #[error("the routine {routine:?} cannot serve this problem: {reason}")]
    Refused {
        /// The routine that was forced.
        routine: RoutineKind,
        /// The reason.
        reason: String,
    },
}

/// Refuses the first of `dtypes` that the device cannot hold.
pub(crate) fn check_types(
    client: &Client,
    dtypes: impl IntoIterator<Item = ElemType>,
) -> Result<(), ScanError> {
    let held = |dtype: &ElemType| client.properties().supports_type(*dtype);
    match dtypes.into_iter().find(|dtype| !held(dtype)) {
        Some(dtype) => Err(ScanError::UnsupportedType {
            dtype,
            device: client.name(),
        }),
        None => Ok(()),
    }
}

/// A tensor and the type of its elements.
pub(crate) type Typed = (TensorBinding, ElemType);

/// An argument of a call: its name, the tensor, the bytes of an element, and the elements that kernels access.
pub(crate) type Operand<'a> = (&'static str, &'a TensorBinding, usize, usize);

/// Refuses outputs that are not contiguous, or share memory with an input or with each other. Returns the type of
/// address that reaches all elements of the tensors.
///
/// # Panics
///
/// If a tensor does not hold the elements that kernels access: they do not check bounds.
#[track_caller]
pub(crate) fn check_outputs(
    inputs: &[Operand],
    outputs: &[Operand],
) -> Result<AddressType, ScanError> {
    for (name, tensor, _, elements) in inputs.iter().chain(outputs) {
        let reach = reach(tensor);
        assert!(
            reach >= *elements,
            "the {name} must hold {elements} elements, but holds {reach}"
        );
    }
    for (at, output) in outputs.iter().enumerate() {
        let (name, tensor, ..) = *output;
        if reach(tensor) > 1 && !is_contiguous(&tensor.shape, &tensor.strides) {
            return Err(ScanError::InvalidOutput);
        }
        let mut others = inputs.iter().chain(&outputs[..at]);
        if let Some((other, ..)) = others.find(|other| overlap(output, other)) {
            let output = name;
            return Err(ScanError::OverlappingMemory { output, other });
        }
    }
    let all = inputs.iter().chain(outputs);
    Ok(all
        .map(|(_, tensor, size, _)| address_type(tensor, *size))
        .max()
        .unwrap_or_default())
}

/// The type of address that reaches all elements of `size` bytes: 64 bits from 2^31 elements on, because CubeCL's fast
/// division by a divisor that is not a power of two wraps for larger numbers of 32 bits.
pub(crate) fn address_type(tensor: &TensorBinding, size: usize) -> AddressType {
    AddressType::from_len_signed(tensor.handle.size() as usize / size)
}

/// Whether two tensors lie in one allocation and their byte ranges, from first to last element, overlap. A tensor in
/// the gaps of another counts as overlapping.
fn overlap((_, a, a_size, _): &Operand, (_, b, b_size, _): &Operand) -> bool {
    let memory = |tensor: &TensorBinding| (tensor.handle.service, tensor.handle.memory.id());
    let bytes = |tensor: &TensorBinding, size: usize| {
        let begin = tensor.handle.offset_start.unwrap_or(0);
        begin..begin + (reach(tensor) * size) as u64
    };
    let (left, right) = (bytes(a, *a_size), bytes(b, *b_size));
    memory(a) == memory(b) && left.start.max(right.start) < left.end.min(right.end)
}

/// The number of elements from the first of a tensor to its last, gaps included.
fn reach(tensor: &TensorBinding) -> usize {
    if tensor.shape.contains(&0) {
        return 0;
    }
    let sizes = tensor.shape.iter().zip(tensor.strides.iter());
    1 + sizes
        .map(|(size, stride)| (size - 1) * stride)
        .sum::<usize>()
}
