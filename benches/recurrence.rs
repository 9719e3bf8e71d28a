//! Linear recurrences: this crate against the loop over time steps that one writes with Burn alone.
//!
//! ```text
//! cargo bench --bench recurrence
//! cargo bench --bench recurrence -- recurrence/flex
//! ```
//! Decays and values are small integers, so that every result is exact. `burn` is the loop, one operation per step,
//! measured where it finishes in time. `copy-by-mul` is Burn's product of the two inputs. `copy-parallel` (Flex) is a
//! copy by all threads of half as many bytes again as the input. Both move the bytes of a recurrence: two streams in
//! and one out. In `gradient-recurrence` a round is forward and backward, to the gradients of both inputs, and the
//! declared bytes are those of two recurrences. Next to it is `copy-by-add`, Burn's sum of the two inputs forward and
//! backward: the cost of any backward in Burn, which first fills a tensor with ones.

mod common;

use std::cell::LazyCell;

use burn::tensor::{DType, Tensor};
use burn_scan::prelude::*;
#[cfg(feature = "flex")]
use common::copy::copy_parallel;
use common::input::{Input, check_equal, steps};
use common::{Case, Place, Traffic, places};
use criterion::{Criterion, criterion_group, criterion_main};
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{axis, host};

/// The most steps for which the loop is measured.
const BEARABLE: usize = 1 << 10;

