//! The traits of the engine: element types, the accumulators they are scanned in, lanes of accumulators, and operators.
//!
//! A scan works on accumulators: `f32`, `f64`, `i32` and `i64`, which are also elements. Elements of other types are
//! converted, scanned, and rounded once when they are stored. The traits name each other, so they are in one file:
//!
//! | trait | implemented in | for |
//! |---|---|---|
//! | [`ElementType`] | [`element`](super::element), [`converted`](super::converted), [`half_floats`](super::half_floats) | the element types of tensors |
//! | [`Accumulator`] | [`accumulator`](super::accumulator) | `f32`, `f64`, `i32`, `i64` |
//! | [`Lanes`] | [`lanes`](super::lanes) | arrays, and the registers of AVX2 |
//! | [`Combine`] | [`operator`](super::operator) | sum, product, maximum, minimum |

use core::mem::MaybeUninit;

use bytemuck::Pod;

#[cfg(target_arch = "x86_64")]
use super::processor::Widest;

/// An element type of a tensor.
pub(crate) trait ElementType: Pod + Send + Sync {
    type Acc: Accumulator;

    /// The wrapping representation: a type of the same size whose sums and products have the same bits. Signed and
    /// unsigned integers have the same, so that sums and products modulo 2^n are compiled once for both.
    type Wrapping: ElementType;

    /// Room for one converted tile; empty for a type that is its own accumulator.
    type Scratch: Default;

    /// Lanes for any processor, as many as `Avx2` has.
    type Portable: Lanes<Self, Proof = ()>;

    /// Lanes for a processor with AVX2.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Lanes<Self, Proof = Widest>;

    fn to_acc(self) -> Self::Acc;

    /// Floats are rounded to nearest, ties to even.
    fn from_acc(acc: Self::Acc) -> Self;

    /// Reads `src`, at most a tile, as accumulators.
    fn widen<'a>(src: &'a [Self], scratch: &'a mut Self::Scratch) -> &'a [Self::Acc];

    /// Calls `scan` with `src`, at most a tile, as accumulators, and stores what it writes in `dst`. `scan` must write
    /// its whole output.
    fn map(
        src: &[Self],
        dst: &mut [MaybeUninit<Self>],
        scratch: &mut Self::Scratch,
        scan: impl FnOnce(&[Self::Acc], &mut [MaybeUninit<Self::Acc>]),
    );
}

/// A number that holds partial results: an element that is its own accumulator.
pub(crate) trait Accumulator: ElementType<Acc = Self> + PartialOrd + 'static {
    const ZERO: Self;
    const ONE: Self;
    const NEGATIVE_ONE: Self;
    const LOWEST: Self;
    const HIGHEST: Self;

    /// Whether no grouping of elements changes a sum or a product.
    const EXACT: bool;

    /// A factor whose product with seven others that are not smaller is a normal number; 0 for integers.
    const MODERATE: Self;

    /// The smallest normal number; 0 for integers.
    const SMALLEST: Self;

    /// The smallest normal number, relative to the precision: what is smaller than a number times this, times a normal
    /// number, does not change that number; 0 for integers.
    const NEGLIGIBLE: Self;

    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;

    // `x != x` holds for NaN alone. A NaN on the right is taken, and a NaN on the left stays, since it compares as
    // false.
    #[expect(clippy::eq_op, reason = "the NaN test that also holds for integers")]
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if (other > self) | (other != other) {
            other
        } else {
            self
        }
    }

    #[expect(clippy::eq_op, reason = "the NaN test that also holds for integers")]
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if (other < self) | (other != other) {
            other
        } else {
            self
        }
    }

    /// Whether the number has the full precision of the type, which zero and subnormal numbers lack.
    fn is_normal(self) -> bool {
        true
    }

    /// The number, or zero in place of a subnormal one, with which each product would take a hundred cycles.
    #[inline(always)]
    fn without_subnormals(self) -> Self {
        if self.magnitude() < Self::SMALLEST {
            self.mul(Self::ZERO)
        } else {
            self
        }
    }

    /// The product, or zero if it is subnormal and has lost bits.
    #[inline(always)]
    fn mul_or_zero(self, other: Self) -> Self {
        self.mul(other)
    }

    /// The magnitude. NaN stays NaN.
    #[inline(always)]
    fn magnitude(self) -> Self {
        self.max(self.mul(Self::NEGATIVE_ONE))
    }

    /// Whether `carry + total` is what adding the elements of `total` to `carry` one by one gives, up to rounding.
    fn sum_is_regular(_carry: Self, _total: Self) -> bool {
        true
    }

    /// Whether `carry * total` is what multiplying `carry` by the elements of `total` one by one gives, up to
    /// rounding.
    fn product_is_regular(_carry: Self, _total: Self) -> bool {
        true
    }
}

/// The most lanes that a vector has.
pub(crate) const MOST_LANES: usize = 8;

/// Some neighbouring elements of type `T`, as accumulators.
pub(crate) trait Lanes<T: ElementType>: Copy {
    /// Proof that the processor has the instructions of these lanes. Lanes are only made with a proof, so that their
    /// methods are safe.
    type Proof: Copy;

