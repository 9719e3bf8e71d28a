//! Moves slices to and from destinations.
//!
//! A destination list has one entry for each slice along an axis: the index that the slice goes to, or anything out of
//! range for nowhere. `scatter` moves slices to their destinations, and expects zeros elsewhere. `gather` fetches them
//! back, and writes zeros for slices without a destination. Each is the adjoint of the other, and computes its
//! gradient. Destinations that are ranks leave a gap only at the end: `scatter_ranks` writes zeros there.

mod kernels;
mod launch;
mod ranks;
mod shape;

pub use launch::{gather, scatter};
pub use ranks::scatter_ranks;
pub(super) use ranks::zero_after;
pub use shape::PermutationShape;
