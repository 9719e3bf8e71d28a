//! `single_cube` for rows much shorter than a tile: several rows per cube or plane, one launch. See
//! [`flat_tile`](super::super::components::flat_tile).
//!
//! It needs nothing from the device. With plane operations the totals of vectors are scanned by shuffles, otherwise in
//! shared memory.

use crate::monoid::{Monoid, Operator};
use crate::scan::call::Call;
use crate::scan::components::{
    args::{Operands, ScanArgs},
    flat_rows::{FlatRows, FlatRowsLaunch},
    flat_tile::{FlatTileConfig, scan_flat_tile},
    vector_totals::Rake,
};
use crate::scan::grid::cube_count;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// A span is the rows of a cube, or of a plane that has rows of its own.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn short_rows_kernel<
    T: Numeric,
    A: Numeric,
    N: Size,
    B: Numeric,
    P: Numeric,
    O: Operator,
    R: ScanArgs,
>(
    tensors: &mut R::Tensors<T, N, B, P>,
    flat: FlatRows,
    seed: InputScalar,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: O::Config,
    #[define(T, A, B, P)] _types: [ElemType; 4],
) {
    let (reads, mut writes) = R::open::<T, N, B, P>(tensors);
    let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
    scan_flat_tile::<T, A, N, B, P, O::Monoid<A>>(&reads, &mut writes, flat, &identity, config, op);
}

/// Planes have rows of their own if these fill at least this number of eighths of a plane.
const FULL_EIGHTHS: usize = 7;

/// The rows that fit a number of vectors. A span is whole vectors: with vectors of 4, rows of 6 come in pairs and rows
/// of 7 in fours.
fn rows_in<O: Operator>(call: &Call<O>, vectors: usize) -> usize {
    let lanes = call.flat_lanes;
    let together = lanes / lanes.min(1 << call.len().trailing_zeros());
    vectors * lanes / call.len() / together * together
}

/// Rows of a cube's span. Fewer than two if two do not fit.
fn rows_per_span<O: Operator>(call: &Call<O>) -> usize {
    rows_in(call, call.tuning.units * call.tuning.vectors)
}

/// The rows of a plane, if it has rows of its own.
fn rows_per_plane<O: Operator>(call: &Call<O>) -> Option<usize> {
    if call.launch.batch_invariant && !keeps_places(call) {
        return Some(1);
    }
    let vectors = call.tuning.equal_planes * call.tuning.vectors;
    let rows = rows_in(call, vectors);
    (rows * call.len() * 8 >= vectors * call.flat_lanes * FULL_EIGHTHS && rows > 0).then_some(rows)
}

/// Whether rows lie one after the other without gaps, and several fit a cube.
pub(crate) fn fits<O: Operator>(call: &Call<O>) -> bool {
    call.lines.is_contiguous_rows()
        && rows_per_span(call) >= 2
        && (!call.launch.batch_invariant || call.keeps_places())
}

/// Whether a plane holds a row, element by element. If it has no other, no other decides its bits.
pub(crate) fn fits_plane<O: Operator>(call: &Call<O>) -> bool {
    call.len() <= call.tuning.equal_planes * call.tuning.vectors
}

/// Whether every row begins at a stripe, or at a multiple of its length in one. Then its place among the others does
/// not show in its bits: a ladder or a rake reaches back to the start of the row, and no farther.
pub(crate) fn keeps_places<O: Operator>(call: &Call<O>) -> bool {
    let tuning = &call.tuning;
    let vectors = call.len() / call.widest_vector;
    // The vectors that are scanned together, and those of stripes that hand their totals on: 0 where planes differ.
    let [stripe, stripes] = if tuning.plane {
        [1, tuning.vectors].map(|vectors| tuning.equal_planes * vectors)
    } else {
        [Rake::new(tuning.vectors * tuning.units, tuning.units).share(); 2]
    };
    let divides = |small: usize, large: usize| large > 0 && large.checked_rem(small) == Some(0);
    divides(call.widest_vector, call.len())
        && vectors * 2 <= tuning.vectors * tuning.units
        && (divides(vectors, stripe)
            || divides(stripe, vectors) && divides(vectors, stripes)
            || divides(stripes, vectors))
}

use short_rows_kernel as kernel;

pub(crate) fn launch<O: Operator, D: Operands>(call: Call<O>, operands: &D) {
    let tuning = &call.tuning;
    let vectors = call.lines.elements() / call.flat_lanes;
    let of_plane = rows_per_plane(&call);
    let rows = of_plane.unwrap_or_else(|| rows_per_span(&call));
    let span = rows * call.len() / call.flat_lanes;
    let groups = match of_plane {
        Some(_) => tuning.units / tuning.equal_planes,
        None => 1,
    };
    let config = FlatTileConfig {
        tile: call.waiting(tuning.units, tuning.vectors, 0),
        whole_vectors: call.len() % call.flat_lanes == 0,
        planes_alone: of_plane.is_some(),
    };
    // SAFETY: all tensors hold `vectors` vectors. Beyond them the kernel reads the last again, and writes nothing.
    unsafe {
        short_rows_kernel::launch_unchecked::<O, D::Args>(
            call.client,
            cube_count(call.client, vectors.div_ceil(span * groups)),
            CubeDim::new_1d(call.tuning.units as u32),
            call.address_type,
            call.flat_lanes,
            operands.tensors::<kernel::T, kernel::N, kernel::B, kernel::P>(call.access()),
            FlatRowsLaunch::new(call.len(), call.len(), vectors, call.rows(), span, rows),
            call.seed(),
            config,
            call.op,
            call.types,
        );
    }
}
