//! The names and signatures that other programs are compiled against. Each function here is written as such a
//! program would write it, and most of the test is that it compiles.

use std::collections::HashSet;
use std::error::Error;
use std::future::Future;

use burn::tensor::kind::Basic;
use burn::tensor::{AsIndex, Bool, Float, Int, Tensor};
use burn_scan::prelude::{
    MaskIndices, RaggedIndices, TensorCompact, TensorExpand, TensorRecurrence, TensorRuns,
    TensorScan, TensorSegments, TensorSort, TensorSortByKey,
};
use burn_scan::{
    InstallError, RecurrenceOptions, RunningRecurrence, RunningScan, ScanOp, ScanOptions, Sharded,
    SortOrder,
};
use scan_testing::tensors::read;
#[cfg(target_family = "wasm")]
use scan_testing::tensors::test;
use scan_testing::tensors::waiting::{ExactCompact, ExactIndices, ExactRuns, wait};

/// `cumsum` over any rank and kind, as a library function would pass it on.
fn generic_cumsum<const D: usize, K: Basic, I: AsIndex>(
    tensor: Tensor<D, K>,
    dim: I,
) -> Tensor<D, K>
where
    Tensor<D, K>: TensorScan,
{
    burn_scan::cumsum(tensor, dim)
}

fn scans<T: TensorScan + Clone>(tensor: &T, first: &T) -> [T; 5] {
    [
        tensor
            .clone()
            .scan_from(first.clone(), 0, ScanOp::Max, ScanOptions::default()),
        tensor.clone().scan(0, ScanOp::Sum, ScanOptions::default()),
        tensor.clone().inclusive_cumsum(0_usize),
        tensor.clone().exclusive_cumsum(-1_i32),
        tensor.clone().reverse_cumsum(-1_i64),
    ]
}

fn recurrences<T: TensorRecurrence<2> + Clone>(tensor: &T, other: &Tensor<2>) -> [T; 4] {
    let options: RecurrenceOptions<2> = RecurrenceOptions::default();
    let options = options.clone().reverse().initial(other.clone());
    let from = tensor.clone().linear_recurrence(other.clone(), 0);
    [
        tensor.clone().linear_recurrence(other.clone(), -1_i64),
        tensor
            .clone()
            .linear_recurrence_with(other.clone(), 0_usize, options),
        tensor.clone().logcumsumexp(0_i32),
        from,
    ]
}

type WithPositions<const D: usize, K> = (Tensor<D, K>, Tensor<D, Int>);

fn with_positions<const D: usize, K: Basic>(
    tensor: &Tensor<D, K>,
    starts: Tensor<D, Bool>,
) -> (Tensor<D, K>, [WithPositions<D, K>; 2])
where
    Tensor<D, K>: TensorScan<Positions = Tensor<D, Int>, Starts = Tensor<D, Bool>>,
{
    let of_segments = tensor
        .clone()
        .segmented_scan(starts, 0, ScanOp::Sum, ScanOptions::default());
    let largest = tensor.clone().cummax_with_indices(-1_i64);
    (
        of_segments,
        [largest, tensor.clone().cummin_with_indices(0_usize)],
    )
}

fn resolve<T>(future: impl Future<Output = T>) -> T {
    wait(future)
}

fn check_compactions<K: Basic>(tensor: &Tensor<2, K>, mask: &Tensor<2, Bool>, row: &Tensor<1, Bool>)
where
    Tensor<2, K>: TensorCompact<2, K>,
{
    let exact: Tensor<1, K> = tensor.clone().exact_by_mask(mask.clone());
    let later: Tensor<1, K> = resolve(tensor.clone().compact_by_mask_async(mask.clone()));
    assert_eq!((exact.dims(), later.dims()), ([3], [3]));
    let (padded, count): (Tensor<1, K>, Tensor<1, Int>) =
        tensor.clone().compact_by_mask_padded(mask.clone());
    assert_eq!((padded.dims(), count.dims()), ([4], [1]));
    let kept: Tensor<2, K> = tensor.clone().exact_dim_by_mask(row.clone(), 0);
    let (padded, count): (Tensor<2, K>, Tensor<1, Int>) =
        tensor.clone().compact_dim_by_mask_padded(row.clone(), -1);
    assert_eq!(
        (kept.dims(), padded.dims(), count.dims()),
        ([1, 2], [2, 2], [1])
    );
    let later: Tensor<2, K> = resolve(tensor.clone().compact_dim_by_mask_async(row.clone(), 0));
    let (left, counts): (Tensor<2, K>, Tensor<2, Int>) =
        tensor.clone().compact_along_by_mask(mask.clone(), -1_i32);
    assert_eq!(
        (later.dims(), left.dims(), counts.dims()),
        ([1, 2], [2, 2], [2, 1])
    );
}

