//! Vectors of accumulators, and the choice of those for the processor at hand.
//!
//! A kernel over [`Lanes`] is compiled twice: over arrays for the baseline of the target ([`portable`]), and over the
//! registers of AVX2 ([`avx2`]), which run where the processor has them. Both versions combine the same elements in the
//! same order and give the same bits.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::{
    Bf16x8, F16x8, F32x8, F64x4, I8x8, I16x8, I32x8, I64x4, U8x8, U16x8, U32x8, U64x4,
};
pub(crate) use portable::Portable;

#[cfg(target_arch = "x86_64")]
use super::processor::{Widest, compiled_for};
use super::traits::{ElementType, Lanes};

/// Work that is done in the widest lanes of the processor.
pub(crate) trait Kernel<T: ElementType> {
    type Output;

    /// Does the work. An implementation is `#[inline(always)]`.
    fn run<L: Lanes<T>>(self, proof: L::Proof) -> Self::Output;
}

/// Runs `kernel` in AVX2's lanes where the processor has AVX2.
///
/// What `kernel` calls must be inlined into it to be compiled anew. This function is not inlined, so that a kernel is
/// compiled twice and no more, however many places run it.
pub(crate) fn run<T: ElementType, K: Kernel<T>>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Widest::test() {
        return compiled_for!(avx2, kernel.run::<T::Avx2>(avx2));
    }
    run_portable(kernel)
}

/// Runs `kernel` in the lanes of any processor.
#[inline(never)]
pub(crate) fn run_portable<T: ElementType, K: Kernel<T>>(kernel: K) -> K::Output {
    kernel.run::<T::Portable>(())
}
