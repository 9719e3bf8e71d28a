//! The total of a shard.

use super::super::kind::Scannable;
use crate::check::is_cpu;
use crate::ops::range;
use crate::{ScanOp, ScanOptions, TensorScan};
use burn::backend::Dispatch;
use burn::tensor::kind::Basic;
use burn::tensor::{Float, Int, IntDType, Tensor};

/// The total of each line along `dim`, with size 1 along `dim`, of a shard that has elements. The order of operations
/// is always the same.
///
/// On the CPU it is a reduction, which only reads. Elsewhere it is the last slice of a scan: there, the reduction of
/// segments would scan as well, and read starts in addition to the values.
pub(super) fn total<const D: usize, K: Basic>(
    shard: &Tensor<D, K>,
    dim: usize,
    op: ScanOp,
    options: ScanOptions,
) -> Tensor<D, K>
where
    Tensor<D, K>: TensorScan,
{
    let shape = shard.dims();
    let size = |sizes: &[usize]| sizes.iter().product::<usize>();
    let [outer, inner] = [size(&shape[..dim]), size(&shape[dim + 1..])];
    let rows = outer * shape[dim];
    let device = shard.device();
    // Of equal maxima the reduction gives the gradient to the last one; a scan from the end gives it to the first.
    let has_another_gradient =
        options.reverse && matches!(op, ScanOp::Max | ScanOp::Min) && device.is_autodiff();
    if !is_cpu(device.as_dispatch()) || has_another_gradient || i32::try_from(rows).is_err() {
        let scanned = shard.clone().scan(dim, op, options.inclusive());
        let last = if options.reverse { 0 } else { shape[dim] - 1 };
        return scanned.narrow(dim, last, 1);
    }
    // Each line is a segment of rows, whatever dimensions are before and after `dim`.
    let lines = range::<Dispatch>(outer + 1, device.as_dispatch(), IntDType::I32);
    let offsets = Tensor::<1, Int>::from_dispatch(lines).mul_scalar(shape[dim] as i64);
    let offsets = offsets.into_dispatch();
    let values = shard.clone().reshape([rows, inner]);
    let reduce = if values.dtype().is_float() {
        <Float as Scannable>::segment_reduce
    } else {
        <Int as Scannable>::segment_reduce
    };
    let totals = Tensor::<2, K>::from_dispatch(reduce(values.into_dispatch(), offsets, op));
    let mut line = shape;
    line[dim] = 1;
    totals.reshape(line)
}
