//! Element types that are converted on their way into and out of their accumulator: as vectors load them in rows, and a
//! tile at a time elsewhere.
//!
//! | elements | accumulator | as |
//! |---|---|---|
//! | `f16`, `bf16` | `f32` | the same number; rounded to nearest, ties to even |
//! | `u8`, `u16` | `i32` | the same number; the lowest bits are kept, so sums and products wrap |
//! | `i8`, `i16` | `i32` | the same number; what is out of range becomes the nearest number |
//! | `u32`, `u64` | `i32`, `i64` | the number with its highest bit flipped, which has the same order |
//!
//! Of `i8`, `i16`, `u32` and `u64` there are only maxima and minima: sums and products are those of the [wrapping type].
//! The identities of `i32` and `i64` become those of each type. So the loops over integers are compiled for two types
//! instead of eight. A long row of 8 bits takes a third of the time that it took without a conversion, or less; rows of a
//! few elements, and columns, take up to 4.5 times as long, which is the time of `i32`.
//!
//! [wrapping type]: ElementType::Wrapping

use core::mem::MaybeUninit;

use super::element::TILE;
#[cfg(target_arch = "x86_64")]
use super::lanes::{I8x8, I16x8, U8x8, U16x8, U32x8, U64x4};
use super::processor::vectorize;
use super::traits::{Accumulator, ElementType};

/// Room for a tile on its way through accumulators.
pub(crate) struct Conversion<T: ElementType> {
    pub(super) widened: [T::Acc; TILE],
    pub(super) scanned: [MaybeUninit<T::Acc>; TILE],
}

impl<T: ElementType> Default for Conversion<T> {
    fn default() -> Self {
        Self {
            widened: [T::Acc::ZERO; TILE],
            scanned: [MaybeUninit::new(T::Acc::ZERO); TILE],
        }
    }
}

/// Implements [`ElementType`] for types with a conversion: of an element, and of a tile.
macro_rules! converted_element {
    ($(
        $ty:ty as $acc:ty: $count:literal $avx2:ty, wrapping $wrapping:ty;
        to_acc($x:ident) $to_acc:expr; from_acc($y:ident) $from_acc:expr;
        tiles $widen:path, $narrow:path;
    )*) => {$(
        impl ElementType for $ty {
            type Acc = $acc;
            type Wrapping = $wrapping;
            type Scratch = $crate::cpu::converted::Conversion<$ty>;
            type Portable = $crate::cpu::lanes::Portable<$acc, $count>;

            #[cfg(target_arch = "x86_64")]
            type Avx2 = $avx2;

            #[inline(always)]
            fn to_acc(self) -> $acc {
                let $x = self;
                $to_acc
            }

            #[inline(always)]
            fn from_acc($y: $acc) -> Self {
                $from_acc
            }

            #[inline]
            fn widen<'a>(src: &'a [Self], scratch: &'a mut Self::Scratch) -> &'a [$acc] {
                let widened = &mut scratch.widened[..src.len()];
                $widen(src, widened);
                widened
            }

            #[inline]
            fn map(
                src: &[Self],
                dst: &mut [MaybeUninit<Self>],
                scratch: &mut Self::Scratch,
                scan: impl FnOnce(&[$acc], &mut [MaybeUninit<$acc>]),
            ) {
                let widened = &mut scratch.widened[..src.len()];
                let scanned = &mut scratch.scanned[..dst.len()];
                $widen(src, widened);
                scan(widened, scanned);
                // SAFETY: `default` put a number into every slot of `scanned`, whatever `scan` wrote.
                let scanned = unsafe { scanned.assume_init_ref() };
                $narrow(scanned, dst);
            }
        }
    )*};
}

pub(super) use converted_element;

converted_element! {
    u8 as i32: 8 U8x8, wrapping u8;
    to_acc(x) i32::from(x); from_acc(acc) acc as u8;
    tiles widen, narrow;

    u16 as i32: 8 U16x8, wrapping u16;
    to_acc(x) i32::from(x); from_acc(acc) acc as u16;
    tiles widen, narrow;

    i8 as i32: 8 I8x8, wrapping u8;
    to_acc(x) i32::from(x); from_acc(acc) acc.clamp(i8::MIN.into(), i8::MAX.into()) as i8;
    tiles widen, narrow;

    i16 as i32: 8 I16x8, wrapping u16;
    to_acc(x) i32::from(x); from_acc(acc) acc.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
    tiles widen, narrow;

    u32 as i32: 8 U32x8, wrapping i32;
    to_acc(x) (x ^ 1 << 31).cast_signed(); from_acc(acc) acc.cast_unsigned() ^ 1 << 31;
    tiles widen, narrow;

    u64 as i64: 4 U64x4, wrapping i64;
    to_acc(x) (x ^ 1 << 63).cast_signed(); from_acc(acc) acc.cast_unsigned() ^ 1 << 63;
    tiles widen, narrow;
}

pub(super) fn widen<T: ElementType>(src: &[T], dst: &mut [T::Acc]) {
    vectorize!({
        for (dst, src) in dst.iter_mut().zip(src) {
            *dst = src.to_acc();
        }
    });
}

pub(super) fn narrow<T: ElementType>(src: &[T::Acc], dst: &mut [MaybeUninit<T>]) {
    vectorize!({
        for (dst, &src) in dst.iter_mut().zip(src) {
            dst.write(T::from_acc(src));
        }
    });
}
