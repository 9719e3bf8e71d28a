//! The checks of shards, wherever they lie: functions of the devices of the shards, for any test binary that has
//! `scan_testing`.

/// Hands the checks that hold on any devices to `stamp!`, which makes a test of each.
macro_rules! every_check {
    ($stamp:ident) => {
        $stamp![
            scans::integers,
            scans::exact_floats,
            scans::halves_are_rounded_once,
            scans::what_is_not_finite,
            scans::random_floats,
            scans::nothing_to_scan,
            scans::more_shards_than_devices,
            recurrences::exact_recurrences,
            recurrences::random_recurrences,
            recurrences::decays_that_broadcast,
            split_and_compact::split_and_gather,
            split_and_compact::compaction,
            split_and_compact::compaction_and_scan,
        ];

        #[cfg(feature = "autodiff")]
        $stamp![
            gradients::of_scans,
            gradients::of_recurrences,
            gradients::of_compaction,
        ];
    };
}

pub mod bits;
#[cfg(feature = "autodiff")]
pub mod gradients;
pub mod recurrences;
pub mod scans;
pub mod split_and_compact;

use burn::tensor::kind::Basic;
use burn::tensor::{Device, Tensor};
use burn_scan::Sharded;
use scan_testing::tensors::element::{Element, hash};
use scan_testing::tensors::{axis, host, split_by_lengths, tensor};

/// Uneven lengths of `shards` shards that add up to `len`. From four shards on, one length is 0. With an odd
/// salt the first length is 0.
pub fn uneven_lengths(len: usize, shards: usize, salt: usize) -> Vec<usize> {
    let mut ends: Vec<usize> = (1..shards).map(|i| hash(i + salt) % (len + 1)).collect();
    ends.sort_unstable();
    if shards > 3 {
        ends[1] = ends[0];
    }
    if shards > 1 && salt % 2 == 1 {
        ends[0] = 0;
    }
    let begins = [&[0], &ends[..]].concat();
    let ends = [&ends[..], &[len]].concat();
    ends.iter()
        .zip(begins)
        .map(|(end, begin)| end - begin)
        .collect()
}

/// The parts put together.
pub fn joined<T: Clone>(
    parts: &[Vec<T>],
    shape: &[usize],
    dim: usize,
    lengths: &[usize],
) -> Vec<T> {
    let [outer, _, inner] = axis(shape, dim);
    let row = |row: usize| {
        parts.iter().zip(lengths).flat_map(move |(part, length)| {
            part[row * length * inner..(row + 1) * length * inner]
                .iter()
                .cloned()
        })
    };
    (0..outer).flat_map(row).collect()
}

/// Values, split along `dim`. Each part is made on its device.
pub fn shards<T: Element, const D: usize>(
    values: &[T],
    shape: [usize; D],
    dim: usize,
    lengths: &[usize],
    devices: &[Device],
) -> Sharded<D, T::Kind> {
    let parts = split_by_lengths(values, &shape, dim, lengths);
    let tensors = parts
        .iter()
        .zip(lengths)
        .zip(devices)
        .map(|((part, &length), device)| {
            let mut shape = shape;
            shape[dim] = length;
            tensor::<T, D>(part, shape, device)
        });
    Sharded::new(tensors.collect(), dim)
}

/// The elements of all shards, as one tensor would have them. Asserts that each shard lies on its device.
pub fn whole<T: Element, const D: usize>(
    found: Sharded<D, T::Kind>,
    dim: usize,
    devices: &[Device],
) -> Vec<T> {
    let found = found.into_shards();
    assert_eq!(found.len(), devices.len(), "as many shards as there were");
    for (shard, device) in found.iter().zip(devices) {
        assert_eq!(shard.device(), *device, "a shard has moved");
    }
    let lengths: Vec<usize> = found.iter().map(|shard| shard.dims()[dim]).collect();
    let mut shape = found[0].dims();
    shape[dim] = lengths.iter().sum();
    let parts: Vec<Vec<T>> = found.into_iter().map(host::<T, D>).collect();
    joined(&parts, &shape, dim, &lengths)
}

/// Whether all devices hold the dtype.
pub fn all_hold<T: Element>(devices: &[Device]) -> bool {
    devices
        .iter()
        .all(|device| device.supports_dtype(T::dtype()))
}

/// The length of each shard along `dim`.
pub fn dims<const D: usize, K: Basic>(shards: &[Tensor<D, K>], dim: usize) -> Vec<usize> {
    shards.iter().map(|shard| shard.dims()[dim]).collect()
}
