//! The carries from shard to shard: the fold of the totals, in order.

use super::super::transfer::transfer;
use burn::tensor::kind::Basic;
use burn::tensor::{Device, Tensor};

/// The shards that have elements, in the order in which a scan visits them. The others add nothing to the carry.
pub(super) fn visited<const D: usize, K: Basic>(
    shards: &[Tensor<D, K>],
    reverse: bool,
) -> Vec<usize> {
    let has_elements = |&number: &usize| shards[number].shape().num_elements() > 0;
    let visited = (0..shards.len()).filter(has_elements);
    if reverse {
        visited.rev().collect()
    } else {
        visited.collect()
    }
}

/// Whether the carry of a shard is handed on.
pub(super) fn is_followed(visited: &[usize], number: usize) -> bool {
    visited
        .split_last()
        .is_some_and(|(_, before)| before.contains(&number))
}

/// The carry of each shard, on its device; none for the first shard that is visited, and for shards without elements.
///
/// `fold` combines the carry of a shard and its total, both on its device, to the carry of the next shard. Only that
/// carry moves.
pub(super) fn handed_on<const D: usize, K: Basic>(
    devices: &[Device],
    visited: &[usize],
    mut fold: impl FnMut(usize, Option<Tensor<D, K>>) -> Tensor<D, K>,
) -> Vec<Option<Tensor<D, K>>> {
    let mut initials = vec![None; devices.len()];
    for pair in visited.windows(2) {
        let [this, next] = [pair[0], pair[1]];
        let carry = fold(this, initials[this].clone());
        initials[next] = Some(transfer(carry, &devices[next]));
    }
    initials
}
