//! The operations of [`ops`](crate::ops) on each backend.

#[cfg(feature = "autodiff")]
mod autodiff;
mod batch_invariance;
#[cfg(feature = "cubecl-backend")]
pub(crate) mod cube;
#[cfg(feature = "flex")]
mod flex;
#[cfg(feature = "fusion")]
mod fusion;

#[cfg(feature = "cubecl-backend")]
pub(crate) use batch_invariance::is_batch_invariant;
pub use batch_invariance::set_batch_invariance;
#[cfg(feature = "flex")]
pub use flex::{free_kept_memory, set_cache_limit};
