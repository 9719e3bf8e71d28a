//! Operations made of others that every backend has. They serve backends without their own kernels, and gradients of
//! gradients.

use super::shift::{first, next_elements, previous_elements};
use super::{ScanOps, along};
use crate::{ScanOp, ScanOptions};
use burn::backend::tensor::{BoolTensor, Device, FloatTensor, IntTensor};
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{DType, IndexingUpdateOp, IntDType, Shape, Slice};
use burn_backend::get_device_settings;

/// The numbers below `len`. On a fused device Burn makes them by its own cumulative sum, whose reads grow with the
/// square of `len`.
pub(crate) fn range<B: ScanOps>(len: usize, device: &Device<B>, dtype: IntDType) -> IntTensor<B> {
    let ones = B::int_ones([len].into(), device, dtype);
    B::int_scan(ones, 0, ScanOp::Sum, ScanOptions::default().exclusive())
}

/// Booleans with their dtype. Burn's `select` leaves them as U8 on Flex, which
/// [`from_dispatch`](burn::tensor::Tensor::from_dispatch) takes for integers.
pub(crate) fn booleans<B: Backend>(tensor: BoolTensor<B>) -> BoolTensor<B> {
    if tensor.dtype() != DType::U8 {
        return tensor;
    }
    let dtype = get_device_settings::<B>(&tensor.device()).bool_dtype;
    let numbers = B::bool_into_int(tensor, IntDType::I32);
    B::int_not_equal_elem(numbers, 0.into(), dtype)
}

/// [`ScanOps::float_scan_from`] by operations that every backend has.
pub(crate) fn float_scan_from_by_scan<B: ScanOps>(
    tensor: FloatTensor<B>,
    initial: FloatTensor<B>,
    dim: usize,
    op: ScanOp,
    options: ScanOptions,
) -> FloatTensor<B> {
    let scan = |tensor| B::float_scan(tensor, dim, op, options.inclusive());
    scan_from_by_scan(
        tensor,
        initial,
        dim,
        options,
        |tensor, slices| B::float_slice(tensor, slices),
        |parts, dim| B::float_cat(parts, dim),
        scan,
    )
}

/// A scan from `initial` as an inclusive scan of `initial` and the elements that it sees.
pub(crate) fn scan_from_by_scan<T: TensorMetadata>(
    tensor: T,
    initial: T,
    dim: usize,
    options: ScanOptions,
    slice: impl Fn(T, &[Slice]) -> T,
    cat: impl FnOnce(Vec<T>, usize) -> T,
    scan: impl FnOnce(T) -> T,
) -> T {
    let shape = tensor.shape();
    if shape.num_elements() == 0 {
        return tensor;
    }
    let len = shape[dim];
    let part = |tensor, range| slice(tensor, &along(shape.num_dims(), dim, range));
    // An exclusive scan sees all but the last element.
    let seen = match (options.exclusive, options.reverse) {
        // The elements stay part of the graph, with a gradient of zeros.
        (true, reverse) if len == 1 => {
            let parts = if reverse {
                vec![tensor, initial]
            } else {
                vec![initial, tensor]
            };
            let at = usize::from(reverse);
            return part(cat(parts, dim), at..at + 1);
        }
        (true, false) => part(tensor, 0..len - 1),
        (true, true) => part(tensor, 1..len),
        (false, _) => tensor,
    };
    let all = if options.reverse {
        vec![seen, initial]
    } else {
        vec![initial, seen]
    };
    let scanned = scan(cat(all, dim));
    match (options.exclusive, options.reverse) {
        (true, _) => scanned,
        (false, true) => part(scanned, 0..len),
        (false, false) => part(scanned, 1..len + 1),
    }
}

/// [`ScanOps::float_segment_sums`] by additions at the index of each value's head.
pub(super) fn segment_sums_by_index<B: ScanOps>(
    values: FloatTensor<B>,
    heads: BoolTensor<B>,
    dim: usize,
    reverse: bool,
) -> FloatTensor<B> {
    let (shape, device) = (values.shape(), values.device());
    let len = shape[dim];
    if len == 0 {
        return values;
    }
    let int_dtype = burn_backend::get_or_init_device_settings::<B>(&device).int_dtype;
    let mut line = vec![1; shape.num_dims()];
    line[dim] = len;
    // Positions in the order of the scan: "the last head so far" is then a running maximum in either direction.
    let positions = range::<B>(len, &device, int_dtype);
    let positions = if reverse {
        B::int_flip(positions, &[0])
    } else {
        positions
    };
    let positions = B::int_expand(B::int_reshape(positions, Shape::from(line)), shape.clone());
    let heads = B::int_mul(positions, B::bool_into_int(heads, int_dtype));
    let options = ScanOptions {
        exclusive: false,
        reverse,
    };
    let sources = B::int_scan(heads, dim, ScanOp::Max, options);
    let sources = if reverse {
        let from_the_front = B::int_mul_scalar(sources, (-1).into());
        B::int_add_scalar(from_the_front, (len as i64 - 1).into())
    } else {
        sources
    };
    let zeros = B::float_zeros(shape, &device, values.dtype().into());
    B::float_scatter(dim, zeros, sources, values, IndexingUpdateOp::Add)
}

/// [`ScanOps::float_recurrence_adjoint`]: the recurrence `g[t] = flow[t] + decay[t+1]·g[t+1]` in the other direction,
/// and its product with the results of the previous step. `recurrence` is the linear one, or the one with resets.
pub(crate) fn adjoint_by_scan<B: ScanOps>(
    recurrence: impl FnOnce(FloatTensor<B>, FloatTensor<B>, usize, ScanOptions) -> FloatTensor<B>,
    flow: FloatTensor<B>,
    decay: FloatTensor<B>,
    results: FloatTensor<B>,
    initial: Option<FloatTensor<B>>,
    dim: usize,
    reverse: bool,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let next = next_elements::<B>(decay, dim, reverse);
    let other_way = ScanOptions {
        exclusive: false,
        reverse: !reverse,
    };
    let of_values = recurrence(flow, next, dim, other_way);
    let before = previous_elements::<B>(results, initial, dim, reverse);
    let of_decay = B::float_mul(of_values.clone(), before);
    (of_values, of_decay)
}

/// [`ScanOps::float_recurrence_adjoint_from`] in the same way.
pub(super) fn adjoint_from_by_scan<B: ScanOps>(
    flow: FloatTensor<B>,
    decay: FloatTensor<B>,
    results: FloatTensor<B>,
    initial: FloatTensor<B>,
    dim: usize,
    reverse: bool,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let of_first = first::<B>(decay.clone(), dim, reverse);
    let (of_values, of_decay) = adjoint_by_scan::<B>(
        B::float_linear_recurrence,
        flow,
        decay,
        results,
        Some(initial),
        dim,
        reverse,
    );
    let of_initial = B::float_mul(of_first, first::<B>(of_values.clone(), dim, reverse));
    (of_values, of_decay, of_initial)
}
