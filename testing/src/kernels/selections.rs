//! Masks, selections on the device, and their expected results.

use super::{View, flat, tensor};
use crate::Guarded;
use crate::reference;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::compact::{
    Emit, compact, compact_lines, expand, partition, partition_ranks, run_lengths,
};
use cubecl_scan::scan::LaunchOptions;

/// Every form of a compaction.
pub const EMITS: [Emit; 5] = [
    Emit::Values,
    Emit::ValuesUnpadded,
    Emit::Indices,
    Emit::IndicesUnpadded,
    Emit::Destinations,
];

/// A number for each `i`, well mixed.
pub fn mixed(i: usize) -> u32 {
    (i as u32).wrapping_mul(2_654_435_761) >> 16
}

/// Masks of many densities, by name.
pub fn masks(n: usize) -> Vec<(&'static str, Vec<u32>)> {
    let mask = |keep: &dyn Fn(usize) -> bool| (0..n).map(|i| u32::from(keep(i))).collect();
    vec![
        ("none", mask(&|_| false)),
        ("all", mask(&|_| true)),
        ("one", mask(&|i| i == n / 2)),
        ("one in a thousand", mask(&|i| mixed(i) % 1000 == 3)),
        ("half", mask(&|i| mixed(i) % 2 == 1)),
        ("all but one in a thousand", mask(&|i| mixed(i) % 1000 != 3)),
        ("alternating", mask(&|i| i % 2 == 0)),
        ("runs", mask(&|i| (i / 37) % 2 == 0)),
    ]
}

/// Compacts on the device. Returns the output and the count. All buffers lie between guards, `offset` bytes after an
/// aligned position. The inputs must not change.
pub fn device_compact(
    client: &Client,
    values: &[i32],
    mask: &[u32],
    emit: Emit,
    launch: LaunchOptions,
    offset: usize,
) -> (Vec<i32>, i32) {
    let view = View::contiguous(&[mask.len()]);
    device_compact_views(client, (values, &view), (mask, &view), emit, launch, offset)
}

/// [`device_compact`] for strided views of one shape.
pub fn device_compact_views(
    client: &Client,
    (values, values_view): (&[i32], &View),
    (mask, mask_view): (&[u32], &View),
    emit: Emit,
    launch: LaunchOptions,
    offset: usize,
) -> (Vec<i32>, i32) {
    let (n, int) = (mask_view.elements(), i32::elem_type_native());
    let values_in = Guarded::new(client, values, offset);
    let mask_in = Guarded::new(client, mask, offset);
    let output = Guarded::empty(client, n * size_of::<i32>(), offset);
    let count = Guarded::empty(client, size_of::<i32>(), offset);
    compact(
        client,
        matches!(emit, Emit::Values | Emit::ValuesUnpadded)
            .then(|| (tensor(values_in.handle(), values_view), int)),
        (tensor(mask_in.handle(), mask_view), u32::elem_type_native()),
        flat(&output.handle(), n),
        flat(&count.handle(), 1),
        int,
        emit,
        launch,
    )
    .expect("supported");
    assert_eq!(values_in.read::<i32>(client), values, "the values changed");
    assert_eq!(mask_in.read::<u32>(client), mask, "the mask changed");
    (output.read(client), count.read(client)[0])
}

/// Compacts the lines of `[outer, len, inner]` along the middle dimension on the device, between guards.
/// Returns the output and the counts. The inputs must not change.
pub fn device_compact_lines(
    client: &Client,
    values: &[i32],
    mask: &[u32],
    shape: [usize; 3],
    launch: LaunchOptions,
    offset: usize,
) -> (Vec<i32>, Vec<i32>) {
    let (int, view) = (i32::elem_type_native(), View::contiguous(&shape));
    let lines = shape[0] * shape[2];
    let values_in = Guarded::new(client, values, offset);
    let mask_in = Guarded::new(client, mask, offset);
    let output = Guarded::empty(client, size_of_val(values), offset);
    let counts = Guarded::empty(client, lines * size_of::<i32>(), offset);
    compact_lines(
        client,
        (tensor(values_in.handle(), &view), int),
        (tensor(mask_in.handle(), &view), u32::elem_type_native()),
        tensor(output.handle(), &view),
        flat(&counts.handle(), lines),
        1,
        int,
        launch,
    )
    .expect("supported");
    assert_eq!(values_in.read::<i32>(client), values, "the values changed");
    assert_eq!(mask_in.read::<u32>(client), mask, "the mask changed");
    (output.read(client), counts.read(client))
}

