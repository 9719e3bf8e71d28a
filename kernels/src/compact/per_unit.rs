//! Compaction of lines without a barrier: each unit walks a part of a line.
//!
//! ```text
//! launch 1   unit: count the trues of its part          → counts, one per unit
//! launch 2   their exclusive scan, in place             → the rank of each part's first true in its line
//! launch 3   unit: walk its part again and write        (lines of one part: launch 3 alone)
//! ```
//!
//! It serves lines whose elements do not lie side by side: then neighbouring units walk neighbouring lines. It also
//! serves lines of a few elements, which are never split. [`select`](super::select) serves the others, and reads the
//! mask once.

use super::emit::{LineOut, write_vector};
use super::mask_tile::lane_bits;
use super::plan::{MaskLines, Plan, bindable, view};
use super::selection::Selection;
use crate::ScanOp;
use crate::monoid::{Fold, write_state};
use crate::scan::cube_count;
use crate::scan::parts::{CarryIn, Parts, Split, before_part};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;
use cubecl::std::tensor::layout::linear::LinearView;

const UNITS: usize = 64;

/// `[outer, vectors, inner]`, split into parts.
#[derive(CubeType, CubeLaunch)]
struct Walks {
    inner: FastDivmod<usize>,
    inner_len: usize,
    parts: FastDivmod<usize>,
    parts_len: usize,
    /// Vectors of a line, and of a part.
    vectors: usize,
    part_len: usize,
    units: usize,
}

/// The part of a line that a unit walks.
#[derive(CubeType)]
struct Part {
    outer: usize,
    column: usize,
    number: usize,
    /// Its vectors in the line.
    first: usize,
    end: usize,
    /// Where the line begins in the mask.
    begin: usize,
}

#[cube]
impl Walks {
    fn part(&self, unit: usize) -> Part {
        let (rest, column) = self.inner.div_mod(unit);
        let (outer, number) = self.parts.div_mod(rest);
        let first = number * self.part_len;
        Part {
            outer,
            column,
            number,
            first,
            end: min(first + self.part_len, self.vectors),
            begin: outer * self.vectors * self.inner_len + column,
        }
    }

    /// Where the states of a line's parts begin. They lie `inner_len` apart.
    fn states(&self, part: &Part) -> usize {
        part.outer * self.parts_len * self.inner_len + part.column
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn count_parts_kernel<M: Numeric, N: Size>(
    mask: LinearView<'_, Vector<M, N>>,
    counts: &mut [u32],
    walks: &Walks,
    #[define(M)] _mask_type: ElemType,
) {
    if ABSOLUTE_POS < walks.units {
        let part = walks.part(ABSOLUTE_POS);
        let mut count = 0u32;
        for at in part.first..part.end {
            let own = mask.read(part.begin + at * walks.inner_len);
            count += lane_bits::<M, N>(own).count_ones();
        }
        let place = walks.states(&part) + part.number * walks.inner_len;
        write_state::<u32>(counts, place, &count);
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn write_parts_kernel<V: Numeric, M: Numeric, I: Numeric, N: Size>(
    values: LinearView<'_, Vector<V, N>>,
    mask: LinearView<'_, Vector<M, N>>,
    states: &[u32],
    output: &mut [V],
    counts: &mut [I],
    walks: &Walks,
    #[comptime] carry_in: CarryIn,
    #[define(V)] _value_type: ElemType,
    #[define(M)] _mask_type: ElemType,
    #[define(I)] _index_type: ElemType,
) {
    if ABSOLUTE_POS < walks.units {
        let part = walks.part(ABSOLUTE_POS);
        let lanes = N::value().comptime();
        let step = walks.inner_len;
        let line = LineOut {
            first: part.begin * lanes,
            step,
            len: walks.vectors * lanes,
        };
        let (sum, none) = (comptime!(ScanOp::Sum), 0u32.runtime());
        let (first, number) = (walks.states(&part), part.number);
        let mut rank = before_part::<u32, Fold>(states, first, step, number, &none, carry_in, sum);
        for at in part.first..part.end {
            let place = part.begin + at * step;
            let flags = lane_bits::<M, N>(mask.read(place));
            write_vector::<V, N>(output, values.read(place), flags, rank, at, line);
            rank += flags.count_ones();
        }
        if part.number + 1 == walks.parts_len {
            counts[part.outer * step + part.column] = I::cast_from(rank);
        }
    }
}

/// A selection of values, after all checks.
pub(super) fn launch(client: &Client, plan: Plan, selection: Selection) {
    let MaskLines { outer, inner, .. } = plan.lines;
    if plan.lines.count() == 0 {
        return;
    }
    let split = Split::columns(client, plan.lines.count(), plan.vectors);
    let parts = Parts {
        outer,
        parts: split.parts,
        inner,
    };
    let units = parts.count();
    let walks = || {
        WalksLaunch::new(
            inner,
            inner,
            split.parts,
            split.parts,
            plan.vectors,
            split.len,
            units,
        )
    };
    let cubes = || cube_count(client, units.div_ceil(UNITS));
    let cube_dim = CubeDim::new_1d(UNITS as u32);
    let address_type = selection.address_type(&plan);
    let Selection {
        values,
        mask,
        output,
        counts,
        index,
        ..
    } = selection;
    // SAFETY: one count per part; a part ends with its line.
    let totals = |states| unsafe {
        count_parts_kernel::launch_unchecked(
            client,
            cubes(),
            cube_dim,
            address_type,
            plan.lanes,
            view(client, mask.0.clone()),
            states,
            walks(),
            mask.1,
        );
    };
    // SAFETY: mask, values and output hold the same number of elements, and a part ends with its line; a rank is below
    // the number of trues of the line, and its tail begins after them; there is a count for each line.
    let write = |states| unsafe {
        write_parts_kernel::launch_unchecked(
            client,
            cubes(),
            cube_dim,
            address_type,
            plan.lanes,
            view(client, values.0),
            view(client, mask.0.clone()),
            states,
            bindable(client, output).into_buffer_arg(),
            counts.into_buffer_arg(),
            walks(),
            parts.carry_in(),
            values.1,
            mask.1,
            index,
        );
    };
    let word = u32::elem_type_native();
    parts.launch::<Fold>(client, [word, word], ScanOp::Sum, totals, write);
}
