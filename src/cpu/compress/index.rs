//! Integers that index tensors.

use bytemuck::Zeroable;

/// Integers that index tensors.
pub(crate) trait Index: Copy + Default + Ord + Zeroable + Send + Sync + 'static {
    /// The index as this type; it wraps where the type cannot hold it.
    fn from_usize(index: usize) -> Self;

    /// The index, or `usize::MAX` where it is negative or too large.
    fn to_usize(self) -> usize;

    /// The indices where they lie, if they have a type of [`Indices`].
    fn in_place(_indices: &[Self]) -> Option<Indices<'_>> {
        None
    }
}

/// Indices: read where they lie if they have a type that is common, and otherwise copied.
pub(crate) enum Indices<'a> {
    Ints(&'a [i32]),
    Longs(&'a [i64]),
    Copied(Vec<usize>),
}

impl Indices<'_> {
    pub(in crate::cpu) fn len(&self) -> usize {
        match self {
            Self::Ints(all) => all.len(),
            Self::Longs(all) => all.len(),
            Self::Copied(all) => all.len(),
        }
    }

    #[inline(always)]
    pub(in crate::cpu) fn get(&self, at: usize) -> usize {
        match self {
            Self::Ints(all) => all[at].to_usize(),
            Self::Longs(all) => all[at].to_usize(),
            Self::Copied(all) => all[at],
        }
    }

    /// How many indices, which are in order, are below `limit`.
    pub(in crate::cpu) fn below(&self, limit: usize) -> usize {
        match self {
            Self::Ints(all) => all.partition_point(|index| index.to_usize() < limit),
            Self::Longs(all) => all.partition_point(|index| index.to_usize() < limit),
            Self::Copied(all) => all.partition_point(|&index| index < limit),
        }
    }
}

macro_rules! index {
    ($($ty:ty $(as $Indices:ident)?),*) => {$(
        impl Index for $ty {
            #[inline(always)]
            fn from_usize(index: usize) -> Self {
                index as $ty
            }

            #[inline(always)]
            fn to_usize(self) -> usize {
                usize::try_from(self).unwrap_or(usize::MAX)
            }

            $(fn in_place(indices: &[Self]) -> Option<Indices<'_>> {
                Some(Indices::$Indices(indices))
            })?
        }
    )*};
}

index!(i8, i16, i32 as Ints, i64 as Longs, u8, u16, u32, u64, usize);