/// The expected result of [`device_compact_lines`].
pub fn compacted_lines(
    values: &[i32],
    mask: &[u32],
    [outer, len, inner]: [usize; 3],
) -> (Vec<i32>, Vec<i32>) {
    let (mut expected, mut counts) = (vec![0; values.len()], Vec::new());
    for line in 0..outer * inner {
        let at = |i: usize| (line / inner * len + i) * inner + line % inner;
        let kept: Vec<usize> = (0..len).map(at).filter(|&at| mask[at] != 0).collect();
        counts.push(kept.len() as i32);
        for (i, from) in kept.into_iter().enumerate() {
            expected[at(i)] = values[from];
        }
    }
    (expected, counts)
}

/// Run-length encodes on the device, between guards. Returns the values, their lengths and the number of runs.
pub fn device_run_lengths(
    client: &Client,
    values: &[i32],
    launch: LaunchOptions,
    offset: usize,
) -> (Vec<i32>, Vec<i32>, i32) {
    let (n, int) = (values.len(), i32::elem_type_native());
    let values_in = Guarded::new(client, values, offset);
    let output = Guarded::empty(client, size_of_val(values), offset);
    let lengths = Guarded::empty(client, size_of_val(values), offset);
    let count = Guarded::empty(client, size_of::<i32>(), offset);
    run_lengths(
        client,
        (flat(&values_in.handle(), n), int),
        flat(&output.handle(), n),
        flat(&lengths.handle(), n),
        flat(&count.handle(), 1),
        int,
        Emit::Values,
        launch,
    )
    .expect("supported");
    assert_eq!(values_in.read::<i32>(client), values, "the values changed");
    let (output, lengths) = (output.read(client), lengths.read(client));
    (output, lengths, count.read::<i32>(client)[0])
}

/// The expected result of [`device_run_lengths`].
pub fn encoded(values: &[i32]) -> (Vec<i32>, Vec<i32>, i32) {
    let runs: Vec<&[i32]> = values.chunk_by(|a, b| a == b).collect();
    let padded = |of: &dyn Fn(&[i32]) -> i32| {
        let mut all: Vec<i32> = runs.iter().map(|run| of(run)).collect();
        all.resize(values.len(), 0);
        all
    };
    let (values, lengths) = (padded(&|run| run[0]), padded(&|run| run.len() as i32));
    (values, lengths, runs.len() as i32)
}

/// Expands on the device, between guards. The packed values and the mask must not change.
pub fn device_expand(
    client: &Client,
    packed: &[i32],
    mask: &[u32],
    launch: LaunchOptions,
    offset: usize,
) -> Vec<i32> {
    let packed_in = Guarded::new(client, packed, offset);
    let mask_in = Guarded::new(client, mask, offset);
    let output = Guarded::empty(client, size_of_val(mask), offset);
    expand(
        client,
        flat(&packed_in.handle(), packed.len()),
        (flat(&mask_in.handle(), mask.len()), u32::elem_type_native()),
        flat(&output.handle(), mask.len()),
        i32::elem_type_native(),
        launch,
    )
    .expect("supported");
    assert_eq!(
        packed_in.read::<i32>(client),
        packed,
        "the packed values changed"
    );
    assert_eq!(mask_in.read::<u32>(client), mask, "the mask changed");
    output.read(client)
}

