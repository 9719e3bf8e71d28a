//! Transposes of blocks that fit the first-level cache.
//!
//! Elements have any number of bytes. Two to four rows or columns of a usual size are loops that the compiler turns into
//! shuffles. Larger blocks of 32-bit elements go through registers, in tiles of 8×8. Other elements move one by one.

use super::processor::{Widest, compiled_for};

#[cfg(target_arch = "x86_64")]
use super::compress::{GROUP, Word};

/// Writes rows of elements of `size` bytes, which begin at `from`, column by column.
///
/// # Safety
///
/// There are `rows` rows of `columns` elements at `from`, and there is as much room at `to`, apart from them.
pub(super) unsafe fn transpose(from: *const u8, size: usize, shape: [usize; 2], to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => of_size(from, shape, to),
            2 => of_size::<u16>(from.cast(), shape, to.cast()),
            4 => of_32_bits(from.cast(), shape, to.cast()),
            8 => of_size::<u64>(from.cast(), shape, to.cast()),
            16 => of_size::<[u64; 2]>(from.cast(), shape, to.cast()),
            32 => of_size::<[u64; 4]>(from.cast(), shape, to.cast()),
            64 => of_size::<[u64; 8]>(from.cast(), shape, to.cast()),
            _ => of_bytes(from, size, shape, to),
        }
    }
}

/// # Safety
///
/// As [`transpose`].
unsafe fn of_bytes(from: *const u8, size: usize, [rows, columns]: [usize; 2], to: *mut u8) {
    for row in 0..rows {
        for column in 0..columns {
            // SAFETY: the caller's promise.
            unsafe {
                let read = from.add((row * columns + column) * size);
                to.add((column * rows + row) * size)
                    .copy_from_nonoverlapping(read, size);
            }
        }
    }
}

/// # Safety
///
/// As [`transpose`].
unsafe fn of_32_bits(from: *const u32, shape: [usize; 2], to: *mut u32) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Widest::test().filter(|_| shape.iter().all(|&side| side >= GROUP)) {
        // SAFETY: the caller's promise, and the processor has AVX2.
        return compiled_for!(avx2, unsafe { in_tiles(from, shape, to) });
    }
    // SAFETY: the caller's promise.
    unsafe { of_size(from, shape, to) };
}

/// # Safety
///
/// As [`transpose`].
unsafe fn of_size<T: Copy>(from: *const T, [rows, columns]: [usize; 2], to: *mut T) {
    let Some(vectors) = Widest::test() else {
        // SAFETY: the caller's promise.
        return unsafe { by_rows(from, [rows, columns], to) };
    };
    // SAFETY: the caller's promise.
    compiled_for!(vectors, unsafe {
        match [rows, columns] {
            [_, 2] => by_rows(from, [rows, 2], to),
            [_, 3] => by_rows(from, [rows, 3], to),
            [_, 4] => by_rows(from, [rows, 4], to),
            [2, _] => by_columns(from, [2, columns], to),
            [3, _] => by_columns(from, [3, columns], to),
            [4, _] => by_columns(from, [4, columns], to),
            _ => by_rows(from, [rows, columns], to),
        }
    });
}

/// # Safety
///
/// There are elements at these places, at any address.
#[inline(always)]
unsafe fn move_one<T: Copy>(from: *const T, read: usize, to: *mut T, written: usize) {
    // SAFETY: the caller's promise.
    unsafe { (to.add(written)).write_unaligned(from.add(read).read_unaligned()) };
}

/// # Safety
///
/// As [`transpose`].
#[inline(always)]
unsafe fn by_rows<T: Copy>(from: *const T, [rows, columns]: [usize; 2], to: *mut T) {
    for row in 0..rows {
        for column in 0..columns {
            // SAFETY: the caller's promise.
            unsafe { move_one(from, row * columns + column, to, column * rows + row) };
        }
    }
}

/// # Safety
///
/// As [`transpose`].
#[inline(always)]
unsafe fn by_columns<T: Copy>(from: *const T, [rows, columns]: [usize; 2], to: *mut T) {
    for column in 0..columns {
        for row in 0..rows {
            // SAFETY: the caller's promise.
            unsafe { move_one(from, row * columns + column, to, column * rows + row) };
        }
    }
}

/// The last tiles overlap those before them where a side is no multiple of a tile's.
///
/// # Safety
///
/// As [`transpose`], and the processor has AVX2; each side is as long as a tile's.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn in_tiles(from: *const u32, [rows, columns]: [usize; 2], to: *mut u32) {
    for row in (0..rows).step_by(GROUP) {
        let row = row.min(rows - GROUP);
        for column in (0..columns).step_by(GROUP) {
            let column = column.min(columns - GROUP);
            // SAFETY: the tile lies in the block, and the caller answers for the rest.
            unsafe {
                let from = from.add(row * columns + column);
                u32::transpose(from, columns, to.add(column * rows + row), rows);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements are bytes that say where they were.
    fn is_transposed(size: usize, [rows, columns]: [usize; 2]) {
        let byte = |element: usize, byte: usize| (element * 7 + byte) as u8;
        let from: Vec<u8> = (0..rows * columns * size)
            .map(|at| byte(at / size, at % size))
            .collect();
        let mut to = vec![0; from.len()];
        // SAFETY: both vectors have the elements of the shape.
        unsafe { transpose(from.as_ptr(), size, [rows, columns], to.as_mut_ptr()) };
        for (at, &moved) in to.iter().enumerate() {
            let (element, part) = (at / size, at % size);
            let expected = byte(element % rows * columns + element / rows, part);
            assert_eq!(moved, expected, "{size} bytes, {rows} x {columns}, at {at}");
        }
    }

    #[test]
    fn every_element_finds_its_place() {
        for rows in [1, 2, 3, 4, 5, 8, 13, 40] {
            for columns in [1, 2, 3, 4, 7, 8, 11, 24] {
                for size in [1, 2, 4, 8, 12, 16, 32, 64, 72] {
                    is_transposed(size, [rows, columns]);
                }
            }
        }
    }
}
