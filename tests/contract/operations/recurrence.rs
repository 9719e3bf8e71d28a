//! Linear recurrences against the loop that defines them, in f64.

use burn::tensor::{Device, Tensor, bf16, f16};
use burn_scan::prelude::*;
use scan_testing::tensors::devices::is_remote;
use scan_testing::tensors::element::{Element, hash};
use scan_testing::tensors::views::views;
use scan_testing::tensors::{axis, host, read, sampled, tensor};

on_every_device![
    every_rank_and_dimension,
    lengths_of_a_row,
    lengths_of_columns,
    decays_that_broadcast,
    nothing_to_walk,
    views_of_both,
    initial_states,
    halves_are_accumulated_wide,
    laws,
    products_of_decays_may_underflow,
    what_is_not_finite,
];

/// Values of either sign, and decays between −1 and 1.
fn values(n: usize) -> Vec<f32> {
    (0..n)
        .map(|i| (hash(i) % 2001) as f32 / 500.0 - 2.0)
        .collect()
}

fn decays(n: usize) -> Vec<f32> {
    (0..n)
        .map(|i| (hash(i + 99) % 2001) as f32 / 1000.0 - 1.0)
        .collect()
}

/// The loop, and the same loop over magnitudes, which bounds the rounding errors.
pub fn expected(
    x: &[f64],
    a: &[f64],
    initial: Option<&[f64]>,
    [outer, len, inner]: [usize; 3],
    reverse: bool,
) -> Vec<(f64, f64)> {
    let mut found = vec![(0.0, 0.0); x.len()];
    for line in 0..outer * inner {
        let first = initial.map_or(0.0, |initial| initial[line]);
        let (mut h, mut size) = (first, first.abs());
        for step in 0..len {
            let i = if reverse { len - 1 - step } else { step };
            let at = (line / inner * len + i) * inner + line % inner;
            h = a[at] * h + x[at];
            size = a[at].abs() * size + x[at].abs();
            found[at] = (h, size);
        }
    }
    found
}

fn wide(narrow: &[f32]) -> Vec<f64> {
    narrow.iter().map(|&x| x.into()).collect()
}

#[track_caller]
pub fn assert_close(
    found: &[f32],
    expected: &[(f64, f64)],
    relative: f64,
    context: impl Fn() -> String,
) {
    assert_eq!(found.len(), expected.len(), "{}", context());
    for (i, (&found, &(expected, size))) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(found) - expected).abs();
        assert!(
            error <= relative * size.max(1e-30),
            "{}, {i}: {found} instead of {expected}",
            context()
        );
    }
}

#[track_caller]
fn check_tensors<const D: usize>(
    name: &str,
    x: &Tensor<D>,
    a: &Tensor<D>,
    initial: Option<&Tensor<D>>,
    dim: usize,
) {
    check_within(1e-5, name, x, a, initial, dim);
}

#[track_caller]
fn check_within<const D: usize>(
    relative: f64,
    name: &str,
    x: &Tensor<D>,
    a: &Tensor<D>,
    initial: Option<&Tensor<D>>,
    dim: usize,
) {
    let shape = x.dims();
    let mut line = shape;
    line[dim] = 1;
    let values = wide(&host::<f32, D>(x.clone()));
    let expanded = |tensor: &Tensor<D>, shape: [usize; D]| {
        if tensor.dims() == shape {
            wide(&host::<f32, D>(tensor.clone()))
        } else {
            wide(&host::<f32, D>(tensor.clone().expand(shape)))
        }
    };
    let decays = expanded(a, shape);
    let states = initial.map(|initial| expanded(initial, line));
    for reverse in [false, true] {
        let options = RecurrenceOptions::default();
        let options = if reverse { options.reverse() } else { options };
        let options = match initial {
            Some(initial) => options.initial(initial.clone()),
            None => options,
        };
        let found = x.clone().linear_recurrence_with(a.clone(), dim, options);
        assert_eq!(found.dims(), shape);
        let expected = expected(
            &values,
            &decays,
            states.as_deref(),
            axis(&shape, dim),
            reverse,
        );
        assert_close(&host::<f32, D>(found), &expected, relative, || {
            let device = x.device();
            format!("{name}{shape:?} along {dim}, reverse {reverse}, {device:?}")
        });
    }
}

