//! Gradients of gradients, compared with differences of gradients in f64.

use super::*;
use burn::backend::AutodiffBackend;
use burn::tensor::TensorData;
use burn_backend::ops::FloatTensorOps;
use burn_flex::Flex;

type Once = Autodiff<Flex>;

const SHAPE: [usize; 2] = [2, 5];

/// Values, decays and initial values.
type Inputs<T> = [T; 3];

fn drawn() -> Inputs<Vec<f64>> {
    let numbers =
        |n: usize, by: f64| -> Vec<f64> { (0..n).map(|i| ((i as f64 + 1.0) * by).sin()).collect() };
    let mut decays = numbers(10, 2.1);
    decays[3] = 0.0;
    [numbers(10, 1.3), decays, numbers(2, 0.7)]
}

fn upload(values: &[f64]) -> FloatTensor<Flex> {
    let shape = [SHAPE[0], values.len() / SHAPE[0]];
    Flex::float_from_data(TensorData::new(values.to_vec(), shape), &Default::default())
}

fn host(tensor: FloatTensor<Flex>) -> Vec<f64> {
    let data = burn_backend::read_sync(Flex::float_into_data(tensor)).expect("readable");
    data.iter::<f64>().collect()
}

/// Whether a recurrence goes in reverse, and whether the values come out of one with resets.
type Way = (bool, bool);

/// `Σ h³`: its gradients depend on everything.
fn loss<B: ScanBackend>(
    [x, a, initial]: Inputs<FloatTensor<B>>,
    (reverse, resets): Way,
) -> FloatTensor<B> {
    let options = ScanOptions {
        exclusive: false,
        reverse,
    };
    let x = if resets {
        B::float_reset_recurrence(x, a.clone(), 1, options)
    } else {
        x
    };
    let h = B::float_linear_recurrence_from(x, a, initial, 1, options);
    B::float_sum(B::float_mul(B::float_mul(h.clone(), h.clone()), h))
}

/// The sum of all gradients of [`loss`], by one differentiation.
fn sum_of_gradients<B: ScanBackend>(inputs: Inputs<FloatTensor<B>>, way: Way) -> FloatTensor<B> {
    let leaves = inputs
        .map(<Autodiff<B> as AutodiffBackend>::from_inner)
        .map(|leaf| Autodiff::<B>::float_set_require_grad(leaf, true));
    let loss = loss::<Autodiff<B>>(leaves.clone(), way);
    let gradients = Autodiff::<B>::backward(loss);
    let sums = leaves.map(|leaf| {
        let gradient = Autodiff::<B>::grad(&leaf, &gradients).expect("tracked");
        B::float_sum(gradient)
    });
    let [x, a, initial] = sums;
    B::float_add(B::float_add(x, a), initial)
}

#[test]
fn recurrences_twice() {
    const STEP: f64 = 1e-5;
    for way in [(false, false), (true, false), (false, true), (true, true)] {
        let inputs = drawn();
        let leaves = inputs
            .each_ref()
            .map(|values| Once::from_inner(upload(values)))
            .map(|leaf| Once::float_set_require_grad(leaf, true));
        let sum = sum_of_gradients::<Once>(leaves.clone(), way);
        let gradients = Once::backward(sum);
        for (which, leaf) in leaves.iter().enumerate() {
            let found = host(Once::grad(leaf, &gradients).expect("tracked"));
            for (at, &found) in found.iter().enumerate() {
                let [above, below] = [STEP, -STEP].map(|step| {
                    let mut moved = inputs.clone();
                    moved[which][at] += step;
                    let moved = moved.each_ref().map(|values| upload(values));
                    host(sum_of_gradients::<Flex>(moved, way))[0]
                });
                let expected = (above - below) / (2.0 * STEP);
                let close = (found - expected).abs() <= 1e-6 * expected.abs().max(1.0);
                assert!(
                    close,
                    "{which} at {at}: {found} instead of {expected}, {way:?}"
                );
            }
        }
    }
}
