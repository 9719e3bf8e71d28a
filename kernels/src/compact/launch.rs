//! Compaction of a whole tensor.

use super::emit::Emit;
use super::mask_tile::Mark;
use super::plan::{MaskLines, same_elements, unused};
use super::selection::Selection;
use super::{place, select};
use crate::ScanError;
use crate::scan::LaunchOptions;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Compacts by `mask` (any non-zero is true), row-major and in order.
///
/// `values` and `mask` may have any strides and are read in place; `output` is contiguous. `output` has the mask's
/// size. With [`Emit::Values`] and [`Emit::ValuesUnpadded`], `values` has the mask's size, and `output` has its element
/// type; otherwise `output` has the integer type `index`. `count` is one `index`. Nothing waits for the device.
///
/// # Errors
///
/// [`ScanError::UnsupportedType`] if the device cannot hold a type, [`ScanError::ShapeMismatch`] if sizes differ or the
/// values to emit are missing, [`ScanError::InvalidOutput`] and [`ScanError::OverlappingMemory`] for outputs,
/// [`ScanError::LookbackUnsupported`] if the device has no 32-bit atomics or is capturing a graph.
///
/// # Panics
///
/// If `count` is empty.
#[expect(
    clippy::too_many_arguments,
    reason = "a tensor operation's arguments, then the launch options"
)]
pub fn compact(
    client: &Client,
    values: Option<(TensorBinding, ElemType)>,
    mask: (TensorBinding, ElemType),
    output: TensorBinding,
    count: TensorBinding,
    index: ElemType,
    emit: Emit,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    if emit == Emit::Destinations {
        let (output, count) = ((output, index), Some((count, index)));
        return place::place(client, None, mask, output, count, launch);
    }
    same_elements("output", &output, &mask.0)?;
    let values = match values {
        Some(values) if emit.values() => {
            same_elements("values", &values.0, &mask.0)?;
            values
        }
        None if emit.values() => {
            return Err(ScanError::ShapeMismatch {
                operand: "values",
                expected: mask.0.shape.to_vec(),
                found: Vec::new(),
            });
        }
        _ => (unused(client), index),
    };
    let selection = Selection {
        values,
        mask,
        output,
        counts: count,
        index,
        emit,
    };
    let lines = MaskLines::flat(&selection.mask.0);
    let plan = selection.plan(client, lines, Mark::NonZero, &[], launch)?;
    select::launch(client, &plan, selection, None);
    Ok(())
}
