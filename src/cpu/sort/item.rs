//! What is sorted: keys, alone or with their positions.

use super::super::compress::Index;
use super::keys::Bits;
use super::network::{LANES, Place};

/// What is sorted: a key, alone or with its position.
pub(super) trait Item<B: Bits>: Copy + Send + Sync + 'static {
    /// The items of lines that are sorted side by side.
    type Place: Place<Self>;
    /// The longest of such lines. On two cores of an EPYC passes took as long at this length, or up to half as long
    /// again: 32-bit keys took 6.5 and 9 ns at 1024, and with positions 6.6 and 12.4 at 512.
    const NETWORK: usize;
    /// Up to this many items for each byte of a key are sorted by comparison. For `f32`, passes took as long at 512
    /// keys, and at 256 keys with positions.
    const FEW_PER_BYTE: usize;

    fn new(key: B, position: usize) -> Self;
    fn key(self) -> B;
    /// Sorts a few items, which are in the order of their positions. Keys without positions are sorted by all of their
    /// bits.
    fn sort_few(items: &mut [Self], mask: B);
}

impl<B: Bits> Item<B> for B {
    type Place = [B; LANES];
    const NETWORK: usize = 256 * if B::BYTES < 4 { B::BYTES } else { 4 };
    const FEW_PER_BYTE: usize = 128;

    #[inline(always)]
    fn new(key: B, _position: usize) -> Self {
        key
    }

    #[inline(always)]
    fn key(self) -> B {
        self
    }

    fn sort_few(items: &mut [Self], mask: B) {
        assert!(mask == B::ALL, "keys that are equal have no order");
        items.sort_unstable();
    }
}

/// A key and its position in its line.
#[derive(Clone, Copy)]
pub(super) struct Placed<B, P> {
    pub(super) key: B,
    pub(super) position: P,
}

impl<B: Bits, P: Index> Item<B> for Placed<B, P> {
    type Place = PlacedLanes<B, P>;
    const NETWORK: usize = 128 * if B::BYTES < 4 { B::BYTES } else { 4 };
    const FEW_PER_BYTE: usize = 64;

    #[inline(always)]
    fn new(key: B, position: usize) -> Self {
        Self {
            key,
            position: P::from_usize(position),
        }
    }

    #[inline(always)]
    fn key(self) -> B {
        self.key
    }

    fn sort_few(items: &mut [Self], mask: B) {
        items.sort_unstable_by_key(|item| (item.key & mask, item.position.to_usize()));
    }
}

/// Keys and their positions, each in vectors of their own.
#[derive(Clone, Copy)]
pub(super) struct PlacedLanes<B, P> {
    keys: [B; LANES],
    positions: [P; LANES],
}

impl<B: Bits, P: Index> Place<Placed<B, P>> for PlacedLanes<B, P> {
    fn of(item: Placed<B, P>) -> Self {
        Self {
            keys: [item.key; LANES],
            positions: [item.position; LANES],
        }
    }

    #[inline(always)]
    fn get(&self, lane: usize) -> Placed<B, P> {
        Placed {
            key: self.keys[lane],
            position: self.positions[lane],
        }
    }

    #[inline(always)]
    fn set(&mut self, lane: usize, item: Placed<B, P>) {
        self.keys[lane] = item.key;
        self.positions[lane] = item.position;
    }

    #[inline(always)]
    fn exchanged(self, other: Self) -> [Self; 2] {
        let (mut low, mut high) = (self, other);
        for lane in 0..LANES {
            let (one, two) = (self.keys[lane], other.keys[lane]);
            let (at_one, at_two) = (self.positions[lane], other.positions[lane]);
            // Without branches, so that all lanes are one comparison.
            let swap = (two < one) | ((two == one) & (at_two < at_one));
            low.keys[lane] = if swap { two } else { one };
            high.keys[lane] = if swap { one } else { two };
            low.positions[lane] = if swap { at_two } else { at_one };
            high.positions[lane] = if swap { at_one } else { at_two };
        }
        [low, high]
    }
}
