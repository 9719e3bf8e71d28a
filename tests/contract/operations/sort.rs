//! Sorts and their positions, against the host's stable sort.

use burn::tensor::{DType, Device, Tensor, bf16, f16, s};
use burn_scan::prelude::*;
use scan_testing::reference::SortKey;
use scan_testing::tensors::element::{Element, hash, numbered};
#[cfg(target_family = "wasm")]
use scan_testing::tensors::test;
use scan_testing::tensors::views::views;
use scan_testing::tensors::{
    axis, host, host_indices, oracle, sampled, takes_all, tensor, unsupported,
};

use super::{LARGE_SIZES, SIZES, TILE};

on_every_device![
    every_size,
    large_sizes,
    every_rank_and_dimension,
    every_dtype,
    values_that_are_special,
    keys_with_a_pattern,
    rows_of_every_length,
    many_rows,
    strided_tensors,
];

pub const ORDERS: [SortOrder; 2] = [SortOrder::Ascending, SortOrder::Descending];

/// An element that is sorted, distinguished from others by its bits.
pub trait Key: Element + SortKey {
    fn bits(self) -> u64;
}

macro_rules! keys {
    ($($t:ty: $bits:expr),*) => {$(
        impl Key for $t {
            fn bits(self) -> u64 {
                $bits(self)
            }
        }
    )*};
}

keys! {
    i8: |x| x as u64, i16: |x| x as u64, i32: |x| x as u64, i64: |x| x as u64,
    u8: u64::from, u16: u64::from, u32: u64::from, u64: |x| x,
    f32: |x: f32| u64::from(x.to_bits()), f64: f64::to_bits,
    f16: |x: f16| u64::from(x.to_bits()), bf16: |x: bf16| u64::from(x.to_bits())
}

/// Whether all bits are the same, also those of NaN and zeros.
#[track_caller]
pub fn assert_bits<T: Key>(found: &[T], expected: &[T], context: &str) {
    assert_eq!(found.len(), expected.len(), "{context}: the length");
    let wrong = |&i: &usize| found[i].bits() != expected[i].bits();
    if let Some(first) = (0..found.len()).find(wrong) {
        panic!(
            "{context}: the first wrong of {} is {first}: {:?} instead of {:?}",
            found.len(),
            found[first],
            expected[first]
        );
    }
}

/// The positions of each line in order, as a tensor of the shape.
pub fn sources<T: Key>(values: &[T], shape: &[usize], dim: usize, order: SortOrder) -> Vec<usize> {
    oracle::sort(values, shape, dim, order == SortOrder::Descending)
}

/// The values at the positions of their lines, of which there are `k` in each.
pub fn taken<T: Copy>(
    values: &[T],
    positions: &[usize],
    [outer, len, inner]: [usize; 3],
) -> Vec<T> {
    let k = positions.len().checked_div(outer * inner).unwrap_or(0);
    let at = |(i, &position): (usize, &usize)| {
        values[(i / (k * inner) * len + position) * inner + i % inner]
    };
    positions.iter().enumerate().map(at).collect()
}

/// Sorts in each order and in each form. A device that does not take all cases takes one order and one or two forms:
/// others for another shape or dtype.
#[track_caller]
fn check_tensor<T: Key, const D: usize>(name: &str, input: &Tensor<D, T::Kind>, dim: usize)
where
    Tensor<D, T::Kind>: TensorSort<D>,
{
    let shape = input.dims();
    let dtype = format!("{:?}", T::dtype());
    let before = host::<T, D>(input.clone());
    let turn = shape.iter().sum::<usize>() + dim + dtype.len();
    for order in sampled(ORDERS, &input.device(), turn, 2) {
        let context = format!("{dtype} {shape:?} along {dim}, {order:?}, {name}");
        let positions = sources(&before, &shape, dim, order);
        let expected = taken(&before, &positions, axis(&shape, dim));
        for form in sampled(0..3, &input.device(), turn / 2, 2) {
            let (keys, found) = match form {
                0 => (Some(input.clone().radix_sort(dim, order)), None),
                1 => {
                    let (keys, found) = input.clone().radix_sort_with_indices(dim, order);
                    (Some(keys), Some(found))
                }
                _ => (None, Some(input.clone().radix_argsort(dim, order))),
            };
            if let Some(keys) = keys {
                assert_eq!((keys.dims(), keys.dtype()), (shape, input.dtype()));
                assert_bits(&host::<T, D>(keys), &expected, &context);
            }
            if let Some(found) = found {
                assert_eq!(found.dims(), shape, "{context}");
                assert!(host_indices(found) == positions, "positions of {context}");
            }
        }
    }
    assert_bits(&host::<T, D>(input.clone()), &before, "the input");
}

