//! The kernels of a scan whose load and store are compiled from other operations: every unit walks a run of a line.
//!
//! A *line* is what one scan goes along. Its elements are read by running the operations in front of the scan at their
//! position, and written by running those behind it; nothing in between is stored.
//!
//! ```text
//! axis last      a line is a row, its vectors lie along the axis         unit u: vectors first..end of one row
//! axis earlier   a line is as many columns as a vector has lanes         unit u: rows first..end of them
//!
//! whole lines    launch 1   load, scan, store
//! cut lines      launch 1   load, fold: the total of every run
//!                launch 2   the exclusive scan of the totals of each line, where they are many
//!                launch 3   load again, scan on from what precedes the run, store
//! ```
//!
//! Positions are those of the contiguous layout, counted in vectors; the operations find their tensors' elements
//! themselves. No barrier, no shared memory, no atomics: it needs nothing of the device, and float sums are folded in an
//! order that depends on the positions alone.

use burn_cubecl_fusion::engine::codegen::ir::{
    FuseArg, FuseBlockConfig, GlobalArgs, LocalArgs, multi_block_variables_init,
};
use burn_cubecl_fusion::engine::codegen::kernel::{fuse_on_read, fuse_on_write, init_locals};
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl_scan::ScanOp;
use cubecl_scan::monoid::{Fold, write_state};
use cubecl_scan::operator::combine;
use cubecl_scan::scan::parts::{CarryIn, before_part};

/// The tensors that are read, and the operations that make the scan's input of them.
#[derive(CubeType, CubeLaunch)]
pub(super) struct Load {
    tensors: GlobalArgs,
    #[cube(comptime)]
    operations: FuseBlockConfig,
    /// The scan's input among them.
    #[cube(comptime)]
    input: FuseArg,
}

/// The tensors that are written, and the operations that make them of the scan's output.
#[derive(CubeType, CubeLaunch)]
pub(super) struct Store {
    tensors: GlobalArgs,
    #[cube(comptime)]
    operations: FuseBlockConfig,
    /// The scan's output among them.
    #[cube(comptime)]
    output: FuseArg,
}

/// How lines lie and how they are cut.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(super) struct Walk {
    /// Vectors of a line.
    steps: usize,
    /// Lines side by side, one vector apart; 1 where vectors lie along the axis.
    width: usize,
    /// Vectors of a run.
    run: usize,
    /// Runs of a line.
    per_line: usize,
    /// Runs of all lines, one for each unit.
    runs: usize,
}

/// The comptime facts of the kernels.
#[derive_cube_comptime]
pub(super) struct WalkConfig {
    pub(super) op: ScanOp,
    /// Whether the lanes of a vector follow each other along the axis.
    pub(super) along: bool,
    /// How a run learns what precedes it.
    pub(super) carry_in: CarryIn,
    /// Vectors loaded before the first is combined, so that their latencies overlap.
    pub(super) ahead: usize,
}

/// What one unit does.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Run {
    /// The position of the line's first vector.
    line: usize,
    /// From one vector to the next.
    stride: usize,
    first: usize,
    end: usize,
    /// Which run of its line.
    part: usize,
    /// The number of the line's first run, counting runs as units do; the others follow `stride` apart.
    states: usize,
}

#[cube]
impl Walk {
    /// The work of a unit: neighbouring units take neighbouring lines.
    fn of_unit(&self, unit: usize) -> Run {
        let column = unit % self.width;
        let rest = unit / self.width;
        let part = rest % self.per_line;
        let outer = rest / self.per_line;
        let first = part * self.run;
        Run {
            line: outer * self.steps * self.width + column,
            stride: self.width,
            first,
            end: min(first + self.run, self.steps),
            part,
            states: outer * self.per_line * self.width + column,
        }
    }
}

/// The number of totals a unit carries: one along the axis, one for each lane across it.
fn slots(lanes: usize, along: bool) -> usize {
    if along { 1 } else { lanes }
}

/// Which of them a lane goes into.
fn slot_of(lane: usize, along: bool) -> usize {
    if along { 0 } else { lane }
}

/// Whether there is a step `step`; past the end only a load ahead can be.
#[cube]
fn is_inside(step: usize, run: Run, #[comptime] config: WalkConfig) -> bool {
    if comptime!(config.ahead > 1) {
        step < run.end
    } else {
        true.runtime()
    }
}

