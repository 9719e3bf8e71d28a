//! What a caller may ask for, and the constants a device is tuned by.

use super::components::stall::Stall;

/// How a scan is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// By plain rules on the shape and the device; never by measuring at run time, so that results do not depend on timing.
    ///
    /// - nothing after the axis, on a software adapter (lavapipe, SwiftShader): [`RoutineKind::PerUnit`], unless rows must be cut and
    ///   there are fewer than 2^16 elements;
    /// - nothing after the axis, rows of at most half a tile, contiguous: [`RoutineKind::SingleCube`], several rows a cube;
    /// - nothing after the axis, rows of at most one tile: [`RoutineKind::SingleCube`], one row a cube;
    /// - nothing after the axis, longer rows: [`RoutineKind::SinglePass`] where the device has 32-bit atomics, else
    ///   [`RoutineKind::ReduceThenScan`];
    /// - anything after the axis: [`RoutineKind::ColumnTiles`] on a GPU that whole columns would leave idle, if they are long enough for
    ///   tiles, else [`RoutineKind::Columns`].
    #[default]
    Inferred,
    /// One routine, or an error where it cannot serve.
    Forced(RoutineKind),
}

/// The device-level algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RoutineKind {
    /// Rows that fit a cube, one launch, no communication between cubes.
    SingleCube,
    /// Decoupled lookback with fallback: one launch, 2n memory traffic.
    SinglePass,
    /// Chunk totals, then scan: two launches, 3n memory traffic, no communication within a launch.
    ReduceThenScan,
    /// Dimensions after the axis: units walk the axis, neighbouring units take neighbouring columns.
    Columns,
    /// Dimensions after the axis, in tiles: decoupled lookback with fallback for each column, one launch, 2n memory traffic.
    ColumnTiles,
    /// A chunk of a row, or whole rows, for each unit: no barriers; one launch, or three and more and 3n memory traffic where rows are cut. For
    /// software adapters.
    PerUnit,
}

impl RoutineKind {
    /// Every routine, for tests and tables.
    pub const ALL: [RoutineKind; 6] = [
        RoutineKind::SingleCube,
        RoutineKind::SinglePass,
        RoutineKind::ReduceThenScan,
        RoutineKind::Columns,
        RoutineKind::ColumnTiles,
        RoutineKind::PerUnit,
    ];
}

/// A caller's choices beyond the problem itself. The default is what every user wants; the rest is for tests,
/// benches and experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LaunchOptions {
    /// The routine.
    pub strategy: Strategy,
    /// Use plane operations, or do not, whatever the device advertises. Software adapters run them
    /// without advertising them.
    pub plane: Option<bool>,
    /// Units of a cube: at least one, rounded up to whole planes where those are used, and no more than the device has.
    pub units: Option<usize>,
    /// Vectors held by a unit, at least one; in [`RoutineKind::Columns`] loaded at once, in [`RoutineKind::PerUnit`] those of a chunk.
    pub vectors: Option<usize>,
    /// How often a lookback reads a word before it computes the missing tile itself.
    pub spin_limit: Option<u32>,
    /// Tiles that publish nothing, which exercises the fallback.
    pub stall: Option<Stall>,
}
