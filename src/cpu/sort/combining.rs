//! Moves items to the places of their digits, a line of the cache at a time ("software write combining").
//!
//! ```text
//! items      7 2 7 2 2 7 …
//! lines of   … 2 2 2 …         … 7 7 7 …        one for each digit, which stay in the first-level cache
//!                  └ full: to memory at once, past the caches
//! ```
//!
//! Without this, each move to one of hundreds of places reads a line of memory only to overwrite it, and needs one of
//! the few pages that the processor can address fast: Wassenberg & Sanders, "Engineering a Multi-core Radix Sort", 2011.
//! A split of 2^22 keys by 8 bits took 4.5 ns a key without and 2.7 with (one thread of an EPYC).

use core::mem::MaybeUninit;

use super::super::buffer::Shared;
use super::super::processor::CACHE_LINE;

/// Bits of the digit by which a line is split. With 8 or 9 bits a sort of 2^22 keys took 36 ms, with 10 bits 45 (EPYC, two
/// cores).
pub(super) const SPLIT: usize = 8;

/// The counts of the digits of a split, or the place of the next item of each.
pub(super) type Counts = [usize; 1 << SPLIT];

/// Fewer bytes are moved item by item: they stay in the caches for who reads them next. With lines past the
/// caches, a sort of 1 MiB took 1.1 times as long, and one of 2 MiB 0.8 (EPYC, two cores).
pub(super) const FAR: usize = 2 << 20;

/// Memory for the items of a line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([MaybeUninit<u8>; CACHE_LINE]);

impl Line {
    const EMPTY: Self = Self([MaybeUninit::uninit(); CACHE_LINE]);

    /// The line as slots for items whose size divides a line.
    #[inline(always)]
    fn slots<T>(&mut self) -> &mut [MaybeUninit<T>] {
        const { assert!(CACHE_LINE.is_multiple_of(size_of::<T>()) && align_of::<T>() <= CACHE_LINE) };
        // SAFETY: the line has the size of these items, and is aligned for them.
        unsafe {
            core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), CACHE_LINE / size_of::<T>())
        }
    }

    /// Writes the whole line past the caches.
    ///
    /// # Safety
    ///
    /// `to` is aligned to a line, and nothing else has access to its line.
    #[inline(always)]
    unsafe fn write_to<T>(&self, to: *mut MaybeUninit<T>) {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::{__m128i, _mm_load_si128, _mm_stream_si128};
            let (from, to) = (self.0.as_ptr().cast::<__m128i>(), to.cast::<__m128i>());
            for part in 0..CACHE_LINE / size_of::<__m128i>() {
                // SAFETY: every x86-64 has SSE2. Both lines are aligned.
                unsafe { _mm_stream_si128(to.add(part), _mm_load_si128(from.add(part))) };
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        // SAFETY: the caller's promise.
        unsafe {
            to.cast::<Self>().write(*self);
        }
    }
}

/// Moves each item to the next place of its digit, past the caches if that is `far`.
///
/// # Safety
///
/// Nothing else has access to the places of these items.
pub(super) unsafe fn move_items<T: Copy>(
    items: &[T],
    places: &mut Counts,
    to: &Shared<T>,
    digit: &impl Fn(T) -> usize,
    far: bool,
) {
    let in_line = CACHE_LINE / size_of::<T>();
    // SAFETY: it has no places.
    let address = unsafe { to.slice(0..0) }.as_ptr().addr();
    let straddle = !address.is_multiple_of(size_of::<T>());
    if straddle || !far {
        for &item in items {
            let place = &mut places[digit(item)];
            // SAFETY: the caller's promise.
            unsafe { to.set(*place, MaybeUninit::new(item)) };
            *place += 1;
        }
        return;
    }
    // Places before the first one in its line of memory.
    let before = address / size_of::<T>() % in_line;
    let starts = *places;
    let mut lines = [Line::EMPTY; 1 << SPLIT];
    for &item in items {
        let digit = digit(item);
        let (line, end) = (&mut lines[digit], places[digit] + 1);
        places[digit] = end;
        let slot = (before + end - 1) % in_line;
        line.slots()[slot] = MaybeUninit::new(item);
        if slot + 1 == in_line {
            let first = end.saturating_sub(in_line).max(starts[digit]);
            // SAFETY: the caller's promise.
            let own = unsafe { to.slice(first..end) };
            if own.len() == in_line {
                // SAFETY: this is a line of memory, and all of it are places of these items.
                unsafe { line.write_to(own.as_mut_ptr()) };
            } else {
                own.copy_from_slice(&line.slots()[in_line - own.len()..]);
            }
        }
    }
    for (digit, line) in lines.iter_mut().enumerate() {
        let in_last = (before + places[digit]) % in_line;
        let first = places[digit].saturating_sub(in_last).max(starts[digit]);
        // SAFETY: the caller's promise.
        let own = unsafe { to.slice(first..places[digit]) };
        own.copy_from_slice(&line.slots()[in_last - own.len()..in_last]);
    }
    finish();
}

/// Makes what has been written past the caches visible to other threads.
fn finish() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::buffer::SharedSlice;
    use super::*;

    /// Slots that begin anywhere in a line of memory, and some that straddle lines.
    #[test]
    fn every_place_in_a_line() {
        for shift in 0..40 {
            check(shift, |i| i, |i| i);
            check(shift, u16::from, |i| i as u8);
            check(shift, u64::from, |i| i as u8);
            check(shift, |i| [7, u32::from(i)], |[_, i]| i as u8);
        }
    }

    /// Moves items to memory `shift` times their alignment after a `u64`. Most items have the same digit.
    fn check<T: Copy + PartialEq>(shift: usize, item: impl Fn(u8) -> T, number: impl Fn(T) -> u8) {
        let digit = |item: T| match usize::from(number(item)) {
            i if i % 4 == 0 => i % 9 * 5,
            _ => 3,
        };
        let items: Vec<T> = (0..=255).map(item).collect();
        let mut places: Counts =
            core::array::from_fn(|own| items.iter().filter(|&&item| digit(item) < own).count());
        let mut memory = vec![0u64; items.len() + shift];
        // SAFETY: there is room for as many items, at an address that is aligned for them.
        let slots = unsafe {
            let first = memory.as_mut_ptr().byte_add(shift * align_of::<T>()).cast();
            core::slice::from_raw_parts_mut::<MaybeUninit<T>>(first, items.len())
        };
        // SAFETY: the places are those of these items.
        unsafe { move_items(&items, &mut places, &SharedSlice::new(slots), &digit, true) };
        let mut expected = items;
        expected.sort_by_key(|&item| digit(item));
        // SAFETY: every slot has been written.
        let moved: &[T] = unsafe { slots.assume_init_ref() };
        assert!(moved == expected, "{shift} {}", size_of::<T>());
    }
}
