//! Where a tile of columns lies.

use super::shape::ColumnTileConfig;
use crate::scan::components::column_lookback::StripTile;
use crate::scan::components::columns::{Column, ColumnsView};
use cubecl::prelude::*;

/// Where the units and columns of one tile lie.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(crate) struct TilePlace {
    pub own: StripTile,
    /// Groups of columns before this one, and the first vector of columns of the strip in its group.
    pub outer: usize,
    pub first: usize,
    pub tiles: usize,
}

#[cube]
impl TilePlace {
    /// The vector of columns of the `x`-th units; beyond the last, the last again.
    pub fn vector(&self, view: &ColumnsView, x: usize) -> usize {
        min(self.first + x, view.width - 1)
    }

    /// What the `x`-th unit of row `y` walks in the strip's tile `tile`.
    pub fn column(
        &self,
        view: &ColumnsView,
        tile: usize,
        x: usize,
        y: usize,
        #[comptime] config: ColumnTileConfig,
    ) -> Column {
        let chunk = (self.outer * self.tiles + tile) * config.height + y;
        view.column(chunk * view.width + self.vector(view, x))
    }
}