/// Sorts of any rank and kind.
fn sorts<const D: usize, K: Basic>(tensor: &Tensor<D, K>) -> [(Tensor<D, K>, Tensor<D, Int>); 2]
where
    Tensor<D, K>: TensorSort<D>,
{
    let sorted: Tensor<D, K> = tensor.clone().radix_sort(-1_i32, SortOrder::default());
    let positions: Tensor<D, Int> = tensor.clone().radix_argsort(0_usize, SortOrder::Descending);
    let largest: Tensor<D, K> = tensor.clone().radix_topk(1, 0_i64);
    assert_eq!(sorted.dims(), positions.dims());
    assert_eq!(largest.dims()[0], 1);
    [
        tensor
            .clone()
            .radix_sort_with_indices(0, SortOrder::Ascending),
        tensor.clone().radix_topk_with_indices(2, -1),
    ]
}

fn check_by_key<K: Basic, Q: Basic>(
    values: &Tensor<1, K>,
    keys: &Tensor<1, Q>,
    tiles: &Tensor<1, Int>,
) where
    Tensor<1, K>: TensorSortByKey<K>,
    Tensor<1, Q>: TensorSort<1>,
{
    let order = SortOrder::Ascending;
    let (values, keys): (Tensor<1, K>, Tensor<1, Q>) =
        values.clone().radix_sort_by_key(keys.clone(), order);
    let (values, tiles): (Tensor<1, K>, Tensor<1, Int>) =
        values.radix_sort_by_key_bits(tiles.clone(), 2, order);
    assert_eq!((values.dims(), keys.dims(), tiles.dims()), ([2], [2], [2]));
}

fn check_sizes<const D: usize, K: Basic>(tensor: &Tensor<D, K>, mask: &Tensor<D, Bool>)
where
    Tensor<D, K>: TensorCompact<D, K>,
    Tensor<D, Bool>: MaskIndices<D>,
{
    let (kept, count): (Tensor<1, K>, Tensor<1, Int>) =
        tensor.clone().compact_by_mask_into(mask.clone(), 7);
    assert_eq!((kept.dims(), count.dims()), ([7], [1]));
    let (flat, _): (Tensor<1, Int>, Tensor<1, Int>) = mask.clone().compact_indices_padded(3, -1);
    let (rows, _): (Tensor<2, Int>, Tensor<1, Int>) = mask.clone().compact_argwhere_padded(3, -1);
    assert_eq!((flat.dims(), rows.dims()), ([3], [3, D]));
}

type Runs<K> = (Tensor<1, K>, Tensor<1, Int>);

fn check_runs<K: Basic>(values: &Tensor<1, K>, lengths: &Tensor<1, Int>)
where
    Tensor<1, K>: TensorRuns<K>,
{
    let exact: Runs<K> = values.clone().exact_runs();
    let later: Runs<K> = resolve(values.clone().run_length_encode_async());
    let padded: (Tensor<1, K>, Tensor<1, Int>, Tensor<1, Int>) =
        values.clone().run_length_encode_padded();
    assert_eq!((exact.0.dims(), later.1.dims()), ([2], [2]));
    assert_eq!(
        (padded.0.dims(), padded.1.dims(), padded.2.dims()),
        ([2], [2], [1])
    );
    let repeated: Tensor<1, K> = values.clone().exact_repeat(lengths.clone());
    let exact: Tensor<1, K> = values.clone().repeat_by_lengths_into(lengths.clone(), 1);
    assert_eq!((repeated.dims(), exact.dims()), ([2], [1]));
}

