//! Limits on the size of results, and of what else a call computes, on the device that hosts them.
//!
//! A client sets the length of a result with one number, and that of a tensor by a broadcast. A call that the device
//! has no room for must fail alone. Without these checks, a failed allocation of the CPU backend ends the process, and
//! CubeCL reports a buffer that is too large at the next read of any tensor.

use super::fault::Fault;
use burn::backend::fusion::custom::TensorSpec;
use burn::backend::{Backend, TensorMetadata};
use core::any::Any;

/// Calls that take up to this size are not checked: every device should hold them. WebGPU guarantees buffers of 128
/// MiB.
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

    /// The device holds buffers of these sizes at once, in addition to the existing tensors.
    pub(super) fn fits(&self, buffers: impl Iterator<Item = usize>) -> Result<(), Fault> {
        let (largest, all) = buffers.fold((0, 0usize), |(largest, all), bytes| {
            (bytes.max(largest), all.saturating_add(bytes))
        });
        let fits = match self.buffer {
            _ if all <= SMALL_BYTES => true,
            Some(most) => largest <= most.max(SMALL_BYTES),
            // The allocator has the memory, or promises it; it is not touched.
            None => Vec::<u8>::new().try_reserve_exact(all).is_ok(),
        };
        if fits {
            Ok(())
        } else {
            Err(Fault::Rule(format!(
                "the results and temporary buffers take {all} bytes, {largest} of them in one buffer: this does not \
                 fit the memory of the server's device"
            )))
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

/// The bytes of a tensor.
pub(super) fn bytes(spec: &TensorSpec) -> usize {
    let sizes = spec.shape.iter();
    sizes.fold(spec.dtype.size(), |bytes, &size| bytes.saturating_mul(size))
}

/// The bytes of a copy of the tensor, if it is a view, such as a broadcast: most operations copy views.
pub(super) fn bytes_of_copy<T: TensorMetadata + 'static>(tensor: &T) -> usize {
    let any: &dyn Any = tensor;
    #[cfg(feature = "flex")]
    if let Some(tensor) = any.downcast_ref::<burn_flex::FlexTensor>() {
        return if tensor.is_contiguous() {
            0
        } else {
            bytes(&TensorSpec::new(
                tensor.shape(),
                TensorMetadata::dtype(tensor),
            ))
        };
    }
    #[cfg(feature = "cubecl-backend")]
    if let Some(tensor) = any.downcast_ref::<burn_cubecl::tensor::CubeTensor>() {
        return if tensor.is_contiguous() {
            0
        } else {
            bytes(&TensorSpec::new(tensor.shape(), tensor.dtype))
        };
    }
    let _ = any;
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(limits: &Limits, buffers: &[usize]) -> bool {
        limits.fits(buffers.iter().copied()).is_ok()
    }

    #[test]
    fn buffers_of_the_cpu_fit_together() {
        let limits = Limits {
            buffer: None,
            positions: None,
        };
        let has = |bytes: usize| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        // Finds what the allocator promises, within a part in a thousand. Nothing is touched.
        let (mut most, mut refused) = (SMALL_BYTES, 1 << 62);
        while refused - most > most / 1000 {
            let middle = most.midpoint(refused);
            *(if has(middle) { &mut most } else { &mut refused }) = middle;
        }
        assert!(fits(&limits, &[most / 10 * 6]));
        assert!(!fits(&limits, &[most / 10 * 6, most / 10 * 6]));
        assert!(!fits(&limits, &[usize::MAX, usize::MAX]));
        assert!(fits(&limits, &[SMALL_BYTES]));
    }

    #[test]
    fn buffers_of_a_cube_device_fit_one_by_one() {
        let limits = Limits {
            buffer: Some(1 << 30),
            positions: None,
        };
        assert!(fits(&limits, &[1 << 30, 1 << 30]));
        assert!(!fits(&limits, &[8, (1 << 30) + 1]));
    }
}
