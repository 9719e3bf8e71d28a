//! Bytes whose memory returns to the buffer cache of the CPU engine.

use core::mem::MaybeUninit;
use core::ptr::NonNull;

use burn_std::{AccessError, AccessPolicy, AllocationController, AllocationProperty, Bytes};

use crate::cpu::buffer_cache::{self, Buffer, CACHE};

/// `elements` as bytes. When large bytes are dropped, the buffer cache takes their memory.
pub(super) fn bytes<T: bytemuck::Pod + Send + Sync>(elements: Vec<T>) -> Bytes {
    let len = size_of_val(elements.as_slice());
    if len < buffer_cache::LEAST_BYTES {
        return Bytes::from_elems(elements);
    }
    let cached = CachedBytes(Some(Buffer::new(elements)));
    // SAFETY: the buffer starts with the elements, and all their `len` bytes are initialised.
    unsafe { Bytes::from_controller(Box::new(cached), len) }
}

/// A buffer, until it is detached.
///
/// Its memory comes from the global allocator, as the memory of `Bytes::from_elems` does. So it can be detached without
/// a copy; the buffer cache does not get it then.
struct CachedBytes(Option<Buffer>);

impl AllocationController for CachedBytes {
    fn alloc_align(&self) -> usize {
        self.0.as_ref().map_or(1, |buffer| buffer.layout().align())
    }

    fn property(&self) -> AllocationProperty {
        AllocationProperty::Native
    }

    unsafe fn memory_mut(
        &mut self,
        _policy: AccessPolicy,
    ) -> Result<&mut [MaybeUninit<u8>], AccessError> {
        Ok(self.0.as_mut().map_or(&mut [], Buffer::slots_mut))
    }

    fn memory(&self, _policy: AccessPolicy) -> Result<&[MaybeUninit<u8>], AccessError> {
        Ok(self.0.as_ref().map_or(&[], Buffer::slots))
    }

    fn try_detach(&mut self) -> Option<NonNull<u8>> {
        self.0.take().map(Buffer::leak)
    }
}

impl Drop for CachedBytes {
    fn drop(&mut self) {
        if let Some(buffer) = self.0.take() {
            CACHE.give(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bytes_are_detached_without_a_copy() {
        let elements: Vec<u32> = (0..buffer_cache::LEAST_BYTES as u32 / 2).collect();
        let (start, copy) = (elements.as_ptr(), elements.clone());
        let mut bytes = bytes(elements);
        assert_eq!(bytes.property(), AllocationProperty::Native);
        assert_eq!(bytemuck::cast_slice::<_, u32>(&bytes), copy);
        assert!(bytes.clone() == bytes);
        bytes.copy_from_slice(bytemuck::cast_slice(&copy));
        let vec = bytes.try_into_vec::<u32>().unwrap();
        assert!(vec.as_ptr() == start && vec == copy);
    }

    #[test]
    fn large_bytes_grow() {
        let mut bytes = bytes(vec![7u8; buffer_cache::LEAST_BYTES]);
        bytes.extend_from_byte_slice(&[8, 9]);
        assert_eq!(bytes.len(), buffer_cache::LEAST_BYTES + 2);
        assert_eq!(bytes[buffer_cache::LEAST_BYTES - 1..], [7, 8, 9]);
    }
}
