//! The walk through a tile, one vector after the other.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::super::traits::{Element, Lanes, MOST_LANES, Operator};

/// Scans from `start`. Returns the last prefix, and whether all prefixes are regular after `start`.
#[inline(always)]
pub(super) fn walk<
    T: Element,
    O: Operator<T::Acc>,
    L: Lanes<T>,
    const REVERSE: bool,
    const EXCLUSIVE: bool,
>(
    proof: L::Proof,
    input: &[T],
    output: &mut [MaybeUninit<T>],
    start: T::Acc,
) -> (T::Acc, bool) {
    assert!(input.len() == output.len());
    let identity = L::splat(proof, O::IDENTITY);
    let start_lanes = L::splat(proof, start);
    let mut walk = Walk::<T, O, L> {
        from: input.as_ptr(),
        to: output.as_mut_ptr().cast(),
        start: start_lanes,
        prefix: if O::EXACT { start_lanes } else { identity },
        seen: (identity, identity),
        operator: PhantomData,
    };
    let vectors = input.len() / L::COUNT;
    let rest = vectors * L::COUNT..input.len();
    // SAFETY: each vector and the rest lie in both slices.
    unsafe {
        if REVERSE {
            walk.rest::<REVERSE, EXCLUSIVE>(rest.start, rest.len());
            for vector in (0..vectors).rev() {
                walk.vector::<REVERSE, EXCLUSIVE>(vector * L::COUNT);
            }
        } else {
            for vector in 0..vectors {
                walk.vector::<REVERSE, EXCLUSIVE>(vector * L::COUNT);
            }
            walk.rest::<REVERSE, EXCLUSIVE>(rest.start, rest.len());
        }
    }
    let mut last = O::IDENTITY;
    walk.prefix.for_each(|lane| last = lane);
    (last, O::is_regular(start, last) && walk.was_regular(start))
}

/// A walk through the vectors of a tile.
struct Walk<T, O, L> {
    from: *const T,
    to: *mut T,
    /// What precedes the tile, in every lane.
    start: L,
    /// What precedes the next vector in the tile; if any order is exact, in the row.
    prefix: L,
    /// What the operator has noted of the prefixes.
    seen: (L, L),
    operator: PhantomData<O>,
}

impl<T: Element, O: Operator<T::Acc>, L: Lanes<T>> Walk<T, O, L> {
    /// Scans the vector at `at`.
    ///
    /// # Safety
    ///
    /// Both slices have a vector there.
    #[inline(always)]
    unsafe fn vector<const REVERSE: bool, const EXCLUSIVE: bool>(&mut self, at: usize) {
        // SAFETY: the caller's promise.
        let (from, to) = unsafe { (self.from.add(at), self.to.add(at)) };
        // SAFETY: as above.
        unsafe { self.step::<REVERSE, EXCLUSIVE>(from, to) };
    }

    /// # Safety
    ///
    /// There is a vector at `from` and room for one at `to`.
    #[inline(always)]
    unsafe fn step<const REVERSE: bool, const EXCLUSIVE: bool>(
        &mut self,
        from: *const T,
        to: *mut T,
    ) {
        let proof = self.start.proof();
        // SAFETY: the caller has a vector there.
        let x = unsafe { L::load(proof, from) };
        let local = if REVERSE { x.reversed() } else { x }.inclusive_scan::<O>();
        let before = self.prefix;
        let prefix = O::combine_lanes(before, local);
        self.seen = O::watch(self.seen, prefix);
        self.prefix = O::combine_lanes(before, local.last());
        let shown = if EXCLUSIVE {
            prefix.shift_in(before)
        } else {
            prefix
        };
        let scanned = if O::EXACT {
            shown
        } else {
            O::combine_lanes(self.start, shown)
        };
        // SAFETY: the caller has room for a vector there.
        unsafe { if REVERSE { scanned.reversed() } else { scanned }.store(to) };
    }

    /// Scans the `len` elements at `at`, filled up to a vector with identities.
    ///
    /// # Safety
    ///
    /// Both slices have these elements, which are fewer than lanes.
    #[inline(always)]
    unsafe fn rest<const REVERSE: bool, const EXCLUSIVE: bool>(&mut self, at: usize, len: usize) {
        if len == 0 {
            return;
        }
        let mut room = [T::from_acc(O::IDENTITY); MOST_LANES];
        let room = room.as_mut_ptr();
        // SAFETY: the room is large enough for a vector, and is read before it is written; the caller answers for the
        // slices.
        unsafe {
            room.copy_from_nonoverlapping(self.from.add(at), len);
            self.step::<REVERSE, EXCLUSIVE>(room, room);
            self.to.add(at).copy_from_nonoverlapping(room, len);
        }
    }

    #[inline(always)]
    fn was_regular(&self, start: T::Acc) -> bool {
        let mut was_regular = true;
        let mut check = |seen| was_regular &= O::is_regular(start, seen);
        self.seen.0.for_each(&mut check);
        self.seen.1.for_each(&mut check);
        was_regular
    }
}