/// Groups keys on the device, between guards. Returns the destinations and the starts of the groups. The keys
/// must not change.
pub fn device_groups(
    client: &Client,
    keys: &[i32],
    num_keys: usize,
    launch: LaunchOptions,
    offset: usize,
) -> (Vec<i32>, Vec<i32>) {
    let (n, int) = (keys.len(), i32::elem_type_native());
    let keys_in = Guarded::new(client, keys, offset);
    let destinations = Guarded::empty(client, size_of_val(keys), offset);
    let starts = Guarded::empty(client, (num_keys + 1) * size_of::<i32>(), offset);
    partition_ranks(
        client,
        (flat(&keys_in.handle(), n), int),
        flat(&destinations.handle(), n),
        flat(&starts.handle(), num_keys + 1),
        num_keys,
        int,
        launch,
    )
    .expect("supported");
    assert_eq!(keys_in.read::<i32>(client), keys, "the keys changed");
    (destinations.read(client), starts.read(client))
}

fn flags(mask: &[u32]) -> Vec<bool> {
    mask.iter().map(|&word| word != 0).collect()
}

/// The values at these destinations, zeros elsewhere.
pub fn moved_to(destinations: &[i32], values: &[u32]) -> Vec<u32> {
    let mut moved = vec![0; values.len()];
    for (&value, &destination) in values.iter().zip(destinations) {
        if let Ok(destination) = usize::try_from(destination) {
            moved[destination] = value;
        }
    }
    moved
}

/// `values` in the order of their keys on the device, and offsets.
pub fn device_partition<T: CubeElement + Numeric>(
    client: &Client,
    keys: &[i32],
    values: &[T],
    num_keys: usize,
    launch: LaunchOptions,
    offset: usize,
) -> (Vec<T>, Vec<i32>) {
    let (n, int, dtype) = (keys.len(), i32::elem_type_native(), T::elem_type_native());
    let keys_in = Guarded::new(client, keys, offset);
    let values_in = Guarded::new(client, values, offset);
    let grouped = Guarded::empty(client, size_of_val(values), offset);
    let starts = Guarded::empty(client, (num_keys + 1) * size_of::<i32>(), offset);
    partition(
        client,
        (flat(&keys_in.handle(), n), int),
        (flat(&values_in.handle(), n), dtype),
        flat(&grouped.handle(), n),
        (flat(&starts.handle(), num_keys + 1), int),
        num_keys,
        launch,
    )
    .expect("supported");
    assert_eq!(keys_in.read::<i32>(client), keys, "the keys changed");
    (grouped.read(client), starts.read(client))
}

/// The destination of each index: its position in `order`, or −1 where it has none.
fn destinations(order: &[usize], len: usize) -> Vec<i32> {
    let mut destinations = vec![-1; len];
    for (destination, &at) in order.iter().enumerate() {
        destinations[at] = destination as i32;
    }
    destinations
}

/// The expected result of an expansion of `packed` by `mask`.
pub fn expanded(packed: &[i32], mask: &[u32]) -> Vec<i32> {
    reference::expand(packed, &flags(mask))
}

/// The expected result of `emit` for `values` and `mask`, without the elements that are unspecified.
pub fn selected(values: &[i32], mask: &[u32], emit: Emit) -> Vec<i32> {
    let flags = flags(mask);
    let trues = reference::indices(&flags);
    let mut expected: Vec<i32> = match emit {
        Emit::Values | Emit::ValuesUnpadded => reference::compact(values, &flags),
        Emit::Indices | Emit::IndicesUnpadded => trues.iter().map(|&at| at as i32).collect(),
        Emit::Destinations => destinations(&trues, mask.len()),
        other => unreachable!("{other:?} has no reference"),
    };
    if !matches!(emit, Emit::ValuesUnpadded | Emit::IndicesUnpadded) {
        expected.resize(mask.len(), 0);
    }
    expected
}

/// The expected destination of each key, or −1, and the starts of the groups.
pub fn grouped(keys: &[i32], num_keys: usize) -> (Vec<i32>, Vec<i32>) {
    let wide: Vec<i64> = keys.iter().copied().map(i64::from).collect();
    let (sources, offsets) = reference::partition(&wide, num_keys);
    let offsets = offsets.into_iter().map(|offset| offset as i32);
    (destinations(&sources, keys.len()), offsets.collect())
}
