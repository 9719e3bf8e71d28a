//! Element types, and the accumulators they are scanned in.
//!
//! A scan works on accumulators: an element type is its own accumulator, but for `f16` and `bf16`, which are widened
//! to `f32`, scanned, and rounded once when they are stored.

use core::mem::MaybeUninit;

use bytemuck::Pod;
use half::{bf16, f16};

#[cfg(target_arch = "x86_64")]
use super::lanes::{Bf16x8, F16x8, F32x8, F64x4, I32x8, I64x4, U32x8, U64x4};
use super::lanes::{Lanes, Portable};
use super::simd::{round_f16, vectorize, widen_f16};

/// Elements in a tile: the unit of widening, and of the row scan (see `rows`).
///
/// A tile of `f32` and its output fill 8 KiB, so that the second read of a tile comes from the first-level cache.
pub(crate) const TILE: usize = 1024;

/// A number that partial results are held in: an element that is its own accumulator.
pub(crate) trait Accumulator: Element<Acc = Self> + PartialOrd + 'static {
    const ZERO: Self;
    const ONE: Self;
    /// All ones for an integer without a sign.
    const NEGATIVE_ONE: Self;
    const LOWEST: Self;
    const HIGHEST: Self;

    /// Whether no grouping of elements changes a sum or a product.
    const EXACT: bool;

    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;

    // `x != x` is true of NaN alone: a NaN on the right is taken, and one on the left is kept because it compares
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

            // A total that overflowed on its own need not overflow after the carry (-MAX + MAX + MAX).
            #[inline]
            fn sum_is_regular(carry: Self, total: Self) -> bool {
                total.is_finite() || carry.is_nan() || carry == total
            }

            // A total that left the range on its own may not leave it after the carry: 0 * 1e30 * 1e30 is 0, not the
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

/// An element type of a tensor.
pub(crate) trait Element: Pod + Send + Sync {
    type Acc: Accumulator;

    /// The type whose sums and products have the same bits: sums and products of integers without a sign are not
    /// compiled a second time.
    type Wrapping: Element;

    /// Room for one widened tile; nothing for a type that is its own accumulator.
    type Scratch: Default;

    /// Lanes for any processor, as many as `Avx2` has.
    type Portable: Lanes<Self>;

    #[cfg(target_arch = "x86_64")]
    type Avx2: Lanes<Self>;

    fn to_acc(self) -> Self::Acc;

    /// Rounds to nearest, ties to even.
    fn from_acc(acc: Self::Acc) -> Self;

    /// Shows `src` (at most a tile) as accumulators.
    fn widen<'a>(src: &'a [Self], scratch: &'a mut Self::Scratch) -> &'a [Self::Acc];

    /// Shows `src` as accumulators to `scan`, and stores in `dst` what it writes. `scan` must write its whole output.
    fn map(
        src: &[Self],
        dst: &mut [MaybeUninit<Self>],
        scratch: &mut Self::Scratch,
        scan: impl FnOnce(&[Self::Acc], &mut [MaybeUninit<Self::Acc>]),
    );
}

macro_rules! native_element {
    ($($ty:ty: $count:literal $avx2:ty, $wrapping:ty;)*) => {$(
        impl Element for $ty {
            type Acc = $ty;
            type Wrapping = $wrapping;
            type Scratch = ();
            type Portable = Portable<$ty, $count>;

            #[cfg(target_arch = "x86_64")]
            type Avx2 = $avx2;

            #[inline(always)]
            fn to_acc(self) -> Self {
                self
            }

            #[inline(always)]
            fn from_acc(acc: Self) -> Self {
                acc
            }

            #[inline(always)]
            fn widen<'a>(src: &'a [Self], _scratch: &'a mut ()) -> &'a [Self] {
                src
            }

            #[inline(always)]
            fn map(
                src: &[Self],
                dst: &mut [MaybeUninit<Self>],
                _scratch: &mut (),
                scan: impl FnOnce(&[Self], &mut [MaybeUninit<Self>]),
            ) {
                scan(src, dst);
            }
        }
    )*};
}

native_element! {
    f32: 8 F32x8, f32;
    f64: 4 F64x4, f64;
    i32: 8 I32x8, i32;
    u32: 8 U32x8, i32;
    i64: 4 I64x4, i64;
    u64: 4 U64x4, i64;
    i8: 8 Portable<i8, 8>, i8;
    i16: 8 Portable<i16, 8>, i16;
    u8: 8 Portable<u8, 8>, i8;
    u16: 8 Portable<u16, 8>, i16;
}

/// A tile on its way through `f32`.
pub(crate) struct HalfScratch<H> {
    widened: [f32; TILE],
    scanned: [MaybeUninit<f32>; TILE],
    rounded: [H; TILE],
}

macro_rules! half_element {
    ($($ty:ty: $avx2:ty, $widen:path, $round:path;)*) => {$(
        impl Default for HalfScratch<$ty> {
            fn default() -> Self {
                Self {
                    widened: [0.0; TILE],
                    scanned: [MaybeUninit::new(0.0); TILE],
                    rounded: [<$ty>::ZERO; TILE],
                }
            }
        }

        impl Element for $ty {
            type Acc = f32;
            type Wrapping = $ty;
            type Scratch = HalfScratch<$ty>;
            type Portable = Portable<f32, 8>;

            #[cfg(target_arch = "x86_64")]
            type Avx2 = $avx2;

            #[inline(always)]
            fn to_acc(self) -> f32 {
                self.to_f32()
            }

            #[inline(always)]
            fn from_acc(acc: f32) -> Self {
                Self::from_f32(acc)
            }

            #[inline]
            fn widen<'a>(src: &'a [Self], scratch: &'a mut Self::Scratch) -> &'a [f32] {
                let widened = &mut scratch.widened[..src.len()];
                $widen(src, widened);
                widened
            }

            #[inline]
            fn map(
                src: &[Self],
                dst: &mut [MaybeUninit<Self>],
                scratch: &mut Self::Scratch,
                scan: impl FnOnce(&[f32], &mut [MaybeUninit<f32>]),
            ) {
                let widened = &mut scratch.widened[..src.len()];
                let scanned = &mut scratch.scanned[..dst.len()];
                let rounded = &mut scratch.rounded[..dst.len()];
                $widen(src, widened);
                scan(widened, scanned);
                // SAFETY: every slot of `scanned` holds a number since `default` made it, whatever `scan` wrote.
                let scanned = unsafe { scanned.assume_init_ref() };
                $round(scanned, rounded);
                dst.write_copy_of_slice(rounded);
            }
        }
    )*};
}

half_element! {
    f16: F16x8, widen_f16, round_f16;
    bf16: Bf16x8, widen_bf16, round_bf16;
}

fn widen_bf16(src: &[bf16], dst: &mut [f32]) {
    vectorize(|| {
        for (dst, src) in dst.iter_mut().zip(src) {
            *dst = f32::from_bits(u32::from(src.to_bits()) << 16);
        }
    });
}

/// To nearest, ties to even, as `bf16::from_f32` does, without its branch.
fn round_bf16(src: &[f32], dst: &mut [bf16]) {
    vectorize(|| {
        for (dst, src) in dst.iter_mut().zip(src) {
            let bits = src.to_bits();
            let rounded = bits.wrapping_add(0x7FFF + ((bits >> 16) & 1)) >> 16;
            let quiet_nan = (bits >> 16) | 0x40;
            let is_nan = bits & 0x7FFF_FFFF > 0x7F80_0000;
            *dst = bf16::from_bits(if is_nan { quiet_nan } else { rounded } as u16);
        }
    });
}