fn recurrences(criterion: &mut Criterion) {
    for place in &places() {
        for (shape, dim) in [
            ([1 << 10, 64], 0),
            ([1, 1 << 22], 1),
            ([16, 1 << 18], 1),
            ([1 << 16, 64], 0),
        ] {
            forward(criterion, place, shape, dim, Decays::Varying);
        }
        for (shape, dim) in [([16, 1 << 18], 1), ([1 << 16, 64], 0)] {
            forward(criterion, place, shape, dim, Decays::Constant);
        }
        if !place.is_cube() {
            forward(criterion, place, [64, 1 << 18], 1, Decays::Varying);
            forward(criterion, place, [1 << 18, 64], 0, Decays::Varying);
        }
        backward(criterion, place, [1 << 10, 64], 0);
        let (rows, columns) = if place.is_cube() {
            ([16, 1 << 18], [1 << 16, 64])
        } else {
            ([64, 1 << 18], [1 << 18, 64])
        };
        backward(criterion, place, rows, 1);
        backward(criterion, place, columns, 0);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Decays {
    /// −1, 0 or 1: any product is one of them.
    Varying,
    /// −1 throughout, as in a filter: one element that broadcasts.
    Constant,
}

impl Decays {
    /// The decays for `n` elements.
    fn draw(self, n: usize) -> Vec<f32> {
        let varying = |i: usize| (hash(i + 1) % 3) as f32 - 1.0;
        (0..n)
            .map(|i| match self {
                Decays::Varying => varying(i),
                Decays::Constant => -1.0,
            })
            .collect()
    }
}

/// The loop, along the middle of `[outer, len, inner]`.
fn expected(values: &[f32], decays: &[f32], [_, len, inner]: [usize; 3]) -> Vec<f32> {
    let mut h = values.to_vec();
    for at in 0..h.len() {
        if at / inner % len > 0 {
            h[at] += decays[at] * h[at - inner];
        }
    }
    h
}

/// The loop of a model without a scan.
fn step_by_step(x: Tensor<2>, a: Tensor<2>, dim: usize) -> Tensor<2> {
    let mut h = x.clone().narrow(dim, 0, 1);
    let mut all = vec![h.clone()];
    for step in 1..x.dims()[dim] {
        h = a.clone().narrow(dim, step, 1) * h + x.clone().narrow(dim, step, 1);
        all.push(h.clone());
    }
    Tensor::cat(all, dim)
}

fn ours(x: Tensor<2>, a: Tensor<2>, dim: usize) -> Tensor<2> {
    x.linear_recurrence(a, dim)
}

fn traffic(elements: usize) -> Traffic {
    let bytes = elements * size_of::<f32>();
    Traffic {
        read: 2 * bytes,
        written: bytes,
    }
}

fn forward(
    criterion: &mut Criterion,
    place: &Place,
    shape: [usize; 2],
    dim: usize,
    decays: Decays,
) {
    let elements = shape[0] * shape[1];
    let name = common::axes("recurrence", place, DType::F32, &shape);
    let (variant, of_decays) = match decays {
        Decays::Varying => ("", shape),
        Decays::Constant => ("-constant", [1, 1]),
    };
    let mut case = place.case(criterion, &format!("{name}/dim{dim}{variant}"));
    let x = LazyCell::new(|| Input::<f32, 2>::new(steps(elements), shape, &place.device));
    let a = LazyCell::new(|| {
        let values = decays.draw(of_decays[0] * of_decays[1]);
        Input::<f32, 2>::new(values, of_decays, &place.device)
    });
    let check = |found| {
        let expected = expected(&x.values, &decays.draw(elements), axis(&shape, dim));
        check_equal(&host::<f32, 2>(found), &expected)
    };
    let run = |way: fn(Tensor<2>, Tensor<2>, usize) -> Tensor<2>| {
        way(x.tensor.clone(), a.tensor.clone(), dim)
    };
    case.contender("burn-scan", traffic(elements), || run(ours), check);
    if shape[dim] <= BEARABLE && decays == Decays::Varying {
        case.contender("burn", traffic(elements), || run(step_by_step), check);
    }
    let of_shape = || a.tensor.clone().expand(shape);
    copies(&mut case, place, elements, || {
        (x.tensor.clone(), of_shape())
    });
}

fn backward(criterion: &mut Criterion, place: &Place, shape: [usize; 2], dim: usize) {
    let elements = shape[0] * shape[1];
    let name = common::axes("gradient-recurrence", place, DType::F32, &shape);
    let mut case = place.case(criterion, &format!("{name}/dim{dim}"));
    let device = place.device.clone().autodiff();
    let leaf = |values: Vec<f32>| {
        let input = Input::<f32, 2>::new(values, shape, &device);
        input.tensor.require_grad()
    };
    let leaves = LazyCell::new(|| (leaf(steps(elements)), leaf(Decays::Varying.draw(elements))));
    let step = |way: fn(Tensor<2>, Tensor<2>, usize) -> Tensor<2>| {
        let (x, a) = &*leaves;
        let gradients = way(x.clone(), a.clone(), dim).backward();
        let of = |leaf: &Tensor<2>| leaf.grad(&gradients).expect("the leaf is tracked");
        (of(x), of(a))
    };
    let check = |(of_values, _): (Tensor<2>, Tensor<2>)| {
        let [_, len, inner] = axis(&shape, dim);
        let a = Decays::Varying.draw(elements);
        let mut flows = vec![1.0; elements];
        for at in (0..elements).rev() {
            if at / inner % len + 1 < len {
                flows[at] += a[at + inner] * flows[at + inner];
            }
        }
        check_equal(&host::<f32, 2>(of_values), &flows)
    };
    let twice = |traffic: Traffic| Traffic {
        read: 2 * traffic.read,
        written: 2 * traffic.written,
    };
    let bytes = twice(traffic(elements));
    case.contender("burn-scan", bytes, || step(ours), check);
    let ones = |(of_x, _): (Tensor<2>, Tensor<2>)| {
        check_equal(&host::<f32, 2>(of_x), &vec![1.0; elements])
    };
    case.contender("copy-by-add", bytes, || step(|x, a, _| x + a), ones);
    if shape[dim] <= BEARABLE {
        case.contender("burn", bytes, || step(step_by_step), check);
    }
}

/// Two streams in and one out.
fn copies(
    case: &mut Case<'_>,
    place: &Place,
    elements: usize,
    inputs: impl Fn() -> (Tensor<2>, Tensor<2>),
) {
    case.contender(
        "copy-by-mul",
        traffic(elements),
        || {
            let (x, a) = inputs();
            x * a
        },
        |output| {
            let [x, a] = [steps::<f32>(elements), Decays::Varying.draw(elements)];
            let expected: Vec<f32> = x.iter().zip(&a).map(|(x, a)| x * a).collect();
            check_equal(&host::<f32, 2>(output), &expected)
        },
    );
    #[cfg(feature = "flex")]
    if !place.is_cube() {
        let values = LazyCell::new(|| steps::<f32>(elements + elements / 2));
        case.contender(
            "copy-parallel",
            traffic(elements),
            || copy_parallel(&values),
            |output| check_equal(&output, &values),
        );
    }
    #[cfg(not(feature = "flex"))]
    let _ = place;
}

criterion_group! { name = benches; config = common::criterion(); targets = recurrences }
criterion_main!(benches);
