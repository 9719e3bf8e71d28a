//! The gradient of a broadcast: its sums over the dimensions that were repeated, each the last element of a scan. Burn's
//! reduction chooses among routines by timing, so its bits may differ from run to run, and it adds up f16 in f16.

use crate::ops::ScanBackend;
use crate::ops::shift::{first_alone, zeros};
use crate::{ScanOp, ScanOptions};
use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::Shape;

/// `shape` is that of the tensor which was broadcast.
pub(super) fn gradient<B: ScanBackend>(grad: FloatTensor<B>, shape: Shape) -> FloatTensor<B> {
    let from = grad.shape();
    if from.num_elements() == 0 {
        return zeros::<B>(shape, &grad.device(), grad.dtype());
    }
    let size = |sizes: &[usize]| sizes.iter().product::<usize>();
    let (mut grad, mut end) = (grad, shape.num_dims());
    while end > 0 {
        // Dimensions that lie side by side are repeated as one.
        let start = (0..end)
            .rfind(|&dim| shape[dim] != 1)
            .map_or(0, |dim| dim + 1);
        let repeated = size(&from[start..end]);
        if repeated > 1 {
            let lines = [size(&from[..start]), repeated, size(&shape[end..])];
            let grads = B::float_reshape(grad, lines.into());
            let sums = B::float_scan(grads, 1, ScanOp::Sum, ScanOptions::default());
            grad = first_alone::<B>(sums, 1, true);
        }
        end = start.min(end - 1);
    }
    B::float_reshape(grad, shape)
}