/// Every method of a sharded tensor: for any kind, for numbers and for compaction.
fn sharded<const D: usize, K: Basic>(
    tensor: Tensor<D, K>,
    mask: Tensor<1, Bool>,
    device: &burn::tensor::Device,
) -> (Tensor<D, K>, [Sharded<D, K>; 5])
where
    Tensor<D, K>: TensorScan + TensorCompact<D, K>,
{
    let devices = [device.clone(), device.clone()];
    let shards: Sharded<D, K> = Sharded::split(tensor, 0_usize, &devices);
    let shards: Sharded<D, K> = Sharded::new(shards.shards().to_vec(), -(D as i64));
    let mask: Sharded<1, Bool> = Sharded::split(mask, -1, &devices);
    let parts: Vec<Tensor<D, K>> = shards.clone().into_shards();
    let found = [
        shards.clone().scan(ScanOp::Max, ScanOptions::default()),
        shards.clone().inclusive_cumsum(),
        shards.clone().exclusive_cumsum(),
        shards.clone().reverse_cumsum(),
        if cfg!(target_family = "wasm") {
            one_by_one(&shards, &mask)
        } else {
            shards.compact_dim_by_mask(mask)
        },
    ];
    (Sharded::new(parts, 0).gather(device), found)
}

/// A browser cannot wait for several devices at once.
fn one_by_one<const D: usize, K: Basic>(
    shards: &Sharded<D, K>,
    mask: &Sharded<1, Bool>,
) -> Sharded<D, K>
where
    Tensor<D, K>: TensorCompact<D, K>,
{
    let pairs = shards.shards().iter().zip(mask.shards());
    let kept = pairs.map(|(shard, mask)| shard.clone().exact_dim_by_mask(mask.clone(), 0));
    Sharded::new(kept.collect(), 0)
}

fn cut_recurrence<const D: usize>(
    values: Sharded<D, Float>,
    decay: Sharded<D, Float>,
) -> Sharded<D, Float> {
    values.linear_recurrence(decay)
}

fn ragged<R: RaggedIndices + Clone>(lengths: &R) -> (Tensor<1, Int>, Tensor<1, Bool>) {
    let offsets: Tensor<1, Int> = lengths.clone().lengths_to_offsets();
    (
        offsets.clone().offsets_to_segment_ids(3),
        offsets.offsets_to_starts(3),
    )
}

fn reduced<S: TensorSegments + Clone>(values: &S, offsets: &Tensor<1, Int>) -> S {
    values.clone().segment_reduce(offsets.clone(), ScanOp::Max)
}

fn expansions<K: Basic>(
    values: &Tensor<1, K>,
    mask: &Tensor<2, Bool>,
    keys: &Tensor<1, Int>,
) -> (Tensor<2, K>, Tensor<1, K>, Tensor<1, Int>)
where
    Tensor<1, K>: TensorExpand<K>,
{
    let expanded: Tensor<2, K> = values.clone().expand_by_mask(mask.clone());
    let (grouped, offsets) = values.clone().partition_by_key(keys.clone(), 3);
    (expanded, grouped, offsets)
}

fn positions<const D: usize>(mask: &Tensor<D, Bool>) -> (Tensor<1, Int>, Tensor<2, Int>)
where
    Tensor<D, Bool>: MaskIndices<D>,
{
    let _count: Tensor<1, Int> = mask.clone().count_true();
    let _later: Tensor<1, Int> = resolve(mask.clone().compact_indices_async());
    let _later: Tensor<2, Int> = resolve(mask.clone().compact_argwhere_async());
    (mask.clone().exact_indices(), mask.clone().exact_argwhere())
}

on_every_device![generic_code];

