//! The ways to scan a tensor: a file or a folder each, with its kernels, its plan and what it refuses.

mod chunked;
pub(crate) mod column_tiles;
mod columns;
pub(crate) mod short_rows;
mod single_cube;
mod single_pass;

use super::call::Call;
use super::components::args::Operands;
use super::scratch;
use super::strategy::RoutineKind;
use crate::monoid::Operator;

/// A way to scan a tensor.
pub(crate) trait Routine {
    /// Why it cannot serve. `None` if it can.
    fn refusal<O: Operator>(call: &Call<O>) -> Option<String>;

    /// The elements of an access to any operand: those of a row in tiles, unless the routine has others.
    fn width<O: Operator>(call: &Call<O>) -> usize {
        call.stored_lanes_in_tiles()
    }

    /// Plans the launches and makes them. The routine can serve.
    fn launch<O: Operator, D: Operands>(call: Call<O>, operands: &D);
}

/// Evaluates `$body` with `$Routine` the routine of a kind.
macro_rules! of_kind {
    ($kind:expr, $Routine:ident => $body:expr) => {
        of_kind! {
            $kind, $Routine => $body;
            SingleCube single_cube, SinglePass single_pass, ReduceThenScan chunked,
            Columns columns, ColumnTiles column_tiles
        }
    };
    ($kind:expr, $Routine:ident => $body:expr; $($Kind:ident $file:ident),*) => {
        match $kind {
            $(RoutineKind::$Kind => {
                type $Routine = $file::$Kind;
                $body
            })*
        }
    };
}

/// [`Routine::refusal`].
pub(crate) fn refusal<O: Operator>(kind: RoutineKind, call: &Call<O>) -> Option<String> {
    of_kind!(kind, R => R::refusal(call))
}

/// [`Routine::width`].
pub(crate) fn width<O: Operator>(kind: RoutineKind, call: &Call<O>) -> usize {
    of_kind!(kind, R => R::width(call))
}

/// [`Routine::launch`].
pub(crate) fn launch<O: Operator, D: Operands>(kind: RoutineKind, call: Call<O>, operands: &D) {
    of_kind!(kind, R => R::launch(call, operands));
}

/// The refusal of a routine for rows.
fn unless_rows<O: Operator>(call: &Call<O>) -> Option<String> {
    (!call.lines.inner.is_empty()).then(|| "the axis is not the innermost".into())
}

/// The refusal of a routine for columns.
fn unless_columns<O: Operator>(call: &Call<O>) -> Option<String> {
    (call.lines.inner.is_empty()).then(|| "there is no dimension after the axis".into())
}

/// The refusal of a routine whose tiles look back.
fn unless_words<O: Operator>(call: &Call<O>) -> Option<String> {
    scratch::unsupported_reason(call.client).map(String::from)
}
