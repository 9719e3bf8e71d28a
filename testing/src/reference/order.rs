//! The order of keys, and stable sorts by it.

use cubecl_scan::sort::{SortOptions, SortOrder};
use half::{bf16, f16};
use std::cmp::Ordering;

/// An element that sorts compare.
pub trait SortKey: Copy {
    /// The positions of the keys of each line of `len`, in the order of the keys. Equal keys keep their order.
    ///
    /// A method of each type is compiled with this crate, which is optimised; a generic function would be compiled with
    /// each test.
    fn sort_positions(keys: &[Self], len: usize, options: SortOptions) -> Vec<usize>;
    /// Ascending: NaN is after everything and equals NaN, −0.0 equals 0.0.
    fn compare(self, other: Self) -> Ordering;
    /// The lowest bits of an integer, as an unsigned number.
    fn low_bits(self, bits: u32) -> u64;
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl SortKey for $t {
            fn sort_positions(keys: &[Self], len: usize, options: SortOptions) -> Vec<usize> {
                positions(keys, len, options)
            }
            fn compare(self, other: Self) -> Ordering {
                self.cmp(&other)
            }
            fn low_bits(self, bits: u32) -> u64 {
                self as u64 & (u64::MAX >> (64 - bits))
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($t:ty),*) => {$(
        impl SortKey for $t {
            fn sort_positions(keys: &[Self], len: usize, options: SortOptions) -> Vec<usize> {
                positions(keys, len, options)
            }
            fn compare(self, other: Self) -> Ordering {
                let numbers = self.partial_cmp(&other);
                numbers.unwrap_or(self.is_nan().cmp(&other.is_nan()))
            }
            fn low_bits(self, _: u32) -> u64 {
                unreachable!("only integers are compared by their lowest bits")
            }
        }
    )*};
}
floats!(f32, f64, f16, bf16);

fn positions<T: SortKey>(keys: &[T], len: usize, options: SortOptions) -> Vec<usize> {
    let compare = |a: T, b: T| match options.bits {
        Some(bits) => a.low_bits(bits).cmp(&b.low_bits(bits)),
        None => a.compare(b),
    };
    let sorted = |line: &[T]| {
        let mut positions: Vec<usize> = (0..line.len()).collect();
        positions.sort_by(|&a, &b| match options.order {
            SortOrder::Ascending => compare(line[a], line[b]),
            SortOrder::Descending => compare(line[b], line[a]),
        });
        positions
    };
    keys.chunks(len.max(1)).flat_map(sorted).collect()
}
