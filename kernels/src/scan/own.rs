//! Scans with an operator of the caller's own.

use super::lines_call::LinesCall;
use super::problem::{ScanOptions, elements_before, widest};
use super::strategy::{LaunchOptions, RoutineKind, Strategy};
use super::tuning::Tuning;
use super::{routines, scratch};
use crate::ScanError;
use crate::error::check_types;
use crate::monoid::Operator;
use crate::operator::accumulator_of;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::{into_contiguous, is_contiguous};

/// Scans `inputs` along `axis` into `outputs`, with any [`Operator`].
///
/// All tensors have one shape and the element type `dtype`, and there are as many as the operator reads and writes. Inputs may have any strides
/// that address memory (0 included); each is read in place where neighbouring units read neighbouring elements. Outputs are contiguous and share no memory with an input or with each other. Half-precision floats are
/// accumulated in f32, narrow integers in 32 bits. Nothing waits for the device.
///
/// [`Strategy::Inferred`] takes [`RoutineKind::Columns`] where there is a dimension behind the axis; else [`RoutineKind::SingleCube`] for rows of at
/// most one tile, [`RoutineKind::SinglePass`] for longer ones, and [`RoutineKind::ReduceThenScan`] where the device lacks 32-bit atomics or
/// is capturing a graph.
///
/// # Errors
///
/// See [`ScanError`]. Nothing was launched then. [`RoutineKind::UnitRuns`] serves the operators of [`ScanOp`](crate::ScanOp) alone.
#[expect(
    clippy::too_many_arguments,
    reason = "a tensor operation's arguments, then the launch options"
)]
pub fn scan_operator<O: Operator>(
    client: &Client,
    inputs: Vec<TensorBinding>,
    outputs: Vec<TensorBinding>,
    axis: usize,
    dtype: ElemType,
    op: O::Config,
    options: ScanOptions,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    check::<O>(client, &inputs, &outputs, dtype)?;
    let shape = inputs[0].shape.to_vec();
    let rank = shape.len();
    if axis >= rank {
        return Err(ScanError::AxisOutOfRange { axis, rank });
    }
    if shape.contains(&0) {
        return Ok(());
    }
    let inner: usize = shape[axis + 1..].iter().product();
    let inputs: Vec<_> = inputs
        .into_iter()
        .map(|input| match is_coalesced(&input, axis) {
            true => input,
            false => into_contiguous(client, input, dtype).binding(),
        })
        .collect();
    let (outer, strides) = merged(&shape[..axis], &inputs);
    // Columns of single elements are rows: nothing is stepped over.
    let along = |input: &TensorBinding| if inner == 1 { 1 } else { input.strides[axis] };
    let along: Vec<usize> = inputs.iter().map(along).collect();
    let line = match inner {
        1 => shape[axis],
        _ => along.iter().fold(inner, |bits, stride| bits | stride),
    };
    let offsets = inputs.iter().chain(&outputs);
    let offsets = offsets.map(|t| elements_before(t.handle.offset_start, dtype.size()));
    let granule = strides.iter().flatten().copied().chain(offsets);
    let granule = granule.fold(line, |bits, number| bits | number);
    let accumulator = accumulator_of(dtype);
    let mut tuning = Tuning::of(client, &launch);
    if launch.vectors.is_none() {
        let scalars = O::state_size(accumulator).div_ceil(accumulator.size());
        tuning.vectors = (tuning.vectors / scalars).max(1);
    }
    let all = inputs.iter().chain(&outputs);
    let call = LinesCall::<O> {
        client,
        tuning,
        mute: launch.mute,
        lanes: widest(client.io_optimized_vector_sizes(dtype.size()), granule),
        address_type: all
            .map(|tensor| tensor.required_address_type(dtype.size()))
            .max()
            .unwrap_or_default(),
        inputs,
        outputs,
        outer,
        strides,
        len: shape[axis],
        axis: along,
        inner,
        ahead: launch.vectors.unwrap_or(tuning.ahead),
        options,
        dtype,
        accumulator,
        op,
    };
    run(call, launch.strategy)
}

