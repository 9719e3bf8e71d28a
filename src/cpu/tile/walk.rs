//! The walk through a tile, one vector after the other.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::super::traits::{Combine, ElementType, Lanes, MOST_LANES};

/// Scans from `start`. Returns the last prefix, and whether all prefixes are regular after `start`.
///
/// An exclusive scan is the inclusive scan without the last element, stored one place further along, after `start`.
#[inline(always)]
pub(super) fn walk<T: ElementType, O: Combine<T::Acc>, L: Lanes<T>, const REVERSE: bool>(
    proof: L::Proof,
    input: &[T],
    output: &mut [MaybeUninit<T>],
    start: T::Acc,
    exclusive: bool,
) -> (T::Acc, bool) {
    let len = input.len();
    assert!(len == output.len());
    let shift = usize::from(exclusive && len > 0);
    // The place in memory of some elements, from the first of them along the scan.
    let place = |along: usize, count: usize| {
        if REVERSE { len - along - count } else { along }
    };
    if shift == 1 {
        output[place(0, 1)].write(T::from_acc(start));
    }
    let identity = L::splat(proof, O::IDENTITY);
    let start_lanes = L::splat(proof, start);
    let mut walk = Walk::<T, O, L> {
        start: start_lanes,
        prefix: if O::EXACT { start_lanes } else { identity },
        seen: (identity, identity),
        types: PhantomData,
    };
    let (from, to) = (input.as_ptr(), output.as_mut_ptr().cast::<T>());
    let stored = len - shift;
    let vectors = stored / L::COUNT;
    let done = vectors * L::COUNT;
    // SAFETY: both slices have the places of `stored` elements, and the input those of all.
    unsafe {
        let (read, written) = (from.add(place(0, done)), to.add(place(shift, done)));
        for step in 0..vectors {
            let vector = if REVERSE { vectors - 1 - step } else { step };
            let at = vector * L::COUNT;
            walk.step::<REVERSE>(read.add(at), written.add(at));
        }
        let (count, kept) = (len - done, stored - done);
        if count > 0 {
            let read = from.add(place(done, count));
            walk.rest::<REVERSE>([count, kept], read, to.add(place(done + shift, kept)));
        }
    }
    let mut last = O::IDENTITY;
    walk.prefix.for_each(|lane| last = lane);
    (last, O::is_regular(start, last) && walk.was_regular(start))
}

/// A walk through the vectors of a tile.
struct Walk<T, O, L> {
    /// What precedes the tile, in every lane.
    start: L,
    /// What precedes the next vector in the tile; if any order is exact, in the row.
    prefix: L,
    /// What the operator has noted of the prefixes.
    seen: (L, L),
    types: PhantomData<(T, O)>,
}

impl<T: ElementType, O: Combine<T::Acc>, L: Lanes<T>> Walk<T, O, L> {
    /// Scans the vector at `from`.
    ///
    /// # Safety
    ///
    /// There is a vector at `from` and room for one at `to`.
    #[inline(always)]
    unsafe fn step<const REVERSE: bool>(&mut self, from: *const T, to: *mut T) {
        let proof = self.start.proof();
        // SAFETY: the caller has a vector there.
        let x = unsafe { L::load(proof, from) };
        let local = if REVERSE { x.reversed() } else { x }.inclusive_scan::<O>();
        let before = self.prefix;
        let prefix = O::combine_lanes(before, local);
        self.seen = O::watch(self.seen, prefix);
        self.prefix = O::combine_lanes(before, local.last());
        let scanned = if O::EXACT {
            prefix
        } else {
            O::combine_lanes(self.start, prefix)
        };
        // SAFETY: the caller has room for a vector there.
        unsafe { if REVERSE { scanned.reversed() } else { scanned }.store(to) };
    }

    /// Scans the `count` elements at `from`, filled up to a vector with identities, and stores the first `kept` results
    /// of the scan.
    ///
    /// # Safety
    ///
    /// There are that many elements at `from`, no more than lanes, and there is room for the results at `to`.
    #[inline(always)]
    unsafe fn rest<const REVERSE: bool>(
        &mut self,
        [count, kept]: [usize; 2],
        from: *const T,
        to: *mut T,
    ) {
        // The place in the room of the first elements of the scan.
        let first = |count| if REVERSE { L::COUNT - count } else { 0 };
        let mut room = [T::from_acc(O::IDENTITY); MOST_LANES];
        let room = room.as_mut_ptr();
        // SAFETY: the room is large enough for a vector, and is read before it is written; the caller answers for the
        // rest.
        unsafe {
            room.add(first(count)).copy_from_nonoverlapping(from, count);
            self.step::<REVERSE>(room, room);
            to.copy_from_nonoverlapping(room.add(first(kept)), kept);
        }
    }

    #[inline(always)]
    fn was_regular(&self, start: T::Acc) -> bool {
        let is_regular = |seen| O::is_regular(start, seen);
        self.seen.0.all(is_regular) & self.seen.1.all(is_regular)
    }
}