/// The scan's input at the steps from `at` on; past the end of the run, of identities.
#[cube]
fn load_ahead<T: Numeric, A: Numeric, N: Size>(
    load: &Load,
    store: &mut Store,
    locals: &mut LocalArgs,
    at: usize,
    run: Run,
    identity: A,
    #[comptime] config: WalkConfig,
) -> Array<Vector<A, N>> {
    let mut loaded = Array::<Vector<A, N>>::new(config.ahead);
    #[unroll]
    for k in 0..config.ahead {
        let mut value = Vector::<A, N>::new(identity);
        if is_inside(at + k, run, config) {
            let values = fuse_on_read::<T, N>(
                &load.tensors,
                &mut store.tensors,
                locals,
                run.line + (at + k) * run.stride,
                comptime! {
                    let mut wanted = Sequence::new();
                    wanted.push(load.input.clone());
                    wanted
                },
                &load.operations,
            );
            value = Vector::cast_from(values[0]);
        }
        loaded[k] = value;
    }
    loaded
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn totals_kernel<T: Numeric, A: Numeric, N: Size>(
    load: &Load,
    store: &mut Store,
    states: &mut [u32],
    walk: Walk,
    identity: InputScalar,
    #[comptime] config: WalkConfig,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    multi_block_variables_init(&load.operations, &mut store.tensors.variables);
    if ABSOLUTE_POS < walk.runs {
        let lanes = N::value().comptime();
        let carried = comptime!(slots(lanes, config.along));
        let identity = identity.get::<A>();
        let run = walk.of_unit(ABSOLUTE_POS);
        let mut locals = init_locals(&load.tensors, &mut store.tensors, &load.operations);

        let mut running = Array::<A>::new(carried);
        #[unroll]
        for slot in 0..carried {
            running[slot] = identity;
        }
        let mut at = run.first;
        while at < run.end {
            let loaded = load_ahead::<T, A, N>(load, store, &mut locals, at, run, identity, config);
            #[unroll]
            for k in 0..config.ahead {
                let value = loaded[k];
                #[unroll]
                for lane in 0..lanes {
                    let slot = comptime!(slot_of(lane, config.along));
                    running[slot] = combine::<A>(running[slot], value.extract(lane), config.op);
                }
            }
            at += config.ahead;
        }
        #[unroll]
        for slot in 0..carried {
            write_state::<A>(states, ABSOLUTE_POS * carried + slot, &running[slot]);
        }
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn scan_kernel<T: Numeric, A: Numeric, N: Size>(
    load: &Load,
    store: &mut Store,
    states: &[u32],
    walk: Walk,
    identity: InputScalar,
    #[comptime] config: WalkConfig,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    multi_block_variables_init(&load.operations, &mut store.tensors.variables);
    multi_block_variables_init(&store.operations, &mut store.tensors.variables);
    if ABSOLUTE_POS < walk.runs {
        let lanes = N::value().comptime();
        let carried = comptime!(slots(lanes, config.along));
        let identity = identity.get::<A>();
        let run = walk.of_unit(ABSOLUTE_POS);
        let mut locals = init_locals(&load.tensors, &mut store.tensors, &load.operations);
        let mut stored = init_locals(&load.tensors, &mut store.tensors, &store.operations);

        let mut running = Array::<A>::new(carried);
        #[unroll]
        for slot in 0..carried {
            let (at, apart) = (run.states * carried + slot, run.stride * carried);
            let (cut, op) = (comptime!(config.carry_in), comptime!(config.op));
            running[slot] = before_part::<A, Fold>(states, at, apart, run.part, &identity, cut, op);
        }
        let mut at = run.first;
        while at < run.end {
            let loaded = load_ahead::<T, A, N>(load, store, &mut locals, at, run, identity, config);
            #[unroll]
            for k in 0..config.ahead {
                let value = loaded[k];
                let mut scanned = Vector::<A, N>::new(identity);
                #[unroll]
                for lane in 0..lanes {
                    let slot = comptime!(slot_of(lane, config.along));
                    let sum = combine::<A>(running[slot], value.extract(lane), config.op);
                    running[slot] = sum;
                    scanned.insert(lane, sum);
                }
                if is_inside(at + k, run, config) {
                    let mut outputs = Registry::<FuseArg, Vector<T, N>>::new();
                    let mut written = comptime![Vec::<FuseArg>::new()];
                    outputs.insert(comptime![store.output.clone()], Vector::cast_from(scanned));
                    comptime![written.push(store.output.clone())];
                    fuse_on_write::<T, N>(
                        &load.tensors,
                        &mut store.tensors,
                        &mut stored,
                        run.line + (at + k) * run.stride,
                        outputs,
                        written,
                        &store.operations,
                    );
                }
            }
            at += config.ahead;
        }
    }
}
