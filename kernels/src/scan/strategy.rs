//! What a caller may ask for, and the routine that a scan takes.

use super::components::stall::Stall;
use super::problem::Lines;

/// How a scan is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// By rules on the shape and the device. Nothing is measured at run time, so results do not depend on timing.
    ///
    /// - nothing after the axis, rows of at most half a tile, contiguous: [`RoutineKind::SingleCube`], several rows per
    ///   cube;
    /// - nothing after the axis, rows of at most one tile: [`RoutineKind::SingleCube`], one row per cube;
    /// - nothing after the axis, longer rows: [`RoutineKind::SinglePass`] if the device has 32-bit atomics, else
    ///   [`RoutineKind::ReduceThenScan`];
    /// - anything after the axis: [`RoutineKind::ColumnTiles`] where whole columns would leave the device idle, if they
    ///   are long enough for tiles, else [`RoutineKind::Columns`].
    #[default]
    Inferred,
    /// One routine, or an error if it cannot serve.
    Forced(RoutineKind),
}

/// The device-level algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RoutineKind {
    /// Rows that fit a cube: one launch, no communication between cubes.
    SingleCube,
    /// Decoupled lookback with fallback: one launch, 2n memory traffic.
    SinglePass,
    /// Chunk totals, then scan: two launches, 3n memory traffic, no communication within a launch.
    ReduceThenScan,
    /// Dimensions after the axis: units walk the axis, neighbouring units take neighbouring columns.
    Columns,
    /// Dimensions after the axis, in tiles: decoupled lookback with fallback for each column, one launch, 2n memory
    /// traffic.
    ColumnTiles,
}

impl RoutineKind {
    /// Every routine, for tests and tables.
    pub const ALL: [RoutineKind; 5] = [
        RoutineKind::SingleCube,
        RoutineKind::SinglePass,
        RoutineKind::ReduceThenScan,
        RoutineKind::Columns,
        RoutineKind::ColumnTiles,
    ];
}

/// A caller's choices beyond the problem itself. Use the default; the rest is for tests, benches and experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LaunchOptions {
    /// The routine.
    pub strategy: Strategy,
    /// Whether to use plane operations, whatever the device advertises. Some run them without advertising them.
    pub plane: Option<bool>,
    /// Units of a cube: at least one, rounded up to whole planes if planes are used, and no more than the device has.
    pub units: Option<usize>,
    /// Vectors of a unit, at least one. In [`RoutineKind::Columns`] it loads them before it combines the first.
    pub vectors: Option<usize>,
    /// How often a lookback reads a word before it computes the missing tile itself.
    pub spin_limit: Option<u32>,
    /// Tiles that publish nothing, which exercises the fallback.
    pub stall: Option<Stall>,
    /// Whether the bits of a line depend on that line alone: its elements, their type, the operator and the direction.
    /// Otherwise the number of lines and where they lie in memory may decide how a line is cut. Short rows whose length
    /// is not a power of two then have a cube each, and columns of more than a tile are scanned in tiles of one shape.
    /// Outputs begin at a multiple of 16 bytes. While a CUDA graph is captured, long rows have other bits.
    pub batch_invariant: bool,
}

/// The rules of [`Strategy::Inferred`]. `column_tiles`: tiles of columns serve better than whole columns.
/// `can_look_back`: tiles can communicate.
pub(super) fn infer(
    lines: &Lines,
    tile: usize,
    column_tiles: bool,
    can_look_back: bool,
) -> RoutineKind {
    if !lines.inner.is_empty() {
        if column_tiles && can_look_back {
            RoutineKind::ColumnTiles
        } else {
            RoutineKind::Columns
        }
    } else if lines.len() <= tile {
        RoutineKind::SingleCube
    } else if can_look_back {
        RoutineKind::SinglePass
    } else {
        RoutineKind::ReduceThenScan
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem::Dim;
    use super::RoutineKind::*;
    use super::*;

    #[test]
    fn the_routine_follows_from_the_shape_and_the_device() {
        let dim = |size| Dim {
            size,
            strides: vec![1],
        };
        let routine = |len, columns: &[usize], column_tiles, can_look_back| {
            let lines = Lines {
                outer: vec![],
                axis: dim(len),
                inner: columns.iter().copied().map(dim).collect(),
            };
            infer(&lines, 4096, column_tiles, can_look_back)
        };
        assert_eq!(routine(4096, &[], false, true), SingleCube);
        assert_eq!(routine(4097, &[], false, true), SinglePass);
        assert_eq!(routine(4097, &[], false, false), ReduceThenScan);
        assert_eq!(routine(4, &[9], false, true), Columns);
        assert_eq!(routine(4, &[9], true, false), Columns);
        assert_eq!(routine(4, &[9], true, true), ColumnTiles);
    }
}
