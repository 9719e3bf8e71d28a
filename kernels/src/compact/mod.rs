//! Stream compaction and its relatives, on the components of the scan, as CUB's select is built on its scan.
//!
//! - [`compact`]: the survivors of a mask, in order, zeros behind them, and their number; also their positions, or for each
//!   position the slot it goes to.
//! - [`gather_slots`] and [`scatter_slots`]: move slices to and from such slots; each is the adjoint of the other.
//! - [`key_slots`]: the slots of a stable grouping by key.

mod flat;
mod keys;
mod slots;

pub use flat::{Emit, compact};
pub use keys::key_slots;
pub use slots::{MoveShape, gather_slots, scatter_slots};
