//! One tile of a row, held in registers.
//!
//! A tile is what one cube scans: `units × vectors × lanes` consecutive elements of a row. The arrangement decides
//! which vectors a unit holds:
//!
//! ```text
//! blocked (no plane ops)              striped (plane ops)
//! unit 0   v0 v1 v2 v3                unit 0   v0 v8  v16 …      plane 0 holds v0 … v31,
//! unit 1   v4 v5 v6 v7                unit 1   v1 v9  v17 …      plane 1 the next 32, …
//! ```
//!
//! Blocked, a unit scans its vectors alone, and only its total is exchanged within the cube. Striped, a plane loads one
//! stripe of neighbouring vectors at a time, coalesced. It scans the totals of a stripe and carries them into the next
//! stripe.
//!
//! Positions along the row are *logical*: with `reverse`, logical element `j` is stored element `len − 1 − j`.
//!
//! Beyond the end of its row a tile repeats the row's last vector. That is harmless: nothing passes from later elements
//! to earlier ones, and the total of a row's last tile is not used. So all loads of a tile are issued without a branch
//! between them.

mod config;
pub(crate) mod row;
mod staging;
mod unit;

pub(crate) use config::{TileConfig, vector_in_tile};
pub(crate) use row::{Row, load_vectors, stored_vector};
pub(crate) use staging::{elements, stage, staged_vectors};
pub(crate) use unit::{UnitTile, total_of};
