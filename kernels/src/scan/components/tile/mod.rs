//! One tile of a row, held in registers.
//!
//! A tile is what one cube scans: `units × vectors × lanes` consecutive elements of a row. Neighbouring units load
//! neighbouring vectors, so every access is coalesced:
//!
//! ```text
//! without plane operations                with them, in planes of 8
//! unit 0   v0 v64 v128 …  of 64 units     unit 0   v0 v8  v16 …      plane 0 holds v0 … v31,
//! unit 1   v1 v65 v129 …                  unit 1   v1 v9  v17 …      plane 1 the next 32, …
//! ```
//!
//! A plane scans the totals of the vectors of a stripe, and carries them into the next stripe. Without planes the
//! totals of all vectors are scanned in shared memory (see [`vector_totals`](super::vector_totals)).
//!
//! Positions along the row are *logical*: with `reverse`, logical element `j` is stored element `len − 1 − j`.
//!
//! Beyond the end of its row a tile repeats the row's last vector. That is harmless: nothing passes from later elements
//! to earlier ones, and the total of a row's last tile is not used. So all loads of a tile are issued without a branch
//! between them.

pub(crate) mod config;
pub(crate) mod row;
mod staging;
mod unit;

pub(crate) use config::{TileConfig, vector_in_tile};
pub(crate) use row::Row;
pub(crate) use staging::{elements, stage, staged_vectors};
pub(crate) use unit::{UnitTile, total_of};