#[track_caller]
fn check<const D: usize>(shape: [usize; D], dim: usize, device: &Device) {
    let n = shape.iter().product();
    let x = tensor::<f32, D>(&values(n), shape, device);
    let a = tensor::<f32, D>(&decays(n), shape, device);
    check_tensors("", &x, &a, None, dim);
}

fn every_rank_and_dimension(device: &Device) {
    macro_rules! each {
        ($($shape:expr),*) => {$(
            for dim in 0..$shape.len() {
                check($shape, dim, device);
            }
        )*};
    }
    every_rank!(each);
}

fn lengths_of_a_row(device: &Device) {
    for len in [1, 2, 7, 8, 9, 255, 1025, 4097, 65_537, 300_001] {
        check([1, len], 1, device);
    }
    // Rows that threads share one by one.
    check([9, 20_003], 1, device);
}

fn lengths_of_columns(device: &Device) {
    for shape in [[2, 3], [33, 5], [1025, 24], [4099, 64], [70_001, 4]] {
        check(shape, 0, device);
    }
    // Columns that threads share, with more elements than a network needs to carry.
    if !is_remote(device) {
        check([3, 1100, 1030], 1, device);
    }
}

fn decays_that_broadcast(device: &Device) {
    let shape = [2, 65, 3, 8];
    let n = shape.iter().product();
    let x = tensor::<f32, 4>(&values(n), shape, device);
    for of_decay in [
        [2, 1, 1, 8],
        [1, 65, 1, 1],
        [1, 1, 3, 1],
        [1, 1, 1, 1],
        [2, 65, 1, 8],
    ] {
        let n = of_decay.iter().product();
        let a = tensor::<f32, 4>(&decays(n), of_decay, device);
        for dim in [1, 3] {
            check_tensors(&format!("decay {of_decay:?} "), &x, &a, None, dim);
        }
    }
}

fn nothing_to_walk(device: &Device) {
    let x = tensor::<f32, 2>(&[], [3, 0], device);
    let one = tensor::<f32, 2>(&[1.0], [1, 1], device);
    let options = RecurrenceOptions::default().initial(one.clone());
    for dim in [0, 1] {
        let found = x
            .clone()
            .linear_recurrence_with(one.clone(), dim, options.clone());
        assert_eq!(found.dims(), [3, 0]);
    }
}

fn views_of_both(device: &Device) {
    let shape = [5, 6, 7];
    let n = shape.iter().product();
    let x = tensor::<f32, 3>(&values(n), shape, device);
    let a = tensor::<f32, 3>(&decays(n), shape, device);
    let both = views(&x).into_iter().zip(views(&a));
    for (turn, ((name, x), (_, a))) in both.enumerate() {
        let plain = tensor::<f32, 3>(&host::<f32, 3>(a.clone()), a.dims(), device);
        for dim in sampled(0..3, device, turn, 3) {
            check_tensors(&format!("{name} "), &x, &a, None, dim);
            check_tensors(&format!("{name} values "), &x, &plain, None, dim);
        }
    }
}

fn initial_states(device: &Device) {
    let shape = [3, 130, 5];
    let n = shape.iter().product();
    let x = tensor::<f32, 3>(&values(n), shape, device);
    let a = tensor::<f32, 3>(&decays(n), shape, device);
    for (dim, of_state) in [
        (1, [3, 1, 5]),
        (1, [1, 1, 5]),
        (0, [1, 130, 1]),
        (2, [3, 130, 1]),
        (2, [1, 1, 1]),
    ] {
        let state = values(of_state.iter().product::<usize>() + 50)[50..].to_vec();
        let state = tensor::<f32, 3>(&state, of_state, device);
        check_tensors(&format!("initial {of_state:?} "), &x, &a, Some(&state), dim);
    }
    let x = tensor::<f32, 2>(&values(200_003), [1, 200_003], device);
    let a = tensor::<f32, 2>(&[0.9999], [1, 1], device);
    let state = tensor::<f32, 2>(&[1e4], [1, 1], device);
    // A product of many equal factors rounds at each step, always in the same direction.
    check_within(3e-4, "long ", &x, &a, Some(&state), 1);
}

