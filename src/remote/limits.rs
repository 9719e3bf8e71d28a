//! How large results may be on the device that hosts them.
//!
//! A client says with one number how long a result is. What the device cannot hold must end that call and nothing
//! else: memory that the CPU backend does not get ends the process, and what CubeCL finds too large it reports to
//! whoever reads next.

use super::fault::Fault;
use burn::backend::Backend;
use burn::backend::fusion::custom::TensorSpec;
use core::any::Any;

/// Results up to this size are not checked: every device is taken to hold them. WebGPU promises buffers of 128 MiB.
const SMALL_BYTES: usize = 128 << 20;

/// The limits of one device.
pub(super) struct Limits {
    /// The bytes of one buffer.
    buffer: Option<usize>,
    /// The elements that positions can tell apart.
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
            // The memory is there, or would be promised; nothing touches it.
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

    /// Its elements can be numbered.
    pub(super) fn numbered(&self, elements: usize) -> Result<(), Fault> {
        match self.positions {
            Some(most) if elements > most => Err(Fault::Rule(format!(
                "there are {elements} elements; a Cube device numbers at most {most}"
            ))),
            _ => Ok(()),
        }
    }
}
