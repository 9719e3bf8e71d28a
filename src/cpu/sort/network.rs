//! Short lines side by side, by a sorting network: a lane of a vector for each line.
//!
//! ```text
//! lane       0    1    2   …
//! place 0    5    1    7          an exchange of two places in all lines at once:
//! place 1    2    8    4          their minima take the first place, their maxima the second
//! ```
//!
//! A network exchanges the same places whatever the keys are, so it has no branches to mispredict. This one is Batcher's
//! merge exchange: D. E. Knuth, "The Art of Computer Programming", volume 3, 5.2.2, algorithm M. It takes lines of any
//! length `n`, and about `n / 4 · log² n` exchanges.
//!
//! An exchange does not keep the order of equal keys. Keys alone look alike, and positions decide between equal keys.

use super::super::processor::{has_minima, vectorize};
use super::keys::Bits;

/// Lines that are sorted together: two vectors of 32-bit keys.
pub(super) const LANES: usize = 16;

/// Fewer lines are sorted one by one: unused lanes cost as much.
const FEW: usize = 8;

/// The items of all lines at one place.
pub(super) trait Place<T>: Copy {
    /// A place of lines that have this item there.
    fn of(item: T) -> Self;
    fn get(&self, lane: usize) -> T;
    fn set(&mut self, lane: usize, item: T);
    /// The smaller ones of two places, and the larger ones.
    fn exchanged(self, other: Self) -> [Self; 2];
}

impl<B: Bits> Place<B> for [B; LANES] {
    fn of(key: B) -> Self {
        [key; LANES]
    }

    #[inline(always)]
    fn get(&self, lane: usize) -> B {
        self[lane]
    }

    #[inline(always)]
    fn set(&mut self, lane: usize, key: B) {
        self[lane] = key;
    }

    #[inline(always)]
    fn exchanged(self, other: Self) -> [Self; 2] {
        let (mut low, mut high) = (self, other);
        for lane in 0..LANES {
            let (one, two) = (self[lane], other[lane]);
            if B::BYTES < 8 {
                low[lane] = one.min(two);
                high[lane] = one.max(two);
            } else {
                // AVX2 has no minimum of 64 bits.
                let differing = one ^ two;
                let swapped = if two < one { differing } else { B::zeroed() };
                low[lane] = one ^ swapped;
                high[lane] = two ^ swapped;
            }
        }
        [low, high]
    }
}

/// Whether this number of lines is sorted here. Without vectors a network is slower than a sort from about 32 keys on,
/// and with positions it always is.
pub(super) fn serves(lines: usize) -> bool {
    lines >= FEW && has_minima()
}

/// Sorts each of up to [`LANES`] lines of `len` items, which lie one after the other. The room is for `len` places.
pub(super) fn sort<T: Copy, P: Place<T>>(lines: &mut [T], len: usize, room: &mut Vec<P>) {
    let Some(&first) = lines.first() else { return };
    room.resize(len, P::of(first));
    vectorize!({
        for (lane, line) in lines.chunks_exact(len).enumerate() {
            for (place, &item) in room.iter_mut().zip(line) {
                place.set(lane, item);
            }
        }
        exchange_all(room);
        for (lane, line) in lines.chunks_exact_mut(len).enumerate() {
            for (place, item) in room.iter().zip(line) {
                *item = place.get(lane);
            }
        }
    });
}

/// The network. The names are Knuth's.
#[inline(always)]
fn exchange_all<T, L: Place<T>>(places: &mut [L]) {
    let n = places.len();
    let top = n.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            // All `i` below `n - d` whose bit `p` is that of `r`.
            for first in (r..n - d).step_by(2 * p) {
                for i in first..(first + p).min(n - d) {
                    [places[i], places[i + d]] = places[i].exchanged(places[i + d]);
                }
            }
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
}
