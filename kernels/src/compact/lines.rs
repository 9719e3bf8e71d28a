//! Compaction of each line on its own, and the choice between [`select`] and [`per_unit`].

use super::emit::Emit;
use super::mask_tile::Mark;
use super::plan::{MaskLines, same_elements};
use super::selection::Selection;
use super::{per_unit, select};
use crate::ScanError;
use crate::scan::LaunchOptions;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Compacts each line of `values` along `axis` by `mask` (any non-zero is true): survivors first and in order, zeros
/// after them. Writes the number of survivors of each line into `counts`.
///
/// The first three tensors have one shape. Values and mask may have any strides and are read in place; `output` is
/// contiguous. `counts` holds an `index` for each line, in row-major order of the other dimensions. Nothing waits for
/// the device.
///
/// Lines along the last dimension take one launch of cubes as large as a line; if a line takes several cubes, they look
/// back. Along other dimensions units walk lines side by side, and lines are split if they are few.
///
/// # Errors
///
/// [`ScanError::AxisOutOfRange`], otherwise as [`compact`](super::compact()).
///
/// # Panics
///
/// If `counts` is too small.
#[expect(
    clippy::too_many_arguments,
    reason = "a tensor operation's arguments, then the launch options"
)]
pub fn compact_lines(
    client: &Client,
    values: (TensorBinding, ElemType),
    mask: (TensorBinding, ElemType),
    output: TensorBinding,
    counts: TensorBinding,
    axis: usize,
    index: ElemType,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    let rank = mask.0.shape.len();
    if axis >= rank {
        return Err(ScanError::AxisOutOfRange { axis, rank });
    }
    same_elements("values", &values.0, &mask.0)?;
    same_elements("output", &output, &mask.0)?;
    let lines = MaskLines::along(&mask.0, axis);
    if lines.count() == 0 {
        return Ok(());
    }
    let selection = Selection {
        values,
        mask,
        output,
        counts,
        index,
        emit: Emit::Values,
    };
    let plan = selection.plan(client, lines, Mark::NonZero, &[], launch)?;
    if plan.per_unit {
        per_unit::launch(client, plan, selection)
    } else {
        select::launch(client, &plan, selection, None)
    }
    Ok(())
}
