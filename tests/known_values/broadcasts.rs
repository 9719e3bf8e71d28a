//! Gradients of arguments that broadcast.

use burn::tensor::{Device, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::tensor;

use super::{assert_near, values};

on_every_device![of_broadcasts];

/// The gradient of what broadcasts is the sum of those of its copies.
fn of_broadcasts(device: &Device) {
    let device = device.clone().autodiff();
    let shape = [2, 3, 4];
    let numbers = |n: usize| (0..n).map(|at| 0.3 + (at * at % 7) as f32 / 8.);
    let x: Vec<f32> = numbers(24).collect();
    let gradient = |decay: &Tensor<3>| {
        let x = tensor::<f32, 3>(&x, shape, &device);
        let y = x.linear_recurrence(decay.clone(), 1);
        let gradients = (y.clone() * y).sum().backward();
        values(decay.grad(&gradients).expect("tracked"))
    };
    for few in
        (0..8).map(|bits: usize| [0, 1, 2].map(|dim| (bits >> dim & 1) * (shape[dim] - 1) + 1))
    {
        let decay: Vec<f32> = numbers(few.iter().product()).collect();
        let decay = tensor::<f32, 3>(&decay, few, &device);
        let all = gradient(&decay.clone().expand(shape).detach().require_grad());
        let mut expected = vec![0.; few.iter().product()];
        for (at, copy) in all.into_iter().enumerate() {
            let place = [at / 12, at / 4 % 3, at % 4];
            let [i, j, k] = [0, 1, 2].map(|dim| if few[dim] == 1 { 0 } else { place[dim] });
            expected[(i * few[1] + j) * few[2] + k] += copy;
        }
        assert_near(&gradient(&decay.require_grad()), &expected);
    }
    let nothing = Tensor::<2>::ones([1, 0], &device);
    let decay = Tensor::<2>::ones([1, 1], &device).require_grad();
    let gradients = nothing.linear_recurrence(decay.clone(), 1).sum().backward();
    assert_near(&values(decay.grad(&gradients).expect("tracked")), &[0.]);
}
