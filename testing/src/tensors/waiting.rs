//! What a test does differently in a browser: it waits for the device, and it makes calls that must panic.

use burn::tensor::kind::Basic;
use burn::tensor::{AsIndex, Bool, Int, Tensor};
use burn_scan::prelude::*;

#[cfg(target_family = "wasm")]
pub use super::browser::{caught, wait};

/// Waits for a future. Any executor will do.
#[cfg(not(target_family = "wasm"))]
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    burn::tensor::read_sync(future)
}

/// The message of the panic that `call` ends in, if it does.
#[cfg(not(target_family = "wasm"))]
pub fn caught(call: impl FnOnce()) -> Option<String> {
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
    ended.err().map(|panic| super::panic_message(&*panic))
}

/// The first form, which blocks. In a browser, where it panics, the second form.
macro_rules! exact {
    ($now:expr, $later:expr) => {
        if cfg!(target_family = "wasm") {
            wait($later)
        } else {
            $now
        }
    };
}

/// The exact forms of [`TensorCompact`].
pub trait ExactCompact<const D: usize, K: Basic>: TensorCompact<D, K> {
    /// `compact_by_mask`.
    fn exact_by_mask(self, mask: Tensor<D, Bool>) -> Tensor<1, K> {
        exact!(self.compact_by_mask(mask), self.compact_by_mask_async(mask))
    }

    /// `compact_dim_by_mask`.
    fn exact_dim_by_mask<I: AsIndex>(self, mask: Tensor<1, Bool>, dim: I) -> Tensor<D, K> {
        exact!(
            self.compact_dim_by_mask(mask, dim),
            self.compact_dim_by_mask_async(mask, dim)
        )
    }
}

impl<const D: usize, K: Basic, T: TensorCompact<D, K>> ExactCompact<D, K> for T {}

/// The exact forms of [`MaskIndices`].
pub trait ExactIndices<const D: usize>: MaskIndices<D> {
    /// `compact_indices`.
    fn exact_indices(self) -> Tensor<1, Int> {
        exact!(self.compact_indices(), self.compact_indices_async())
    }

    /// `compact_argwhere`.
    fn exact_argwhere(self) -> Tensor<2, Int> {
        exact!(self.compact_argwhere(), self.compact_argwhere_async())
    }
}

impl<const D: usize, T: MaskIndices<D>> ExactIndices<D> for T {}

/// The exact forms of [`TensorRuns`].
pub trait ExactRuns<K: Basic>: TensorRuns<K> {
    /// `run_length_encode`.
    fn exact_runs(self) -> (Tensor<1, K>, Tensor<1, Int>) {
        exact!(self.run_length_encode(), self.run_length_encode_async())
    }

    /// `repeat_by_lengths`.
    fn exact_repeat(self, lengths: Tensor<1, Int>) -> Tensor<1, K> {
        exact!(
            self.repeat_by_lengths(lengths),
            self.repeat_by_lengths_async(lengths)
        )
    }
}

impl<K: Basic, T: TensorRuns<K>> ExactRuns<K> for T {}
