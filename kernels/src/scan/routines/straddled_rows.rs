//! `per_unit` of rows that vectors straddle: rows of an odd length, one behind the other.
//!
//! ```text
//! row        h h│v v v v│v v v v│v v v v│v v v v│t     whole vectors of the tensor between two edges
//! chunks       └─ chunk 0 ─────┘└─ chunk 1 ─────┘└─ chunk 2 …  of so many elements each: vectors lie across their ends, as across the row's
//! launch 1   the total of each chunk
//! launch 2   the exclusive scan of the totals of each row, where they are many
//! launch 3   each chunk again: its scan, stored in vectors; the last chunk leaves what precedes the edge behind it
//! launch 4   both edges, element by element
//! ```
//!
//! An element costs a software adapter half as much in a vector as alone. Edges share their vectors with other rows, and no kernel may write a
//! buffer in vectors and in elements alike: hence the fourth launch. Chunks end where they would in a row that begins with a vector: so the
//! bits of a result do not depend on where in memory its row lies, and a reverse scan mirrors a forward one. The chunk in which a vector begins
//! stores it; behind its own last element it goes on from what precedes the next chunk.

use crate::monoid::{Monoid, Operator, State, join, read_state, write_state};
use crate::scan::call::Call;
use crate::scan::components::{
    chunks::{
        Chunks, ChunksLaunch, PerUnitConfig, Seam, chunk_of, config, fold_vector, grid, scan_vector,
    },
    parts::before_part,
    tensors::{Edges, Reads, Writes, begin_of_line, state_at},
    tile::Row,
};
use crate::scan::parts::{CarryIn, Parts};
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
    let mut firsts = Sequence::<usize>::new();
    #[unroll]
    for _ in 0..inputs {
        firsts.push(first);
    }
    let vectors = Row {
        inputs: firsts,
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

/// A chunk of a row, and its vectors.
#[derive(CubeType)]
struct Chunk {
    /// The elements before its first own vector.
    head: Edge,
    /// Its own vectors, but for the one that it shares with the next chunk.
    first: usize,
    end: usize,
    /// The elements of that vector which are its own, none where it shares none.
    shared: Edge,
}

/// Chunk `chunk` of a row in the order of the scan; the last takes all that is left.
#[cube]
fn chunk_of_row<N: Size>(
    row: &Straddled,
    chunk: usize,
    chunks: Chunks,
    #[comptime] reverse: bool,
) -> Chunk {
    let lanes = N::value().comptime();
    let head = row.before.count;
    let first = chunk * chunks.vectors;
    let next = first + chunks.vectors;
    let is_last = chunk + 1 == chunks.per_row;
    let shares = !is_last && head > 0;
    let to_next = select(shares, next - 1, next);
    Chunk {
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
    chunks: Chunks,
    seed: InputScalar,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _starts_type: ElemType,
) {
    if ABSOLUTE_POS < chunks.count {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        total_of_chunk::<T, A, N, B, O::Monoid<A>>(
            reads, states, len, chunks, &identity, config, op,
        );
    }
}

#[cube]
fn total_of_chunk<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    states: &mut [u32],
    len: usize,
    chunks: Chunks,
    identity: &M::State,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: M::Config,
) {
    let line = ABSOLUTE_POS / chunks.per_row;
    let inputs = reads.inputs.len().comptime();
    let row = straddled_row::<N>(line, len, inputs, config.reverse);
    let number = chunk_of(ABSOLUTE_POS, chunks, config.reverse);
    let chunk = chunk_of_row::<N>(&row, number, chunks, config.reverse);
    let mut running = fold_edge::<T, A, N, B, M>(reads, &chunk.head, identity, config.reverse, op);
    for logical in chunk.first..chunk.end {
        running = fold_vector::<T, A, N, B, M>(reads, &row.vectors, logical, &running, config, op);
    }
    running = fold_edge::<T, A, N, B, M>(reads, &chunk.shared, &running, config.reverse, op);
    write_state::<M::State>(states, line * chunks.per_row + number, &running);
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn straddled_scan_kernel<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, O: Operator>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    states: &[u32],
    behind: &mut [u32],
    len: usize,
    chunks: Chunks,
    seed: InputScalar,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _starts_type: ElemType,
    #[define(P)] _positions: ElemType,
) {
    if ABSOLUTE_POS < chunks.count {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        scan_chunk::<T, A, N, B, P, O::Monoid<A>>(
            reads, writes, states, behind, len, chunks, &identity, config, op,
        );
    }
}

#[cube]
fn scan_chunk<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    states: &[u32],
    behind: &mut [u32],
    len: usize,
    chunks: Chunks,
    identity: &M::State,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: M::Config,
) {
    let line = ABSOLUTE_POS / chunks.per_row;
    let inputs = reads.inputs.len().comptime();
    let row = straddled_row::<N>(line, len, inputs, config.reverse);
    let number = chunk_of(ABSOLUTE_POS, chunks, config.reverse);
    let chunk = chunk_of_row::<N>(&row, number, chunks, config.reverse);
    let begin = begin_of_line::<T, A, M>(&reads.initial, line, identity, op);
    let at = line * chunks.per_row;
    let before = before_part::<A, M>(states, at, 1usize, number, &begin, config.carry_in, op);
    let mut running = fold_edge::<T, A, N, B, M>(reads, &chunk.head, &before, config.reverse, op);
    let whole = Sequence::<Seam<M::State>>::new();
    for logical in chunk.first..chunk.end {
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
    if chunk.shared.count > 0 {
        let next = before_part::<A, M>(states, at, 1usize, number + 1, &begin, config.carry_in, op);
        let mut seam = Sequence::<Seam<M::State>>::new();
        seam.push(Seam::<M::State> {
            step: chunk.shared.count,
            before: next,
        });
        scan_vector::<T, A, N, B, P, M>(
            reads,
            writes,
            &row.vectors,
            chunk.end,
            &running,
            &seam,
            identity,
            config,
            op,
        );
    }
    if number + 1 == chunks.per_row {
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
    #[comptime] config: PerUnitConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _starts_type: ElemType,
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
    #[comptime] config: PerUnitConfig,
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
        && call.starts_aligned
        && call.lines.is_contiguous_rows()
        && call.len() >= 2 * call.widest
        && call.tensors.starts.is_none()
        && call.tensors.positions.is_none()
}

/// The whole vectors that each row has for certain, so that none begins in the last chunk's edge.
pub(super) fn vectors<O: Operator>(call: &Call<O>) -> usize {
    call.len() / call.widest - 1
}

/// Launches chunks of whole vectors as `split` says.
pub(super) fn launch<O: Operator>(call: Call<O>, split: Split) {
    let [dtype, accumulator, starts, positions] = call.types();
    let rows = call.rows();
    let parts = Parts {
        outer: rows,
        parts: split.parts,
        inner: 1,
    };
    let count = parts.count();
    let config = config(&call, parts.carry_in());
    let chunks = || ChunksLaunch::new(split.len, split.parts, count);
    let words = rows * call.state_words();
    let behind = scratch::temporary(call.client, words * size_of::<u32>());
    // SAFETY: the buffer was made with so many words.
    let behind = || unsafe { BufferArg::from_raw_parts(behind.clone(), words) };
    // SAFETY: there is one state per chunk; a chunk ends with the whole vectors of its row.
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
            chunks(),
            call.seed(),
            PerUnitConfig {
                exclusive: false,
                carry_in: CarryIn::Whole,
                ..config
            },
            call.op,
            dtype,
            accumulator,
            starts,
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
            chunks(),
            call.seed(),
            config,
            call.op,
            dtype,
            accumulator,
            starts,
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
            starts,
            positions,
        );
    }
}
