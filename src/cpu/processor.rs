//! Vector code for the processor at hand.
//!
//! The crate is built for the baseline of its target: on x86-64 that is SSE2, without the blends that maxima need,
//! without the conversions of `f16`, and with half of the width. Kernels are therefore compiled a second time for AVX2,
//! and that version runs where the processor has AVX2. Both versions do the same operations in the same order and give
//! the same bits.
//!
//! The processor is tested in one place, [`Widest::test`], whose result proves the test. Code is compiled for AVX2 in
//! one place, [`Widest::run`]. Compression alone has code for AVX-512, which `HasAvx512::test` proves.
//!
//! - [`vectorize`] takes loops over arrays, which the compiler turns into vector instructions.
//! - [`lanes::run`](super::lanes::run) takes kernels over explicit vectors.
//! - [`compress`](super::compress) has functions of its own, which the compiler checks instruction by instruction.

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

/// Bytes of a line of the caches.
pub(super) const CACHE_LINE: usize = 64;

/// Whether the processor has the features of [`Widest`].
#[cfg(target_arch = "x86_64")]
static HAS_WIDEST: LazyLock<bool> = LazyLock::new(|| {
    std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("f16c")
        && std::is_x86_feature_detected!("bmi1")
        && std::is_x86_feature_detected!("bmi2")
        && std::is_x86_feature_detected!("popcnt")
});

/// Proof that the processor has the widest vectors that there is code for. On x86-64 these are AVX2, and it has F16C,
/// BMI1, BMI2 and POPCNT as well. Other targets have what their every processor has.
#[derive(Clone, Copy)]
pub(crate) struct Widest(());

impl Widest {
    /// Tests the processor: a load and a branch, after the first test.
    #[inline(always)]
    pub(super) fn test() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if !*HAS_WIDEST {
            return None;
        }
        Some(Self(()))
    }

    /// Calls `kernel`, compiled for these vectors. What `kernel` calls must be inlined into it to be compiled anew.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_unsafe, reason = "every processor of the target has them")
    )]
    #[inline(always)]
    pub(super) fn run<R>(self, kernel: impl FnOnce() -> R) -> R {
        #[cfg_attr(
            target_arch = "x86_64",
            target_feature(enable = "avx2,f16c,bmi1,bmi2,popcnt")
        )]
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
    match Widest::test() {
        Some(vectors) => vectors.run(kernel),
        None => kernel(),
    }
}

/// Whether [`vectorize`] finds vectors that have minima: AVX2 on x86-64, and elsewhere what the target has.
pub(super) fn has_minima() -> bool {
    #[cfg(target_arch = "x86_64")]
    return Widest::test().is_some();
    #[cfg(not(target_arch = "x86_64"))]
    cfg!(any(target_feature = "neon", target_feature = "simd128"))
}
