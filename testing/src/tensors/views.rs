//! Tensors that are not contiguous, and masks of every density.

use burn::tensor::kind::Basic;
use burn::tensor::{Tensor, s};

use super::devices::is_remote;
use super::element::hash;

/// Views of a tensor that has at least 2 elements along each dimension, broadcasts included.
pub fn views<K: Basic>(base: &Tensor<3, K>) -> Vec<(&'static str, Tensor<3, K>)> {
    let [a, b, c] = base.dims();
    // Burn 0.22.1 sends permutations and flips of float tensors, and permutations of bool tensors, to a remote
    // device as operations on integers, and Flex refuses them there. Other operations make the same views.
    let is_remote = is_remote(&base.device());
    let base = || base.clone();
    let permuted = if is_remote {
        base().swap_dims(0, 2).swap_dims(1, 2)
    } else {
        base().permute([2, 0, 1])
    };
    let flipped = if is_remote {
        base().slice(s![.., ..;-1, ..;-1])
    } else {
        base().flip([1, 2])
    };
    vec![
        ("transposed", base().swap_dims(1, 2)),
        ("permuted", permuted),
        ("sliced", base().slice(s![1..a, 0..b - 1, 1..c])),
        ("from the second on", base().slice(s![1..a, .., ..])),
        ("flipped", flipped),
        ("stepped", base().slice(s![.., ..;2, ..;2])),
        ("stepped backwards", base().slice(s![.., ..;-2, ..])),
        (
            "broadcast in front",
            base().slice(s![0..1, .., ..]).expand([a + 1, b, c]),
        ),
        (
            "broadcast in the middle",
            base().slice(s![.., 1..2, ..]).expand([a, b + 2, c]),
        ),
        (
            "broadcast at the end",
            base().slice(s![.., .., 0..1]).expand([a, b, c + 3]),
        ),
    ]
}

/// Masks of length `n` from empty to full.
pub fn masks(n: usize) -> Vec<(&'static str, Vec<bool>)> {
    let mask = |name, member: &dyn Fn(usize) -> bool| (name, (0..n).map(member).collect());
    vec![
        mask("none", &|_| false),
        mask("all", &|_| true),
        mask("first", &|i| i == 0),
        mask("last", &|i| i + 1 == n),
        mask("one in 1000", &|i| hash(i).is_multiple_of(1000)),
        mask("half", &half),
        mask("all but one in 1000", &|i| !hash(i).is_multiple_of(1000)),
        mask("alternating", &|i| i % 2 == 1),
        mask("runs", &|i| i / 97 % 3 == 1),
    ]
}

/// Whether `i` is in a random half.
pub fn half(i: usize) -> bool {
    hash(i) & 4096 != 0
}
