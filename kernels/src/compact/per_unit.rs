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
//!
//! A line is a [column](crate::scan::components::columns) of vectors, and its parts are the chunks of that column.

use super::emit::write_vector;
use super::mask_tile::lane_bits;
use super::plan::{MaskLines, Plan, bindable, view};
use super::selection::Selection;
use crate::ScanOp;
use crate::monoid::{Fold, write_state};
use crate::scan::components::columns::{ColumnsView, columns_without_inputs};
use crate::scan::cube_count;
use crate::scan::parts::{CarryIn, Parts, Split, before_part};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::LinearView;

const UNITS: usize = 64;

#[cube(launch_unchecked, address_type = "dynamic")]
fn count_parts_kernel<M: Numeric, N: Size>(
    mask: LinearView<'_, Vector<M, N>>,
    counts: &mut [u32],
    columns: &ColumnsView,
    #[define(M)] _mask_type: ElemType,
) {
    if ABSOLUTE_POS < columns.units {
        let part = columns.column(ABSOLUTE_POS);
        let mut count = 0u32;
        for at in part.first..part.end {
            let own = mask.read(part.output + at * columns.width);
            count += lane_bits::<M, N>(own).count_ones();
        }
        let place = part.states + part.chunk * columns.width;
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
    columns: &ColumnsView,
    #[comptime] carry_in: CarryIn,
    #[define(V)] _value_type: ElemType,
    #[define(M)] _mask_type: ElemType,
    #[define(I)] _index_type: ElemType,
) {
    if ABSOLUTE_POS < columns.units {
        let part = columns.column(ABSOLUTE_POS);
        let lanes = N::value().comptime();
        let (begin, step, len) = (part.output * lanes, columns.width, columns.len * lanes);
        let (sum, none) = (comptime!(ScanOp::Sum), 0u32.runtime());
        let (first, number) = (part.states, part.chunk);
        let mut rank = before_part::<u32, Fold>(states, first, step, number, &none, carry_in, sum);
        for at in part.first..part.end {
            let place = part.output + at * step;
            let flags = lane_bits::<M, N>(mask.read(place));
            let value = values.read(place);
            write_vector::<V, N>(output, value, flags, rank, at, begin, step, len);
            rank += flags.count_ones();
        }
        if number + 1 == columns.chunks {
            counts[part.line] = I::cast_from(rank);
        }
    }
}

/// A selection of values, after all checks. There is at least one line.
pub(super) fn launch(client: &Client, plan: Plan, selection: Selection) {
    let MaskLines { outer, inner, .. } = plan.lines;
    let split = Split::of_columns(&plan.tuning, plan.lines.count(), plan.vectors);
    let parts = Parts {
        outer,
        parts: split.parts,
        inner,
    };
    let columns = || columns_without_inputs([outer, plan.vectors, inner], split);
    let cubes = || cube_count(client, parts.count().div_ceil(UNITS));
    let cube_dim = CubeDim::new_1d(UNITS as u32);
    // SAFETY: one count per part; a part ends with its line.
    let count = |states| unsafe {
        count_parts_kernel::launch_unchecked(
            client,
            cubes(),
            cube_dim,
            plan.address_type,
            plan.lanes,
            view(client, selection.mask.0.clone()),
            states,
            columns(),
            selection.mask.1,
        );
    };
    // SAFETY: mask, values and output hold the same number of elements, and a part ends with its line; a rank is below
    // the number of trues of the line, and its tail begins after them; there is a count for each line.
    let write = |states, carry_in| unsafe {
        write_parts_kernel::launch_unchecked(
            client,
            cubes(),
            cube_dim,
            plan.address_type,
            plan.lanes,
            view(client, selection.values.0.clone()),
            view(client, selection.mask.0.clone()),
            states,
            bindable(client, selection.output.clone()).into_buffer_arg(),
            selection.counts.clone().into_buffer_arg(),
            columns(),
            carry_in,
            selection.values.1,
            selection.mask.1,
            selection.index,
        );
    };
    let word = u32::elem_type_native();
    let walk = |states, carry_in: Option<CarryIn>| match carry_in {
        None => count(states),
        Some(carry_in) => write(states, carry_in),
    };
    parts.launch::<Fold>(client, [word, word], ScanOp::Sum, walk);
}
