//! Scans of every shape: sizes, ranks, dimensions, operators, directions.

use burn::tensor::{Device, Float, Int, Tensor};
use burn_scan::{ScanOp, ScanOptions, TensorScan};
use scan_testing::tensors::element::{Number, samples};
use scan_testing::tensors::{
    FEW, OPS, WAYS, assert_same, axis, host, options, oracle, sampled, takes_all, tensor,
};

use super::{LARGE_SIZES, SIZES};

on_every_device![
    small_sizes,
    large_sizes,
    every_rank_and_dimension,
    rows_and_columns,
    empty_dimensions,
    shorthands,
    negative_dimensions,
];

/// Scans `input`, compares with the oracle and checks that the input did not change.
#[track_caller]
pub fn check_tensor<T: Number, const D: usize>(
    name: &str,
    input: &Tensor<D, T::Kind>,
    values: &[T],
    dim: usize,
    op: ScanOp,
    way: (bool, bool),
) where
    Tensor<D, T::Kind>: TensorScan,
{
    let shape = input.dims();
    let device = input.device();
    let context = || {
        format!(
            "{op:?} {:?} of {name}{shape:?} along {dim}, {device:?}",
            options(way)
        )
    };
    let found = input.clone().scan(dim, op, options(way));
    assert_eq!(found.dims(), shape, "{}", context());
    let expected = oracle::scan(values, &shape, dim, op, way);
    assert_same(&host::<T, D>(found), &expected, context);
    assert_same(&host::<T, D>(input.clone()), values, || {
        format!("input of {}", context())
    });
}

/// Scans sample data of that shape.
#[track_caller]
fn check<T: Number, const D: usize>(
    shape: [usize; D],
    dim: usize,
    op: ScanOp,
    way: (bool, bool),
    device: &Device,
) where
    Tensor<D, T::Kind>: TensorScan,
{
    let values: Vec<T> = samples(op, axis(&shape, dim));
    check_tensor("", &tensor(&values, shape, device), &values, dim, op, way);
}

/// One way of summing, and one way of another operator: the next ones in each `turn`.
fn sum_and_another(turn: usize) -> Vec<(ScanOp, (bool, bool))> {
    vec![
        (ScanOp::Sum, WAYS[turn % 4]),
        (OPS[1 + turn % 3], WAYS[(turn + 3) % 4]),
    ]
}

/// Scans along one dimension of one shape: f32 by every operator in every way, and i32 by a few. A device that does not
/// take all cases sums in one way, and makes one more f32 scan and one i32 scan.
fn check_dimension<const D: usize>(shape: [usize; D], dim: usize, turn: usize, device: &Device)
where
    Tensor<D, Float>: TensorScan,
    Tensor<D, Int>: TensorScan,
{
    let every = || OPS.into_iter().flat_map(|op| WAYS.map(|way| (op, way)));
    let (floats, ints) = if takes_all(device) {
        (every().collect(), FEW.to_vec())
    } else {
        (sum_and_another(turn), vec![FEW[turn % FEW.len()]])
    };
    for (op, way) in floats {
        check::<f32, D>(shape, dim, op, way, device);
    }
    for (op, way) in ints {
        check::<i32, D>(shape, dim, op, way, device);
    }
}

fn small_sizes(device: &Device) {
    for (turn, n) in SIZES.into_iter().enumerate() {
        check_dimension([n], 0, turn, device);
    }
}

fn large_sizes(device: &Device) {
    for (turn, n) in LARGE_SIZES.into_iter().enumerate() {
        check_dimension([n], 0, turn, device);
    }
}

fn every_dimension<const D: usize>(shape: [usize; D], device: &Device)
where
    Tensor<D, Float>: TensorScan,
    Tensor<D, Int>: TensorScan,
{
    for dim in 0..D {
        check_dimension(shape, dim, shape.iter().sum::<usize>() + 5 * dim, device);
    }
}

fn every_rank_and_dimension(device: &Device) {
    every_dimension([37], device);
    every_dimension([13, 37], device);
    every_dimension([5, 33, 12], device);
    every_dimension([3, 7, 5, 11], device);
    every_dimension([1, 1, 1, 1], device);
    every_dimension([1, 9, 1, 4], device);
}

/// Shapes that share the work in different ways: few lines and many, short and long, rows and columns.
fn rows_and_columns(device: &Device) {
    let shapes = [
        [2, 20_000],
        [3000, 7],
        [300, 100],
        [20_000, 2],
        [7, 3000],
        [1, 9000],
        [9000, 1],
    ];
    for (i, shape) in shapes.into_iter().enumerate() {
        for dim in 0..2 {
            for way in sampled(WAYS, device, i + dim, 4) {
                check::<f32, 2>(shape, dim, ScanOp::Sum, way, device);
            }
            let (op, way) = FEW[(i + 3 * dim) % 7];
            check::<i32, 2>(shape, dim, op, way, device);
        }
    }
    let shapes = [[3, 5000, 4], [2, 9, 4097], [2, 4097, 33]];
    for (turn, shape) in shapes.into_iter().enumerate() {
        for way in sampled(WAYS, device, turn, 4) {
            check::<f32, 3>(shape, 1, ScanOp::Sum, way, device);
        }
        check::<i32, 3>(shape, 1, ScanOp::Max, WAYS[1], device);
    }
}

fn empty_dimensions(device: &Device) {
    every_dimension([0], device);
    every_dimension([0, 3], device);
    every_dimension([2, 0, 4], device);
}

fn shorthands(device: &Device) {
    let shape = [6, 50];
    let values: Vec<i32> = samples(ScanOp::Sum, axis(&shape, 1));
    let input = || tensor::<i32, 2>(&values, shape, device);
    let check = |name: &str, found: Tensor<2, Int>, way| {
        let expected = oracle::scan(&values, &shape, 1, ScanOp::Sum, way);
        assert_same(&host::<i32, 2>(found), &expected, || name.to_string());
    };
    check(
        "inclusive_cumsum",
        input().inclusive_cumsum(1),
        (false, false),
    );
    check("cumsum", burn_scan::cumsum(input(), 1), (false, false));
    check(
        "exclusive_cumsum",
        input().exclusive_cumsum(1),
        (true, false),
    );
    check("reverse_cumsum", input().reverse_cumsum(1), (false, true));
    check(
        "default",
        input().scan(1, ScanOp::Sum, ScanOptions::default()),
        (false, false),
    );
}

fn negative_dimensions(device: &Device) {
    let shape = [4, 5, 6];
    for dim in 0..3 {
        let values: Vec<f32> = samples(ScanOp::Sum, axis(&shape, dim));
        let input = tensor::<f32, 3>(&values, shape, device);
        let expected = oracle::scan(&values, &shape, dim, ScanOp::Sum, (false, false));
        let negative = dim as i64 - 3;
        let found = input.inclusive_cumsum(negative);
        assert_same(&host::<f32, 3>(found), &expected, || {
            format!("dimension {negative}")
        });
    }
}
