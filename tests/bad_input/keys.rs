//! Keys that do not fit the values, and a number of keys of zero.

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;

use super::{Bad, ints, trues};

pub fn bad_calls(device: &Device) -> Vec<Bad<'_>> {
    let none = "`num_keys` is 0, but there are 3 values to place.";
    let keys = move |length| Tensor::<1, Int>::zeros([length], device);
    let too_many =
        |num_keys: usize| format!("`num_keys` is {num_keys}; groups are numbered in 31 bits.");
    let without_keys = table! {
        "Partition By Key", too_many(usize::MAX) => ints(device).partition_by_key(keys(3), usize::MAX);
        "Partition By Key", too_many(1 << 31) => ints(device).partition_by_key(keys(3), 1 << 31);
        "Partition By Key", none => ints(device).partition_by_key(keys(3), 0);
        "Partition By Key", none => ints(device).float().partition_by_key(keys(3), 0);
        "Partition By Key", none => trues(device, [3]).partition_by_key(keys(3), 0);
    };
    let lengths = [0, 2, 4].into_iter().flat_map(move |length| {
        let reason =
            format!("There must be one key per value. Tensor shape: [3], keys shape: [{length}].");
        table! {
            "Partition By Key", reason => ints(device).partition_by_key(keys(length), 2);
            "Partition By Key", reason => trues(device, [3]).partition_by_key(keys(length), 0);
        }
    });
    lengths.chain(without_keys).collect()
}