fn check<T: Key, const D: usize>(
    name: &str,
    values: &[T],
    shape: [usize; D],
    dim: usize,
    device: &Device,
) where
    Tensor<D, T::Kind>: TensorSort<D>,
{
    check_tensor::<T, D>(name, &tensor::<T, D>(values, shape, device), dim);
}

/// Numbers of either sign, many of which occur several times.
pub fn mixed(n: usize) -> Vec<f32> {
    (0..n)
        .map(|i| (hash(i) % (n / 2 + 3)) as f32 - (n / 4) as f32)
        .collect()
}

fn every_size(device: &Device) {
    for n in SIZES {
        check::<f32, 1>("mixed", &mixed(n), [n], 0, device);
        check::<i32, 1>("random", &numbered(n), [n], 0, device);
    }
}

fn large_sizes(device: &Device) {
    for n in sampled(LARGE_SIZES, device, 2, 3) {
        check::<f32, 1>("mixed", &mixed(n), [n], 0, device);
    }
    if takes_all(device) {
        let n = (1 << 21) + 1;
        check::<u32, 1>("random", &numbered(n), [n], 0, device);
        large_keys(device);
        let [rows, len] = [3, 200_000];
        check::<f32, 2>("mixed", &mixed(rows * len), [rows, len], 1, device);
        check::<f32, 2>("mixed", &mixed(rows * len), [len, rows], 0, device);
    }
}

/// Keys of every width. Those of 8 bits have none below the digit by which the CPU engine splits a large line.
fn large_keys(device: &Device) {
    let n = 140_000;
    let bits = |i: usize| hash(i) as u64 | (hash(i + n) as u64) << 32;
    macro_rules! check_large {
        ($($t:ty: $from:expr),*) => {$(
            if device.supports_dtype(<$t as burn::tensor::Element>::dtype()) {
                let keys: Vec<$t> = (0..n).map(bits).map($from).collect();
                check::<$t, 1>("large", &keys, [n], 0, device);
            }
        )*};
    }
    check_large!(u8: |x| x as u8, f16: |x| f16::from_bits(x as u16), f64: f64::from_bits);
}

fn every_rank_and_dimension(device: &Device) {
    macro_rules! shapes {
        ($($shape:expr),*) => {$(
            for dim in 0..$shape.len() {
                let n = $shape.iter().product();
                check::<f32, { $shape.len() }>("mixed", &mixed(n), $shape, dim, device);
                let last = dim as i64 - $shape.len() as i64;
                let input = tensor::<i32, { $shape.len() }>(&numbered(n), $shape, device);
                let from_the_end = host::<i32, { $shape.len() }>(
                    input.clone().radix_sort(last, SortOrder::Ascending),
                );
                let from_the_front = input.radix_sort(dim, SortOrder::Ascending);
                assert_bits(&from_the_end, &host(from_the_front), "a negative dimension");
            }
        )*};
    }
    every_rank!(shapes);
}

fn every_dtype(device: &Device) {
    macro_rules! dtypes {
        ($($t:ty),*) => {$(
            if device.supports_dtype(<$t as burn::tensor::Element>::dtype()) {
                let n = 2 * TILE + 77;
                check::<$t, 1>("random", &numbered(n), [n], 0, device);
                check::<$t, 2>("random", &numbered(900), [9, 100], 1, device);
            } else {
                unsupported(&format!("{device:?} has no {}", stringify!($t)));
            }
        )*};
    }
    dtypes!(i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64);
}

/// Zeros of both signs, NaN of both signs and several payloads, infinities, subnormals.
pub const SPECIAL: [f32; 15] = [
    0.0,
    -0.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MAX,
    f32::MIN,
    f32::from_bits(1),
    -f32::from_bits(1),
    f32::MIN_POSITIVE,
    1.0,
    -1.0,
    f32::NAN,
    -f32::NAN,
    f32::from_bits(0x7fc0_0001),
    f32::from_bits(0xffff_ffff),
];

