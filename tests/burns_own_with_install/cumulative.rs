//! `cumsum`, `cumprod`, `cummax`, `cummin` and their gradients.

use burn::tensor::{Int, Tensor};

use super::{hooked, on_both, with_gradients};

/// `operation(dim)` of a matrix, as floats and as ints.
macro_rules! cumulative {
    ($($name:ident: $op:ident($dim:expr) of $input:expr => $expected:expr;)*) => {$(
        #[test]
        fn $name() {
            on_both(|device| {
                let ints = || Tensor::<2, Int>::from_data($input, device);
                same!(hooked(device, || ints().$op($dim)), $expected);
                same!(hooked(device, || ints().float().$op($dim)).int(), $expected);
            });
        }
    )*};
}

cumulative! {
    cumsum_rows: cumsum(0) of [[1, 2, 3], [4, 5, 6]] => [[1, 2, 3], [5, 7, 9]];
    cumsum_columns: cumsum(1) of [[1, 2, 3], [4, 5, 6]] => [[1, 3, 6], [4, 9, 15]];
    cumsum_last: cumsum(-1) of [[1, 2, 3], [4, 5, 6]] => [[1, 3, 6], [4, 9, 15]];
    cumprod_rows: cumprod(0) of [[1, 2, 3], [4, 5, 6]] => [[1, 2, 3], [4, 10, 18]];
    cumprod_columns: cumprod(1) of [[1, 2, 3], [4, 5, 6]] => [[1, 2, 6], [4, 20, 120]];
    cumprod_last: cumprod(-1) of [[1, 2, 3], [4, 5, 6]] => [[1, 2, 6], [4, 20, 120]];
    cummin_rows: cummin(0) of [[3, 1, 4], [2, 5, 1]] => [[3, 1, 4], [2, 1, 1]];
    cummin_columns: cummin(1) of [[3, 1, 4], [2, 5, 1]] => [[3, 1, 1], [2, 2, 1]];
    cummin_last: cummin(-1) of [[3, 1, 4], [2, 5, 1]] => [[3, 1, 1], [2, 2, 1]];
    cummax_rows: cummax(0) of [[3, 1, 4], [1, 5, 2]] => [[3, 1, 4], [3, 5, 4]];
    cummax_columns: cummax(1) of [[3, 1, 4], [1, 5, 2]] => [[3, 3, 4], [1, 5, 5]];
    cummax_last: cummax(-1) of [[3, 1, 4], [1, 5, 2]] => [[3, 3, 4], [1, 5, 5]];
}

#[test]
fn cumsum_of_a_transposed_matrix() {
    on_both(|device| {
        let x = Tensor::<2>::from_data([[1., 2.], [3., 4.]], device).swap_dims(0, 1);
        same!(hooked(device, || x.clone().cumsum(1)), [[1., 4.], [2., 6.]]);
    });
}

#[test]
fn along_the_last_of_three() {
    on_both(|device| {
        let counted = [[[1., 2.], [3., 4.]], [[5., 6.], [7., 8.]]];
        let x = || Tensor::<3>::from_data(counted, device);
        same!(
            hooked(device, || x().cumsum(2)),
            [[[1., 3.], [3., 7.]], [[5., 11.], [7., 15.]]]
        );
        same!(
            hooked(device, || x().cumprod(2)),
            [[[1., 2.], [3., 12.]], [[5., 30.], [7., 56.]]]
        );
        let x = || Tensor::<3>::from_data([[[4., 2.], [3., 1.]], [[5., 6.], [7., 8.]]], device);
        same!(
            hooked(device, || x().cummin(2)),
            [[[4., 2.], [3., 1.]], [[5., 5.], [7., 7.]]]
        );
        let x = || Tensor::<3>::from_data([[[1., 3.], [2., 4.]], [[5., 2.], [6., 1.]]], device);
        same!(
            hooked(device, || x().cummax(2)),
            [[[1., 3.], [2., 4.]], [[5., 5.], [6., 6.]]]
        );
    });
}

