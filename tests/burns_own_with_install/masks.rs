//! `mask_fill` and `mask_where`.

use burn::tensor::{Bool, Int, Tensor};

use super::{on_both, with_gradients};

#[test]
fn fill() {
    on_both(|device| {
        let diagonal = || Tensor::<2, Bool>::from_data([[true, false], [false, true]], device);
        let x = Tensor::<2>::from_data([[1., 7.], [2., 3.]], device);
        same!(x.clone().mask_fill(diagonal(), 2.), [[2., 7.], [2., 2.]]);
        same!(x.int().mask_fill(diagonal(), 9), [[9, 7], [2, 9]]);
        let bools = Tensor::<2, Bool>::from_data([[false, true], [false, false]], device);
        same!(
            bools.mask_fill(diagonal(), true),
            [[true, true], [false, true]]
        );

        let infinite = Tensor::<2>::full([2, 2], f32::NEG_INFINITY, device);
        let none = f32::NEG_INFINITY;
        same!(
            infinite.mask_fill(diagonal(), 10.),
            [[10., none], [none, 10.]]
        );
        let zeros = Tensor::<4>::zeros([1, 4, 2, 2], device);
        let filled = zeros.mask_fill(diagonal().reshape([1, 1, 2, 2]), 2.);
        same!(filled, [[[[2., 0.], [0., 2.]]; 4]]);
        let mask = Tensor::<1, Bool>::from_data([true, false, true, false], device);
        let flipped = Tensor::<1, Int>::from_data([10, 20, 30, 40], device).flip([0]);
        same!(flipped.mask_fill(mask, -1), [-1, 30, -1, 10]);
    });
}

#[test]
fn fill_of_swapped_dimensions() {
    on_both(|device| {
        let counted = Tensor::<1, Int>::arange(0..16, device).float();
        let x = counted.reshape([2, 2, 4]).swap_dims(0, 2);
        let low = x.clone().lower_equal_scalar(5.);
        same!(
            x.mask_fill(low, -5.),
            [
                [[-5., 8.], [-5., 12.]],
                [[-5., 9.], [-5., 13.]],
                [[-5., 10.], [6., 14.]],
                [[-5., 11.], [7., 15.]],
            ]
        );
    });
}

#[test]
fn replace() {
    on_both(|device| {
        let diagonal = || Tensor::<2, Bool>::from_data([[true, false], [false, true]], device);
        let x = Tensor::<2>::from_data([[1., 7.], [2., 3.]], device);
        let other = Tensor::<2>::from_data([[1.8, 2.8], [3.8, 4.8]], device);
        close!(
            x.clone().mask_where(diagonal(), other),
            [[1.8_f32, 7.], [2., 4.8]]
        );
        let other = Tensor::<2, Int>::from_data([[8, 9], [10, 11]], device);
        same!(x.int().mask_where(diagonal(), other), [[8, 7], [2, 11]]);
        let bools = Tensor::<2, Bool>::from_data([[true, false], [false, false]], device);
        let other = Tensor::<2, Bool>::from_data([[false, true], [true, false]], device);
        same!(
            bools.mask_where(diagonal(), other),
            [[false, false], [false, false]]
        );

        let pair = Tensor::<1, Int>::arange(2..4, device).float();
        let mask = Tensor::<1, Bool>::from_data([true, false], device);
        same!(pair.mask_where(mask, Tensor::ones([1], device)), [1., 3.]);
    });
}

#[test]
fn replace_in_a_broadcast() {
    on_both(|device| {
        let masks = [
            [[true, false], [false, true]],
            [[false, true], [true, false]],
            [[false, false], [false, false]],
            [[true, true], [true, true]],
        ];
        let mask = || Tensor::<3, Bool>::from_data(masks, device);
        let x = Tensor::<1, Int>::arange(2..6, device).reshape([1, 2, 2]);
        let expected = [
            [[1, 3], [4, 1]],
            [[2, 1], [1, 5]],
            [[2, 3], [4, 5]],
            [[1, 1], [1, 1]],
        ];
        let ones = || Tensor::<3, Int>::ones([4, 2, 2], device);
        same!(x.clone().mask_where(mask(), ones()), expected);
        same!(x.float().mask_where(mask(), ones().float()).int(), expected);
    });
}

#[test]
fn replace_not_a_number() {
    on_both(|device| {
        let x = Tensor::<2>::full([2, 3], f32::NAN, device);
        let mask = Tensor::<2, Bool>::from_data([[true, true, true], [true, false, false]], device);
        let other = Tensor::<2>::from_data([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4]], device);
        let nan = f32::NAN;
        close!(
            x.mask_where(mask, other),
            [[0.9, 0.8, 0.7], [0.6, nan, nan]]
        );
    });
}

#[test]
fn fill_gradient() {
    with_gradients(|device| {
        let a = Tensor::<2>::from_data([[1., 7.], [2., 3.]], device).require_grad();
        let b = Tensor::<2>::from_data([[4., 7.], [2., 3.]], device).require_grad();
        let diagonal = Tensor::<2, Bool>::from_data([[true, false], [false, true]], device);
        let grads = a
            .clone()
            .matmul(b.clone())
            .mask_fill(diagonal, 2.)
            .backward();
        same!(a.grad(&grads).unwrap(), [[7., 3.], [4., 2.]]);
        same!(b.grad(&grads).unwrap(), [[2., 1.], [3., 7.]]);
    });
}

#[test]
fn replace_gradient() {
    with_gradients(|device| {
        let matrix = |values: [[f32; 2]; 2]| Tensor::<2>::from_data(values, device).require_grad();
        let (a, b) = (matrix([[1., 7.], [2., 3.]]), matrix([[4., 7.], [2., 3.]]));
        let c = matrix([[8.8, 9.8], [10.8, 11.8]]);
        let diagonal = Tensor::<2, Bool>::from_data([[true, false], [false, true]], device);
        let product = a.clone().matmul(b.clone()).matmul(c.clone());
        let grads = product.mask_where(diagonal, c.clone()).backward();
        close!(a.grad(&grads).unwrap(), [[121.8_f32, 55.], [110.8, 50.]]);
        close!(b.grad(&grads).unwrap(), [[27.4_f32, 33.4], [95., 115.]]);
        close!(c.grad(&grads).unwrap(), [[15., 18.], [23., 29.]]);
    });
}
