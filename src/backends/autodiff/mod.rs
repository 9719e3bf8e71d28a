//! Gradients: a hand-written adjoint for each operation.
//!
//! | forward | gradient of the input | saved for it |
//! |---|---|---|
//! | sum scan | the same scan in the other direction | none |
//! | product scan | see [`prod`] | the input |
//! | max, min scan | the gradient of a result goes to the element that set it | the input |
//! | log-sum-exp scan | see [`log_sum_exp`] | the input |
//! | segmented scan | as above, in each segment | as above, and the starts of segments |
//! | maxima, minima with positions | the gradient of a result goes to its position | the positions |
//! | sum scan from a value | the same scan in the other direction; for the value the total of the line | none |
//! | other scan from a value | the gradient of a scan of the value and the elements | |
//! | linear recurrence | see [`recurrence`] | decays, results, initial values |
//! | compact | expand by the same mask | the mask |
//! | expand | compact by the same mask | the mask |
//! | partition (scatter to destinations) | gather from the same destinations | the destinations |
//! | compact lines | gather each survivor's gradient from its place in the line | the mask |
//! | repeat rows | the sum over the repetitions of a row | the offsets |
//! | run lengths | the gradient of a run goes to its first element | the lengths |
//! | sort, `k` largest | the gradient of a result goes to its position | the positions |
//! | segment reduction | see [`segments`] | the input, the starts of segments, the result |
//! | broadcast of decays, initial values, states | see [`broadcast`] | none |
//!
//! Without a tracked input, only the forward operation runs.

mod adjoints;
mod broadcast;
mod extrema;
mod log_sum_exp;
mod prod;
mod recurrence;
mod scan_of_lines;
mod scans;
mod segments;
mod selections;
mod sort;
mod sources;
mod step;
#[cfg(all(test, feature = "flex"))]
mod tests;
mod widened;

use crate::ops::scans::scan_operations;
use crate::ops::{ScanBackend, ScanOps};
use crate::{ScanOp, ScanOptions};
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::tensor::{BoolDType, IntDType, Shape};
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use scan_of_lines::Scan;

/// The methods of operations whose first tensor has no gradient: those of the inner backend. The rows use the name
/// `Tracked` for the type of tensors that may have a gradient.
macro_rules! on_inner {
    (
        $Trait:ident: $($Super:ident)+;
        $($group:ident {$(
            $(#[$($doc:tt)*])*
            $op:ident = $key:ident($first:ident: $First:ident $(, $t:ident: $T:ident)*; $($a:ident: $A:ident),*)
                -> ($($Out:ident),+) as ($($how:tt)*) if ($($rule:ident($($what:ident),*)),*) $body:tt
        )*})+
    ) => {$($(
        on_inner! {
            @unless $First
            fn $op($first: $First<Self>, $($t: $T<Self>,)* $($a: $A),*) -> ($($Out<Self>),+) {
                B::$op($first, $($t,)* $($a),*)
            }
        }
    )*)+};
    (@unless Tracked $($method:tt)*) => {};
    (@unless $Other:ident $($method:tt)*) => { $($method)* };
}

use on_inner;

#[expect(
    unused_parens,
    reason = "a row has its results in parentheses, one or several"
)]
impl<B: ScanBackend, C: CheckpointStrategy> ScanOps for Autodiff<B, C> {
    scan_operations! { on_inner(Tracked, IntTensor, BoolTensor) }

    fn float_scan(
        tensor: FloatTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self> {
        scans::scan::<B, C>(tensor, Scan::whole(dim, op, options))
    }

    fn float_scan_from(
        tensor: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self> {
        scans::scan_from::<B, C>(tensor, initial, Scan::whole(dim, op, options))
    }

    fn float_segmented_scan(
        tensor: FloatTensor<Self>,
        starts: BoolTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self> {
        let scan = Scan {
            starts: Some(starts),
            ..Scan::whole(dim, op, options)
        };
        scans::scan::<B, C>(tensor, scan)
    }

    fn float_extremum_with_indices(
        tensor: FloatTensor<Self>,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>) {
        scans::extremum_with_indices::<B, C>(tensor, dim, is_max, int_dtype)
    }

    fn float_linear_recurrence(
        values: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        dim: usize,
        options: ScanOptions,
    ) -> FloatTensor<Self> {
        recurrence::recurrence::<B, C>(values, decay, dim, options, false)
    }

    fn float_linear_recurrence_from(
        values: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        dim: usize,
        options: ScanOptions,
    ) -> FloatTensor<Self> {
        recurrence::linear_recurrence_from::<B, C>(values, decay, initial, dim, options)
    }

    fn float_reset_recurrence(
        values: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        dim: usize,
        options: ScanOptions,
    ) -> FloatTensor<Self> {
        recurrence::recurrence::<B, C>(values, decay, dim, options, true)
    }

    fn float_broadcast(tensor: FloatTensor<Self>, shape: Shape) -> FloatTensor<Self> {
        scans::broadcast::<B, C>(tensor, shape)
    }

    fn float_segment_reduce(
        values: FloatTensor<Self>,
        offsets: IntTensor<Self>,
        op: ScanOp,
    ) -> FloatTensor<Self> {
        scans::segment_reduce::<B, C>(values, offsets, op)
    }
}
