//! Columns in tiles of eight lines and eight columns: with AVX2 a tile is transposed in registers, and one shuffle
//! compresses eight elements of a column.

use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::compress::{GROUP, Word};
use super::super::processor::CACHE_LINE;
use super::strip::WIDEST;
use super::survivors::Survivors;

/// As [`Survivors::take_lines`].
///
/// # Safety
///
/// Every column has room for as many more.
#[target_feature(enable = "avx2,popcnt")]
pub(super) unsafe fn take<T: Word>(survivors: &mut Survivors<'_, T>, lines: Range<usize>) {
    let (values, mask) = (survivors.lines.values, survivors.lines.mask);
    let (inner, width, apart) = (
        survivors.lines.inner,
        survivors.strip.width,
        survivors.apart,
    );
    // The last tile may have elements of other columns, or of the next line.
    let of_tiles = (GROUP - 1) * inner + width.next_multiple_of(GROUP);
    let first_element = survivors.strip.first;
    let waiting = survivors.waiting.as_mut_ptr();
    let filled = &mut survivors.filled;
    let mut first = lines.start;
    while first + GROUP <= lines.end {
        let place = first_element + first * inner;
        let Some(values) = values[place..].get(..of_tiles) else {
            break;
        };
        let bits = bits_of_columns(&mask[place..place + of_tiles], inner);
        for (group, bits) in (0..width).step_by(GROUP).zip(bits) {
            prefetch_below(values.as_ptr(), group, inner);
            if bits == [0; GROUP] {
                continue;
            }
            let mut tile = [[T::default(); GROUP]; GROUP];
            // SAFETY: the values have eight elements of each line, and this function is compiled for AVX2.
            unsafe {
                T::transpose(
                    values.as_ptr().add(group),
                    inner,
                    tile.as_mut_ptr().cast(),
                    GROUP,
                );
            }
            let columns = group..width.min(group + GROUP);
            for ((column, bits), elements) in columns.zip(bits).zip(&tile) {
                let filled = &mut filled[column];
                let room = waiting.wrapping_add(column * apart + *filled);
                // SAFETY: there are eight elements, the caller promises room, and this function is compiled for AVX2.
                unsafe { T::move_group::<false>(elements.as_ptr(), bits, room) };
                *filled += bits.count_ones() as usize;
            }
        }
        first += GROUP;
    }
    // SAFETY: the caller's promise.
    unsafe { survivors.take_lines(first..lines.end) };
}

/// Prefetches from the tile below a group of columns: a cache line in each of its lines. The processor's own prefetcher
/// does not find columns. Into the second cache, since lines of whole pages have few places in the first. Half of
/// `[2^13, 512]` kept takes 0.9 of the time that it takes without.
#[inline]
#[target_feature(enable = "avx2")]
fn prefetch_below<T>(tiles: *const T, group: usize, inner: usize) {
    if (group * size_of::<T>()).is_multiple_of(CACHE_LINE) {
        for line in GROUP..2 * GROUP {
            _mm_prefetch::<_MM_HINT_T1>(tiles.wrapping_add(line * inner + group).cast());
        }
    }
}

/// For each column of a group a byte, with a bit for each of eight lines; the first line has the lowest bit. The lines
/// lie `inner` bytes apart.
#[inline]
#[target_feature(enable = "avx2")]
fn bits_of_columns(mask: &[u8], inner: usize) -> [[u8; GROUP]; WIDEST / GROUP] {
    let mut bits = [[0; GROUP]; WIDEST / GROUP];
    let width = mask.len() - (GROUP - 1) * inner;
    for line in 0..GROUP {
        let bytes = &mask[line * inner..][..width];
        for (bits, &byte) in bits.as_flattened_mut().iter_mut().zip(bytes) {
            *bits |= u8::from(byte != 0) << line;
        }
    }
    bits
}

/// As [`Survivors::write_columns`] for all columns, from the first that wait on.
///
/// # Safety
///
/// No other thread has access to the output of these columns.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn write<T: Word>(survivors: &Survivors<'_, T>, lines: Range<usize>) {
    let (inner, width, apart) = (
        survivors.lines.inner,
        survivors.strip.width,
        survivors.apart,
    );
    let output = survivors.lines.output.start();
    let mut first = lines.start;
    while first + GROUP <= lines.end {
        let at = first - lines.start;
        let tiles = output.wrapping_add(survivors.lines.place(survivors.strip, first));
        for group in (0..width).step_by(GROUP) {
            let waiting = &survivors.waiting[group * apart + at..][..(GROUP - 1) * apart + GROUP];
            prefetch_below(tiles, group, inner);
            let mut tile = [[T::default(); GROUP]; GROUP];
            // SAFETY: the buffer has eight elements of eight columns, and this function is compiled for AVX2.
            unsafe { T::transpose(waiting.as_ptr(), apart, tile.as_mut_ptr().cast(), GROUP) };
            let columns = GROUP.min(width - group);
            for (line, elements) in (first..).zip(&tile) {
                let place = survivors.lines.place(survivors.strip, line) + group;
                // SAFETY: the caller's promise.
                let slots = unsafe { survivors.lines.output.slice(place..place + columns) };
                if let Some(slots) = slots.as_mut_array::<GROUP>() {
                    *slots = elements.map(MaybeUninit::new);
                } else {
                    for (slot, &element) in slots.iter_mut().zip(elements) {
                        slot.write(element);
                    }
                }
            }
        }
        first += GROUP;
    }
    // SAFETY: the caller's promise.
    unsafe { survivors.write_columns(first - lines.start, first..lines.end, 0..width) };
}
