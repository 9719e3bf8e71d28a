//! Cumulative sums: this crate's `inclusive_cumsum` against Burn's own `cumsum`, ndarray on Flex, and copies of
//! the same bytes.
//!
//! ```text
//! cargo bench --bench scan                       every case on Flex and on the Cube device
//! cargo bench --bench scan -- cumsum/cube        one device
//! cargo bench --bench scan -- 1x16777216/dim1    one shape
//! BURN_SCAN_DEVICE=cuda BURN_SCAN_BENCH_LARGE=2 cargo bench --bench scan --features cuda -- cumsum/cube
//! ```
//! One long row of 2^10 to 2^24 elements (2^26 with `BURN_SCAN_BENCH_LARGE=1`, 2^28 on Cube with 2), few long
//! rows and columns, many short ones, squares and a cube. f32 throughout, f16, i32 and i64 on one row.
//!
//! Burn's kernel on Cube is quadratic in the length, so it is measured only up to [`BEARABLE`]. ndarray cannot
//! sum f16 in a wider type, so it has no f16 here.

mod common;

use std::cell::LazyCell;

use burn::tensor::kind::Numeric;
use burn::tensor::{DType, Tensor, f16};
use burn_scan::prelude::*;
use common::array;
use common::input::{Input, Number, check_sums, copies, steps};
use common::{Place, Traffic, large, places};
use criterion::{Criterion, criterion_group, criterion_main};
use scan_testing::tensors::{axis, host};

/// Elements times the length of the scanned dimension: one row of 2^16 takes over a second on a software
/// adapter.
const BEARABLE: usize = 1 << 32;

/// Software adapters end the loop of a shader here: in a row of 2^16 Burn's last sum is wrong there, and is not
/// checked.
const LONGEST_LOOP: usize = 65_535;

fn scans(criterion: &mut Criterion) {
    for place in &places() {
        let last = if large() > 0 { 26 } else { 24 };
        for power in (10..=last).step_by(2) {
            case::<f32, 2>(criterion, place, [1, 1 << power], 1);
        }
        for power in [20, 24] {
            case::<f16, 2>(criterion, place, [1, 1 << power], 1);
            case::<i32, 2>(criterion, place, [1, 1 << power], 1);
            case::<i64, 2>(criterion, place, [1, 1 << power], 1);
        }
        // Odd lengths, which no vector divides, and even lengths.
        for shape in [[1, (1 << 22) - 1], [84, 50_256], [84, 50_257]] {
            case::<f32, 2>(criterion, place, shape, 1);
        }
        for shape in [[2, 1 << 21], [1 << 11, 1 << 11], [4096, 4096]] {
            case::<f32, 2>(criterion, place, shape, 0);
            case::<f32, 2>(criterion, place, shape, 1);
        }
        case::<f32, 2>(criterion, place, [1, 1 << 22], 0);
        case::<f32, 2>(criterion, place, [1 << 21, 2], 1);
        case::<f32, 3>(criterion, place, [16, 1 << 14, 16], 1);
        if large() > 1 && place.is_cube() {
            case::<f32, 2>(criterion, place, [1, 1 << 28], 1);
            case::<f32, 2>(criterion, place, [2, 1 << 27], 1);
        }
    }
}

fn case<T: Number, const D: usize>(
    criterion: &mut Criterion,
    place: &Place,
    shape: [usize; D],
    dim: usize,
) where
    T::Kind: Numeric,
    Tensor<D, T::Kind>: TensorScan,
{
    if !place.holds(T::dtype()) {
        return;
    }
    let elements: usize = shape.iter().product();
    let name = common::axes("cumsum", place, T::dtype(), &shape);
    let mut case = place.case(criterion, &format!("{name}/dim{dim}"));
    let input = LazyCell::new(|| Input::<T, D>::new(steps(elements), shape, &place.device));
    let traffic = Traffic {
        read: elements * size_of::<T>(),
        written: elements * size_of::<T>(),
    };
    let check = |output| check_sums(&input.values, &host::<T, D>(output), axis(&shape, dim));

    case.contender(
        "burn-scan",
        traffic,
        || input.tensor.clone().inclusive_cumsum(dim),
        check,
    );
    let len = shape[dim];
    let burn = || input.tensor.clone().cumsum(dim);
    if !place.is_cube() || (elements * len <= BEARABLE && len < LONGEST_LOOP) {
        case.contender("burn", traffic, burn, check);
    } else if elements == 1 << 16 && len == elements {
        let right = |output| {
            let (input, output) = (&input.values, host::<T, D>(output));
            let row = axis(&[1, LONGEST_LOOP], 1);
            check_sums(&input[..LONGEST_LOOP], &output[..LONGEST_LOOP], row)
        };
        case.contender("burn", traffic, burn, right);
    }
    if !place.is_cube() && T::dtype() != DType::F16 {
        let axes = axis(&shape, dim);
        let sums = || array::cumsum(&input.values, axes);
        let check = |output: Vec<T>| check_sums(&input.values, &output, axes);
        case.contender("ndarray", traffic, sums, check);
    }
    copies(&mut case, place, &input, elements);
}

criterion_group! { name = benches; config = common::criterion(); targets = scans }
criterion_main!(benches);
