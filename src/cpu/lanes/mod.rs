//! Vectors of accumulators, and the choice of those for the processor at hand.
//!
//! A kernel over [`Lanes`] is compiled twice: over arrays for the baseline of the target ([`portable`]), and over the
//! registers of AVX2 ([`avx2`]), which run where the processor has them. Both versions combine the same elements in the
//! same order and give the same bits.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::{Bf16x8, F16x8, F32x8, F64x4, I32x8, I64x4, U32x8, U64x4};
pub(crate) use portable::Portable;

use super::element::Element;
use super::operator::Operator;
#[cfg(target_arch = "x86_64")]
use super::processor::HasAvx2;

/// Some neighbouring elements of type `T`, as accumulators.
pub(crate) trait Lanes<T: Element>: Copy {
    /// Proof that the processor has the instructions of these lanes. Lanes are only made with a proof, so that their
    /// methods are safe.
    type Proof: Copy;

    /// How many lanes there are.
    const COUNT: usize;

    /// In how many steps the lanes are scanned: each half on its own, then the upper one after the lower.
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
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;

    /// What each lane takes in at a step of a scan: an earlier lane, or the lane of `fill` if it takes in none.
    fn taken_in(self, step: usize, fill: Self) -> Self;

    /// The inclusive scan of the lanes.
    #[inline(always)]
    fn inclusive_scan<O: Operator<T::Acc>>(mut self) -> Self {
        let identity = Self::splat(self.proof(), O::IDENTITY);
        for step in 0..Self::STEPS {
            self = O::combine_lanes::<T, Self>(self.taken_in(step, identity), self);
        }
        self
    }

    /// The last lane in every lane.
    fn last(self) -> Self;

    /// Each lane one further up, and the first lane of `first` in the first.
    fn shift_in(self, first: Self) -> Self;

    /// The lanes from the last to the first.
    fn reversed(self) -> Self;

    /// Calls `each` with every lane in order.
    fn for_each(self, each: impl FnMut(T::Acc));
}

/// Work that is done in the widest lanes of the processor.
pub(crate) trait Kernel<T: Element> {
    type Output;

    /// Does the work. An implementation is `#[inline(always)]`.
    fn run<L: Lanes<T>>(self, proof: L::Proof) -> Self::Output;
}

/// Runs `kernel` in AVX2's lanes where the processor has AVX2.
///
/// What `kernel` calls must be inlined into it to be compiled anew. This function is not inlined, so that a kernel is
/// compiled twice and no more, however many places run it.
pub(crate) fn run<T: Element, K: Kernel<T>>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = HasAvx2::test() {
        return avx2.run(
            #[inline(always)]
            || kernel.run::<T::Avx2>(avx2.into()),
        );
    }
    run_portable(kernel)
}

/// Runs `kernel` in the lanes of any processor.
#[inline(never)]
pub(crate) fn run_portable<T: Element, K: Kernel<T>>(kernel: K) -> K::Output {
    kernel.run::<T::Portable>(())
}
