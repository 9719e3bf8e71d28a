//! A scan and its gradient, as a training step runs them: this crate's operations against Burn's own.
//!
//! ```text
//! cargo bench --bench gradient
//! cargo bench --bench gradient -- gradient-sum/flex
//! ```
//! One round is the forward scan and `backward` from a gradient of ones, and ends with the gradient of the input. The
//! declared bytes are the bytes of two scans. `copy-by-add` is one copy, so compare bytes per second. `install()` is
//! not called: `burn` is Burn without this crate. On Cube its kernel is quadratic in the length and measured only up to
//! 2^14.

mod common;

use std::cell::LazyCell;

use burn::tensor::{DType, Tensor};
use burn_scan::prelude::*;
use common::input::{Input, check_equal, copies, steps};
use common::{Place, Traffic, places};
use criterion::{Criterion, criterion_group, criterion_main};
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{axis, host, oracle};

fn gradients(criterion: &mut Criterion) {
    for place in &places() {
        for power in [14, 20, 22] {
            case(criterion, place, ScanOp::Sum, [1, 1 << power], 1);
        }
        case(criterion, place, ScanOp::Sum, [1 << 11, 1 << 11], 0);
        case(criterion, place, ScanOp::Sum, [1 << 11, 1 << 11], 1);
        for power in [14, 20] {
            case(criterion, place, ScanOp::Prod, [1, 1 << power], 1);
            case(criterion, place, ScanOp::Max, [1, 1 << power], 1);
        }
    }
}

/// Values with an exact gradient: small steps, signs, or a permutation in which no maximum occurs twice.
fn values(op: ScanOp, n: usize) -> Vec<f32> {
    match op {
        ScanOp::Prod => (0..n).map(|i| 1.0 - 2.0 * (hash(i) % 2) as f32).collect(),
        ScanOp::Max => (0..n).map(|i| ((i * 40_503) % n) as f32).collect(),
        _ => steps(n),
    }
}

/// The gradient of the sum of all outputs, by plain loops. For rows only, except for sums.
fn gradient(op: ScanOp, x: &[f32], axes: [usize; 3]) -> Vec<f32> {
    let reverse_sums = |terms: &[f32]| oracle::scan(terms, &axes, 1, ScanOp::Sum, (false, true));
    match op {
        ScanOp::Prod => {
            let products = oracle::scan(x, &axes, 1, op, (false, false));
            let sums = reverse_sums(&products);
            sums.iter().zip(x).map(|(sum, x)| sum / x).collect()
        }
        ScanOp::Max => {
            let (mut gradient, mut highest) = (vec![0.0; x.len()], 0);
            for i in 0..x.len() {
                highest = if x[i] > x[highest] { i } else { highest };
                gradient[highest] += 1.0;
            }
            gradient
        }
        _ => reverse_sums(&vec![1.0; x.len()]),
    }
}

fn case(criterion: &mut Criterion, place: &Place, op: ScanOp, shape: [usize; 2], dim: usize) {
    let elements = shape[0] * shape[1];
    let op_name = format!("gradient-{op:?}").to_lowercase();
    let name = common::axes(&op_name, place, DType::F32, &shape);
    let mut case = place.case(criterion, &format!("{name}/dim{dim}"));
    let input = LazyCell::new(|| Input::new(values(op, elements), shape, &place.device));
    let leaf = LazyCell::new(|| {
        let device = place.device.clone().autodiff();
        Input::<f32, 2>::new(input.values.clone(), shape, &device)
            .tensor
            .require_grad()
    });
    let traffic = Traffic {
        read: 2 * elements * size_of::<f32>(),
        written: 2 * elements * size_of::<f32>(),
    };
    let step = |scan: fn(Tensor<2>, ScanOp, usize) -> Tensor<2>| {
        let output = scan(leaf.clone(), op, dim);
        let gradients = output.backward();
        leaf.grad(&gradients).expect("the leaf is tracked")
    };
    let check = |found| {
        let expected = gradient(op, &input.values, axis(&shape, dim));
        check_equal(&host::<f32, 2>(found), &expected)
    };

    case.contender("burn-scan", traffic, || step(ours), check);
    if !place.is_cube() || shape[dim] * elements <= 1 << 28 {
        case.contender("burn", traffic, || step(burns), check);
    }
    copies(&mut case, place, &input, elements);
}

fn ours(x: Tensor<2>, op: ScanOp, dim: usize) -> Tensor<2> {
    x.scan(dim, op, ScanOptions::default())
}

fn burns(x: Tensor<2>, op: ScanOp, dim: usize) -> Tensor<2> {
    match op {
        ScanOp::Prod => x.cumprod(dim),
        ScanOp::Max => x.cummax(dim),
        _ => x.cumsum(dim),
    }
}

criterion_group! { name = benches; config = common::criterion(); targets = gradients }
criterion_main!(benches);