fn values_that_are_special(device: &Device) {
    for n in [15, 600, TILE + 9] {
        let values: Vec<f32> = (0..n).map(|i| SPECIAL[hash(i) % SPECIAL.len()]).collect();
        check::<f32, 1>("special", &values, [n], 0, device);
        let len = n / 15;
        check::<f32, 2>("special", &values[..15 * len], [15, len], 1, device);
    }
    // In some lines of those that are sorted side by side, and not in others.
    for (shape, dim) in [([48, 40], 1), ([40, 48], 0)] {
        let [_, len, inner] = axis(&shape, dim);
        let value = |i: usize| match i / (len * inner) + i % inner {
            line if line % 3 > 0 => SPECIAL[hash(i) % SPECIAL.len()],
            _ => (hash(i) % 1000 + 1) as f32,
        };
        let values: Vec<f32> = (0..48 * 40).map(value).collect();
        check::<f32, 2>("special in some lines", &values, shape, dim, device);
    }
    if device.supports_dtype(DType::F16) {
        let values: Vec<f16> = (0..3000).map(|i| f16::from_bits(hash(i) as u16)).collect();
        check::<f16, 1>("all bits", &values, [3000], 0, device);
    }
    if device.supports_dtype(DType::BF16) {
        let values: Vec<bf16> = (0..3000).map(|i| bf16::from_bits(hash(i) as u16)).collect();
        check::<bf16, 1>("all bits", &values, [3000], 0, device);
    }
    if device.supports_dtype(DType::F64) {
        let wide = |i: usize| f64::from_bits(hash(i) as u64 | (hash(i + 7) as u64) << 32);
        let values: Vec<f64> = (0..3000).map(wide).collect();
        check::<f64, 1>("all bits", &values, [3000], 0, device);
    }
}

fn keys_with_a_pattern(device: &Device) {
    let n = 3 * TILE + 5;
    let patterns: [(&str, &dyn Fn(usize) -> u32); 7] = [
        ("all equal", &|_| 7),
        ("sorted", &|i| i as u32),
        ("falling", &|i| u32::MAX - i as u32),
        ("the highest bit", &|i| (hash(i) as u32 & 1) << 31),
        ("the lowest bit", &|i| hash(i) as u32 & 1),
        ("one digit in the middle", &|i| (hash(i) as u32 & 0xff) << 8),
        ("two apart from the rest", &|i| {
            if i % n < 2 { 0 } else { 1 << 24 }
        }),
    ];
    for (name, key) in patterns {
        let keys: Vec<u32> = (0..n).map(key).collect();
        check::<u32, 1>(name, &keys, [n], 0, device);
    }
}

/// Lines of one element up to more than a tile, several at a time.
fn rows_of_every_length(device: &Device) {
    let lengths = (1..40).chain([
        63, 64, 65, 127, 129, 255, 257, 511, 513, 1025, 2047, 4097, 9000,
    ]);
    for len in sampled(lengths, device, 1, 3) {
        check::<f32, 2>("mixed", &mixed(9 * len), [9, len], 1, device);
        check::<i32, 2>("random", &numbered(9 * len), [len, 9], 0, device);
    }
}

fn many_rows(device: &Device) {
    let shapes = [[65_537, 4], [1 << 12, 64], [40, 2000]];
    for [rows, len] in sampled(shapes, device, 0, 2) {
        check::<f32, 2>("mixed", &mixed(rows * len), [rows, len], 1, device);
    }
    check::<i32, 2>("random", &numbered(40 * 700), [40, 700], 0, device);
}

fn strided_tensors(device: &Device) {
    let base = tensor::<f32, 3>(&mixed(6 * 7 * 8), [6, 7, 8], device);
    let gaps = base.clone().slice(s![.., .., 1..]);
    let backwards = base.clone().slice(s![..;-1, .., 1..]);
    let mut views = views(&base);
    views.extend([("rows with gaps", gaps), ("the same backwards", backwards)]);
    for (turn, (name, view)) in views.into_iter().enumerate() {
        for dim in sampled(0..3, device, turn, 3) {
            check_tensor::<f32, 3>(name, &view, dim);
        }
    }
}

/// The oracle's own order, on a handful of values.
#[test]
fn the_oracle_is_stable_and_puts_nan_last() {
    let values = [2.0, f32::NAN, -0.0, 0.0, -1.0, 2.0, -f32::NAN];
    assert_eq!(oracle::sort(&values, &[7], 0, false), [4, 2, 3, 0, 5, 1, 6]);
    assert_eq!(oracle::sort(&values, &[7], 0, true), [1, 6, 0, 5, 2, 3, 4]);
}
