//! The walk through a tile, one vector after the other.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::super::traits::{Element, Lanes, Operator};
use super::{APART, fold_lanes};

/// The most lanes that a vector has.
const MOST_LANES: usize = 8;

/// Scans from `start`. Returns the total, and whether all that was combined with a carry was regular.
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
    let mut walk = Walk::<T, O, L> {
        from: input.as_ptr(),
        to: output.as_mut_ptr().cast(),
        carry: L::splat(proof, start),
        seen: (identity, identity),
        totals: [identity; APART],
        operator: PhantomData,
    };
    let vectors = input.len() / L::COUNT;
    let groups = vectors / APART;
    let rest = vectors * L::COUNT..input.len();
    // SAFETY: each vector and the rest lie in both slices.
    unsafe {
        if REVERSE {
            walk.rest::<REVERSE, EXCLUSIVE>(rest.start, rest.len());
            for vector in (groups * APART..vectors).rev() {
                walk.vector::<REVERSE, EXCLUSIVE>(vector * L::COUNT, 0);
            }
            for group in (0..groups).rev() {
                for index in (0..APART).rev() {
                    walk.vector::<REVERSE, EXCLUSIVE>((group * APART + index) * L::COUNT, index);
                }
            }
        } else {
            for group in 0..groups {
                for index in 0..APART {
                    walk.vector::<REVERSE, EXCLUSIVE>((group * APART + index) * L::COUNT, index);
                }
            }
            for vector in groups * APART..vectors {
                walk.vector::<REVERSE, EXCLUSIVE>(vector * L::COUNT, 0);
            }
            walk.rest::<REVERSE, EXCLUSIVE>(rest.start, rest.len());
        }
    }
    (fold_lanes::<T, O, L>(walk.totals), walk.was_regular(start))
}

/// A walk through the vectors of a tile.
struct Walk<T, O, L> {
    from: *const T,
    to: *mut T,
    /// What precedes the next vector, in every lane.
    carry: L,
    /// What the operator has noted of the local scans.
    seen: (L, L),
    totals: [L; APART],
    operator: PhantomData<O>,
}

impl<T: Element, O: Operator<T::Acc>, L: Lanes<T>> Walk<T, O, L> {
    /// Scans the vector at `at`, and adds it to a total.
    ///
    /// # Safety
    ///
    /// Both slices have a vector there.
    #[inline(always)]
    unsafe fn vector<const REVERSE: bool, const EXCLUSIVE: bool>(
        &mut self,
        at: usize,
        total: usize,
    ) {
        // SAFETY: the caller's promise.
        let (from, to) = unsafe { (self.from.add(at), self.to.add(at)) };
        // SAFETY: as above.
        unsafe { self.step::<REVERSE, EXCLUSIVE>(from, to, total) };
    }

    /// # Safety
    ///
    /// There is a vector at `from` and room for one at `to`.
    #[inline(always)]
    unsafe fn step<const REVERSE: bool, const EXCLUSIVE: bool>(
        &mut self,
        from: *const T,
        to: *mut T,
        total: usize,
    ) {
        let proof = self.carry.proof();
        // SAFETY: the caller has a vector there.
        let x = unsafe { L::load(proof, from) };
        self.totals[total] = O::combine_lanes(self.totals[total], x);
        let local = if REVERSE { x.reversed() } else { x }.inclusive_scan::<O>();
        self.seen = O::watch(self.seen, local);
        let shown = if EXCLUSIVE {
            local.shift_in(L::splat(proof, O::IDENTITY))
        } else {
            local
        };
        let scanned = O::combine_lanes(self.carry, shown);
        self.carry = O::combine_lanes(self.carry, local.last());
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
        // SAFETY: the room is large enough for a vector; the caller answers for the slices.
        unsafe {
            room.as_mut_ptr()
                .copy_from_nonoverlapping(self.from.add(at), len);
            self.step::<REVERSE, EXCLUSIVE>(room.as_ptr(), room.as_mut_ptr(), 0);
            self.to.add(at).copy_from_nonoverlapping(room.as_ptr(), len);
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
