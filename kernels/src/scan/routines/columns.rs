//! `columns`: a scan with dimensions after its axis. Neighbouring units take neighbouring columns with vector loads and
//! walk the axis. So the loads of a plane are coalesced, and the scan needs no communication.
//!
//! ```text
//!              columns →            few columns: the axis is split into chunks
//!   axis   u0 u1 u2 u3 …            launch 1  totals of every chunk of every column
//!    ↓     ↓  ↓  ↓  ↓               launch 2  their exclusive scan, if they are many
//!                                   launch 3  begin with what precedes the chunk, then walk
//! ```
//!
//! Launches 1 and 3 are two forms of one kernel.

use super::{Routine, unless_columns};
use crate::monoid::{Monoid, Operator, StateOf, write_state};
use crate::scan::call::Call;
use crate::scan::components::args::{Access, Operands, ScanArgs};
use crate::scan::components::columns::{
    ColumnsConfig, ColumnsView, columns_arg, fold_rows, load_prefetched, scan_row, splat,
};
use crate::scan::components::tensors::begin_of_line;
use crate::scan::grid::cube_count;
use crate::scan::parts::{CarryIn, Parts, before_part};
use crate::scan::split::Split;
use crate::scan::tuning::{COLUMN_UNITS, PREFETCH_DEPTH};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Walks a chunk of a column vector. Without `carry_in` this writes the totals of the chunk, else its scan.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn columns_kernel<
    T: Numeric,
    A: Numeric,
    N: Size,
    B: Numeric,
    P: Numeric,
    O: Operator,
    R: ScanArgs,
>(
    tensors: &mut R::Tensors<T, N, B, P>,
    states: &mut [u32],
    view: &ColumnsView,
    seed: InputScalar,
    #[comptime] config: ColumnsConfig,
    #[comptime] carry_in: Option<CarryIn>,
    #[comptime] op: O::Config,
    #[define(T, A, B, P)] _types: [ElemType; 4],
) {
    let (reads, mut writes) = R::open::<T, N, B, P>(tensors);
    let reads = if comptime!(carry_in.is_none()) {
        reads.again()
    } else {
        reads
    };
    if ABSOLUTE_POS < view.units {
        let lanes = N::value().comptime();
        let column = view.column(ABSOLUTE_POS);
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        let mut running = splat::<StateOf<O, A>>(&identity, lanes);
        if comptime!(carry_in.is_some()) {
            let carry_in = comptime!(carry_in.unwrap());
            #[unroll]
            for lane in 0..lanes {
                let line = column.line * lanes + lane;
                let begin =
                    begin_of_line::<T, A, O::Monoid<A>>(&reads.initial, line, &identity, op);
                let (at, apart) = (column.states * lanes + lane, view.width * lanes);
                let chunk = column.chunk;
                running[lane] = before_part::<A, O::Monoid<A>>(
                    &*states, at, apart, chunk, &begin, carry_in, op,
                );
            }
        }
        let mut at = column.first;
        while at < column.end {
            let loaded = load_prefetched::<T, N, B>(&reads, view, &column, at, config);
            if comptime!(carry_in.is_some()) {
                #[unroll]
                for k in 0..config.prefetch_depth {
                    scan_row::<T, A, N, P, O::Monoid<A>>(
                        &mut writes,
                        &mut running,
                        &loaded[k],
                        view,
                        &column,
                        at + k,
                        &identity,
                        config,
                        op,
                    );
                }
            } else {
                fold_rows::<T, A, N, O::Monoid<A>>(&mut running, &loaded, &column, at, config, op);
            }
            at += config.prefetch_depth;
        }
        if comptime!(carry_in.is_none()) {
            let place = column.states + column.chunk * view.width;
            #[unroll]
            for lane in 0..lanes {
                write_state::<StateOf<O, A>>(states, place * lanes + lane, &running[lane]);
            }
        }
    }
}

use columns_kernel as kernel;

pub(crate) struct Columns;

impl Routine for Columns {
    fn refusal<O: Operator>(call: &Call<O>) -> Option<String> {
        unless_columns(call)
    }

    fn width<O: Operator>(call: &Call<O>) -> usize {
        call.lanes
    }

    fn launch<O: Operator, D: Operands>(call: Call<O>, operands: &D) {
        let [dtype, accumulator, ..] = call.types;
        let (outer, columns) = (call.rows(), call.lines.inner_count() / call.lanes);
        let split = Split::of_columns(&call.tuning, columns * outer, call.len());
        let parts = Parts {
            outer,
            parts: split.parts,
            inner: columns * call.lanes,
        };
        let depth = call.launch.vectors.unwrap_or(PREFETCH_DEPTH);
        let depth = depth.min(split.len.next_power_of_two());
        let units = call.units_up_to(COLUMN_UNITS);
        // SAFETY: there is a state for each lane of each unit with work; the view addresses exactly the tensors' elements,
        // and the kernel does nothing in units beyond them; the outputs of a scan hold the same elements as the inputs.
        let walk = |states: BufferArg, carry_in: Option<CarryIn>| unsafe {
            columns_kernel::launch_unchecked::<O, D::Args>(
                call.client,
                cube_count(call.client, (outer * split.parts * columns).div_ceil(units)),
                CubeDim::new_1d(units as u32),
                call.address_type,
                call.lanes,
                operands.tensors::<kernel::T, kernel::N, kernel::B, kernel::P>(Access {
                    for_totals: carry_in.is_none(),
                    ..call.access()
                }),
                states,
                columns_arg(&call, split),
                call.seed(),
                ColumnsConfig {
                    exclusive: call.options.exclusive && carry_in.is_some(),
                    reverse: call.options.reverse,
                    prefetch_depth: depth,
                    overshoots: depth > 1,
                },
                carry_in,
                call.op,
                call.types,
            );
        };
        parts.launch::<O>(call.client, [dtype, accumulator], call.op, walk);
    }
}
