//! The kernels of a scan whose load and store are compiled from other operations: each unit walks a part of a line.
//!
//! One scan goes along a *line*. To read an element, a unit runs the operations before the scan at its position. To
//! write one, it runs the operations after the scan. Nothing in between is stored.
//!
//! ```text
//! a line         as many columns as a vector has lanes; unit u: rows first..end of them
//!
//! whole lines    launch 1   load, scan, store
//! split lines    launch 1   load, fold: the total of each part
//!                launch 2   the exclusive scan of the totals of each line, if there are many
//!                launch 3   load again, scan on from what precedes the part, store
//! ```
//!
//! The axis is not the last: there tiles serve the scan. Positions count vectors of the contiguous layout. The
//! operations find the elements of their tensors themselves. The kernels use no barrier, no shared memory and no
//! atomics, so they run on every device. The order of float additions depends on the positions alone.

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

/// The tensors to read, and the operations that compute the input of the scan.
#[derive(CubeType, CubeLaunch)]
pub(super) struct Load {
    tensors: GlobalArgs,
    #[cube(comptime)]
    operations: FuseBlockConfig,
    /// Which value is the input of the scan.
    #[cube(comptime)]
    input: FuseArg,
}

/// The tensors to write, and the operations that compute them from the output of the scan.
#[derive(CubeType, CubeLaunch)]
pub(super) struct Store {
    tensors: GlobalArgs,
    #[cube(comptime)]
    operations: FuseBlockConfig,
    /// Which value is the output of the scan.
    #[cube(comptime)]
    output: FuseArg,
}

/// How lines lie, and how they are split.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(super) struct Walk {
    /// Vectors of a line.
    steps: usize,
    /// Lines side by side, one vector apart.
    width: usize,
    /// Vectors of a part.
    part_len: usize,
    /// Parts of a line.
    parts: usize,
    /// Parts of all lines, one for each unit.
    units: usize,
}

/// The comptime facts of the kernels.
#[derive_cube_comptime]
pub(super) struct WalkConfig {
    pub(super) op: ScanOp,
    /// How a part learns what precedes it.
    pub(super) carry_in: CarryIn,
    /// Vectors loaded before the first is combined, so that their latencies overlap.
    pub(super) prefetch_depth: usize,
}

/// The part of a line that one unit walks.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Part {
    /// The position of the line's first vector.
    line: usize,
    /// From one vector to the next.
    stride: usize,
    first: usize,
    end: usize,
    /// Its number in the line.
    index: usize,
    /// Where the state of the first part of the line lies. The others follow `stride` apart.
    first_state: usize,
}

#[cube]
impl Walk {
    /// The work of a unit: neighbouring units take neighbouring lines.
    fn of_unit(&self, unit: usize) -> Part {
        let column = unit % self.width;
        let rest = unit / self.width;
        let index = rest % self.parts;
        let outer = rest / self.parts;
        let first = index * self.part_len;
        Part {
            line: outer * self.steps * self.width + column,
            stride: self.width,
            first,
            end: min(first + self.part_len, self.steps),
            index,
            first_state: outer * self.parts * self.width + column,
        }
    }
}

/// Whether `step` is in the part. Only a prefetch can reach past the end.
#[cube]
fn is_inside(step: usize, part: Part, #[comptime] config: WalkConfig) -> bool {
    if comptime!(config.prefetch_depth > 1) {
        step < part.end
    } else {
        true.runtime()
    }
}

/// The input of the scan at the steps from `at` on. Past the end of the part it is the identity.
#[cube]
fn prefetch<T: Numeric, A: Numeric, N: Size>(
    load: &Load,
    store: &mut Store,
    locals: &mut LocalArgs,
    at: usize,
    part: Part,
    identity: A,
    #[comptime] config: WalkConfig,
) -> Array<Vector<A, N>> {
    let mut loaded = Array::<Vector<A, N>>::new(config.prefetch_depth);
    #[unroll]
    for k in 0..config.prefetch_depth {
        let mut value = Vector::<A, N>::new(identity);
        if is_inside(at + k, part, config) {
            let values = fuse_on_read::<T, N>(
                &load.tensors,
                &mut store.tensors,
                locals,
                part.line + (at + k) * part.stride,
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
    if ABSOLUTE_POS < walk.units {
        let lanes = N::value().comptime();
        let identity = identity.get::<A>();
        let part = walk.of_unit(ABSOLUTE_POS);
        let mut locals = init_locals(&load.tensors, &mut store.tensors, &load.operations);

        let mut running = Array::<A>::new(lanes);
        #[unroll]
        for lane in 0..lanes {
            running[lane] = identity;
        }
        let mut at = part.first;
        while at < part.end {
            let loaded = prefetch::<T, A, N>(load, store, &mut locals, at, part, identity, config);
            #[unroll]
            for k in 0..config.prefetch_depth {
                let value = loaded[k];
                #[unroll]
                for lane in 0..lanes {
                    running[lane] = combine::<A>(running[lane], value.extract(lane), config.op);
                }
            }
            at += config.prefetch_depth;
        }
        #[unroll]
        for lane in 0..lanes {
            write_state::<A>(states, ABSOLUTE_POS * lanes + lane, &running[lane]);
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
    if ABSOLUTE_POS < walk.units {
        let lanes = N::value().comptime();
        let identity = identity.get::<A>();
        let part = walk.of_unit(ABSOLUTE_POS);
        let mut locals = init_locals(&load.tensors, &mut store.tensors, &load.operations);
        let mut stored = init_locals(&load.tensors, &mut store.tensors, &store.operations);

        let mut running = Array::<A>::new(lanes);
        #[unroll]
        for lane in 0..lanes {
            let (at, apart) = (part.first_state * lanes + lane, part.stride * lanes);
            let (carry_in, op) = (comptime!(config.carry_in), comptime!(config.op));
            running[lane] =
                before_part::<A, Fold>(states, at, apart, part.index, &identity, carry_in, op);
        }
        let mut at = part.first;
        while at < part.end {
            let loaded = prefetch::<T, A, N>(load, store, &mut locals, at, part, identity, config);
            #[unroll]
            for k in 0..config.prefetch_depth {
                let value = loaded[k];
                let mut scanned = Vector::<A, N>::new(identity);
                #[unroll]
                for lane in 0..lanes {
                    let sum = combine::<A>(running[lane], value.extract(lane), config.op);
                    running[lane] = sum;
                    scanned.insert(lane, sum);
                }
                if is_inside(at + k, part, config) {
                    let mut outputs = Registry::<FuseArg, Vector<T, N>>::new();
                    let mut written = comptime![Vec::<FuseArg>::new()];
                    outputs.insert(comptime![store.output.clone()], Vector::cast_from(scanned));
                    comptime![written.push(store.output.clone())];
                    fuse_on_write::<T, N>(
                        &load.tensors,
                        &mut store.tensors,
                        &mut stored,
                        part.line + (at + k) * part.stride,
                        outputs,
                        written,
                        &store.operations,
                    );
                }
            }
            at += config.prefetch_depth;
        }
    }
}
