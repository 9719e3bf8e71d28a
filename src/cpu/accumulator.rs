//! The numbers that scans accumulate in.

use super::element::Element;

/// A number that holds partial results: an element that is its own accumulator.
pub(crate) trait Accumulator: Element<Acc = Self> + PartialOrd + 'static {
    const ZERO: Self;
    const ONE: Self;
    /// −1, or all ones for an integer without a sign.
    const NEGATIVE_ONE: Self;
    const LOWEST: Self;
    const HIGHEST: Self;

    /// Whether no grouping of elements changes a sum or a product.
    const EXACT: bool;

    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;

    // `x != x` holds for NaN alone. A NaN on the right is taken, and a NaN on the left stays, since it compares as
    // false.
    #[expect(clippy::eq_op, reason = "the NaN test that also holds for integers")]
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if (other > self) | (other != other) {
            other
        } else {
            self
        }
    }

    #[expect(clippy::eq_op, reason = "the NaN test that also holds for integers")]
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if (other < self) | (other != other) {
            other
        } else {
            self
        }
    }

    /// Whether `carry + total` is what adding the elements of `total` to `carry` one by one gives, up to rounding.
    fn sum_is_regular(_carry: Self, _total: Self) -> bool {
        true
    }

    /// Whether `carry * total` is what multiplying `carry` by the elements of `total` one by one gives, up to
    /// rounding.
    fn product_is_regular(_carry: Self, _total: Self) -> bool {
        true
    }
}

macro_rules! integer_accumulator {
    ($($ty:ty),*) => {$(
        impl Accumulator for $ty {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const NEGATIVE_ONE: Self = (0 as $ty).wrapping_sub(1);
            const LOWEST: Self = <$ty>::MIN;
            const HIGHEST: Self = <$ty>::MAX;
            const EXACT: bool = true;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}

macro_rules! float_accumulator {
    ($($ty:ty),*) => {$(
        impl Accumulator for $ty {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NEGATIVE_ONE: Self = -1.0;
            const LOWEST: Self = <$ty>::NEG_INFINITY;
            const HIGHEST: Self = <$ty>::INFINITY;
            const EXACT: bool = false;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }

            // A total that overflows on its own need not overflow after the carry (-MAX + MAX + MAX).
            #[inline]
            fn sum_is_regular(carry: Self, total: Self) -> bool {
                total.is_finite() || carry.is_nan() || carry == total
            }

            // A total that leaves the range on its own may stay in it after the carry: 0 * 1e30 * 1e30 is 0, not the
            // NaN of 0 * inf, and 1e30 * 1e-30 * 1e-30 is 1e-30, not 1e30 * 0.
            #[inline]
            fn product_is_regular(carry: Self, total: Self) -> bool {
                total.is_normal()
                    || carry.is_nan()
                    || (carry == 0.0 && total.is_finite())
                    || (carry.is_infinite() && total.is_infinite())
            }
        }
    )*};
}

integer_accumulator!(i8, i16, i32, i64, u8, u16, u32, u64);
float_accumulator!(f32, f64);
