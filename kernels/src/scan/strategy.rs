//! What a caller may ask for, and the constants a device is tuned by.

use super::components::stall::Stall;

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
    /// is not a power of two then have a cube each, and columns are scanned in tiles of one shape, even if they are
    /// few. Outputs begin at a multiple of 16 bytes. While a CUDA graph is captured, long rows have other bits.
    pub batch_invariant: bool,
}
