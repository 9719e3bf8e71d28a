//! Stream compaction and its relatives, on the components of the scan, as CUB's select is built on its scan.
//!
//! - [`compact()`]: the survivors of a mask, in order, and their number; also their positions, or for each position the slot it goes to.
//! - [`expand`]: the way back.
//! - [`gather_slots`] and [`scatter_slots`]: move slices to and from such slots; each is the adjoint of the other.
//! - [`key_slots`]: the slots of a stable grouping by key.

mod digits;
mod keys;
mod mask_tile;
mod place;
mod plan;
mod runs;
mod select;
mod slots;

pub use keys::key_slots;
pub use place::expand;
pub use select::{Emit, compact};
pub use slots::{MoveShape, gather_slots, scatter_slots};
