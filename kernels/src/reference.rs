//! Plain loops that say what scans and sums of segments must return. Slow on purpose: one glance shows that they are right.
//!
//! ```
//! use cubecl_scan::{ScanOp, reference, scan::ScanOptions};
//!
//! let sums = reference::scan(&[3, 1, 4, 1, 5], &[5], 0, ScanOp::Sum, ScanOptions::default());
//! assert_eq!(sums, [3, 4, 8, 9, 14]);
//! ```

use crate::ScanOp;
use crate::scan::ScanOptions;
use half::{bf16, f16};

/// An element as the oracle computes with it: integers wrap, floats are accumulated in f64 and rounded once.
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

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Scalar for $t {
            type Acc = $t;
            fn identity(op: ScanOp) -> $t {
                match op { ScanOp::Sum => 0, ScanOp::Prod => 1, ScanOp::Max => <$t>::MIN, ScanOp::Min => <$t>::MAX }
            }
            fn accumulate(acc: $t, value: $t, op: ScanOp) -> $t {
                match op {
                    ScanOp::Sum => acc.wrapping_add(value),
                    ScanOp::Prod => acc.wrapping_mul(value),
                    ScanOp::Max => acc.max(value),
                    ScanOp::Min => acc.min(value),
                }
            }
            fn finish(acc: $t) -> $t { acc }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($t:ty, $to:expr, $from:expr);*) => {$(
        impl Scalar for $t {
            type Acc = f64;
            fn identity(op: ScanOp) -> f64 {
                match op { ScanOp::Sum => 0.0, ScanOp::Prod => 1.0, ScanOp::Max => f64::NEG_INFINITY, ScanOp::Min => f64::INFINITY }
            }
            fn accumulate(acc: f64, value: $t, op: ScanOp) -> f64 {
                let value: f64 = $to(value);
                match op {
                    ScanOp::Sum => acc + value,
                    ScanOp::Prod => acc * value,
                    ScanOp::Max => if acc.is_nan() || acc >= value { acc } else { value },
                    ScanOp::Min => if acc.is_nan() || acc <= value { acc } else { value },
                }
            }
            fn finish(acc: f64) -> $t { $from(acc) }
        }
    )*};
}
floats!(f32, f64::from, |x| x as f32; f64, |x| x, |x| x; f16, f64::from, f16::from_f64; bf16, f64::from, bf16::from_f64);

/// The scan of a row-major tensor along `axis`.
pub fn scan<T: Scalar>(
    input: &[T],
    shape: &[usize],
    axis: usize,
    op: ScanOp,
    options: ScanOptions,
) -> Vec<T> {
    let len = shape[axis];
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let mut output = input.to_vec();
    for line in 0..outer * inner {
        let mut acc = T::identity(op);
        for step in 0..len {
            let row = if options.reverse {
                len - 1 - step
            } else {
                step
            };
            let at = (line / inner * len + row) * inner + line % inner;
            let before = acc;
            acc = T::accumulate(acc, input[at], op);
            output[at] = T::finish(if options.exclusive { before } else { acc });
        }
    }
    output
}

/// The sums of the segments that begin at `heads`, along `axis`: at each head the sum from it up to the next one, zero elsewhere. The first
/// element of a line is a head whatever `heads` says.
pub fn segment_sums<T: Scalar>(
    values: &[T],
    heads: &[u32],
    shape: &[usize],
    axis: usize,
    reverse: bool,
) -> Vec<T> {
    let len = shape[axis];
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let mut sums = vec![T::identity(ScanOp::Sum); values.len()];
    for line in 0..outer * inner {
        let mut head = 0;
        for step in 0..len {
            let row = if reverse { len - 1 - step } else { step };
            let at = (line / inner * len + row) * inner + line % inner;
            if step == 0 || heads[at] != 0 {
                head = at;
            }
            sums[head] = T::accumulate(sums[head], values[at], ScanOp::Sum);
        }
    }
    sums.into_iter().map(T::finish).collect()
}
