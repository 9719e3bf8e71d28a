//! `unit_runs` of rows that vectors straddle: rows of an odd length, one behind the other.
//!
//! ```text
//! row        h h│v v v v│v v v v│v v v v│v v v v│t     whole vectors of the tensor between two edges
//! runs       └─ run 0 ─────┘└─ run 1 ─────┘└─ run 2 …  of so many elements each: vectors lie across their ends, as across the row's
//! launch 1   the total of each run
//! launch 2   the exclusive scan of the totals of each row, where they are many
//! launch 3   each run again: its scan, stored in vectors; the last run leaves what precedes the edge behind it
//! launch 4   both edges, element by element
//! ```
//!
//! An element costs a software adapter half as much in a vector as alone. Edges share their vectors with other rows, and no kernel may write a
//! buffer in vectors and in elements alike: hence the fourth launch. Runs end where they would in a row that begins with a vector: so the
//! bits of a result do not depend on where in memory its row lies, and a reverse scan mirrors a forward one. The run in which a vector begins
//! stores it; behind its own last element it goes on from what precedes the next run.

use crate::monoid::{Monoid, Operator, State, join, read_state, write_state};
use crate::scan::call::Call;
use crate::scan::components::{
    parts::before_part,
    runs::{
        Runs, RunsLaunch, Seam, UnitRunsConfig, config, fold_vector, grid, run_of, scan_vector,
    },
    tensors::{Edges, Reads, Writes, begin_of_line, state_at},
    tile::Row,
};
use crate::scan::parts::{Cut, Parts};
use crate::scan::scratch;
use crate::scan::split::Split;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Elements of one edge of a row, in the order of the scan.
#[derive(CubeType)]
struct Edge {
    /// Where the first lies.
    start: usize,
    count: usize,
}

/// A row: its whole vectors, and its edges.
#[derive(CubeType)]
struct Straddled {
    vectors: Row,
    before: Edge,
    behind: Edge,
}

/// Row `line` of those of `len` elements.
#[cube]
fn straddled_row<N: Size>(
    line: usize,
    len: usize,
    #[comptime] inputs: usize,
    #[comptime] reverse: bool,
) -> Straddled {
    let lanes = N::value().comptime();
    let (begin, end) = (line * len, (line + 1) * len);
    let (first, last) = (begin.div_ceil(lanes), end / lanes);
    let (head, tail) = (first * lanes - begin, end - last * lanes);
    let mut begins = Sequence::<usize>::new();
    #[unroll]
    for _ in 0..inputs {
        begins.push(first);
    }
    let vectors = Row {
        inputs: begins,
        output: first,
        vectors: last - first,
        stored: last - first,
    };
    if comptime!(reverse) {
        Straddled {
            vectors,
            before: Edge {
                start: end - 1,
                count: tail,
            },
            behind: Edge {
                start: first * lanes - 1,
                count: head,
            },
        }
    } else {
        Straddled {
            vectors,
            before: Edge {
                start: begin,
                count: head,
            },
            behind: Edge {
                start: last * lanes,
                count: tail,
            },
        }
    }
}

/// Where the `i`-th element of an edge lies.
#[cube]
fn place(edge: &Edge, i: usize, #[comptime] reverse: bool) -> usize {
    if comptime!(reverse) {
        edge.start - i
    } else {
        edge.start + i
    }
}

/// The state of the element at `at`.
#[cube]
fn element<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    at: usize,
    #[comptime] op: M::Config,
) -> M::State {
    let mut values = Sequence::<Vector<T, N>>::new();
    #[unroll]
    for i in 0..reads.elements.len().comptime() {
        values.push(Vector::<T, N>::new(reads.elements[i][at]));
    }
    let edges = Edges::new();
    state_at::<T, A, N, M>(&values, 0usize, &edges, 0usize, 0usize.runtime(), op)
}

/// A run of a row, and its vectors.
#[derive(CubeType)]
struct Run {
    /// The elements before its first own vector.
    head: Edge,
    /// Its own vectors, but for the one that it shares with the next run.
    first: usize,
    end: usize,
    /// The elements of that vector which are its own, none where it shares none.
    shared: Edge,
}

/// Run `run` of a row in the order of the scan; the last takes all that is left.
#[cube]
fn run_of_row<N: Size>(row: &Straddled, run: usize, runs: Runs, #[comptime] reverse: bool) -> Run {
    let lanes = N::value().comptime();
    let head = row.before.count;
    let first = run * runs.vectors;
    let next = first + runs.vectors;
    let is_last = run + 1 == runs.per_row;
    let shares = !is_last && head > 0;
    let to_next = select(shares, next - 1, next);
    Run {
        head: Edge {
            start: place(&row.before, first * lanes, reverse),
            count: head,
        },
        first,
        end: select(is_last, row.vectors.vectors, to_next),
        shared: Edge {
            start: place(&row.before, head + (next - 1) * lanes, reverse),
            count: select(shares, lanes - head, 0),
        },
    }
}

