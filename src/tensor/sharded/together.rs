//! On all devices at once.

use super::super::transfer::is_eager;
use burn::tensor::kind::Basic;
use burn::tensor::{Device, Tensor};

/// What `operation` makes of each shard, given its number. Devices that queue operations are given theirs first, and
/// work on them while this thread does those of the CPU.
pub(super) fn together<const D: usize, K: Basic, T>(
    shards: &[Tensor<D, K>],
    mut operation: impl FnMut(&Tensor<D, K>, usize) -> Option<T>,
) -> Vec<Option<T>> {
    let mut results: Vec<Option<T>> = shards.iter().map(|_| None).collect();
    let devices: Vec<Device> = shards.iter().map(Tensor::device).collect();
    for eager in [false, true] {
        for (number, shard) in shards.iter().enumerate() {
            if is_eager(&devices[number]) == eager {
                results[number] = operation(shard, number);
            }
        }
        if !eager {
            begin(&devices);
        }
    }
    results
}

/// Has what is queued begun on several devices, of which otherwise one would wait for the other to be read. One
/// device alone needs nobody's word.
fn begin(devices: &[Device]) {
    if devices.iter().all(|device| *device == devices[0]) {
        return;
    }
    for (number, device) in devices.iter().enumerate() {
        if !is_eager(device) && !devices[..number].contains(device) {
            // A device that fails says so to whoever reads from it.
            let _ = device.flush();
        }
    }
}
