//! Element types: the tensor kind that holds them, and sample data.
//!
//! No sample is uniform, and every partial result of a sample is exact in the accumulator of its type. So any
//! order of combination must give the same bits.

use burn::tensor::kind::Basic;
use burn::tensor::{Bool, Float, Int, bf16, f16};
use burn_scan::ScanOp;
use scan_testing::reference::Scalar;

/// A host element and the kind of the tensors that hold it.
pub trait Element: burn::tensor::Element + Copy + Default + PartialEq {
    type Kind: Basic;

    /// The `i`-th element of a sequence without a pattern.
    fn nth(i: usize) -> Self;

    #[expect(clippy::eq_op, reason = "the NaN test that also holds for other types")]
    fn same(self, other: Self) -> bool {
        self == other || (self != self && other != other)
    }
}

/// An element that can be scanned.
pub trait Number: Element + Scalar {
    /// The element at `position` of the scanned dimension of length `len`, on line number `line`.
    fn sample(op: ScanOp, line: usize, position: usize, len: usize) -> Self;
}

/// Well-mixed bits of `i`.
pub fn hash(i: usize) -> usize {
    let mut bits = (i as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits ^ (bits >> 31)) as usize & (u32::MAX as usize)
}

/// Sample data for a scan of `[outer, len, inner]`.
pub fn samples<T: Number>(op: ScanOp, [outer, len, inner]: [usize; 3]) -> Vec<T> {
    let at = |i: usize| {
        let (line, position) = (i / (len * inner) * inner + i % inner, i / inner % len);
        T::sample(op, line, position, len)
    };
    (0..outer * len * inner).map(at).collect()
}

/// `n` elements of [`Element::nth`].
pub fn numbered<T: Element>(n: usize) -> Vec<T> {
    (0..n).map(T::nth).collect()
}

/// The values are highest in the middle, so that a running maximum changes up to the middle from either side.
fn tent(line: usize, position: usize, len: usize) -> usize {
    position.min(len - 1 - position) / 4 + hash(line * len + position) % 16
}

impl Element for bool {
    type Kind = Bool;

    fn nth(i: usize) -> bool {
        hash(i) & 8 != 0
    }
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Element for $t {
            type Kind = Int;

            fn nth(i: usize) -> $t {
                hash(i) as $t
            }
        }

        impl Number for $t {
            /// Sums wrap. Products wrap, and products of odd numbers are never zero.
            fn sample(op: ScanOp, line: usize, position: usize, len: usize) -> $t {
                match op {
                    ScanOp::Prod => (hash(line * len + position) | 1) as $t,
                    ScanOp::Max => tent(line, position, len) as $t,
                    ScanOp::Min => !tent(line, position, len) as $t,
                    _ => hash(line * len + position) as $t,
                }
            }
        }
    )*};
}

macro_rules! floats {
    ($($t:ty, $round:expr;)*) => {$(
        impl Element for $t {
            type Kind = Float;

            fn nth(i: usize) -> $t {
                $round((hash(i) % (1 << 24)) as f64)
            }
        }

        impl Number for $t {
            /// Sums of small integers, in total below 2^24 up to a length of 2^21. Products of powers of two, between
            /// 2^-6 and 2^6 over any stretch.
            fn sample(op: ScanOp, line: usize, position: usize, len: usize) -> $t {
                let bits = hash(line * len + position);
                let exponent = |position: usize| (hash(line * len + position) % 7) as i32;
                let sign = if bits & 1024 == 0 { 1.0 } else { -1.0 };
                $round(match op {
                    ScanOp::Prod if position == 0 => sign,
                    ScanOp::Prod => sign * 2f64.powi(exponent(position) - exponent(position - 1)),
                    ScanOp::Max => tent(line, position, len) as f64,
                    ScanOp::Min => -(tent(line, position, len) as f64),
                    _ => (bits % 17) as f64 - 4.0,
                })
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);
floats! {
    f16, f16::from_f64;
    bf16, bf16::from_f64;
    f32, |wide: f64| wide as f32;
    f64, |wide: f64| wide;
}
