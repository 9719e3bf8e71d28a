//! `columns`: a scan with dimensions after its axis. Neighbouring units take neighbouring columns with vector loads and
//! walk the axis. So the loads of a plane are coalesced, and the scan needs no communication.
//!
//! ```text
//!              columns →            few columns: the axis is split into chunks
//!   axis   u0 u1 u2 u3 …            launch 1  totals of every chunk of every column
//!    ↓     ↓  ↓  ↓  ↓               launch 2  their exclusive scan, if they are many
//!                                   launch 3  begin with what precedes the chunk, then walk
//! ```

use super::{Routine, unless_columns};
use crate::monoid::{Monoid, Operator, StateOf, write_state};
use crate::scan::call::Call;
use crate::scan::components::args::{Operands, ScanArgs};
use crate::scan::components::columns::{
    ColumnsConfig, ColumnsView, columns_arg, fold_rows, load_prefetched, scan_row, splat,
};
use crate::scan::components::parts::{CarryIn, before_part};
use crate::scan::components::tensors::begin_of_line;
use crate::scan::grid::cube_count;
use crate::scan::parts::Parts;
use crate::scan::split::Split;
use crate::scan::tuning::COLUMN_UNITS;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn column_totals_kernel<
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
    #[comptime] op: O::Config,
    #[define(T, A, B, P)] _types: [ElemType; 4],
) {
    let (reads, _) = R::open::<T, N, B, P>(tensors);
    let reads = reads.again();
    if ABSOLUTE_POS < view.units {
        let lanes = N::value().comptime();
        let column = view.column(ABSOLUTE_POS);
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        let mut totals = splat::<StateOf<O, A>>(&identity, lanes);
        let mut at = column.first;
        while at < column.end {
            let loaded = load_prefetched::<T, N, B>(&reads, view, &column, at, config);
            fold_rows::<T, A, N, O::Monoid<A>>(&mut totals, &loaded, &column, at, config, op);
            at += config.prefetch_depth;
        }
        let place = column.states + column.chunk * view.width;
        #[unroll]
        for lane in 0..lanes {
            write_state::<StateOf<O, A>>(states, place * lanes + lane, &totals[lane]);
        }
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn column_scan_kernel<
    T: Numeric,
    A: Numeric,
    N: Size,
    B: Numeric,
    P: Numeric,
    O: Operator,
    R: ScanArgs,
>(
    tensors: &mut R::Tensors<T, N, B, P>,
    states: &[u32],
    view: &ColumnsView,
    seed: InputScalar,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: O::Config,
    #[define(T, A, B, P)] _types: [ElemType; 4],
) {
    let (reads, mut writes) = R::open::<T, N, B, P>(tensors);
    if ABSOLUTE_POS < view.units {
        let column = view.column(ABSOLUTE_POS);
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        let lanes = N::value().comptime();
        let mut running = Sequence::<StateOf<O, A>>::new();
        #[unroll]
        for lane in 0..lanes {
            let line = column.line * lanes + lane;
            let begin = begin_of_line::<T, A, O::Monoid<A>>(&reads.initial, line, &identity, op);
            let (at, apart) = (column.states * lanes + lane, view.width * lanes);
            let (carry_in, chunk) = (comptime!(config.carry_in), column.chunk);
            running.push(before_part::<A, O::Monoid<A>>(
                states, at, apart, chunk, &begin, carry_in, op,
            ));
        }
        let mut at = column.first;
        while at < column.end {
            let loaded = load_prefetched::<T, N, B>(&reads, view, &column, at, config);
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
            at += config.prefetch_depth;
        }
    }
}

fn units_of_cube<O: Operator>(call: &Call<O>) -> usize {
    match call.launch.units {
        Some(_) => call.tuning.units,
        None => call.tuning.units.min(COLUMN_UNITS),
    }
}

fn config<O: Operator>(call: &Call<O>, split: Split, carry_in: CarryIn) -> ColumnsConfig {
    let depth = call.prefetch_depth().min(split.len.next_power_of_two());
    ColumnsConfig {
        exclusive: call.options.exclusive,
        reverse: call.options.reverse,
        carry_in,
        prefetch_depth: depth,
        overshoots: depth > 1,
    }
}

use column_scan_kernel as scan;
use column_totals_kernel as totals;

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
        let config = config(&call, split, parts.carry_in());
        let units = units_of_cube(&call);
        let cube_dim = CubeDim::new_1d(units as u32);
        let cubes = || cube_count(call.client, (outer * split.parts * columns).div_ceil(units));
        let view = || columns_arg(&call, split);
        // SAFETY: there is a state for each lane of each unit with work; the view addresses exactly the tensors' elements,
        // and the kernel does nothing in units beyond them.
        let totals = |states| unsafe {
            column_totals_kernel::launch_unchecked::<O, D::Args>(
                call.client,
                cubes(),
                cube_dim,
                call.address_type,
                call.lanes,
                operands.tensors::<totals::T, totals::N, totals::B, totals::P>(
                    call.access_for_totals(),
                ),
                states,
                view(),
                call.seed(),
                ColumnsConfig {
                    exclusive: false,
                    carry_in: CarryIn::Whole,
                    ..config
                },
                call.op,
                call.types,
            );
        };
        // SAFETY: as above; the outputs hold the same elements as the inputs.
        let scan = |states| unsafe {
            column_scan_kernel::launch_unchecked::<O, D::Args>(
                call.client,
                cubes(),
                cube_dim,
                call.address_type,
                call.lanes,
                operands.tensors::<scan::T, scan::N, scan::B, scan::P>(call.access()),
                states,
                view(),
                call.seed(),
                config,
                call.op,
                call.types,
            );
        };
        parts.launch::<O>(call.client, [dtype, accumulator], call.op, totals, scan);
    }
}