/// Elements of 16 bits are rounded only once. In their own type, 3,000 additions of 1 would stop at a sum of 2,048.
fn halves_are_accumulated_wide(device: &Device) {
    fn check<T: Element<Kind = burn::tensor::Float>>(device: &Device, one: T) {
        if !device.supports_dtype(T::dtype()) {
            scan_testing::tensors::unsupported(&format!("{device:?} has no {:?}", T::dtype()));
            return;
        }
        for (shape, dim) in [([1, 3000], 1), ([3000, 2], 0)] {
            let n = shape.iter().product();
            let ones = || tensor::<T, 2>(&vec![one; n], shape, device);
            let sums = ones().linear_recurrence(ones(), dim);
            assert_eq!(sums.dtype(), T::dtype());
            let last: Vec<f32> = read(sums).convert::<f32>().try_to_vec().expect("f32");
            let last = *last.last().expect("there is one");
            assert!((last - 3000.0).abs() <= 8.0, "{last} of {:?}", T::dtype());
        }
    }
    check(device, f16::from_f32(1.0));
    check(device, bf16::from_f32(1.0));
}

fn laws(device: &Device) {
    let shape = [4, 700];
    let x = tensor::<f32, 2>(&values(2800), shape, device);
    let a = tensor::<f32, 2>(&decays(2800), shape, device);
    let of = |value: f32| tensor::<f32, 2>(&[value], [1, 1], device);
    let same = host::<f32, 2>(x.clone().linear_recurrence(of(0.0), 1));
    assert_eq!(same, values(2800), "a decay of 0 leaves the values");
    let sums = host::<f32, 2>(x.clone().inclusive_cumsum(1));
    let expected: Vec<_> = sums.iter().map(|&sum| (sum.into(), 1500.0)).collect();
    let found = host::<f32, 2>(x.clone().linear_recurrence(of(1.0), 1));
    assert_close(&found, &expected, 1e-6, || {
        "a decay of 1 adds up".to_owned()
    });

    let whole = host::<f32, 2>(x.clone().linear_recurrence(a.clone(), 1));
    let first = x
        .clone()
        .narrow(1, 0, 300)
        .linear_recurrence(a.clone().narrow(1, 0, 300), 1);
    let state = first.clone().narrow(1, 299, 1);
    let second = x.narrow(1, 300, 400).linear_recurrence_with(
        a.narrow(1, 300, 400),
        1,
        RecurrenceOptions::default().initial(state),
    );
    let parts = host::<f32, 2>(Tensor::cat(vec![first, second], 1));
    let whole: Vec<_> = whole.iter().map(|&h| (h.into(), 20.0)).collect();
    assert_close(&parts, &whole, 1e-6, || "a state carries over".to_owned());
}

fn products_of_decays_may_underflow(device: &Device) {
    let x = tensor::<f32, 2>(&values(5000), [1, 5000], device);
    let a = tensor::<f32, 2>(&[1e-20], [1, 1], device);
    check_tensors("tiny decays ", &x, &a, None, 1);
}

/// Where the decay is 0, results after an infinity stay finite, as in the loop. All results after a NaN are NaN.
fn what_is_not_finite(device: &Device) {
    let n = 40;
    let mut x = vec![1.0; n];
    x[17] = f32::NAN;
    let x = tensor::<f32, 1>(&x, [n], device);
    let half = tensor::<f32, 1>(&[0.5], [1], device);
    let found = host::<f32, 1>(x.linear_recurrence(half, 0));
    assert!(found[..17].iter().all(|h| h.is_finite()), "{found:?}");
    assert!(found[17..].iter().all(|h| h.is_nan()), "{found:?}");

    let mut x = vec![1.0; n];
    x[3] = f32::INFINITY;
    let x = tensor::<f32, 1>(&x, [n], device);
    let half = tensor::<f32, 1>(&[0.5], [1], device);
    let found = host::<f32, 1>(x.linear_recurrence(half, 0));
    assert!(found[..3].iter().all(|h| h.is_finite()), "{found:?}");
    assert!(found[3..].iter().all(|&h| h == f32::INFINITY), "{found:?}");
}
