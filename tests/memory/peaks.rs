//! What operations allocate in addition to their inputs and outputs.

use burn::tensor::{Bool, DType, Device, Int, Tensor};
use burn_scan::prelude::*;

use crate::counted::measured;

/// Room for counts of blocks, states of tasks and shapes of tensors.
const LITTLE: usize = 1 << 20;

/// Somebody else holds the inputs of `call`.
#[track_caller]
fn at_most<R>(bytes: usize, what: &str, call: impl FnOnce() -> R) {
    let temporary = measured(call).temporary;
    assert!(
        temporary <= bytes,
        "{what}: {temporary} bytes besides inputs and outputs, more than {bytes}"
    );
}

/// Bytes that cycle from 0 to 6.
fn bytes<const D: usize>(shape: [usize; D]) -> Tensor<D, Int> {
    let data: Vec<u8> = (0..shape.iter().product())
        .map(|i: usize| (i % 7) as u8)
        .collect();
    Tensor::from_data(
        burn::tensor::TensorData::new(data, shape),
        (&Device::flex(), DType::U8),
    )
}

/// Every third element is true.
fn thirds<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D, Bool> {
    let data: Vec<bool> = (0..shape.iter().product())
        .map(|i: usize| i % 3 == 0)
        .collect();
    Tensor::from_data(burn::tensor::TensorData::new(data, shape), device)
}

const TALL: usize = 1 << 22;

