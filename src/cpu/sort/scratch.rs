//! Temporary memory of sorts.

use core::mem::MaybeUninit;

use super::super::buffer_cache::{self, Buffer};

/// Temporary memory, from the buffer cache and back into it.
pub(super) struct Scratch<T: Copy> {
    vec: Vec<T>,
    len: usize,
}

impl<T: Copy> Scratch<T> {
    pub(super) fn new(len: usize) -> Self {
        Self {
            vec: buffer_cache::take(len),
            len,
        }
    }

    pub(super) fn slots(&mut self) -> &mut [MaybeUninit<T>] {
        &mut self.vec.spare_capacity_mut()[..self.len]
    }
}

impl<T: Copy> Drop for Scratch<T> {
    fn drop(&mut self) {
        buffer_cache::give(Buffer::new(core::mem::take(&mut self.vec)));
    }
}
