//! The elements that a mask selects, and the positions of its trues.

use burn::tensor::{Bool, Device, Int, Tensor};

use super::fusion_support::hooked_device;
use super::{on_both, with_gradients};

/// `mask_select` of a tensor of that kind, on both devices.
macro_rules! mask_select {
    ($($name:ident: $Tensor:ty, $input:expr, $mask:expr => $expected:expr;)*) => {$(
        #[test]
        fn $name() {
            on_both(|device| {
                let mask = Tensor::<_, Bool>::from_data($mask, device);
                same!(<$Tensor>::from_data($input, device).mask_select(mask), $expected);
            });
        }
    )*};
}

mask_select! {
    select_of_a_row: Tensor<1>, [1., 2., 3., 4., 5.], [false, true, false, true, true] => [2., 4., 5.];
    select_of_a_matrix: Tensor<2>, [[1., 2., 3.], [4., 5., 6.]], [[true, false, true], [false, true, false]]
        => [1., 3., 5.];
    select_of_rank_three: Tensor<3>, [[[1., 2.], [3., 4.]], [[5., 6.], [7., 8.]]],
        [[[true, false], [false, true]], [[true, true], [false, false]]] => [1., 4., 5., 6.];
    select_one: Tensor<2>, [[1., 2.], [3., 4.]], [[false, false], [true, false]] => [3.];
    select_of_ints: Tensor<1, Int>, [10, 20, 30, 40], [true, false, false, true] => [10, 40];
    select_of_an_int_matrix: Tensor<2, Int>, [[1, 2, 3], [4, 5, 6]], [[false, true, false], [true, false, true]]
        => [2, 4, 6];
    select_of_bools: Tensor<1, Bool>, [true, false, true], [true, true, false] => [true, false];
}

#[test]
fn select_nothing() {
    on_both(|device| {
        let mask = Tensor::<1, Bool>::from_data([false, false, false], device);
        let found = Tensor::<1>::from_data([1., 2., 3.], device).mask_select(mask);
        assert_eq!(found.dims(), [0]);
        assert!(found.into_data().iter::<f32>().next().is_none());
    });
}

#[test]
fn select_of_views() {
    on_both(|device| {
        let mask = |mask: [bool; 4]| Tensor::<1, Bool>::from_data(mask, device);
        let matrix = Tensor::<2>::from_data([[1., 2.], [3., 4.]], device).transpose();
        let diagonal = mask([true, false, false, true]).reshape([2, 2]);
        same!(matrix.mask_select(diagonal), [1., 4.]);
        let row = Tensor::<1>::from_data([1., 2., 3., 4.], device).flip([0]);
        same!(
            row.mask_select(mask([true, false, true, false]).flip([0])),
            [3., 1.]
        );
        let row = Tensor::<1>::from_data([1., 2., 3., 4., 5., 6.], device).narrow(0, 1, 4);
        same!(row.mask_select(mask([true, false, false, true])), [2., 5.]);
    });
}

#[test]
#[should_panic(expected = "Mask Select")]
fn select_by_a_mask_of_another_length() {
    hooked_device();
    let mask = Tensor::<1, Bool>::from_data([true, false], &Device::flex());
    let _ = Tensor::<1>::from_data([1., 2., 3.], &Device::flex()).mask_select(mask);
}

#[test]
fn select_gradient() {
    with_gradients(|device| {
        let x = Tensor::<2>::from_data([[0., 1., 2.], [3., 4., 5.]], device).require_grad();
        let mask =
            Tensor::<2, Bool>::from_data([[true, false, true], [false, true, false]], device);
        let y = x.clone().mask_select(mask);
        let grads = (y.clone() * y).backward();
        same!(x.grad(&grads).unwrap(), [[0., 0., 4.], [0., 8., 0.]]);

        let x = Tensor::<1>::from_data([1., 2., 3.], device).require_grad();
        let mask = Tensor::<1, Bool>::from_data([false, false, false], device);
        let grads = x.clone().mask_select(mask).sum().backward();
        same!(x.grad(&grads).unwrap(), [0., 0., 0.]);
    });
}

/// Coordinates of the trues, by rows and by columns.
macro_rules! positions {
    ($($name:ident: rank $rank:literal, $mask:expr => $rows:expr, $columns:expr;)*) => {$(
        #[test]
        fn $name() {
            on_both(|device| {
                let mask = || Tensor::<$rank, Bool>::from_data($mask, device);
                same!(mask().argwhere(), $rows);
                let columns = mask().nonzero();
                assert_eq!(columns.len(), $columns.len());
                for (found, expected) in columns.into_iter().zip($columns) {
                    same!(found, expected);
                }
            });
        }
    )*};
}

positions! {
    positions_in_a_row: rank 1, [false, true, false, true, true] => [[1], [3], [4]], [[1, 3, 4]];
    positions_in_a_matrix: rank 2, [[false, false], [false, true], [true, true]]
        => [[1, 1], [2, 0], [2, 1]], [[1, 2, 2], [1, 0, 1]];
    positions_in_rank_three: rank 3, [[[false, false, false], [false, true, false]], [[true, false, true], [true, true, false]]]
        => [[0, 1, 1], [1, 0, 0], [1, 0, 2], [1, 1, 0], [1, 1, 1]],
           [[0, 1, 1, 1, 1], [1, 0, 0, 1, 1], [1, 0, 2, 0, 1]];
}

#[test]
fn positions_of_nothing() {
    on_both(|device| {
        let mask = || Tensor::<1, Bool>::from_data([false; 5], device);
        assert_eq!(mask().argwhere().dims(), [0, 1]);
        assert!(mask().nonzero().is_empty());
    });
}

#[test]
fn positions_gradient() {
    with_gradients(|device| {
        let x = Tensor::<2>::from_data([[1., 2.], [3., 4.]], device).require_grad();
        let w = Tensor::<1>::from_data([-1., 1.], device).require_grad();
        let mask = Tensor::<2, Bool>::from_data([[false, true], [true, false]], device);
        let at = mask.flatten::<1>(0, 1).nonzero().remove(0);
        let kept = x.clone().flatten::<1>(0, 1).select(0, at);
        let product = w
            .clone()
            .unsqueeze_dim::<2>(0)
            .matmul(kept.unsqueeze_dim(1));
        let grads = product.backward();
        same!(x.grad(&grads).unwrap(), [[0., -1.], [1., 0.]]);
        same!(w.grad(&grads).unwrap(), [2., 3.]);
    });
}
