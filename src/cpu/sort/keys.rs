//! Keys whose order as numbers without a sign is the order of the elements.
//!
//! ```text
//! f32 bits       1 11111111 0…   1 …    1 0…0   0 0…0   0 …     0 11111111 0…   ? 11111111 …
//! value          −∞              −x     −0.0    0.0     x       ∞               NaN
//! key            0 00000000 1…   0 …    1 0…0   1 0…0   1 …     1 11111111 0…   1 11111111 1…
//!                └── all bits flipped ┘ └ equal ┘ └── the sign flipped ──┘       └ equal
//! ```
//!
//! Flipping all bits of a key turns the order around, and equal keys stay equal.

use bytemuck::Pod;

/// The bits of an element, as an integer of its size without a sign.
pub(crate) trait Bits: Pod + Ord + Send + Sync + 'static {
    const BYTES: usize;
    const ALL: Self;
    /// The highest bit.
    const SIGN: Self;

    /// The byte of this number, the lowest first.
    fn byte(self, at: usize) -> usize;
    fn xor(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    /// The lowest `count` bits.
    fn lowest(count: usize) -> Self;
}

macro_rules! bits {
    ($($ty:ty),*) => {$(
        impl Bits for $ty {
            const BYTES: usize = size_of::<$ty>();
            const ALL: Self = <$ty>::MAX;
            const SIGN: Self = 1 << (<$ty>::BITS - 1);

            #[inline(always)]
            fn byte(self, at: usize) -> usize {
                (self >> (8 * at)) as usize & 0xff
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }

            fn lowest(count: usize) -> Self {
                match count {
                    0 => 0,
                    _ => Self::ALL >> (Self::BITS as usize - count.min(Self::BITS as usize)),
                }
            }
        }
    )*};
}

bits!(u8, u16, u32, u64);

/// An order of elements: one comes before another where its key is smaller.
pub(crate) trait Order<B: Bits>: Copy + Send + Sync + 'static {
    fn key(self, bits: B) -> B;
}

/// The order of integers, of all of their bits or of some.
#[derive(Clone, Copy)]
pub(crate) struct Integers<B> {
    flip: B,
    mask: B,
}

impl<B: Bits> Integers<B> {
    pub(crate) fn signed(descending: bool) -> Self {
        Self {
            flip: flip(descending, B::SIGN),
            mask: B::ALL,
        }
    }

    pub(crate) fn unsigned(descending: bool) -> Self {
        Self::lowest(8 * B::BYTES, descending)
    }

    /// Of the lowest `count` bits, as numbers without a sign.
    pub(crate) fn lowest(count: usize, descending: bool) -> Self {
        Self {
            flip: flip(descending, B::SIGN.xor(B::SIGN)),
            mask: B::lowest(count),
        }
    }
}

impl<B: Bits> Order<B> for Integers<B> {
    #[inline(always)]
    fn key(self, bits: B) -> B {
        bits.xor(self.flip).and(self.mask)
    }
}

/// The order of floats: NaN above everything.
#[derive(Clone, Copy)]
pub(crate) struct Floats<B> {
    flip: B,
    infinity: B,
}

impl<B: Bits> Floats<B> {
    /// `infinity` has the bits of +∞.
    pub(crate) fn new(infinity: B, descending: bool) -> Self {
        let zero = B::SIGN.xor(B::SIGN);
        Self {
            flip: flip(descending, zero),
            infinity,
        }
    }
}

impl<B: Bits> Order<B> for Floats<B> {
    #[inline(always)]
    fn key(self, bits: B) -> B {
        let magnitude = bits.and(B::ALL.xor(B::SIGN));
        // Of a number above −0.0 the sign is flipped, of the others all bits; −0.0 becomes 0.0 first.
        let is_below = bits > B::SIGN;
        let flips = if is_below { B::ALL } else { B::SIGN };
        let number = if bits == B::SIGN { magnitude } else { bits };
        let key = number.xor(flips);
        let key = if magnitude > self.infinity {
            B::ALL
        } else {
            key
        };
        key.xor(self.flip)
    }
}

/// What turns an order around, if it is to be, after `flip`.
fn flip<B: Bits>(descending: bool, flip: B) -> B {
    match descending {
        true => flip.xor(B::ALL),
        false => flip,
    }
}
