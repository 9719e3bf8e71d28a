//! Vector code for the processor at hand.
//!
//! The crate is built for the baseline of its target: on x86-64 that is SSE2, without the blends that maxima need,
//! without the conversions of `f16`, and with half of the width. Kernels are therefore compiled a second time for AVX2,
//! and that version runs where the processor has AVX2. Both versions do the same operations in the same order and give
//! the same bits.
//!
//! The processor is tested in one place, `HasAvx2::test`, whose result proves the test. Code is compiled for AVX2 in
//! one place, `HasAvx2::run`. Compression alone has code for AVX-512, which `HasAvx512::test` proves.
//!
//! - [`vectorize`] takes loops over arrays, which the compiler turns into vector instructions.
//! - [`lanes::run`](super::lanes::run) takes kernels over explicit vectors.
//! - [`compress`](super::compress) has functions of its own, which the compiler checks instruction by instruction.

#[cfg(target_arch = "x86_64")]
use core::sync::atomic::{AtomicU8, Ordering};

/// Bytes of a line of the caches.
pub(super) const CACHE_LINE: usize = 64;

/// Whether the processor has the features of [`HasAvx2`]: [`YES`], [`NO`], or zero before the first test.
#[cfg(target_arch = "x86_64")]
static HAS_AVX2: AtomicU8 = AtomicU8::new(0);
#[cfg(target_arch = "x86_64")]
const YES: u8 = 1;
#[cfg(target_arch = "x86_64")]
const NO: u8 = 2;

/// Proof that the processor has AVX2, F16C, BMI1, BMI2 and POPCNT.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct HasAvx2(());

#[cfg(target_arch = "x86_64")]
impl HasAvx2 {
    /// Tests the processor: a load and a branch, after the first test.
    #[inline(always)]
    pub(super) fn test() -> Option<Self> {
        match HAS_AVX2.load(Ordering::Relaxed) {
            YES => Some(Self(())),
            NO => None,
            _ => Self::detect(),
        }
    }

    #[cold]
    fn detect() -> Option<Self> {
        let has_all = std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("f16c")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("popcnt");
        HAS_AVX2.store(if has_all { YES } else { NO }, Ordering::Relaxed);
        has_all.then_some(Self(()))
    }

    /// Calls `kernel`, compiled for AVX2. What `kernel` calls must be inlined into it to be compiled anew.
    #[inline(always)]
    pub(super) fn run<R>(self, kernel: impl FnOnce() -> R) -> R {
        #[target_feature(enable = "avx2,f16c,bmi1,bmi2,popcnt")]
        fn compiled<R>(kernel: impl FnOnce() -> R) -> R {
            kernel()
        }

        // SAFETY: `self` proves that the processor has these features.
        unsafe { compiled(kernel) }
    }
}

/// Proof that the processor has AVX-512 F, BW and VBMI2, and POPCNT.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct HasAvx512(());

#[cfg(target_arch = "x86_64")]
impl HasAvx512 {
    /// Tests the processor: a load for each feature, after the first test.
    #[inline(always)]
    pub(super) fn test() -> Option<Self> {
        let has_all = std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512vbmi2")
            && std::is_x86_feature_detected!("popcnt");
        has_all.then_some(Self(()))
    }
}

/// Evaluates an expression, compiled for AVX2 where the processor has AVX2.
///
/// What it calls must be inlined to be compiled anew.
macro_rules! vectorize {
    ($kernel:expr) => {
        $crate::cpu::processor::vectorized(
            #[inline(always)]
            || $kernel,
        )
    };
}

/// Evaluates an expression, compiled for the vectors that a proof proves. Both macros mark their closure: one that is not
/// inlined is compiled for the baseline.
macro_rules! compiled_for {
    ($proof:expr, $kernel:expr) => {
        $proof.run(
            #[inline(always)]
            || $kernel,
        )
    };
}

pub(super) use {compiled_for, vectorize};

/// Calls the closure of [`vectorize`].
#[inline(always)]
pub(super) fn vectorized<R>(kernel: impl FnOnce() -> R) -> R {
    match widest() {
        Some(vectors) => vectors.run(kernel),
        None => kernel(),
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use Baseline as Widest;
/// The widest vectors that there is code for.
#[cfg(target_arch = "x86_64")]
pub(super) use HasAvx2 as Widest;

/// The widest vectors, if the processor has them. Special forms of a kernel are compiled for these alone: the baseline of
/// x86-64 does without.
#[inline(always)]
pub(super) fn widest() -> Option<Widest> {
    #[cfg(target_arch = "x86_64")]
    return HasAvx2::test();
    #[cfg(not(target_arch = "x86_64"))]
    Some(Baseline)
}

/// The instructions that every processor of the target has.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy)]
pub(super) struct Baseline;

#[cfg(not(target_arch = "x86_64"))]
impl Baseline {
    #[inline(always)]
    pub(super) fn run<R>(self, kernel: impl FnOnce() -> R) -> R {
        kernel()
    }
}

/// Whether [`vectorize`] finds vectors that have minima: AVX2 on x86-64, and elsewhere what the target has.
pub(super) fn has_minima() -> bool {
    #[cfg(target_arch = "x86_64")]
    return HasAvx2::test().is_some();
    #[cfg(not(target_arch = "x86_64"))]
    cfg!(any(target_feature = "neon", target_feature = "simd128"))
}