    /// How many lanes there are.
    const COUNT: usize;

    /// In how many steps the lanes are scanned: pairs, then fours, then eights. In each step the upper half takes in
    /// the last lane of the lower half (Sklansky 1960), so a lane's result is that of an earlier lane, combined with
    /// more elements.
    const STEPS: usize;

    /// The proof with which the lanes were made.
    fn proof(self) -> Self::Proof;

    /// # Safety
    ///
    /// There are `COUNT` elements at `from`.
    unsafe fn load(proof: Self::Proof, from: *const T) -> Self;

    /// # Safety
    ///
    /// There is room for `COUNT` elements at `to`.
    unsafe fn store(self, to: *mut T);

    /// `value` in every lane.
    fn splat(proof: Self::Proof, value: T::Acc) -> Self;

    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// [`Accumulator::mul_or_zero`] of every lane.
    fn mul_or_zero(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;

    /// What each lane takes in at a step of a scan: an earlier lane, or the lane of `fill` if it takes in none.
    fn taken_in(self, step: usize, fill: Self) -> Self;

    /// The inclusive scan of the lanes, each a part of a scan.
    #[inline(always)]
    fn inclusive_scan<O: Combine<T::Acc>>(mut self) -> Self {
        let identity = Self::splat(self.proof(), O::IDENTITY);
        for step in 0..Self::STEPS {
            self = O::Parts::combine_lanes::<T, Self>(self.taken_in(step, identity), self);
        }
        self
    }

    /// The last lane in every lane.
    fn last(self) -> Self;

    /// The lanes of this vector and of the next, apart: the left ones and the right ones of the pairs that a step of
    /// [`folds`](Self::folds) combines.
    fn pairs(self, next: Self, step: usize) -> (Self, Self);

    /// The last lane of the inclusive scan of each of `COUNT` vectors. They are scanned together, without the other
    /// lanes.
    #[inline(always)]
    fn folds<O: Combine<T::Acc>>(mut vectors: [Self; MOST_LANES]) -> Self {
        let mut count = Self::COUNT;
        for step in 0..Self::STEPS {
            count /= 2;
            for at in 0..count {
                let (left, right) = vectors[2 * at].pairs(vectors[2 * at + 1], step);
                vectors[at] = O::Parts::combine_lanes::<T, Self>(left, right);
            }
        }
        vectors[0]
    }

    /// Each lane one further up, and the first lane of `first` in the first.
    fn shift_in(self, first: Self) -> Self;

    /// The lanes from the last to the first.
    fn reversed(self) -> Self;

    /// Calls `each` with every lane in order.
    fn for_each(self, each: impl FnMut(T::Acc));

    /// The lanes as numbers, and zeros after them.
    #[inline(always)]
    fn array(self) -> [T::Acc; MOST_LANES] {
        let (mut array, mut filled) = ([T::Acc::ZERO; MOST_LANES], 0);
        self.for_each(|lane| {
            array[filled] = lane;
            filled += 1;
        });
        array
    }

    /// Whether all lanes are `right`.
    #[inline(always)]
    fn all(self, right: impl Fn(T::Acc) -> bool) -> bool {
        let mut all = true;
        self.for_each(|lane| all &= right(lane));
        all
    }

    /// The magnitude of each lane. NaN stays NaN.
    #[inline(always)]
    fn magnitude(self) -> Self {
        self.max(self.mul(Self::splat(self.proof(), T::Acc::NEGATIVE_ONE)))
    }
}

/// An associative operator over accumulators. Every function is a few instructions without a branch.
pub(crate) trait Combine<A: Accumulator>: Send + Sync + 'static {
    /// The operator for totals of parts, which need not be those of the elements where these leave the range: then they
    /// are not [regular](Self::is_regular).
    type Parts: Combine<A>;

    const IDENTITY: A;

    /// Whether combining floats rounds.
    const ROUNDS: bool = false;

    /// Whether no grouping of elements changes the result.
    const EXACT: bool = A::EXACT || !Self::ROUNDS;

    /// Whether the columns of floats are made in tiles, each from the identity.
    const IN_TILES: bool = false;

    fn combine(left: A, right: A) -> A;

    /// [`combine`](Self::combine) of every lane.
    fn combine_lanes<T: ElementType<Acc = A>, L: Lanes<T>>(left: L, right: L) -> L;

    /// Whether `combine(carry, total)` may stand for folding the elements of `total` into `carry` one by one.
    #[inline(always)]
    fn is_regular(_carry: A, _total: A) -> bool {
        true
    }

    /// Adds some totals to those that were seen. All of them are regular after a carry if the last one and both results
    /// are. The first call takes a pair of identities. Sums are not watched, which took 1.35 times as long in the caches:
    /// a lane that overflows where the last lane of its vector does not shows at that place alone.
    #[inline(always)]
    fn watch<T: ElementType<Acc = A>, L: Lanes<T>>(seen: (L, L), _totals: L) -> (L, L) {
        seen
    }
}
