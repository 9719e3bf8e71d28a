//! The element types that are their own accumulators.

use core::mem::MaybeUninit;

use super::lanes::Portable;
#[cfg(target_arch = "x86_64")]
use super::lanes::{F32x8, F64x4, I32x8, I64x4};
use super::traits::ElementType;

/// Elements in a tile: the unit of widening, and of the row scan (see `rows`).
///
/// A tile of `f32` and its output fill 8 KiB, so that the second read of a tile comes from the first-level cache.
pub(crate) const TILE: usize = 1024;

/// Implements [`ElementType`] for types that are their own accumulators.
macro_rules! native_element {
    ($($ty:ty: $count:literal $avx2:ty;)*) => {$(
        impl ElementType for $ty {
            type Acc = $ty;
            type Wrapping = $ty;
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
    f32: 8 F32x8;
    f64: 4 F64x4;
    i32: 8 I32x8;
    i64: 4 I64x4;
}