fn run<O: Operator>(call: LinesCall<O>, strategy: Strategy) -> Result<(), ScanError> {
    let obstacle = scratch::obstacle(call.client);
    let routine = match strategy {
        Strategy::Forced(routine) => routine,
        Strategy::Inferred if call.inner > 1 => RoutineKind::Columns,
        Strategy::Inferred if call.tiles_per_row() == 1 => RoutineKind::SingleCube,
        Strategy::Inferred if obstacle.is_none() => RoutineKind::SinglePass,
        Strategy::Inferred => RoutineKind::ReduceThenScan,
    };
    let refuse = |reason: &str| {
        Err(ScanError::Refused {
            routine,
            reason: reason.into(),
        })
    };
    match (routine, obstacle) {
        (RoutineKind::UnitRuns, _) => return refuse("it serves the operators of `ScanOp` alone"),
        (RoutineKind::Columns, _) if call.inner == 1 => {
            return refuse("there is no dimension after the axis");
        }
        (RoutineKind::Columns, _) => routines::columns::launch(call)?,
        _ if call.inner > 1 => return refuse("the axis is not the innermost"),
        (RoutineKind::SingleCube, _) if call.tiles_per_row() > 1 => {
            return refuse("a row does not fit a tile");
        }
        (RoutineKind::SingleCube, _) => routines::chunked::launch(call, 1),
        (RoutineKind::SinglePass, Some(obstacle)) => return refuse(obstacle),
        (RoutineKind::SinglePass, None) => routines::single_pass::launch(call),
        (RoutineKind::ReduceThenScan, _) => {
            let chunks = routines::chunked::chunks_per_row(&call);
            routines::chunked::launch(call, chunks);
        }
    }
    Ok(())
}

fn check<O: Operator>(
    client: &Client,
    inputs: &[TensorBinding],
    outputs: &[TensorBinding],
    dtype: ElemType,
) -> Result<(), ScanError> {
    for (operand, expected, found) in [
        ("inputs", O::INPUTS, inputs.len()),
        ("outputs", O::OUTPUTS, outputs.len()),
    ] {
        if expected != found || found == 0 {
            return Err(ScanError::TensorCount {
                operand,
                expected,
                found,
            });
        }
    }
    let shape = &inputs[0].shape;
    let operands = inputs.iter().map(|tensor| ("input", tensor));
    for (operand, tensor) in operands.chain(outputs.iter().map(|tensor| ("output", tensor))) {
        if tensor.shape != *shape {
            return Err(ScanError::ShapeMismatch {
                operand,
                expected: shape.to_vec(),
                found: tensor.shape.to_vec(),
            });
        }
    }
    if outputs.iter().any(|t| !is_contiguous(&t.shape, &t.strides)) {
        return Err(ScanError::InvalidOutput);
    }
    check_types(client, [dtype, accumulator_of(dtype)])
}

/// Whether neighbouring units read neighbouring elements, of a row or of columns side by side.
fn is_coalesced(input: &TensorBinding, axis: usize) -> bool {
    let inner = &input.shape[axis + 1..];
    if inner.iter().product::<usize>() == 1 {
        input.strides[axis] == 1 || input.shape[axis] == 1
    } else {
        is_contiguous(inner, &input.strides[axis + 1..])
    }
}

/// The dimensions before the axis without those of size 1, neighbours merged where they are one run in every input; and their strides.
fn merged(sizes: &[usize], inputs: &[TensorBinding]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut outer: Vec<(usize, Vec<usize>)> = Vec::new();
    for (dim, &size) in sizes.iter().enumerate().filter(|(_, size)| **size != 1) {
        let strides: Vec<usize> = inputs.iter().map(|input| input.strides[dim]).collect();
        let is_run = |last: &(usize, Vec<usize>)| {
            let mut pairs = last.1.iter().zip(&strides);
            pairs.all(|(outer, inner)| *outer == size * inner)
        };
        match outer.last_mut() {
            Some(last) if is_run(last) => *last = (last.0 * size, strides),
            _ => outer.push((size, strides)),
        }
    }
    let of_input = |i| {
        outer
            .iter()
            .map(|(_, strides): &(_, Vec<usize>)| strides[i])
            .collect()
    };
    let strides = (0..inputs.len()).map(of_input).collect();
    (outer.into_iter().map(|(size, _)| size).collect(), strides)
}
