//! The operators of this crate as values.
//!
//! [`scan_operator`] is compiled in the crate that names the operator, with the kernels of all routines. What takes a
//! [`BuiltIn`] is compiled here, once for all crates.

use super::{LaunchOptions, ScanOptions, ScanTensors, scan_operator};
use crate::monoid::{
    ArgExtremum, Extremum, Fold, LinearRecurrence, LogSumExp, ResetRecurrence, Segmented,
};
use crate::{ScanError, ScanOp};
use cubecl::client::Client;

/// An operator of [`monoid`](crate::monoid). Folds and [`LogSumExp`] scan each segment on its own if the tensors say
/// where segments start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltIn {
    /// [`Fold`]: one input.
    Fold(ScanOp),
    /// [`LogSumExp`]: one input.
    LogSumExp,
    /// [`ArgExtremum`]: one input, and room for positions.
    ArgExtremum(Extremum),
    /// [`LinearRecurrence`]: values and decays.
    LinearRecurrence,
    /// [`ResetRecurrence`]: values and decays.
    ResetRecurrence,
}

/// [`scan_operator`] with an operator of this crate. Nothing waits for the device.
///
/// ```no_run
/// use cubecl::{client::Client, ir::ElemType, prelude::*};
/// use cubecl_scan::ScanError;
/// use cubecl_scan::scan::{BuiltIn, LaunchOptions, ScanOptions, ScanTensors, scan_built_in};
///
/// /// `h[t] = decay[t] · h[t − 1] + values[t]` along the last axis.
/// fn recurrence(
///     client: &Client,
///     [values, decay, output]: [TensorBinding; 3],
///     dtype: ElemType,
/// ) -> Result<(), ScanError> {
///     let axis = values.shape.len() - 1;
///     let tensors = ScanTensors::new(vec![values, decay], vec![output], axis, dtype);
///     let (options, launch) = (ScanOptions::default(), LaunchOptions::default());
///     scan_built_in(client, tensors, BuiltIn::LinearRecurrence, options, launch)
/// }
/// # fn main() {}
/// ```
///
/// # Errors
///
/// See [`ScanError`]. Nothing was launched then.
pub fn scan_built_in(
    client: &Client,
    tensors: ScanTensors,
    op: BuiltIn,
    options: ScanOptions,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    macro_rules! scan {
        ($operator:ty, $config:expr) => {
            scan_operator::<$operator>(client, tensors, $config, options, launch)
        };
    }
    let in_segments = tensors.starts.is_some();
    match op {
        BuiltIn::Fold(op) if in_segments => scan!(Segmented<Fold>, op),
        BuiltIn::Fold(op) => scan!(Fold, op),
        BuiltIn::LogSumExp if in_segments => scan!(Segmented<LogSumExp>, ()),
        BuiltIn::LogSumExp => scan!(LogSumExp, ()),
        BuiltIn::ArgExtremum(op) => scan!(ArgExtremum, op),
        BuiltIn::LinearRecurrence => scan!(LinearRecurrence, ()),
        BuiltIn::ResetRecurrence => scan!(ResetRecurrence, ()),
    }
}
