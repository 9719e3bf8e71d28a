//! Launches 1 and 3: a unit for each chunk.

use super::edges::fold_edge;
use super::geometry::{chunk_of_row, straddled_row};
use crate::monoid::{Monoid, Operator, write_state};
use crate::scan::components::{
    chunks::{Chunks, PerUnitConfig, Seam, chunk_of, fold_vector, scan_vector},
    parts::before_part,
    tensors::{Reads, Writes, begin_of_line},
};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn straddled_totals_kernel<T: Numeric, A: Numeric, N: Size, B: Numeric, O: Operator>(
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
pub(super) fn straddled_scan_kernel<
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
