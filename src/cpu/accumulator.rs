//! The numbers that scans accumulate in.

use super::traits::Accumulator;

macro_rules! integer_accumulator {
    ($($ty:ty),*) => {$(
        impl Accumulator for $ty {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const NEGATIVE_ONE: Self = -1;
            const LOWEST: Self = <$ty>::MIN;
            const HIGHEST: Self = <$ty>::MAX;
            const EXACT: bool = true;
            const MODERATE: Self = 0;
            const SMALLEST: Self = 0;
            const NEGLIGIBLE: Self = 0;

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
    ($($ty:ty: $moderate:expr;)*) => {$(
        impl Accumulator for $ty {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NEGATIVE_ONE: Self = -1.0;
            const LOWEST: Self = <$ty>::NEG_INFINITY;
            const HIGHEST: Self = <$ty>::INFINITY;
            const EXACT: bool = false;
            const MODERATE: Self = $moderate;
            const SMALLEST: Self = <$ty>::MIN_POSITIVE;
            const NEGLIGIBLE: Self = <$ty>::MIN_POSITIVE / <$ty>::EPSILON;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }

            #[inline(always)]
            fn mul_or_zero(self, other: Self) -> Self {
                (self * other).without_subnormals()
            }

            #[inline(always)]
            fn is_normal(self) -> bool {
                <$ty>::is_normal(self)
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

integer_accumulator!(i32, i64);
float_accumulator! {
    f32: 1.0 / (1u32 << 15) as f32;
    f64: 1.0 / (1u128 << 127) as f64;
}
