//! The backend operations behind the tensor methods, for backend authors.
//!
//! Users call the traits of the [prelude](crate::prelude). A backend that implements [`ScanOps`], [`SortOps`]
//! and the three selection traits serves them all: the implementations for `Dispatch` and for the fused backends call
//! it.
//!
//! The tensor methods have checked the arguments: masks and keys fit the values, and dimensions are in range. Counts
//! and offsets have the integer type that the caller names.

#![cfg_attr(
    not(any(feature = "flex", feature = "cubecl-backend", feature = "remote")),
    allow(
        unused_variables,
        reason = "without a backend the extension macro has nowhere to pass arguments on"
    )
)]

mod composed;
#[cfg(feature = "fusion")]
pub(crate) mod kinds;
#[cfg(feature = "fusion")]
pub(crate) mod queued;
pub(crate) mod rows;
pub(crate) mod scans;
pub(crate) mod selections;
pub(crate) mod shift;
mod slices;
pub(crate) mod sort;
#[cfg(feature = "fusion")]
pub(crate) mod specs;

#[cfg(feature = "autodiff")]
pub(crate) use composed::{adjoint_by_scan, float_scan_from_by_scan};
pub(crate) use composed::{booleans, range};
pub use scans::ScanOps;
pub use selections::{BoolSelectionOps, FloatSelectionOps, IntSelectionOps};
pub(crate) use slices::{MOST_KEPT, along, coordinates, first, first_slices, read_count, with_dim};
pub use sort::SortOps;

/// Everything a backend offers to this crate.
pub trait ScanBackend:
    ScanOps + SortOps + FloatSelectionOps + IntSelectionOps + BoolSelectionOps
{
}
impl<B> ScanBackend for B where
    B: ScanOps + SortOps + FloatSelectionOps + IntSelectionOps + BoolSelectionOps
{
}
