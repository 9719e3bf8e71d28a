//! The gradient of a maximum or minimum scan: each result's gradient goes to the element that set it.
//!
//! Of equal elements the one nearest to the result counts, as in Burn's `cummax` and `cummin`. An exclusive result is the inclusive one of
//! the element before it, and the first is a constant, so that its gradients are shifted by one and then treated alike.

use super::Scan;
use crate::ops::ScanBackend;
use crate::{ScanOp, ScanOptions};
use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{IndexingUpdateOp, Shape, Slice};

pub(super) fn gradient<B: ScanBackend>(
    input: FloatTensor<B>,
    grad: FloatTensor<B>,
    scan: Scan,
) -> FloatTensor<B> {
    let Scan { dim, op, options } = scan;
    let shape = input.shape();
    let len = shape[dim];
    if len == 0 {
        return grad;
    }
    let device = input.device();
    let settings = burn_backend::get_or_init_device_settings::<B>(&device);
    let inclusive = ScanOptions {
        exclusive: false,
        ..options
    };
    let grad = if options.exclusive {
        shift::<B>(grad, dim, options.reverse)
    } else {
        grad
    };

    let output = B::float_scan(input.clone(), dim, op, inclusive);
    let sets = B::bool_into_int(
        B::float_equal(output, input, settings.bool_dtype),
        settings.int_dtype,
    );

    // Positions in the order of the scan, so that "the last one so far" is a running maximum in either direction.
    let mut line = vec![1; shape.num_dims()];
    line[dim] = len;
    let positions = B::int_arange(0..len as i64, &device, settings.int_dtype);
    let positions = if options.reverse {
        B::int_flip(positions, &[0])
    } else {
        positions
    };
    let positions = B::int_expand(B::int_reshape(positions, Shape::from(line)), shape.clone());
    let source = B::int_scan(B::int_mul(positions, sets), dim, ScanOp::Max, inclusive);
    let source = if options.reverse {
        B::int_add_scalar(
            B::int_mul_scalar(source, (-1).into()),
            (len as i64 - 1).into(),
        )
    } else {
        source
    };

    let zeros = B::float_zeros(shape, &device, grad.dtype().into());
    B::float_scatter(dim, zeros, source, grad, IndexingUpdateOp::Add)
}

/// The gradient of result `j + 1` at `j` (of `j − 1` in a reverse scan); nothing at the end.
fn shift<B: ScanBackend>(grad: FloatTensor<B>, dim: usize, reverse: bool) -> FloatTensor<B> {
    let shape = grad.shape();
    let len = shape[dim];
    let mut end = shape.clone();
    end[dim] = 1;
    let zeros = B::float_zeros(end, &grad.device(), grad.dtype().into());
    let mut kept = vec![Slice::full(); shape.num_dims()];
    kept[dim] = if reverse {
        Slice::from(0..len - 1)
    } else {
        Slice::from(1..len)
    };
    let rest = B::float_slice(grad, &kept);
    B::float_cat(
        if reverse {
            vec![zeros, rest]
        } else {
            vec![rest, zeros]
        },
        dim,
    )
}
