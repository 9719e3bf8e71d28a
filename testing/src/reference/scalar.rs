//! The arithmetic of the loops, and data for each operator. Inlined, so that it is as optimised as the tests that use
//! it.
//!
//! No data are uniform, and every partial result of them is exact in the accumulator of their type. So any order of
//! combination must give the same bits.

use cubecl_scan::ScanOp;
use half::{bf16, f16};

/// An element of the oracle: integers wrap, floats are accumulated in f64 and rounded once.
pub trait Scalar: Copy {
    /// What the loop carries.
    type Acc: Copy;
    /// The identity of `op`.
    fn identity(op: ScanOp) -> Self::Acc;
    /// `acc ⊕ value`.
    fn accumulate(acc: Self::Acc, value: Self, op: ScanOp) -> Self::Acc;
    /// The carried value as an element.
    fn finish(acc: Self::Acc) -> Self;
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

/// The values are highest in the middle, so that a running maximum changes up to the middle from either side.
fn tent(line: usize, position: usize, len: usize) -> usize {
    position.min(len - 1 - position) / 4 + hash(line * len + position) % 16
}

/// Integers whose results are exact as f32, too: small ones for sums, powers of two for products. Neighbours differ.
pub fn values(n: usize, op: ScanOp) -> Vec<i32> {
    (0..n)
        .map(|i| {
            let mixed = (i as u32).wrapping_mul(2_654_435_761) >> 16;
            match op {
                ScanOp::Prod => [1, 2, -1, 1, -2][mixed as usize % 5],
                _ => (mixed % 17) as i32 - 8,
            }
        })
        .collect()
}

/// An operator may be added to the crate and not here.
fn unknown(op: ScanOp) -> ! {
    panic!("the oracle does not know {op:?}")
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Scalar for $t {
            type Acc = $t;
            #[inline]
            fn identity(op: ScanOp) -> $t {
                match op { ScanOp::Sum => 0, ScanOp::Prod => 1, ScanOp::Max => <$t>::MIN, ScanOp::Min => <$t>::MAX, _ => unknown(op) }
            }
            #[inline]
            fn accumulate(acc: $t, value: $t, op: ScanOp) -> $t {
                match op {
                    ScanOp::Sum => acc.wrapping_add(value),
                    ScanOp::Prod => acc.wrapping_mul(value),
                    ScanOp::Max => acc.max(value),
                    ScanOp::Min => acc.min(value),
                    _ => unknown(op),
                }
            }
            #[inline]
            fn finish(acc: $t) -> $t { acc }
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
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($t:ty, $to:expr, $from:expr);*) => {$(
        impl Scalar for $t {
            type Acc = f64;
            #[inline]
            fn identity(op: ScanOp) -> f64 {
                match op { ScanOp::Sum => 0.0, ScanOp::Prod => 1.0, ScanOp::Max => f64::NEG_INFINITY, ScanOp::Min => f64::INFINITY, _ => unknown(op) }
            }
            #[inline]
            fn accumulate(acc: f64, value: $t, op: ScanOp) -> f64 {
                let value: f64 = $to(value);
                match op {
                    ScanOp::Sum => acc + value,
                    ScanOp::Prod => acc * value,
                    ScanOp::Max => if acc.is_nan() || acc >= value { acc } else { value },
                    ScanOp::Min => if acc.is_nan() || acc <= value { acc } else { value },
                    _ => unknown(op),
                }
            }
            #[inline]
            fn finish(acc: f64) -> $t { $from(acc) }
            /// Sums of small integers, in total below 2^24 up to a length of 2^21. Products of powers of two, between
            /// 2^-6 and 2^6 over any stretch.
            fn sample(op: ScanOp, line: usize, position: usize, len: usize) -> $t {
                let bits = hash(line * len + position);
                let exponent = |position: usize| (hash(line * len + position) % 7) as i32;
                let sign = if bits & 1024 == 0 { 1.0 } else { -1.0 };
                $from(match op {
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
floats!(f32, f64::from, |x: f64| x as f32; f64, |x| x, |x| x; f16, f64::from, f16::from_f64; bf16, f64::from, bf16::from_f64);
