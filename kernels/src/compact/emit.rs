//! What a compaction writes, vector by vector.

use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::LinearView;

/// What [`compact`](super::compact()) writes.
#[derive_cube_comptime]
#[non_exhaustive]
pub enum Emit {
    /// The values under `true`, then zeros.
    Values,
    /// The values under `true`; what follows them is unspecified.
    ValuesUnpadded,
    /// The row-major positions of the `true`s, then zeros.
    Indices,
    /// The row-major positions of the `true`s; what follows them is unspecified.
    IndicesUnpadded,
    /// For each position its rank among the `true`s, or −1 under `false`.
    Destinations,
}

impl Emit {
    pub(super) fn values(&self) -> bool {
        matches!(self, Emit::Values | Emit::ValuesUnpadded)
    }

    pub(super) fn fills(&self) -> bool {
        matches!(self, Emit::Values | Emit::Indices)
    }
}

/// The vector at `at` of what is emitted: values or positions.
#[cube]
pub(super) fn emitted<V: Numeric, N: Size>(
    values: &LinearView<'_, Vector<V, N>>,
    at: usize,
    #[comptime] emit: Emit,
) -> Vector<V, N> {
    if comptime!(emit.values()) {
        values.read(at)
    } else {
        let lanes = N::value().comptime();
        let mut positions = Vector::<V, N>::new(V::from_int(0));
        #[unroll]
        for lane in 0..lanes {
            positions.insert(lane, V::cast_from(at * lanes + lane));
        }
        positions
    }
}

/// Writes the lanes of vector `at` of a line: survivors to its front, zeros for the others to its tail. `rank` trues
/// precede the vector. The line has `len` elements, of which the first lies at `begin` and the others `step` apart.
#[cube]
pub(super) fn write_vector<V: Numeric, N: Size>(
    output: &mut [V],
    value: Vector<V, N>,
    flags: u32,
    rank: u32,
    at: usize,
    begin: usize,
    step: usize,
    len: usize,
) {
    let lanes = N::value().comptime();
    let mut rank = rank as usize;
    #[unroll]
    for lane in 0..lanes {
        let keep = (flags >> comptime!(lane as u32)) & 1u32 == 1u32;
        let position = at * lanes + lane;
        let tail = len - 1 - (position - rank);
        let destination = begin + select(keep, rank, tail) * step;
        output[destination] = select(keep, value.extract(lane), V::from_int(0));
        rank += select(keep, 1, 0);
    }
}
