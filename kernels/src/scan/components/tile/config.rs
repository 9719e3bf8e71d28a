//! The size and the arrangement of a tile.

use crate::scan::components::plane_scan::{lane_of_unit, plane_of_unit, plane_units};
use crate::scan::components::vector_totals::Rake;
use cubecl::prelude::*;

#[derive_cube_comptime]
pub struct TileConfig {
    pub exclusive: bool,
    pub reverse: bool,
    pub plane: bool,
    /// Vectors a unit holds.
    pub vectors: usize,
    pub units: usize,
    /// An upper bound of the planes in a cube.
    pub max_planes: usize,
    /// Units of a plane, or 0 if they are not known.
    pub plane_size: usize,
    /// The units of a plane can be synchronised.
    pub planes_meet: bool,
    /// How many of a unit's vectors, its first ones, wait in shared memory instead of registers.
    pub staged: usize,
    /// Rows are read and written element by element: see [`element_rows`](crate::scan::components::element_rows).
    pub by_elements: bool,
}

impl TileConfig {
    /// For counts, or for totals of units: exclusive and forward, with nothing staged.
    pub(crate) fn of_counts(
        plane: bool,
        [units, vectors]: [usize; 2],
        max_planes: usize,
        plane_size: usize,
    ) -> Self {
        Self {
            exclusive: true,
            reverse: false,
            plane,
            vectors,
            units,
            max_planes,
            plane_size,
            planes_meet: false,
            staged: 0,
            by_elements: false,
        }
    }

    /// How the totals of vectors are scanned without plane operations.
    pub(crate) fn rake(&self) -> Rake {
        Rake::new(self.vectors * self.units, self.units)
    }

    /// The states in shared memory that a tile needs.
    pub(crate) fn shared_states(&self) -> usize {
        if self.plane {
            self.totals() + 1
        } else {
            self.rake().states()
        }
    }

    /// How many totals of planes, or of units, are exchanged in shared memory.
    pub(crate) fn totals(&self) -> usize {
        if self.plane {
            self.max_planes
        } else {
            self.units
        }
    }
}

/// This unit's `k`-th logical vector, counted from the tile's first.
#[cube]
pub(crate) fn vector_in_tile(k: usize, #[comptime] config: TileConfig) -> usize {
    if comptime!(config.plane) {
        let units = plane_units(config.plane_size) as usize;
        let plane = plane_of_unit(config.plane_size) as usize * units * config.vectors;
        plane + k * units + lane_of_unit(config.plane_size) as usize
    } else {
        k * comptime!(config.units) + UNIT_POS as usize
    }
}
