//! Splitting, gathering and compaction of floats, integers and booleans.

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::{Element, numbered};
use scan_testing::tensors::views::masks;
use scan_testing::tensors::{assert_same, host, oracle, split_by_lengths, tensor};

use super::{all_hold, dims, shards, uneven_lengths, whole};

/// From every device, over all of them, to every device.
pub fn split_and_gather(devices: &[Device]) {
    fn one<T: Element>(devices: &[Device]) {
        if !all_hold::<T>(devices) {
            return;
        }
        for (shape, dim) in [
            ([2, 50], 1),
            ([50, 2], 0),
            ([3, 2], 1),
            ([0, 4], 1),
            ([4, 0], 1),
        ] {
            let values = numbered::<T>(shape[0] * shape[1]);
            for (from, to) in devices.iter().zip(devices.iter().rev()) {
                let whole_tensor = tensor::<T, 2>(&values, shape, from);
                let sharded = Sharded::split(whole_tensor, dim as i64 - 2, devices);
                let (count, len) = (devices.len(), shape[dim]);
                let even: Vec<usize> = (0..count).map(|i| (len + count - 1 - i) / count).collect();
                assert_eq!(dims(sharded.shards(), dim), even, "nearly equal");
                let expected = split_by_lengths(&values, &shape, dim, &even);
                for ((shard, expected), device) in
                    sharded.shards().iter().zip(expected).zip(devices)
                {
                    assert_eq!(shard.device(), *device);
                    assert_same(&host::<T, 2>(shard.clone()), &expected, || {
                        "a part".to_owned()
                    });
                }
                let back = sharded.gather(to);
                assert_eq!((back.dims(), back.device()), (shape, to.clone()));
                assert_same(&host::<T, 2>(back), &values, || "gathered".to_owned());
            }
        }
    }
    one::<f32>(devices);
    one::<i32>(devices);
    one::<bool>(devices);
    one::<u32>(devices);
    one::<i64>(devices);
    one::<u8>(devices);
    one::<burn::tensor::f16>(devices);
}

/// `new` takes tensors unchanged, and gives them back.
pub fn shards_stay_on_their_devices(devices: &[Device]) {
    let of_device = |device: &Device| Tensor::<1>::ones([3], device);
    let sharded = Sharded::new(devices.iter().map(of_device).collect(), -1);
    for (shard, device) in sharded.shards().iter().zip(devices) {
        assert_eq!(shard.device(), *device);
    }
    let tensors = sharded.reverse_cumsum().into_shards();
    for (number, (shard, device)) in tensors.into_iter().zip(devices).enumerate() {
        assert_eq!(shard.device(), *device);
        let after = 3.0 * (devices.len() - number) as f32;
        assert_eq!(host::<f32, 1>(shard), [after, after - 1.0, after - 2.0]);
    }
}

/// Burn's `select` on Flex leaves booleans as U8.
pub fn selected_booleans(devices: &[Device]) {
    for device in devices {
        let flags = || tensor::<bool, 1>(&[true, true, false], [3], device);
        let backwards = Tensor::<1, Int>::from_data([2, 1, 0], device);
        let selected = flags().select(0, backwards);
        for to in devices {
            let split = Sharded::split(selected.clone(), 0, devices).gather(to);
            assert_eq!(host::<i32, 1>(split.int()), [0, 1, 1]);
            let joined = Sharded::new(vec![flags(), selected.clone()], 0).gather(to);
            assert_eq!(host::<i32, 1>(joined.int()), [1, 1, 0, 0, 1, 1]);
        }
    }
}

/// The survivors of each shard stay on its device.
pub fn compaction(devices: &[Device]) {
    fn one<T: Element>(devices: &[Device])
    where
        Tensor<2, T::Kind>: TensorCompact<2, T::Kind>,
    {
        for (shape, dim) in [([300, 3], 0), ([3, 300], 1)] {
            let values = numbered::<T>(900);
            for (salt, (name, kept)) in masks(300).into_iter().enumerate() {
                let lengths = uneven_lengths(300, devices.len(), salt);
                let sharded = shards::<T, 2>(&values, shape, dim, &lengths, devices);
                let mask = shards::<bool, 1>(&kept, [300], 0, &lengths, devices);
                let found = sharded.compact_dim_by_mask(mask);
                let of_shard = |kept: &Vec<bool>| kept.iter().filter(|&&kept| kept).count();
                let counts: Vec<usize> = split_by_lengths(&kept, &[300], 0, &lengths)
                    .iter()
                    .map(of_shard)
                    .collect();
                assert_eq!(dims(found.shards(), dim), counts, "{name} as {lengths:?}");
                let expected = oracle::compact_dim(&values, &shape, dim, &kept);
                assert_same(&whole::<T, 2>(found, dim, devices), &expected, || {
                    format!("{name} of {shape:?} along {dim} as {lengths:?}")
                });
            }
        }
    }
    one::<f32>(devices);
    one::<i32>(devices);
    one::<bool>(devices);
}

/// The survivors can be scanned and gathered, whatever each shard keeps.
pub fn compaction_and_scan(devices: &[Device]) {
    let values: Vec<i32> = (0..500).collect();
    let kept: Vec<bool> = (0..500)
        .map(|i| i % 7 == 3 && !(100..300).contains(&i))
        .collect();
    let tensor = tensor::<i32, 1>(&values, [500], &devices[0]);
    let mask = scan_testing::tensors::mask(&kept, [500], &devices[0]);
    let (sharded, mask) = (
        Sharded::split(tensor, 0, devices),
        Sharded::split(mask, 0, devices),
    );
    let sums = sharded.compact_dim_by_mask(mask).inclusive_cumsum();
    let left = oracle::compact(&values, &kept);
    let expected = oracle::scan(&left, &[left.len()], 0, ScanOp::Sum, (false, false));
    assert_eq!(host::<i32, 1>(sums.gather(&devices[0])), expected);
}
