//! Keys whose order as numbers without a sign is the order of the elements.
//!
//! ```text
//! f32 bits       1 11111111 0…   1 …    1 0…0   0 0…0   0 …     0 11111111 0…   ? 11111111 …
//! value          −∞              −x     −0.0    0.0     x       ∞               NaN
//! key            0 00000000 1…   0 …    1 0…0   1 0…0   1 …     1 11111111 0…   1 11111111 1…
//!                └── all bits flipped ┘ └ equal ┘ └── the sign flipped ──┘       └ equal
//! ```
//!
//! Flipping all bits of a key reverses the order, and equal keys stay equal. Each key stands for one element, except
//! the keys of zeros and NaN, which stand for several.

use core::ops::{BitAnd, BitOr, BitXor};

use bytemuck::Pod;

/// The bits of an element, as an integer of its size without a sign.
pub(crate) trait Bits:
    Pod
    + Ord
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Send
    + Sync
    + 'static
{
    const BYTES: usize;
    const ALL: Self;
    /// The highest bit.
    const SIGN: Self;

    /// `count` bits of this number, from bit `from` on.
    fn digit(self, from: usize, count: usize) -> usize;
    /// The same number.
    fn wide(self) -> u64;
    /// The number of bits up to the highest that is 1.
    fn width(self) -> usize;
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
            fn digit(self, from: usize, count: usize) -> usize {
                (self >> from) as usize & ((1 << count) - 1)
            }

            #[inline(always)]
            fn wide(self) -> u64 {
                self.into()
            }

            fn width(self) -> usize {
                (Self::BITS - self.leading_zeros()) as usize
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

    /// The bits of the element with this key; of one of them if there are several.
    fn bits(self, key: B) -> B;

    /// The bits of a key that count.
    fn mask(self) -> B;

    /// The keys of several elements: those of zeros and of NaN.
    fn shared(self) -> Option<[B; 2]>;
}

/// The order of integers, by all of their bits or by some.
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

    /// The order by the lowest `count` bits, as numbers without a sign.
    pub(crate) fn lowest(count: usize, descending: bool) -> Self {
        Self {
            flip: flip(descending, B::zeroed()),
            mask: B::lowest(count),
        }
    }
}

impl<B: Bits> Order<B> for Integers<B> {
    #[inline(always)]
    fn key(self, bits: B) -> B {
        bits ^ self.flip
    }

    #[inline(always)]
    fn bits(self, key: B) -> B {
        key ^ self.flip
    }

    #[inline(always)]
    fn mask(self) -> B {
        self.mask
    }

    fn shared(self) -> Option<[B; 2]> {
        None
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
        Self {
            flip: flip(descending, B::zeroed()),
            infinity,
        }
    }
}

impl<B: Bits> Order<B> for Floats<B> {
    #[inline(always)]
    fn key(self, bits: B) -> B {
        let magnitude = bits & (B::ALL ^ B::SIGN);
        // Numbers above −0.0 get their sign flipped, the others all bits; −0.0 becomes 0.0 first.
        let is_below = bits > B::SIGN;
        let flips = if is_below { B::ALL } else { B::SIGN };
        let number = if bits == B::SIGN { magnitude } else { bits };
        let key = number ^ flips;
        let key = if magnitude > self.infinity {
            B::ALL
        } else {
            key
        };
        key ^ self.flip
    }

    #[inline(always)]
    fn bits(self, key: B) -> B {
        let key = key ^ self.flip;
        let flips = if key < B::SIGN { B::ALL } else { B::SIGN };
        key ^ flips
    }

    #[inline(always)]
    fn mask(self) -> B {
        B::ALL
    }

    fn shared(self) -> Option<[B; 2]> {
        Some([B::SIGN, B::ALL].map(|key| key ^ self.flip))
    }
}

/// `flip`, with all bits flipped if the order is descending.
fn flip<B: Bits>(descending: bool, flip: B) -> B {
    if descending { flip ^ B::ALL } else { flip }
}
