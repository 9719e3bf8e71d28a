//! The arithmetic of the loops. Inlined, so that it is as optimised as the tests that use it.

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
        }
    )*};
}
floats!(f32, f64::from, |x| x as f32; f64, |x| x, |x| x; f16, f64::from, f16::from_f64; bf16, f64::from, bf16::from_f64);
