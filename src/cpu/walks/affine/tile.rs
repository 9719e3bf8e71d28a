//! A chunk of a single column, in lanes.

use core::ops::Range;

use super::super::super::lanes::Kernel;
use super::super::super::processor::vectorize;
use super::super::super::traits::{Accumulator, ElementType, Lanes as Vector};
use super::Affine;

/// Elements of a single column that lie side by side.
#[derive(Clone, Copy)]
pub(in super::super) struct Tile<'a, T> {
    pub(in super::super) values: &'a [T],
    pub(super) decay: &'a [T],
}

impl<T: ElementType> Tile<'_, T> {
    /// How many elements each input has.
    #[inline(always)]
    pub(in super::super) fn len(&self) -> usize {
        assert!(self.values.len() == self.decay.len());
        self.values.len()
    }

    /// Calls `take` with the place, the decay and the value of some elements, in the order of the walk.
    #[inline(always)]
    pub(in super::super) fn each<const REVERSE: bool>(
        &self,
        lines: Range<usize>,
        mut take: impl FnMut(usize, T::Acc, T::Acc),
    ) {
        for step in 0..lines.len() {
            let at = if REVERSE {
                lines.end - 1 - step
            } else {
                lines.start + step
            };
            take(at, self.decay[at].to_acc(), self.values[at].to_acc());
        }
    }

    /// The factors and the offsets of the vector at `first`, and its decays: each lane is composed with the lanes
    /// before it, in the order of the walk.
    ///
    /// # Safety
    ///
    /// The vector lies in the tile.
    #[inline(always)]
    pub(in super::super) unsafe fn composed<
        L: Vector<T>,
        const REVERSE: bool,
        const ADJOINT: bool,
    >(
        &self,
        proof: L::Proof,
        first: usize,
    ) -> (L, L, L) {
        // SAFETY: the caller's promise.
        let (decay, value) = unsafe {
            (
                L::load(proof, self.decay.as_ptr().add(first)),
                L::load(proof, self.values.as_ptr().add(first)),
            )
        };
        let value = if ADJOINT { decay.mul(value) } else { value };
        let (mut factor, mut offset) = if REVERSE {
            (decay.reversed(), value.reversed())
        } else {
            (decay, value)
        };
        let (one, zero) = (L::splat(proof, T::Acc::ONE), L::splat(proof, T::Acc::ZERO));
        for step in 0..L::STEPS {
            let before = offset.taken_in(step, zero);
            offset = factor.mul(before).add(offset);
            factor = factor.mul(factor.taken_in(step, one));
        }
        (factor, offset, decay)
    }

    /// Whether all products of decays within a vector of `lanes` are normal numbers, or zero because a decay is. `from`
    /// is the place of the first vector. It is called only where a decay is small. Zeros alone are found in vectors.
    #[cold]
    pub(in super::super) fn composes(&self, from: usize, lanes: usize) -> bool {
        let size = |decay: &T| match decay.to_acc().magnitude() {
            size if size == T::Acc::ZERO => T::Acc::ONE,
            size => size.min(T::Acc::ONE),
        };
        let mut smallest = [T::Acc::ONE; 16];
        vectorize!({
            for decays in self.decay.chunks(16) {
                for (smallest, decay) in smallest.iter_mut().zip(decays) {
                    *smallest = smallest.min(size(decay));
                }
            }
        });
        let are_moderate = smallest.iter().all(|&size| size >= T::Acc::MODERATE);
        let mut vectors = self.decay[from..].chunks_exact(lanes);
        are_moderate
            || vectors.all(|vector| {
                let product = vector.iter().fold(T::Acc::ONE, |all, it| all.mul(size(it)));
                product.is_normal()
            })
    }

    /// The place of the first vector, and the elements outside the vectors, which come last in the order of the walk.
    #[inline(always)]
    pub(in super::super) fn parts<const REVERSE: bool>(
        &self,
        lanes: usize,
    ) -> (usize, Range<usize>) {
        let len = self.len();
        let rest = len % lanes;
        if REVERSE {
            (rest, 0..rest)
        } else {
            (0, len - rest..len)
        }
    }
}

/// Composes a map with the elements of a tile.
pub(super) struct FoldTile<'a, T: ElementType, const REVERSE: bool, const ADJOINT: bool>(
    pub(super) Tile<'a, T>,
    pub(super) Affine<T::Acc>,
);

impl<T: ElementType, const REVERSE: bool, const ADJOINT: bool> Kernel<T>
    for FoldTile<'_, T, REVERSE, ADJOINT>
{
    type Output = Affine<T::Acc>;

    #[inline(always)]
    fn run<L: Vector<T>>(self, proof: L::Proof) -> Self::Output {
        let Self(tile, before) = self;
        let (from, rest) = tile.parts::<REVERSE>(L::COUNT);
        let count = (tile.len() - rest.len()) / L::COUNT;
        let splat = |value| L::splat(proof, value);
        let (mut factor, mut offset) = (splat(before.factor), splat(before.offset));
        let (mut least, mut most) = (splat(before.least), splat(before.most));
        let mut smallest = splat(T::Acc::ONE);
        for step in 0..count {
            let vector = if REVERSE { count - 1 - step } else { step };
            let first = from + vector * L::COUNT;
            // SAFETY: the vector is one of the tile's.
            let (a, b, decay) = unsafe { tile.composed::<L, REVERSE, ADJOINT>(proof, first) };
            let size = decay.magnitude();
            (smallest, most) = (smallest.min(size), most.max(size));
            let prefix = a.mul(factor);
            least = least.min(prefix.magnitude());
            factor = prefix.last();
            offset = a.last().mul(offset).add(b.last());
        }
        let mut total = before;
        factor.for_each(|factor| total.factor = factor);
        offset.for_each(|offset| total.offset = offset);
        total.factor = total.factor.without_subnormals();
        if before.factor != T::Acc::ZERO {
            least.for_each(|least| total.least = total.least.min(least));
        }
        most.for_each(|most| total.most = total.most.max(most));
        if !is_moderate::<T, L>(smallest) {
            let forgets = !smallest.all(|size| size != T::Acc::ZERO);
            if !tile.composes(from, L::COUNT) {
                // Products that underflow are lost in the offset, too.
                total = total.unknown();
            } else if forgets {
                total.least = T::Acc::ONE;
            }
        }
        tile.each::<REVERSE>(rest, |_, decay, value| {
            total = total.then(decay, super::offset::<T::Acc, ADJOINT>(decay, value));
        });
        total
    }
}

/// Whether no product of as many factors as there are lanes leaves the range, given the smallest of them in each lane.
#[inline(always)]
pub(in super::super) fn is_moderate<T: ElementType, L: Vector<T>>(smallest: L) -> bool {
    smallest.all(|size| size >= T::Acc::MODERATE)
}
