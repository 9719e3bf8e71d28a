//! Element types: the tensor kind that holds them, and sample data.

use burn::tensor::kind::Basic;
use burn::tensor::{Bool, Float, Int, bf16, f16};
use burn_scan::ScanOp;

use super::oracle;
use crate::reference::Scalar;
pub use crate::reference::hash;

/// A host element and the kind of the tensors that hold it.
pub trait Element: burn::tensor::Element + Copy + Default + PartialEq {
    /// The kind of the tensors that hold it.
    type Kind: Basic;

    /// The `i`-th element of a sequence without a pattern.
    fn nth(i: usize) -> Self;

    /// Whether it is equal to `other`, or both are NaN.
    #[expect(clippy::eq_op, reason = "the NaN test that also holds for other types")]
    fn same(self, other: Self) -> bool {
        self == other || (self != self && other != other)
    }
}

/// An element that can be scanned.
pub trait Number: Element + Scalar {}

impl<T: Element + Scalar> Number for T {}

/// Sample data for a scan of `[outer, len, inner]`.
pub fn samples<T: Number>(op: ScanOp, [outer, len, inner]: [usize; 3]) -> Vec<T> {
    // What is exact for a sum serves log-sum-exp, too.
    let op = match op {
        ScanOp::LogSumExp => cubecl_scan::ScanOp::Sum,
        op => oracle::known(op),
    };
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

impl Element for bool {
    type Kind = Bool;

    fn nth(i: usize) -> bool {
        hash(i) & 8 != 0
    }
}

macro_rules! elements {
    ($Kind:ty: $($t:ty, $of:expr;)*) => {$(
        impl Element for $t {
            type Kind = $Kind;

            fn nth(i: usize) -> $t {
                $of(hash(i))
            }
        }
    )*};
}

elements! { Int:
    i8, |i| i as i8;
    i16, |i| i as i16;
    i32, |i| i as i32;
    i64, |i| i as i64;
    u8, |i| i as u8;
    u16, |i| i as u16;
    u32, |i| i as u32;
    u64, |i| i as u64;
}
elements! { Float:
    f16, |i| f16::from_f64((i % (1 << 24)) as f64);
    bf16, |i| bf16::from_f64((i % (1 << 24)) as f64);
    f32, |i| (i % (1 << 24)) as f32;
    f64, |i| (i % (1 << 24)) as f64;
}