/// Calls the generic code with each kind.
fn generic_code(device: &burn::tensor::Device) {
    let floats = Tensor::<2, Float>::from_data([[1.0, 2.0], [3.0, 4.0]], device);
    let mask = floats.clone().greater_scalar(1.5);
    let row = Tensor::<1, Bool>::from_data([false, true], device);
    let keys = Tensor::<1, Int>::from_data([2, 0], device);
    let ints = floats.clone().int();

    let sum = read(generic_cumsum(floats.clone(), 1));
    sum.assert_eq(
        &read(Tensor::<2>::from_data([[1.0, 3.0], [3.0, 7.0]], device)),
        true,
    );
    assert_eq!(
        scans(&floats, &floats.clone().narrow(0, 0, 1)).map(|t| t.dims()),
        [[2, 2]; 5]
    );
    assert_eq!(
        scans(&ints, &ints.clone().narrow(0, 0, 1)).map(|t| t.dims()),
        [[2, 2]; 5]
    );
    let starts = ints.clone().equal_elem(1);
    let (of_segments, extrema) = with_positions(&ints, starts.clone());
    assert_eq!(of_segments.dims(), [2, 2]);
    let dims = extrema.map(|(values, positions)| (values.dims(), positions.dims()));
    assert_eq!(dims, [([2, 2], [2, 2]); 2]);
    let _: Tensor<2> =
        floats
            .clone()
            .segmented_scan(starts, 0, ScanOp::Max, ScanOptions::default());
    let mut running: RunningScan<2, Int> = RunningScan::new(0, ScanOp::Sum, ScanOptions::default());
    let _: Tensor<2, Int> = running.next(ints.clone());
    running.reset();
    let mut recurrence: RunningRecurrence<2> = RunningRecurrence::new(-1);
    let _: Tensor<2> = recurrence.next(floats.clone(), floats.clone());
    let _: Option<Tensor<2>> = recurrence.state();
    let (gathered, [.., kept]) = sharded(ints.clone(), row.clone(), device);
    let kept: Vec<_> = kept.shards().iter().map(Tensor::dims).collect();
    assert_eq!((gathered.dims(), kept), ([2, 2], vec![[0, 2], [1, 2]]));
    let (floats_again, _) = sharded(floats.clone(), row.clone(), device);
    let one = Sharded::new(vec![floats_again], 1);
    assert_eq!(cut_recurrence(one.clone(), one).shards().len(), 1);
    let line = floats.clone().narrow(0, 0, 1).narrow(1, 0, 1);
    assert_eq!(recurrences(&floats, &line).map(|t| t.dims()), [[2, 2]; 4]);

    check_compactions(&floats, &mask, &row);
    check_compactions(&ints, &mask, &row);
    check_compactions(&mask, &mask, &row);

    check_sizes(&floats, &mask);
    check_sizes(&mask, &mask);
    let dims = sorts(&floats).map(|(values, positions)| (values.dims(), positions.dims()));
    assert_eq!(dims, [([2, 2], [2, 2]); 2]);
    assert_eq!(sorts(&ints)[0].0.dims(), [2, 2]);
    let depths = keys.clone().float();
    check_by_key(&row, &depths, &keys);
    check_by_key(&depths, &keys, &keys);

    let (expanded, grouped, offsets) = expansions(&row, &mask, &keys);
    assert_eq!(
        (expanded.dims(), grouped.dims(), offsets.dims()),
        ([2, 2], [2], [4])
    );
    let lengths = Tensor::<1, Int>::from_data([2, 0], device);
    check_runs(&floats.clone().slice(0..1).flatten(0, 1), &lengths);
    check_runs(&keys, &lengths);
    check_runs(&row, &lengths);
    let (ids, starts) = ragged(&lengths);
    assert_eq!((ids.dims(), starts.dims()), ([3], [3]));
    let offsets = lengths.lengths_to_offsets();
    assert_eq!(reduced(&floats, &offsets).dims(), [2, 2]);
    assert_eq!(reduced(&keys, &offsets).dims(), [2]);
    let (flat, rows) = positions(&mask);
    assert_eq!((flat.dims(), rows.dims()), ([3], [3, 2]));
}

/// The derived traits of the options, and their defaults.
#[test]
fn options_are_plain_values() {
    let orders: HashSet<_> = [SortOrder::Ascending, SortOrder::Descending].into();
    assert_eq!(
        (orders.len(), SortOrder::default()),
        (2, SortOrder::Ascending)
    );
    let (exclusive, reverse) = (
        ScanOptions::default().exclusive(),
        ScanOptions::default().reverse(),
    );
    let both = exclusive.reverse();
    assert_eq!(both, reverse.exclusive());
    assert_eq!(exclusive, exclusive.exclusive());
    let distinct: HashSet<_> = [ScanOptions::default(), exclusive, reverse, both].into();
    assert_eq!(distinct.len(), 4);
    assert!(!format!("{both:?}").is_empty());
}

/// `install` may succeed or fail in this process. An error says what to do.
#[test]
fn install_error_is_an_error() {
    let too_late: Box<dyn Error + Send + Sync> = Box::new(InstallError::TooLate);
    assert!(too_late.to_string().contains("install()"), "{too_late}");
    let _install: fn() -> Result<(), InstallError> = burn_scan::install;
}
