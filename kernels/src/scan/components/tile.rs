//! One tile of a row, held in registers.
//!
//! A tile is what one cube scans: `units × vectors × lanes` consecutive elements of a row. Which vectors a unit holds depends
//! on the arrangement:
//!
//! ```text
//! blocked (no plane ops)              striped (plane ops)
//! unit 0   v0 v1 v2 v3                unit 0   v0 v8  v16 …      plane 0 holds v0 … v31,
//! unit 1   v4 v5 v6 v7                unit 1   v1 v9  v17 …      plane 1 the next 32, …
//! ```
//!
//! Blocked, a unit scans all it holds on its own, and only its total meets the cube. Striped, a load of the whole plane is one
//! coalesced run; the totals of each run are scanned across the plane and carried into the next.
//!
//! Positions along the row are *logical*: with `reverse` the logical element `j` is the stored element `len − 1 − j`.

use super::plane_scan::{plane_inclusive_scan, plane_shift_inclusive};
use crate::operator::{ScanOp, combine};
use cubecl::prelude::*;

/// The comptime facts of a tile; the key of a compiled kernel.
#[derive_cube_comptime]
pub struct TileConfig {
    /// What is accumulated.
    pub op: ScanOp,
    /// Leave the own element out.
    pub exclusive: bool,
    /// From the last element towards the first.
    pub reverse: bool,
    /// Striped arrangement with plane scans, or blocked without.
    pub plane: bool,
    /// Vectors a unit holds.
    pub vectors: usize,
    /// Units of a cube.
    pub units: usize,
    /// An upper bound of the planes in a cube.
    pub max_planes: usize,
}

impl TileConfig {
    /// How many totals of one tile meet in shared memory.
    pub(crate) fn totals(&self) -> usize {
        if self.plane {
            self.max_planes
        } else {
            self.units
        }
    }
}

/// A row as a kernel sees it, in vectors.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(crate) struct Row {
    /// Where the row begins in the input.
    pub input: usize,
    /// Where it begins in the output.
    pub output: usize,
    /// Its length.
    pub vectors: usize,
}

/// The registers of one unit after its own scan.
#[derive(CubeType)]
pub(crate) struct UnitTile<A: Numeric, N: Size> {
    /// Inclusive scans, one per vector, each beginning anew.
    values: Array<Vector<A, N>>,
    /// The total of what the unit (or its plane) holds before each vector.
    before: Array<A>,
    /// The total of the unit (blocked) or of its plane (striped).
    pub total: A,
}

/// The logical vector, counted from the tile's first, that this unit holds as its `k`-th.
#[cube]
pub(crate) fn vector_in_tile(k: usize, #[comptime] config: TileConfig) -> usize {
    if comptime!(config.plane) {
        let plane = PLANE_POS as usize * PLANE_DIM as usize * config.vectors;
        plane + k * PLANE_DIM as usize + UNIT_POS_PLANE as usize
    } else {
        UNIT_POS as usize * config.vectors + k
    }
}

#[cube]
pub(crate) fn stored_vector(logical: usize, row: Row, #[comptime] reverse: bool) -> usize {
    if comptime!(reverse) {
        row.vectors - 1 - logical
    } else {
        logical
    }
}

/// The inclusive scan of one vector's lanes, in logical order.
#[cube]
fn scan_lanes<A: Numeric, N: Size>(
    value: Vector<A, N>,
    #[comptime] config: TileConfig,
) -> Vector<A, N> {
    let lanes = N::value().comptime();
    let mut scanned = value;
    #[unroll]
    for step in 1..lanes {
        let at = comptime!(if config.reverse {
            lanes - 1 - step
        } else {
            step
        });
        let left = comptime!(if config.reverse { at + 1 } else { at - 1 });
        let sum = combine::<A>(scanned.extract(left), scanned.extract(at), config.op);
        scanned.insert(at, sum);
    }
    scanned
}

/// The last lane in logical order: the total of a scanned vector.
#[cube]
fn last_lane<A: Numeric, N: Size>(scanned: Vector<A, N>, #[comptime] config: TileConfig) -> A {
    let lanes = N::value().comptime();
    scanned.extract(comptime!(if config.reverse { 0 } else { lanes - 1 }))
}

