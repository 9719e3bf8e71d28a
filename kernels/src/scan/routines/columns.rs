//! `columns`: a scan with dimensions behind its axis. Neighbouring units take neighbouring columns with vector loads
//! and walk the axis. So the loads of a plane are coalesced, and the scan needs no communication.
//!
//! ```text
//!              columns →            few columns: the axis is split into chunks
//!   axis   u0 u1 u2 u3 …            launch 1  totals of every chunk of every column
//!    ↓     ↓  ↓  ↓  ↓               launch 2  their exclusive scan, if they are many
//!                                   launch 3  begin with what precedes the chunk, then walk
//! ```
//!
//! A processor runs a few units as one vector. They would read a few bytes of each row, and wait for memory at each. So
//! on software adapters a unit walks several columns abreast, and its cube reads more of each row. There the totals of
//! a scan in reverse are computed upwards, in the order in which all processors prefetch: each row is combined on the
//! other side.

use crate::monoid::{Monoid, Operator, write_state};
use crate::scan::call::Call;
use crate::scan::components::columns::{
    Column, ColumnsConfig, ColumnsView, begin_of_lines, columns_arg, fold_rows, is_inside,
    load_abreast, scan_row, splat,
};
use crate::scan::components::parts::{CarryIn, before_part};
use crate::scan::components::tensors::{Reads, Writes};
use crate::scan::grid::cube_count;
use crate::scan::parts::Parts;
use crate::scan::split::Split;
use crate::scan::tuning::{COLUMN_UNITS, SOFTWARE_COLUMNS, SOFTWARE_UNITS, software_reverse_block};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// What precedes a chunk in each lane of each column.
#[cube]
fn before_chunk<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    states: &[u32],
    view: &ColumnsView,
    columns: &Sequence<Column>,
    identity: &M::State,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) -> Sequence<M::State> {
    let lanes = N::value().comptime();
    let apart = view.width * lanes;
    let mut before = Sequence::<M::State>::new();
    #[unroll]
    for i in 0..config.abreast {
        let column = &columns[i];
        let starts = begin_of_lines::<T, A, N, B, M>(reads, column, identity, op);
        #[unroll]
        for lane in 0..lanes {
            let at = column.states * lanes + lane;
            let (carry_in, chunk) = (comptime!(config.carry_in), column.chunk);
            let begin = &starts[lane];
            before.push(before_part::<A, M>(
                states, at, apart, chunk, begin, carry_in, op,
            ));
        }
    }
    before
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn column_totals_kernel<T: Numeric, A: Numeric, N: Size, B: Numeric, O: Operator>(
    reads: &Reads<T, N, B>,
    states: &mut [u32],
    view: &ColumnsView,
    seed: InputScalar,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _starts_type: ElemType,
) {
    if ABSOLUTE_POS < view.units {
        let seed = seed.get::<A>();
        total_of_chunk::<T, A, N, B, O::Monoid<A>>(reads, states, view, seed, config, op);
    }
}

#[cube]
fn total_of_chunk<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    states: &mut [u32],
    view: &ColumnsView,
    seed: A,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let columns = view.columns(ABSOLUTE_POS, config);
    let identity = M::identity(seed, op);
    let mut running = splat::<M::State>(&identity, comptime!(lanes * config.abreast));
    let chunk = &columns[0];
    let mut at = chunk.first;
    while at < chunk.end {
        let loaded = load_abreast::<T, N, B>(reads, view, &columns, at, config);
        #[unroll]
        for i in 0..config.abreast {
            let (column, rows) = (&columns[i], &loaded[i]);
            let first = comptime!(i * lanes);
            fold_rows::<T, A, N, M>(&mut running, first, rows, column, at, config, op);
        }
        at += config.prefetch_depth;
    }
    #[unroll]
    for i in 0..config.abreast {
        let column = &columns[i];
        if is_inside(column.first, column, config) {
            let at = column.states + column.chunk * view.width;
            #[unroll]
            for lane in 0..lanes {
                let total = &running[comptime!(i * lanes + lane)];
                write_state::<M::State>(states, at * lanes + lane, total);
            }
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
>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    states: &[u32],
    view: &ColumnsView,
    seed: InputScalar,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _starts_type: ElemType,
    #[define(P)] _positions: ElemType,
) {
    if ABSOLUTE_POS < view.units {
        let seed = seed.get::<A>();
        scan_chunk::<T, A, N, B, P, O::Monoid<A>>(reads, writes, states, view, seed, config, op);
    }
}

#[cube]
fn scan_chunk<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    states: &[u32],
    view: &ColumnsView,
    seed: A,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let columns = view.columns(ABSOLUTE_POS, config);
    let identity = M::identity(seed, op);
    let mut running =
        before_chunk::<T, A, N, B, M>(reads, states, view, &columns, &identity, config, op);
    let chunk = &columns[0];
    let mut at = chunk.first;
    while at < chunk.end {
        let loaded = load_abreast::<T, N, B>(reads, view, &columns, at, config);
        #[unroll]
        for i in 0..config.abreast {
            let (column, rows) = (&columns[i], &loaded[i]);
            let first = comptime!(i * lanes);
            #[unroll]
            for k in 0..config.prefetch_depth {
                scan_row::<T, A, N, P, M>(
                    writes,
                    &mut running,
                    first,
                    &rows[k],
                    view,
                    column,
                    at + k,
                    &identity,
                    config,
                    op,
                );
            }
        }
        at += config.prefetch_depth;
    }
}

/// Units of a cube, and how many vectors of a row each unit walks side by side.
fn units_and_abreast<O: Operator>(call: &Call<O>) -> (usize, usize) {
    let columns = call.lines.inner_count() / call.lanes;
    let abreast = (SOFTWARE_COLUMNS / call.lanes).min(columns / SOFTWARE_UNITS);
    match call.launch.units {
        Some(_) => (call.tuning.units, 1),
        None if call.tuning.per_unit && abreast > 1 => (SOFTWARE_UNITS, abreast),
        None => (call.tuning.units.min(COLUMN_UNITS), 1),
    }
}

/// Whether a software adapter runs the units, and the caller did not choose `vectors`.
fn is_software<O: Operator>(call: &Call<O>) -> bool {
    call.tuning.per_unit && call.launch.vectors.is_none()
}

/// The prefetch depth, where a cube covers so many vectors of a row.
fn prefetch_depth<O: Operator>(call: &Call<O>, of_cube: usize) -> usize {
    let columns = call.lines.inner_count() / call.lanes;
    match is_software(call) && call.options.reverse && of_cube == columns {
        true => (software_reverse_block() / columns).max(1),
        false => call.prefetch_depth(),
    }
}

/// How the columns of a call are dealt to units.
struct Dealt {
    split: Split,
    parts: Parts,
    /// Units side by side.
    across: usize,
    /// Units with work.
    units: usize,
    /// For the kernel that scans.
    scan: ColumnsConfig,
    /// For the kernel that computes totals.
    totals: ColumnsConfig,
}

impl Dealt {
    fn of<O: Operator>(call: &Call<O>) -> Self {
        let columns = call.lines.inner_count() / call.lanes;
        let outer = call.rows();
        let (cube_units, abreast) = units_and_abreast(call);
        let across = match abreast {
            1 => columns,
            _ => columns.div_ceil(cube_units * abreast) * cube_units,
        };
        let split = Split::of_columns(&call.tuning, across * outer, call.len());
        let parts = Parts {
            outer,
            parts: split.parts,
            inner: columns * call.lanes,
        };
        let of_len = |prefetch_depth: usize| prefetch_depth.min(split.len.next_power_of_two());
        let depth = of_len(prefetch_depth(call, cube_units * abreast));
        let scan = ColumnsConfig {
            exclusive: call.options.exclusive,
            reverse: call.options.reverse,
            upwards: false,
            carry_in: parts.carry_in(),
            prefetch_depth: depth,
            overshoots: depth > 1,
            abreast,
            units: cube_units,
        };
        let upwards = is_software(call) && call.options.reverse;
        let depth_of_totals = match upwards {
            true => of_len(call.prefetch_depth()),
            false => depth,
        };
        Self {
            split,
            parts,
            across,
            units: outer * split.parts * across,
            scan,
            totals: ColumnsConfig {
                exclusive: false,
                upwards,
                prefetch_depth: depth_of_totals,
                overshoots: depth_of_totals > 1,
                carry_in: CarryIn::Whole,
                ..scan
            },
        }
    }
}

pub(crate) fn launch<O: Operator>(call: Call<O>) {
    let [dtype, accumulator, starts, positions] = call.types();
    let dealt = Dealt::of(&call);
    let cube_units = dealt.scan.units;
    let cube_dim = CubeDim::new_1d(cube_units as u32);
    let cubes = || cube_count(call.client, dealt.units.div_ceil(cube_units));
    let view = || columns_arg(&call, dealt.split, dealt.across);
    // SAFETY: there is a state for each lane of each unit with work; the view addresses exactly the tensors' elements,
    // and the kernel does nothing in units beyond them.
    let totals = |states| unsafe {
        column_totals_kernel::launch_unchecked::<O>(
            call.client,
            cubes(),
            cube_dim,
            call.address_type,
            call.lanes,
            call.reads_of_totals(),
            states,
            view(),
            call.seed(),
            dealt.totals,
            call.op,
            dtype,
            accumulator,
            starts,
        );
    };
    // SAFETY: as above; the outputs hold the same elements as the inputs.
    let scan = |states| unsafe {
        column_scan_kernel::launch_unchecked::<O>(
            call.client,
            cubes(),
            cube_dim,
            call.address_type,
            call.lanes,
            call.reads(),
            call.writes(),
            states,
            view(),
            call.seed(),
            dealt.scan,
            call.op,
            dtype,
            accumulator,
            starts,
            positions,
        );
    };
    let types = [dtype, accumulator];
    dealt
        .parts
        .launch::<O>(call.client, types, call.op, totals, scan);
}
