//! The operations of [`ops`](crate::ops) on each backend.

#[cfg(feature = "autodiff")]
mod autodiff;
#[cfg(feature = "cubecl-backend")]
pub(crate) mod cube;
#[cfg(feature = "flex")]
mod flex;

#[cfg(feature = "flex")]
pub use flex::{free_kept_memory, set_cache_limit};
