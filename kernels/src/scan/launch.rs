//! From a call to its routine.

use super::call::Call;
use super::components::args::Operands;
use super::problem::ScanOptions;
use super::strategy::{LaunchOptions, RoutineKind, Strategy, infer};
use super::tensors::ScanTensors;
use super::{routines, scratch};
use crate::monoid::{Fold, Operator};
use crate::{ScanError, ScanOp};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Scans `input` along `axis` into `output`, with [`Strategy::Inferred`].
///
/// `input` may have any strides that address memory, 0 included. It is read in place if neighbouring units read
/// neighbouring elements, and otherwise from a contiguous copy. `output` is contiguous, has the same shape and element
/// type, and shares no memory with `input`. Nothing waits for the device.
///
/// # Errors
///
/// See [`ScanError`]. Nothing was launched then.
pub fn scan(
    client: &Client,
    input: TensorBinding,
    output: TensorBinding,
    axis: usize,
    dtype: ElemType,
    op: ScanOp,
    options: ScanOptions,
) -> Result<(), ScanError> {
    let tensors = ScanTensors::new(vec![input], vec![output], axis, dtype);
    scan_operator::<Fold>(client, tensors, op, options, LaunchOptions::default())
}

/// [`scan`] with a routine and tuning of the caller's choice.
///
/// # Errors
///
/// As [`scan`], and [`ScanError::Refused`] if a forced routine cannot serve.
#[expect(
    clippy::too_many_arguments,
    reason = "a tensor operation's arguments, then the launch options"
)]
pub fn scan_with(
    client: &Client,
    input: TensorBinding,
    output: TensorBinding,
    axis: usize,
    dtype: ElemType,
    op: ScanOp,
    options: ScanOptions,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    let tensors = ScanTensors::new(vec![input], vec![output], axis, dtype);
    scan_operator::<Fold>(client, tensors, op, options, launch)
}

/// Scans with any [`Operator`]: one of [`monoid`](crate::monoid), or your own.
///
/// Half-precision floats are accumulated in f32, narrow integers in 32 bits. Nothing waits for the device.
///
/// # Errors
///
/// See [`ScanError`]. Nothing was launched then.
pub fn scan_operator<O: Operator>(
    client: &Client,
    mut tensors: ScanTensors,
    op: O::Config,
    options: ScanOptions,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    let Some(call) = Call::<O>::new(client, &mut tensors, op, options, launch)? else {
        return Ok(());
    };
    let routine = routine_of(&call);
    run(call, &tensors, routine)
}

/// The routine that the caller forces, or that serves best.
pub(crate) fn routine_of<O: Operator>(call: &Call<O>) -> RoutineKind {
    match call.launch.strategy {
        Strategy::Forced(routine) => routine,
        Strategy::Inferred => infer(
            &call.lines,
            call.tile_elements(),
            routines::column_tiles::serves(call),
            scratch::unsupported_reason(call.client).is_none(),
        ),
    }
}

pub(crate) fn run<O: Operator, D: Operands>(
    call: Call<O>,
    operands: &D,
    routine: RoutineKind,
) -> Result<(), ScanError> {
    if let Some(reason) = routines::refusal(routine, &call) {
        return Err(ScanError::Refused { routine, reason });
    }
    routines::launch(routine, call, operands);
    Ok(())
}
