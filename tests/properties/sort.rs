//! Sorts: an ordered, stable permutation, whatever way it is asked for.

use burn::tensor::{DType, Device, Int, Tensor};
use burn_scan::prelude::*;
use proptest::prelude::*;
use scan_testing::reference::SortKey;
use scan_testing::tensors::element::{Element, hash};
use scan_testing::tensors::{assert_same, axis, host, host_indices, oracle, tensor};

use crate::drawn::{Drawn, dim_of, dims, held, mostly, tensors};
use crate::for_all;

on_every_device![sorts, keys_of_groups];

#[derive(Clone, Debug)]
struct Case {
    input: Drawn,
    dtype: DType,
    dim: i64,
    order: SortOrder,
    /// The number of different elements: if it is small, many are equal.
    distinct: usize,
    /// The part of a line that is asked for, in thousandths.
    permille: usize,
    seed: usize,
}

/// The first two are drawn often.
const DTYPES: [DType; 5] = [DType::F32, DType::I32, DType::U32, DType::F16, DType::I64];

fn orders() -> impl Strategy<Value = SortOrder> {
    prop::sample::select(vec![SortOrder::Ascending, SortOrder::Descending])
}

fn sorts(device: &Device) {
    let all = held(device, &DTYPES);
    let few = all[..2].to_vec();
    let dtypes = mostly(device, all, few);
    let distinct = prop_oneof![1..5_usize, 5..300_usize, Just(1 << 30)];
    let numbers = (distinct, 0..=1000_usize, 0..1_000_000_usize);
    let cases = (tensors(3), dtypes, dims(), orders(), numbers);
    let cases = cases.prop_map(
        |(input, dtype, dim, order, (distinct, permille, seed))| Case {
            input,
            dtype,
            dim,
            order,
            distinct,
            permille,
            seed,
        },
    );
    for_all(device, cases, |case| match case.input.shape.len() {
        1 => check_rank::<1>(&case, device),
        2 => check_rank::<2>(&case, device),
        _ => check_rank::<3>(&case, device),
    });
}

fn check_rank<const D: usize>(case: &Case, device: &Device) {
    let number =
        |i: usize| (hash(i + case.seed) % case.distinct) as i64 - (case.distinct / 2) as i64;
    match case.dtype {
        DType::I32 => check::<i32, D>(case, |i| number(i) as i32, device),
        DType::U32 => check::<u32, D>(case, |i| number(i) as u32, device),
        DType::I64 => check::<i64, D>(case, |i| number(i) << 13, device),
        DType::F16 => check::<burn::tensor::f16, D>(
            case,
            |i| burn::tensor::f16::from_bits(number(i) as u16),
            device,
        ),
        _ => check::<f32, D>(case, |i| special_or(number(i)), device),
    }
}

/// A number, or occasionally one that compares in its own way.
fn special_or(number: i64) -> f32 {
    match number {
        1 => f32::NAN,
        2 => -0.0,
        3 => f32::INFINITY,
        4 => f32::NEG_INFINITY,
        5 => f32::from_bits(1),
        _ => number as f32,
    }
}

fn check<T: Element + SortKey, const D: usize>(
    case: &Case,
    number: impl Fn(usize) -> T,
    device: &Device,
) where
    Tensor<D, T::Kind>: TensorSort<D>,
{
    let shape: [usize; D] = case.input.shape();
    let values: Vec<T> = (0..shape.iter().product()).map(number).collect();
    let input = case.input.view(tensor::<T, D>(&values, shape, device));
    let (shape, values) = (input.dims(), host::<T, D>(input.clone()));
    let (dim, written_dim) = dim_of(case.dim, D);
    let descending = case.order == SortOrder::Descending;

    // The oracle is a stable permutation in order.
    let expected = oracle::sort(&values, &shape, dim, descending);
    let (sorted, positions) = input
        .clone()
        .radix_sort_with_indices(written_dim, case.order);
    assert!(host_indices(positions.clone()) == expected, "positions");
    let argsort = input.clone().radix_argsort(written_dim, case.order);
    assert!(host_indices(argsort.clone()) == expected, "argsort");
    let sorted = host::<T, D>(sorted);
    let plain = host::<T, D>(input.clone().radix_sort(written_dim, case.order));
    assert_same(&plain, &sorted, || "sort = sort with positions".to_string());
    if !values.is_empty() {
        // Burn gathers no empty tensors on every backend.
        let gathered = host::<T, D>(input.clone().gather(dim, argsort));
        assert_same(&gathered, &sorted, || "argsort, then gather".to_string());
    }

    // A sorted tensor is sorted: each element stays where it is.
    let again = tensor::<T, D>(&sorted, shape, device);
    let (twice, stay) = again.radix_sort_with_indices(written_dim, case.order);
    assert_same(&host::<T, D>(twice), &sorted, || "sorted twice".to_string());
    let [_, len, inner] = axis(&shape, dim);
    let stay = host_indices(stay);
    assert!(
        stay.iter()
            .enumerate()
            .all(|(i, &at)| at == i / inner % len),
        "equal elements of a sorted tensor have moved"
    );

    // The largest elements are the front of the descending sort.
    let k = len * case.permille / 1000;
    let (largest, at) = input.clone().radix_topk_with_indices(k, written_dim);
    let (all, all_at) = input.radix_sort_with_indices(written_dim, SortOrder::Descending);
    let front = |i: &usize| i / inner % len < k;
    let first: Vec<T> = host::<T, D>(all)
        .into_iter()
        .enumerate()
        .filter_map(|(i, value)| front(&i).then_some(value))
        .collect();
    assert_same(&host::<T, D>(largest), &first, || {
        format!("the {k} largest")
    });
    let first: Vec<usize> = host_indices(all_at)
        .into_iter()
        .enumerate()
        .filter_map(|(i, at)| front(&i).then_some(at))
        .collect();
    assert!(host_indices(at) == first, "positions of the {k} largest");
}

/// Values sorted by the keys of groups are grouped by them.
fn keys_of_groups(device: &Device) {
    // A sort by some bits has kernels of its own.
    let num_keys = mostly(device, (1..300_usize).collect(), vec![3, 200]);
    let cases = (tensors(1), num_keys, 0..1_000_000_usize);
    for_all(device, cases, |(drawn, num_keys, seed)| {
        let key = |i: usize| (hash(i + seed) % num_keys) as i32;
        let keys: Vec<i32> = (0..drawn.shape[0]).map(key).collect();
        let keys = drawn.view(tensor::<i32, 1>(&keys, drawn.shape(), device));
        let n = keys.dims()[0];
        let values: Vec<i32> = (0..n as i32).collect();
        let values = || tensor::<i32, 1>(&values, [n], device);
        let (grouped, _) = values().partition_by_key(keys.clone(), num_keys);
        let grouped = host::<i32, 1>(grouped);

        let same = |found: Tensor<1, Int>, name: &str| {
            assert_same(&host::<i32, 1>(found), &grouped, || name.to_string());
        };
        let order = SortOrder::Ascending;
        let (sorted, by) = values().radix_sort_by_key(keys.clone(), order);
        same(sorted, "by key");
        let bits = (usize::BITS - num_keys.leading_zeros()) as usize;
        let (sorted, by_bits) = values().radix_sort_by_key_bits(keys.clone(), bits, order);
        same(sorted, "by the bits of keys");
        let expected = host::<i32, 1>(keys.radix_sort(0, order));
        for found in [by, by_bits] {
            assert_same(&host::<i32, 1>(found), &expected, || "keys".to_string());
        }
    });
}