/// Adds the elements of an edge to what precedes it.
#[cube]
fn fold_edge<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    edge: &Edge,
    before: &M::State,
    #[comptime] reverse: bool,
    #[comptime] op: M::Config,
) -> M::State {
    let mut running = M::State::copy(before);
    for i in 0..edge.count {
        let at = place(edge, i, reverse);
        let state = element::<T, A, N, B, M>(reads, at, op);
        running = join::<A, M>(&running, &state, op);
    }
    running
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn straddled_totals_kernel<T: Numeric, A: Numeric, N: Size, B: Numeric, O: Operator>(
    reads: &Reads<T, N, B>,
    states: &mut [u32],
    len: usize,
    runs: Runs,
    seed: InputScalar,
    #[comptime] config: UnitRunsConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _begins: ElemType,
) {
    if ABSOLUTE_POS < runs.count {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        total_of_run::<T, A, N, B, O::Monoid<A>>(reads, states, len, runs, &identity, config, op);
    }
}

#[cube]
fn total_of_run<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    states: &mut [u32],
    len: usize,
    runs: Runs,
    identity: &M::State,
    #[comptime] config: UnitRunsConfig,
    #[comptime] op: M::Config,
) {
    let line = ABSOLUTE_POS / runs.per_row;
    let inputs = reads.inputs.len().comptime();
    let row = straddled_row::<N>(line, len, inputs, config.reverse);
    let number = run_of(ABSOLUTE_POS, runs, config.reverse);
    let run = run_of_row::<N>(&row, number, runs, config.reverse);
    let mut running = fold_edge::<T, A, N, B, M>(reads, &run.head, identity, config.reverse, op);
    for logical in run.first..run.end {
        running = fold_vector::<T, A, N, B, M>(reads, &row.vectors, logical, &running, config, op);
    }
    running = fold_edge::<T, A, N, B, M>(reads, &run.shared, &running, config.reverse, op);
    write_state::<M::State>(states, line * runs.per_row + number, &running);
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn straddled_scan_kernel<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, O: Operator>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    states: &[u32],
    behind: &mut [u32],
    len: usize,
    runs: Runs,
    seed: InputScalar,
    #[comptime] config: UnitRunsConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _begins: ElemType,
    #[define(P)] _positions: ElemType,
) {
    if ABSOLUTE_POS < runs.count {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        scan_run::<T, A, N, B, P, O::Monoid<A>>(
            reads, writes, states, behind, len, runs, &identity, config, op,
        );
    }
}

#[cube]
fn scan_run<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    states: &[u32],
    behind: &mut [u32],
    len: usize,
    runs: Runs,
    identity: &M::State,
    #[comptime] config: UnitRunsConfig,
    #[comptime] op: M::Config,
) {
    let line = ABSOLUTE_POS / runs.per_row;
    let inputs = reads.inputs.len().comptime();
    let row = straddled_row::<N>(line, len, inputs, config.reverse);
    let number = run_of(ABSOLUTE_POS, runs, config.reverse);
    let run = run_of_row::<N>(&row, number, runs, config.reverse);
    let begin = begin_of_line::<T, A, M>(&reads.initial, line, identity, op);
    let at = line * runs.per_row;
    let before = before_part::<A, M>(states, at, 1usize, number, &begin, config.cut, op);
    let mut running = fold_edge::<T, A, N, B, M>(reads, &run.head, &before, config.reverse, op);
    let whole = Sequence::<Seam<M::State>>::new();
    for logical in run.first..run.end {
        running = scan_vector::<T, A, N, B, P, M>(
            reads,
            writes,
            &row.vectors,
            logical,
            &running,
            &whole,
            identity,
            config,
            op,
        );
    }
    if run.shared.count > 0 {
        let next = before_part::<A, M>(states, at, 1usize, number + 1, &begin, config.cut, op);
        let mut seam = Sequence::<Seam<M::State>>::new();
        seam.push(Seam::<M::State> {
            step: run.shared.count,
            before: next,
        });
        scan_vector::<T, A, N, B, P, M>(
            reads,
            writes,
            &row.vectors,
            run.end,
            &running,
            &seam,
            identity,
            config,
            op,
        );
    }
    if number + 1 == runs.per_row {
        write_state::<M::State>(behind, line, &running);
    }
}