/// The scanned lanes of a logical vector; past the end of the row, of identities.
#[cube]
fn load_vector<T: Numeric, A: Numeric, N: Size>(
    input: &[Vector<T, N>],
    row: Row,
    logical: usize,
    identity: A,
    #[comptime] config: TileConfig,
) -> Vector<A, N> {
    let mut value = Vector::<A, N>::new(identity);
    if logical < row.vectors {
        value = Vector::cast_from(input[row.input + stored_vector(logical, row, config.reverse)]);
    }
    scan_lanes::<A, N>(value, config)
}

#[cube]
impl<A: Numeric, N: Size> UnitTile<A, N> {
    /// The total that [`load`](Self::load) would find, bit for bit, without holding the tile.
    ///
    /// A loop, not unrolled: on software adapters, which run both sides of a branch with the idle one masked, the code of a
    /// fallback that is not taken costs as much as it is long.
    pub fn total_of<T: Numeric>(
        input: &[Vector<T, N>],
        row: Row,
        first: usize,
        identity: A,
        #[comptime] config: TileConfig,
    ) -> A {
        let mut total = identity;
        for k in 0..config.vectors {
            let logical = first + vector_in_tile(k, config);
            let scanned = load_vector::<T, A, N>(input, row, logical, identity, config);
            let mut run = last_lane::<A, N>(scanned, config);
            if comptime!(config.plane) {
                run = plane_shuffle(plane_inclusive_scan::<A>(run, config.op), PLANE_DIM - 1);
            }
            total = combine::<A>(total, run, config.op);
        }
        total
    }

    /// Loads the tile that begins at the row's vector `first` and scans what this unit holds.
    /// Vectors past the end of the row count as the identity.
    pub fn load<T: Numeric>(
        input: &[Vector<T, N>],
        row: Row,
        first: usize,
        identity: A,
        #[comptime] config: TileConfig,
    ) -> UnitTile<A, N> {
        let mut values = Array::<Vector<A, N>>::new(config.vectors);
        let mut before = Array::<A>::new(config.vectors);
        #[unroll]
        for k in 0..config.vectors {
            let logical = first + vector_in_tile(k, config);
            values[k] = load_vector::<T, A, N>(input, row, logical, identity, config);
        }
        let mut total = identity;
        #[unroll]
        for k in 0..config.vectors {
            let last = last_lane::<A, N>(values[k], config);
            if comptime!(config.plane) {
                let inclusive = plane_inclusive_scan::<A>(last, config.op);
                let earlier = plane_shift_inclusive::<A>(inclusive, identity);
                before[k] = combine::<A>(total, earlier, config.op);
                let run = plane_shuffle(inclusive, PLANE_DIM - 1);
                total = combine::<A>(total, run, config.op);
            } else {
                before[k] = total;
                total = combine::<A>(total, last, config.op);
            }
        }
        UnitTile::<A, N> {
            values,
            before,
            total,
        }
    }

    /// Writes the scanned tile, `prefix` being the total of all that precedes this unit (or its plane) in the row.
    pub fn store<T: Numeric>(
        &self,
        output: &mut [Vector<T, N>],
        row: Row,
        first: usize,
        prefix: A,
        #[comptime] config: TileConfig,
    ) {
        let lanes = N::value().comptime();
        #[unroll]
        for k in 0..config.vectors {
            let logical = first + vector_in_tile(k, config);
            if logical < row.vectors {
                let earlier = combine::<A>(prefix, self.before[k], config.op);
                let scanned = self.values[k];
                let mut result = Vector::<A, N>::new(earlier);
                #[unroll]
                for step in 0..lanes {
                    let at = comptime!(if config.reverse {
                        lanes - 1 - step
                    } else {
                        step
                    });
                    if comptime!(!config.exclusive) {
                        result.insert(at, combine::<A>(earlier, scanned.extract(at), config.op));
                    } else if comptime!(step > 0) {
                        let left = comptime!(if config.reverse { at + 1 } else { at - 1 });
                        result.insert(at, combine::<A>(earlier, scanned.extract(left), config.op));
                    }
                }
                output[row.output + stored_vector(logical, row, config.reverse)] =
                    Vector::cast_from(result);
            }
        }
    }
}
