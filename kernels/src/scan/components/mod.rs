//! The device side: what one unit, one plane and one cube do.

pub(crate) mod args;
pub(crate) mod column_lookback;
pub(crate) mod columns;
pub(crate) mod cube_totals;
pub(crate) mod element_rows;
pub(crate) mod flat_rows;
pub(crate) mod flat_tile;
pub(crate) mod lookback;
pub(crate) mod plane_scan;
pub(crate) mod plane_transpose;
pub(crate) mod rows;
pub(crate) mod stall;
pub(crate) mod tensor_args;
pub(crate) mod tensors;
pub(crate) mod tile;
pub(crate) mod tile_state;
pub(crate) mod vector_totals;
