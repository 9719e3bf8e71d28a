//! The kernels, one file per routine, each with its host-side plan.

pub(crate) mod chunked;
pub(crate) mod column_tiles;
pub(crate) mod columns;
pub(crate) mod short_rows;
pub(crate) mod single_pass;
