//! Gradients of sorts, of the largest elements of a line, of values and keys that are sorted, and of results of a given
//! size.

use burn::tensor::{Device, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::views::masks;
use scan_testing::tensors::{axis, mask, oracle, tensor};

use super::{check, weights};

on_every_device![
    whole_lines,
    the_largest,
    values_and_keys,
    a_given_size,
    no_elements,
];

/// Puts the weights of the first `k` elements of each line back where the elements came from.
fn back(weights: &[f64], sources: &[usize], [outer, len, inner]: [usize; 3]) -> Vec<f64> {
    let k = weights.len() / (outer * inner);
    let mut gradient = vec![0.0; outer * len * inner];
    for (i, &weight) in weights.iter().enumerate() {
        let (plane, position, column) = (i / (k * inner), i / inner % k, i % inner);
        let source = sources[(plane * len + position) * inner + column];
        gradient[(plane * len + source) * inner + column] = weight;
    }
    gradient
}

/// Numbers of which many are equal.
fn ties(n: usize) -> Vec<f64> {
    (0..n).map(|i| (hash(i) % 40) as f64 - 20.0).collect()
}

fn whole_lines(device: &Device) {
    for shape in [[5, 7, 4], [2, 900, 3], [6, 1, 700]] {
        let values = ties(shape.iter().product());
        for (dim, order) in [
            (0, SortOrder::Ascending),
            (1, SortOrder::Descending),
            (2, SortOrder::Ascending),
        ] {
            let descending = order == SortOrder::Descending;
            let sources = oracle::sort(&values, &shape, dim, descending);
            let adjoint = |w: &[f64]| back(w, &sources, axis(&shape, dim));
            let sort = |x: Tensor<3>| x.radix_sort(dim, order);
            check("sort", &values, shape, device, sort, adjoint);
            let sort = |x: Tensor<3>| x.radix_sort_with_indices(dim, order).0;
            check("with positions", &values, shape, device, sort, adjoint);
        }
    }
}

fn the_largest(device: &Device) {
    for (shape, k) in [([5, 30, 4], 3), ([3, 700, 2], 40), ([2, 6, 1], 6)] {
        let values = ties(shape.iter().product());
        let sources = oracle::sort(&values, &shape, 1, true);
        let adjoint = |w: &[f64]| back(w, &sources, axis(&shape, 1));
        let largest = |x: Tensor<3>| x.radix_topk(k, 1);
        check("largest", &values, shape, device, largest, adjoint);
        let largest = |x: Tensor<3>| x.radix_topk_with_indices(k, 1).0;
        check("with positions", &values, shape, device, largest, adjoint);
    }
    let values = ties(9000);
    let sources = oracle::sort(&values, &[9000], 0, true);
    let adjoint = |w: &[f64]| back(w, &sources, [1, 9000, 1]);
    let one = |x: Tensor<1>| x.radix_topk(1, 0);
    check("the largest", &values, [9000], device, one, adjoint);
}

fn values_and_keys(device: &Device) {
    for n in [40, 5000] {
        let keys = ties(n);
        let sources = oracle::sort(&keys, &[n], 0, false);
        let adjoint = |w: &[f64]| back(w, &sources, [1, n, 1]);
        let narrow: Vec<f32> = keys.iter().map(|&key| key as f32).collect();
        let order = SortOrder::Ascending;

        let alike = |x: &Tensor<1>| tensor::<f32, 1>(&narrow, [n], &x.device());
        let values = |x: Tensor<1>| {
            let keys = alike(&x);
            x.radix_sort_by_key(keys, order).0
        };
        check("values", &weights(n), [n], device, values, adjoint);
        let by = |x: Tensor<1>| alike(&x).radix_sort_by_key(x, order).1;
        check("keys", &keys, [n], device, by, adjoint);

        let tiles: Vec<i32> = keys.iter().map(|&key| key as i32 + 20).collect();
        let values = |x: Tensor<1>| {
            let tiles = tensor::<i32, 1>(&tiles, [n], &x.device());
            x.radix_sort_by_key_bits(tiles, 6, order).0
        };
        check("by bits", &weights(n), [n], device, values, adjoint);
    }
}

fn a_given_size(device: &Device) {
    let n = 700;
    for (name, kept) in masks(n) {
        let on_device = mask(&kept, [n], device);
        for size in [3, n / 3, n, n + 50] {
            let adjoint = |w: &[f64]| {
                let mut w = w.to_vec();
                w.resize(n, 0.0);
                oracle::expand(&w, &kept)
            };
            let into = |x: Tensor<1>| x.compact_by_mask_into(on_device.clone(), size).0;
            check(name, &weights(n), [n], device, into, adjoint);
        }
    }
}

/// Nothing is selected, and the result is still part of the graph.
fn no_elements(device: &Device) {
    let zeros = |n: usize| move |_: &[f64]| vec![0.0; n];
    let none = |x: Tensor<2>| x.radix_topk(0, 1);
    check("k of 0", &weights(12), [3, 4], device, none, zeros(12));
    let on_device = mask(&[true; 9], [9], device);
    let none = |x: Tensor<1>| x.compact_by_mask_into(on_device.clone(), 0).0;
    check("size 0", &weights(9), [9], device, none, zeros(9));
}
