//! Outputs that are written once, and temporary memory.
//!
//! A large output costs more in page faults than in arithmetic. Here it is neither zero-filled nor mapped in small
//! pages: it starts uninitialised, in memory of the [`buffer_cache`] or in fresh memory with huge pages.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

use super::buffer_cache::{self, Buffer, CACHE};

/// The written part of an output is copied to memory of its own if it is smaller than the whole by this factor. The
/// copy costs a fraction of the pass that found the length of the part, and no result has more than this factor of the
/// memory that it needs.
const FEW: usize = 8;

/// A vector being filled: `len` slots, none of them initialised. Temporary memory is one that is never finished: it
/// returns to the buffer cache.
pub(crate) struct Output<T: Copy> {
    vec: Vec<T>,
    len: usize,
}

impl<T: Copy> Output<T> {
    pub(crate) fn new(len: usize) -> Self {
        Self {
            vec: buffer_cache::take(len),
            len,
        }
    }

    pub(crate) fn slots(&mut self) -> &mut [MaybeUninit<T>] {
        &mut self.vec.spare_capacity_mut()[..self.len]
    }

    /// # Safety
    ///
    /// Every slot has been written.
    pub(crate) unsafe fn finish(mut self) -> Vec<T> {
        let mut vec = core::mem::take(&mut self.vec);
        // SAFETY: the capacity is at least `len`, and the caller has written every slot.
        unsafe { vec.set_len(self.len) };
        vec
    }

    /// The first `len` slots, in the same memory, or in memory of their own if they are few.
    ///
    /// # Safety
    ///
    /// Each of these slots has been written.
    pub(crate) unsafe fn finish_first(mut self, len: usize) -> Vec<T> {
        self.len = len;
        // SAFETY: the caller's promise.
        let vec = unsafe { self.finish() };
        if vec.len() >= vec.capacity() / FEW {
            return vec;
        }
        let few = vec.to_vec();
        CACHE.give(Buffer::new(vec));
        few
    }
}

impl<T: Copy> Drop for Output<T> {
    fn drop(&mut self) {
        CACHE.give(Buffer::new(core::mem::take(&mut self.vec)));
    }
}

/// Values as slots, which may be written again.
pub(super) fn as_slots<T: Copy>(values: &mut [T]) -> &mut [MaybeUninit<T>] {
    // SAFETY: the layout is the same, and only values of the type are written.
    unsafe { &mut *(core::ptr::from_mut(values) as *mut [MaybeUninit<T>]) }
}

/// Slots that several threads write at once: [`SharedSlice`].
pub(crate) type Shared<'a, T> = SharedSlice<'a, MaybeUninit<T>>;

/// A slice that several threads write at once. Each thread has places of its own, which `split_at_mut` cannot express.
pub(crate) struct SharedSlice<'a, T> {
    start: *mut T,
    len: usize,
    slots: PhantomData<&'a mut [T]>,
}

// SAFETY: a `SharedSlice` only gives access through its unsafe methods, whose callers keep the threads' places apart.
unsafe impl<T: Send> Sync for SharedSlice<'_, T> {}

impl<'a, T> SharedSlice<'a, T> {
    pub(crate) fn new(slots: &'a mut [T]) -> Self {
        Self {
            start: slots.as_mut_ptr(),
            len: slots.len(),
            slots: PhantomData,
        }
    }

    /// Writes one place.
    ///
    /// # Safety
    ///
    /// No other thread has access to the place meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn set(&self, at: usize, value: T)
    where
        T: Copy,
    {
        assert!(at < self.len);
        // SAFETY: the place lies inside the slice, and the caller has it alone.
        unsafe { self.start.add(at).write(value) };
    }

    /// The first place.
    pub(crate) fn start(&self) -> *mut T {
        self.start
    }

    /// Some of the places.
    ///
    /// # Safety
    ///
    /// While the slice lives, no other thread has access to its places.
    #[expect(clippy::mut_from_ref, reason = "the caller keeps the slices apart")]
    #[inline(always)]
    pub(crate) unsafe fn slice(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: the range lies inside the slice, and the caller has it alone.
        unsafe { core::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}