/// A unit for each edge of each row; `behind` has what precedes the edges behind vectors.
#[cube(launch_unchecked, address_type = "dynamic")]
fn row_edges_kernel<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, O: Operator>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    behind: &[u32],
    len: usize,
    edges: usize,
    seed: InputScalar,
    #[comptime] config: UnitRunsConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _begins: ElemType,
    #[define(P)] _positions: ElemType,
) {
    if ABSOLUTE_POS < edges {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        scan_edge::<T, A, N, B, P, O::Monoid<A>>(reads, writes, behind, len, &identity, config, op);
    }
}

#[cube]
fn scan_edge<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    behind: &[u32],
    len: usize,
    identity: &M::State,
    #[comptime] config: UnitRunsConfig,
    #[comptime] op: M::Config,
) {
    let (line, is_behind) = (ABSOLUTE_POS / 2, ABSOLUTE_POS % 2 == 1);
    let inputs = reads.elements.len().comptime();
    let row = straddled_row::<N>(line, len, inputs, config.reverse);
    let edge = Edge {
        start: select(is_behind, row.behind.start, row.before.start),
        count: select(is_behind, row.behind.count, row.before.count),
    };
    let begin = begin_of_line::<T, A, M>(&reads.initial, line, identity, op);
    let mut running = M::State::select(is_behind, &read_state::<M::State>(behind, line), &begin);
    for i in 0..edge.count {
        let at = place(&edge, i, config.reverse);
        let state = element::<T, A, N, B, M>(reads, at, op);
        let with = join::<A, M>(&running, &state, op);
        let mut result = M::State::copy(&with);
        if comptime!(config.exclusive) {
            result = M::State::copy(&running);
        }
        let written = M::write(&result, op);
        #[unroll]
        for output in 0..writes.elements.len().comptime() {
            let to = &mut writes.elements[output];
            to[at] = T::cast_from(written.values[output]);
        }
        running = with;
    }
}

/// Whether rows are such, and long enough to have vectors of their own.
pub(super) fn serves<O: Operator>(call: &Call<O>) -> bool {
    call.lanes < call.widest
        && call.begins_aligned
        && call.lines.is_contiguous_rows()
        && call.len() >= 2 * call.widest
        && call.tensors.begins.is_none()
        && call.tensors.positions.is_none()
}

/// The whole vectors that each row has for certain, so that none begins in the last run's edge.
pub(super) fn vectors<O: Operator>(call: &Call<O>) -> usize {
    call.len() / call.widest - 1
}

/// Launches runs of whole vectors as `split` says.
pub(super) fn launch<O: Operator>(call: Call<O>, split: Split) {
    let [dtype, accumulator, begins, positions] = call.types();
    let rows = call.rows();
    let parts = Parts {
        outer: rows,
        parts: split.parts,
        inner: 1,
    };
    let count = parts.count();
    let config = config(&call, parts.cut());
    let runs = || RunsLaunch::new(split.len, split.parts, count);
    let words = rows * call.state_words();
    let behind = scratch::temporary(call.client, words * size_of::<u32>());
    // SAFETY: the buffer was made with so many words.
    let behind = || unsafe { BufferArg::from_raw_parts(behind.clone(), words) };
    // SAFETY: there is one state per run; a run ends with the whole vectors of its row.
    let totals = |states| unsafe {
        let (cubes, cube_dim) = grid(&call, count);
        straddled_totals_kernel::launch_unchecked::<O>(
            call.client,
            cubes,
            cube_dim,
            call.address_type,
            call.widest,
            call.reads_both_ways(),
            states,
            call.len(),
            runs(),
            call.seed(),
            UnitRunsConfig {
                exclusive: false,
                cut: Cut::Whole,
                ..config
            },
            call.op,
            dtype,
            accumulator,
            begins,
        );
    };
    // SAFETY: as above, and one state per row; the outputs hold the same elements as the inputs.
    let scan = |states| unsafe {
        let (cubes, cube_dim) = grid(&call, count);
        straddled_scan_kernel::launch_unchecked::<O>(
            call.client,
            cubes,
            cube_dim,
            call.address_type,
            call.widest,
            call.reads_both_ways(),
            call.writes(),
            states,
            behind(),
            call.len(),
            runs(),
            call.seed(),
            config,
            call.op,
            dtype,
            accumulator,
            begins,
            positions,
        );
    };
    parts.launch::<O>(call.client, [dtype, accumulator], call.op, totals, scan);
    let (cubes, cube_dim) = grid(&call, 2 * rows);
    // SAFETY: as above; an edge ends with its row.
    unsafe {
        row_edges_kernel::launch_unchecked::<O>(
            call.client,
            cubes,
            cube_dim,
            call.address_type,
            call.widest,
            call.reads_both_ways(),
            call.writes_elements(),
            behind(),
            call.len(),
            2 * rows,
            call.seed(),
            config,
            call.op,
            dtype,
            accumulator,
            begins,
            positions,
        );
    }
}
