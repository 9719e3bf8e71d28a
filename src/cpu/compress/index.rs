//! Integers that index tensors.

use bytemuck::Zeroable;

/// Integers that index tensors.
pub(crate) trait Index: Copy + Default + Ord + Zeroable + Send + Sync + 'static {
    /// The index as this type; it wraps where the type cannot hold it.
    fn from_usize(index: usize) -> Self;

    /// The index, or `usize::MAX` where it is negative or too large.
    fn to_usize(self) -> usize;
}

macro_rules! index {
    ($($ty:ty),*) => {$(
        impl Index for $ty {
            #[inline(always)]
            fn from_usize(index: usize) -> Self {
                index as $ty
            }

            #[inline(always)]
            fn to_usize(self) -> usize {
                usize::try_from(self).unwrap_or(usize::MAX)
            }
        }
    )*};
}

index!(i8, i16, i32, i64, u8, u16, u32, u64, usize);
