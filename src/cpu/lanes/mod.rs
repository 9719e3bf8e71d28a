//! Vectors of accumulators, and the choice of those for the processor at hand.
//!
//! The crate is built for the baseline of its target: on x86-64 that is SSE2. A kernel over [`Lanes`] is compiled
//! twice, over arrays for the baseline ([`portable`]) and over the registers of AVX2 ([`avx2`]), which are taken where
//! the processor has them. Both combine the same elements in the same order and give the same bits.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::{Bf16x8, F16x8, F32x8, F64x4, I32x8, I64x4, U32x8, U64x4};
pub(crate) use portable::Portable;

use super::element::Element;
use super::operator::Operator;

/// Some neighbouring elements of type `T`, as accumulators.
///
/// # Safety
///
/// The methods of an implementation may be called where the processor has what it is written for: in a [`Kernel`],
/// nowhere else.
pub(crate) trait Lanes<T: Element>: Copy {
    /// How many.
    const COUNT: usize;

    /// # Safety
    ///
    /// There are `COUNT` elements at `from`.
    unsafe fn load(from: *const T) -> Self;

    /// # Safety
    ///
    /// There is room for `COUNT` elements at `to`.
    unsafe fn store(self, to: *mut T);

    fn splat(value: T::Acc) -> Self;
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;

    /// In how many steps the lanes are scanned: each half on its own, then the upper one after the lower.
    const STEPS: usize;

    /// What each lane takes in at a step of a scan: an earlier lane, or that of `fill` where it takes in none.
    fn taken_in(self, step: usize, fill: Self) -> Self;

    /// The inclusive scan of the lanes.
    #[inline(always)]
    fn inclusive_scan<O: Operator<T::Acc>>(mut self) -> Self {
        let identity = Self::splat(O::IDENTITY);
        for step in 0..Self::STEPS {
            self = O::combine_lanes::<T, Self>(self.taken_in(step, identity), self);
        }
        self
    }

    /// The last lane in every lane.
    fn last(self) -> Self;

    /// Each lane one further up, and `first` in the first.
    fn shift_in(self, first: Self) -> Self;

    fn reversed(self) -> Self;

    /// Calls `each` with every lane in order.
    fn for_each(self, each: impl FnMut(T::Acc));
}

/// Work that is done in the widest lanes there are.
pub(crate) trait Kernel<T: Element> {
    type Output;

    fn run<L: Lanes<T>>(self) -> Self::Output;
}

/// Runs `kernel` in AVX2's lanes where there is AVX2.
///
/// What `kernel` calls must be inlined into it to be compiled anew; this is not inlined, so that a kernel is compiled
/// twice and no more, from however many places it runs.
pub(crate) fn run<T: Element, K: Kernel<T>>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,f16c,bmi1,bmi2")]
        fn with_avx2<T: Element, K: Kernel<T>>(kernel: K) -> K::Output {
            kernel.run::<T::Avx2>()
        }

        if super::simd::has_avx2() {
            // SAFETY: the processor has these features.
            return unsafe { with_avx2(kernel) };
        }
    }
    run_portable(kernel)
}

/// Runs `kernel` in the lanes of any processor.
#[inline(never)]
pub(crate) fn run_portable<T: Element, K: Kernel<T>>(kernel: K) -> K::Output {
    kernel.run::<T::Portable>()
}