processes! {
    fn counting_a_mask() {
        let mask = thirds([2, 1 << 25], &Device::flex());
        at_most(LITTLE, "a count", || {
            let count = mask.clone().count_true();
            assert_eq!(count.clone().into_scalar::<i64>(), (1 << 26) / 3 + 1);
            count
        });
        at_most(LITTLE, "of a broadcast mask", || {
            let broadcast = mask.clone().slice([0..1, 0..6]).expand([1 << 28, 6]);
            let count = broadcast.count_true();
            assert_eq!(count.clone().into_scalar::<i64>(), 1 << 29);
            count
        });
    }

    fn scans_of_tall_and_of_wide_tensors() {
        let (tall, wide) = (bytes([TALL, 2]), bytes([2, TALL]));
        let starts = [[TALL, 2], [2, TALL]].map(|shape| thirds(shape, &Device::flex()));
        for dim in [0, 1] {
            for (x, starts) in [(&tall, &starts[0]), (&wide, &starts[1])] {
                let what = format!("{:?} along {dim}", x.dims());
                at_most(LITTLE, &what, || x.clone().cummax_with_indices(dim));
                at_most(LITTLE, &what, || {
                    x.clone().segmented_scan(starts.clone(), dim, ScanOp::Sum, ScanOptions::default())
                });
                at_most(LITTLE, &what, || x.clone().inclusive_cumsum(dim));
            }
        }
    }

    fn recurrences_of_tall_and_of_wide_tensors() {
        let x = Tensor::<2>::ones([TALL / 4, 2], &Device::flex());
        let decay = Tensor::<2>::full([1, 2], 0.5, &Device::flex());
        for dim in [0, 1] {
            // With swapped dimensions, the elements of a row are not neighbours.
            for x in [x.clone(), x.clone().swap_dims(0, 1)] {
                let decay = if x.dims()[1] == 2 { decay.clone() } else { decay.clone().swap_dims(0, 1) };
                let what = format!("{:?} along {dim}", x.dims());
                at_most(LITTLE, &what, || x.clone().linear_recurrence(decay.clone(), dim));
                at_most(LITTLE, &what, || x.clone().logcumsumexp(dim));
            }
        }
    }

    fn selections_of_views() {
        let x = bytes([1 << 11, 1 << 12]).float();
        let mask = thirds([1 << 11, 1 << 12], &Device::flex());
        let half = 0..1 << 11;
        let views = [
            (x.clone().slice([half.clone(), half.clone()]), mask.clone().slice([half.clone(), half])),
            (x.swap_dims(0, 1), mask.swap_dims(0, 1)),
        ];
        for (x, mask) in views {
            // A bit for each element of the mask, and blocks of the values: a part of them, or one for each thread.
            let threads = std::thread::available_parallelism().map_or(1, usize::from);
            let sixteenth = x.shape().num_elements() * 4 / 16 + threads * (1 << 16);
            let view = format!("of {:?}", x.dims());
            at_most(sixteenth, &view, || x.clone().compact_by_mask(mask.clone()));
            at_most(sixteenth, &view, || x.clone().compact_by_mask_padded(mask.clone()));
            at_most(sixteenth, &view, || x.clone().compact_along_by_mask(mask.clone(), 1));
            at_most(sixteenth, &view, || mask.clone().compact_argwhere());
            at_most(sixteenth, &view, || mask.clone().count_true());
            at_most(sixteenth, &view, || {
                x.clone().segmented_scan(mask.clone(), 1, ScanOp::Sum, ScanOptions::default())
            });
            let copied = Tensor::<2>::from_data(x.to_data(), &Device::flex());
            let mask_copied = Tensor::<2, Bool>::from_data(mask.to_data(), &Device::flex());
            let expected = copied.compact_by_mask(mask_copied).into_data();
            x.compact_by_mask(mask).into_data().assert_eq(&expected, true);
        }
    }

    fn selections_of_small_slices() {
        let x = bytes([TALL, 2]);
        let mask = thirds([TALL], &Device::flex());
        at_most(LITTLE, "exact", || x.clone().compact_dim_by_mask(mask.clone(), 0));
        at_most(LITTLE, "padded", || x.clone().compact_dim_by_mask_padded(mask.clone(), 0));
        let device = Device::flex().autodiff();
        let tracked = Tensor::<2>::ones([TALL / 4, 2], &device).require_grad();
        let kept = tracked.compact_dim_by_mask(thirds([TALL / 4], &device), 0);
        // The ones of the loss, their sum's gradient, and the result.
        at_most(4 * 4 * 2 * TALL / 4, "gradient", || kept.sum().backward());
    }

    fn grouping_by_many_more_keys_than_there_are_elements() {
        let values = bytes([10]);
        let keys = Tensor::<1, Int>::from_data([5, 3, 5, 1, 9_999_999, -1, 2, 3, 10_000_000, 0], &Device::flex());
        at_most(LITTLE, "ten keys", || {
            let (values, offsets) = values.clone().partition_by_key(keys.clone(), 10_000_000);
            assert_eq!(values.dims(), [10]);
            assert_eq!(offsets.clone().slice(10_000_000..).into_scalar::<i64>(), 8);
            offsets
        });
    }

    fn grouping_by_keys_in_blocks() {
        let n = 1 << 22;
        let keys = Tensor::<1, Int>::arange(0..n, &Device::flex()).remainder_scalar(1 << 16);
        let values = bytes([n as usize]);
        // What precedes each block.
        at_most(n as usize + LITTLE, "many keys", || values.clone().partition_by_key(keys.clone(), 1 << 16));
    }

    fn segments_of_wide_rows() {
        let (rows, width) = (64, 1 << 17);
        let offsets = Tensor::<1, Int>::from_data([0, 64], &Device::flex());
        let uneven = Tensor::<1, Int>::from_data([3, 5, 39, 64], &Device::flex());
        for dtype in [DType::F16, DType::F32] {
            let x = Tensor::<2>::ones([rows, width], (&Device::flex(), dtype));
            for op in [ScanOp::Sum, ScanOp::Max, ScanOp::LogSumExp] {
                // A state for each column of each tile of rows: at most a third of the input.
                at_most(rows * width * dtype.size() / 3, &format!("{op:?} of {dtype:?}"), || {
                    x.clone().segment_reduce(offsets.clone(), op)
                });
                at_most(rows * width * dtype.size() / 3, &format!("{op:?} of {dtype:?}"), || {
                    x.clone().segment_reduce(uneven.clone(), op)
                });
            }
        }
    }

    fn offsets_of_many_segments() {
        let n = 1 << 22;
        let offsets = Tensor::<1, Int>::arange(0..n + 1, &Device::flex());
        let x = bytes([n as usize]);
        let of_offsets = 8 * n as usize + LITTLE;
        at_most(of_offsets, "ids", || offsets.clone().offsets_to_segment_ids(n as usize));
        at_most(LITTLE, "starts", || offsets.clone().offsets_to_starts(n as usize));
        at_most(of_offsets, "totals", || x.clone().segment_reduce(offsets.clone(), ScanOp::Sum));
    }
}
