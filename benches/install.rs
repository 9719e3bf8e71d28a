//! Burn's own methods with `install()`, on Cube. `x.cumsum(dim)` runs on this crate's kernels, against
//! `inclusive_cumsum` called by name. Burn's flip ∘ cumsum ∘ flip of a gradient becomes one reverse scan,
//! against `reverse_cumsum`. A scan between scales and biases computes them in its load and store, unless it is
//! along the last dimension, while a scan called by name leaves them to kernels of their own.
//!
//! ```text
//! cargo bench --bench install
//! cargo bench --bench install -- cumsum-installed/cube/f32/1x1024
//! ```
//! This is a process of its own, because Burn's fusion registry is per process. `burn-scan-installed` is this
//! crate's kernel, called through Burn's method. The small sizes show the host's cost of the way through
//! fusion.

mod common;

use std::cell::LazyCell;

use burn::tensor::{DType, Tensor};
use burn_scan::prelude::*;
use common::input::{Input, check_equal, check_sums, copies, steps};
use common::{Place, Traffic, cube};
use criterion::{Criterion, criterion_group};
use scan_testing::tensors::{axis, host, oracle};

fn installed(criterion: &mut Criterion) {
    let Some(place) = cube() else {
        return;
    };
    for power in [10, 16, 20, 22] {
        case(criterion, &place, [1, 1 << power], 1);
    }
    case(criterion, &place, [1 << 11, 1 << 11], 0);
    case(criterion, &place, [1 << 11, 1 << 11], 1);
}

fn case(criterion: &mut Criterion, place: &Place, shape: [usize; 2], dim: usize) {
    let elements = shape[0] * shape[1];
    let traffic = Traffic {
        read: elements * size_of::<f32>(),
        written: elements * size_of::<f32>(),
    };
    let name = |op| format!("{}/dim{dim}", common::axes(op, place, DType::F32, &shape));
    let input = LazyCell::new(|| Input::<f32, 2>::new(steps(elements), shape, &place.device));
    let x = || input.tensor.clone();

    let check = |output| check_sums(&input.values, &host::<f32, 2>(output), axis(&shape, dim));
    let mut case = place.case(criterion, &name("cumsum-installed"));
    case.contender("burn-scan", traffic, || x().inclusive_cumsum(dim), check);
    case.contender("burn-scan-installed", traffic, || x().cumsum(dim), check);
    copies(&mut case, place, &input, elements);
    drop(case);

    let flip_scan_flip = |x: Tensor<2>| x.flip([dim]).cumsum(dim).flip([dim]);
    let check = |output| {
        let expected = oracle::scan(&input.values, &shape, dim, ScanOp::Sum, (false, true));
        check_equal(&host::<f32, 2>(output), &expected)
    };
    let mut case = place.case(criterion, &name("reverse-installed"));
    case.contender("burn-scan", traffic, || x().reverse_cumsum(dim), check);
    case.contender(
        "burn-scan-installed",
        traffic,
        || flip_scan_flip(x()),
        check,
    );
    copies(&mut case, place, &input, elements);
}

/// A scale and a bias on both sides of a scan.
fn chained(criterion: &mut Criterion) {
    let Some(place) = cube() else {
        return;
    };
    for (shape, dim) in [
        ([1, 1 << 16], 1),
        ([1, 1 << 22], 1),
        ([1 << 11, 1 << 11], 0),
        ([1 << 11, 1 << 11], 1),
        ([1 << 19, 1 << 3], 1),
    ] {
        let elements = shape[0] * shape[1];
        let traffic = Traffic {
            read: elements * size_of::<f32>(),
            written: elements * size_of::<f32>(),
        };
        let name = common::axes("chain-installed", &place, DType::F32, &shape);
        let input = LazyCell::new(|| Input::<f32, 2>::new(steps(elements), shape, &place.device));
        let before = |x: Tensor<2>| x * 2.0 + 1.0;
        let after = |sums: Tensor<2>| sums * 0.5 + 0.25;
        let x = || input.tensor.clone();
        // Halves and quarters of sums below 2^23 are exact in f32.
        let check = |output| {
            let biased: Vec<f32> = input.values.iter().map(|x| x * 2.0 + 1.0).collect();
            let sums = oracle::scan(&biased, &shape, dim, ScanOp::Sum, (false, false));
            let expected: Vec<f32> = sums.iter().map(|sum| sum * 0.5 + 0.25).collect();
            check_equal(&host::<f32, 2>(output), &expected)
        };
        let mut case = place.case(criterion, &format!("{name}/dim{dim}"));
        let by_name = || after(before(x()).inclusive_cumsum(dim));
        case.contender("burn-scan", traffic, by_name, check);
        let installed = || after(before(x()).cumsum(dim));
        case.contender("burn-scan-installed", traffic, installed, check);
        copies(&mut case, &place, &input, elements);
    }
}

criterion_group! { name = benches; config = common::criterion(); targets = installed, chained }

fn main() {
    burn_scan::install().expect("no tensor operation precedes this");
    benches();
    Criterion::default().configure_from_args().final_summary();
}
