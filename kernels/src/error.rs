//! What a scan or a compaction refuses, and why.

use crate::scan::RoutineKind;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::TensorBinding;
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
    /// An operator reads or writes another number of tensors.
    #[error("the operator has {expected} {operand}, and {found} were given")]
    TensorCount {
        /// Inputs or outputs.
        operand: &'static str,
        /// How many the operator has.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A kernel of the device binds fewer buffers than the tensors and one of the scan's own.
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
    /// The output is not contiguous. That it is not the input itself is for the caller to see to.
    #[error("the output must be contiguous")]
    InvalidOutput,
    /// An operation that chains tiles cannot run on the device, or in its present state.
    #[error("tiles cannot be chained: {obstacle}")]
    NoChain {
        /// What stands in the way.
        obstacle: &'static str,
    },
    /// A forced routine cannot serve this problem on this device.
    #[error("the routine {routine:?} cannot serve this problem: {reason}")]
    Refused {
        /// The routine that was forced.
        routine: RoutineKind,
        /// What stands in its way.
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

/// Kernels check no bounds: a caller's tensor must reach over the `elements` that they read or write in it.
///
/// # Panics
///
/// Where it does not.
#[track_caller]
pub(crate) fn expect_room(operand: &str, tensor: &TensorBinding, elements: usize) {
    let sizes = tensor.shape.iter().zip(tensor.strides.iter());
    let reach = match tensor.shape.contains(&0) {
        true => 0,
        false => {
            1 + sizes
                .map(|(size, stride)| (size - 1) * stride)
                .sum::<usize>()
        }
    };
    assert!(
        reach >= elements,
        "the {operand} must hold {elements} elements, and holds {reach}"
    );
}
