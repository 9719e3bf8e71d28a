//! Limits of the size of results, on the device that hosts them.
//!
//! A client sets the length of a result with one number. A result that the device cannot hold must end its call and
//! nothing else. Without these checks, a failed allocation of the CPU backend ends the process, and CubeCL reports a
//! result that is too large to the next read of any tensor.

use super::fault::Fault;
use burn::backend::Backend;
use burn::backend::fusion::custom::TensorSpec;
use core::any::Any;

/// Results up to this size are not checked: every device should hold them. WebGPU guarantees buffers of 128 MiB.
const SMALL_BYTES: usize = 128 << 20;

/// The limits of one device.
pub(super) struct Limits {
    /// The most bytes of one buffer.
    buffer: Option<usize>,
    /// The most elements that positions can number.
    positions: Option<usize>,
}

impl Limits {
    pub(super) fn of<B: Backend>(device: &B::Device) -> Self {
        let device: &dyn Any = device;
        #[cfg(feature = "cubecl-backend")]
        if let Some(device) = device.downcast_ref::<burn_cubecl::CubeDevice>() {
            let buffer = device.client().properties().memory.max_page_size;
            return Self {
                buffer: usize::try_from(buffer).ok(),
                positions: Some(i32::MAX as usize),
            };
        }
        let _ = device;
        Self {
            buffer: None,
            positions: None,
        }
    }

    /// The device holds such a tensor.
    pub(super) fn fits(&self, spec: &TensorSpec) -> Result<(), Fault> {
        let bytes = spec
            .shape
            .iter()
            .try_fold(spec.dtype.size(), |bytes, &size| bytes.checked_mul(size));
        let fits = bytes.is_some_and(|bytes| match self.buffer {
            _ if bytes <= SMALL_BYTES => true,
            Some(largest) => bytes <= largest,
            // The allocator has the memory, or promises it; nothing touches it.
            None => Vec::<u8>::new().try_reserve_exact(bytes).is_ok(),
        });
        match fits {
            true => Ok(()),
            false => Err(Fault::Rule(format!(
                "a result of shape {:?} does not fit the memory of the server's device",
                spec.shape
            ))),
        }
    }

    /// This number of elements can be numbered.
    pub(super) fn numbered(&self, elements: usize) -> Result<(), Fault> {
        match self.positions {
            Some(most) if elements > most => Err(Fault::Rule(format!(
                "there are {elements} elements; a Cube device numbers at most {most}"
            ))),
            _ => Ok(()),
        }
    }
}