/// `Σ f(a·b)` for two matrices, and the gradients of both.
macro_rules! matmul_gradients {
    ($($name:ident: $a:expr, $b:expr, |$first:ident, $product:ident| $loss:expr => $grad_a:expr, $grad_b:expr;)*) => {$(
        #[test]
        fn $name() {
            with_gradients(|device| {
                let a = Tensor::<2>::from_data($a, device).require_grad();
                let b = Tensor::<2>::from_data($b, device).require_grad();
                let grads = hooked(device, || {
                    let ($first, $product) = (a.clone(), a.clone().matmul(b.clone()));
                    $loss.sum().backward()
                });
                close!(a.grad(&grads).unwrap(), $grad_a);
                close!(b.grad(&grads).unwrap(), $grad_b);
            });
        }
    )*};
}

matmul_gradients! {
    cumsum_gradient_rows: [[1., 7.], [-2., -3.]], [[4., -7.], [2., 3.]], |a, ab| a * ab.cumsum(0)
        => [[-14., 24.], [17., 6.]], [[3., 10.], [-1., 37.]];
    cumsum_gradient_columns: [[1., 7.], [-2., -3.]], [[4., -7.], [2., 3.]], |a, ab| a * ab.cumsum(1)
        => [[1., 69.], [-13., -28.]], [[18., 13.], [71., 58.]];
    cumsum_gradient_of_two_branches: [[0., 1.], [3., 4.]], [[6., 7.], [9., 10.]], |_a, ab| ab.clone().cumsum(1) * ab
        => [[371., 542.], [2246., 3281.]], [[507., 528.], [704., 733.]];
}

/// The gradient of `Σ operation(x)`.
macro_rules! gradients {
    ($($name:ident: $op:ident($dim:expr) at $input:expr, rank $rank:literal => $expected:expr;)*) => {$(
        #[test]
        fn $name() {
            with_gradients(|device| {
                let x = Tensor::<$rank>::from_data($input, device).require_grad();
                let grads = hooked(device, || x.clone().$op($dim).sum().backward());
                close!(x.grad(&grads).unwrap(), $expected);
            });
        }
    )*};
}

gradients! {
    cumprod_gradient: cumprod(0) at [2., 3., 4.], rank 1 => [16., 10., 6.];
    cumprod_gradient_columns: cumprod(1) at [[1., 2., 3.], [4., 5., 6.]], rank 2
        => [[9., 4., 2.], [36., 28., 20.]];
    cummax_gradient: cummax(0) at [1., 3., 2.], rank 1 => [1., 2., 0.];
    cummax_gradient_columns: cummax(1) at [[1., 3., 2.], [2., 5., 4.]], rank 2 => [[1., 2., 0.], [1., 2., 0.]];
    cummax_gradient_of_a_tie: cummax(0) at [1., 3., 3., 2.], rank 1 => [1., 1., 2., 0.];
    cummax_gradient_of_equals: cummax(0) at [2., 2., 2.], rank 1 => [1., 1., 1.];
    cummax_gradient_rising: cummax(0) at [1., 2., 3., 4.], rank 1 => [1., 1., 1., 1.];
    cummax_gradient_of_ties: cummax(1) at [[1., 3., 3., 2.], [2., 5., 5., 4.]], rank 2
        => [[1., 1., 2., 0.], [1., 1., 2., 0.]];
    cummin_gradient: cummin(0) at [3., 2., 4.], rank 1 => [1., 2., 0.];
    cummin_gradient_columns: cummin(1) at [[3., 2., 4.], [5., 1., 3.]], rank 2 => [[1., 2., 0.], [1., 2., 0.]];
    cummin_gradient_of_a_tie: cummin(0) at [3., 2., 2., 4.], rank 1 => [1., 1., 2., 0.];
    cummin_gradient_of_equals: cummin(0) at [2., 2., 2.], rank 1 => [1., 1., 1.];
    cummin_gradient_falling: cummin(0) at [5., 4., 3., 2.], rank 1 => [1., 1., 1., 1.];
    cummin_gradient_of_ties: cummin(1) at [[3., 2., 2., 4.], [5., 1., 1., 3.]], rank 2
        => [[1., 1., 2., 0.], [1., 1., 2., 0.]];
}
