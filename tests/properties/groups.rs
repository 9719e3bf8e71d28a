//! Grouping by key: a stable permutation of the elements whose key is in range, counted by the offsets.

use burn::tensor::{Device, Int, Tensor};
use burn_scan::{TensorExpand, TensorScan};
use proptest::prelude::*;
use scan_testing::tensors::element::{hash, numbered};
use scan_testing::tensors::{assert_same, host, host_indices, oracle, tensor};

use crate::drawn::{Drawn, tensors};
use crate::for_all;

on_every_device![groups];

#[derive(Clone, Debug)]
struct Grouping {
    keys: Drawn,
    num_keys: usize,
    /// The number of different keys below 0, and from `num_keys` on, that are drawn along with those in range.
    strays: (usize, usize),
    seed: usize,
}

fn groups(device: &Device) {
    let many: usize = if cfg!(feature = "heavy") { 65_537 } else { 700 };
    let num_keys = prop_oneof![4 => 1..40_usize, 2 => 250..260_usize, 1 => 1..many];
    let strays = (0..3_usize, 0..3_usize);
    let cases = (tensors(1), num_keys, strays, 0..1_000_000_usize);
    let cases = cases.prop_map(|(keys, num_keys, strays, seed)| Grouping {
        keys,
        num_keys,
        strays,
        seed,
    });
    for_all(device, cases, |case| check(&case, device));
}

fn check(case: &Grouping, device: &Device) {
    let (below, above) = case.strays;
    let span = below + case.num_keys + above;
    let key = |i: usize| (hash(i + case.seed) % span) as i32 - below as i32;
    let base: Vec<i32> = (0..case.keys.shape[0]).map(key).collect();
    let keys = case
        .keys
        .view(tensor::<i32, 1>(&base, case.keys.shape(), device));
    let key_values = host::<i32, 1>(keys.clone());
    let n = key_values.len();
    let values: Vec<f32> = numbered(n);
    let group = |values: Tensor<1, Int>| values.partition_by_key(keys.clone(), case.num_keys);

    let wide: Vec<i64> = key_values.iter().copied().map(i64::from).collect();
    let (sources, expected_offsets) = oracle::partition(&wide, case.num_keys);
    let input = tensor::<f32, 1>(&values, [n], device);
    let (grouped, offsets) = input.partition_by_key(keys.clone(), case.num_keys);
    let mut expected: Vec<f32> = sources.iter().map(|&source| values[source]).collect();
    expected.resize(n, 0.0);
    assert_same(&host::<f32, 1>(grouped), &expected, || {
        "the oracle".to_string()
    });
    let offsets = host_indices(offsets);
    assert!(offsets == expected_offsets, "the offsets");

    // The source of each grouped element: each element with a key in range once, rising within its group.
    let positions: Vec<i32> = (0..n as i32).collect();
    let (order, _) = group(tensor::<i32, 1>(&positions, [n], device));
    let placed = offsets[case.num_keys];
    let order = host::<i32, 1>(order)[..placed].to_vec();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let in_range = |&at: &i32| (0..case.num_keys as i64).contains(&wide[at as usize]);
    assert!(
        sorted.iter().eq(positions.iter().filter(|at| in_range(at))),
        "not a permutation"
    );
    for bounds in offsets.windows(2) {
        let group = &order[bounds[0]..bounds[1]];
        assert!(group.is_sorted(), "the group at {bounds:?} is not stable");
    }

    // Keys grouped by themselves are sorted. The offsets are the scan of their histogram.
    let (own, _) = group(keys.clone());
    assert!(host::<i32, 1>(own)[..placed].is_sorted(), "keys by key");
    let mut histogram = vec![0_i32; case.num_keys];
    key_values.iter().for_each(|&key| {
        if let Some(size) = usize::try_from(key)
            .ok()
            .and_then(|key| histogram.get_mut(key))
        {
            *size += 1;
        }
    });
    let sums = tensor::<i32, 1>(&histogram, [case.num_keys], device).inclusive_cumsum(0);
    let sums: Vec<usize> = host::<i32, 1>(sums)
        .iter()
        .map(|&sum| sum as usize)
        .collect();
    assert_eq!(offsets[1..], sums, "the scan of the histogram");
}
