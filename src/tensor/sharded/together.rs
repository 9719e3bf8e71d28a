//! Operations on all devices at once.

use crate::check::is_cpu;
use burn::tensor::kind::Basic;
use burn::tensor::{Device, Tensor};

/// The results of `operation` for each shard, given its number. Devices that queue operations get theirs first, and
/// work on them while this thread does the operations of the CPU.
pub(super) fn together<const D: usize, K: Basic, T>(
    shards: &[Tensor<D, K>],
    mut operation: impl FnMut(&Tensor<D, K>, usize) -> Option<T>,
) -> Vec<Option<T>> {
    let mut results: Vec<Option<T>> = shards.iter().map(|_| None).collect();
    let devices: Vec<Device> = shards.iter().map(Tensor::device).collect();
    for eager in [false, true] {
        for (number, shard) in shards.iter().enumerate() {
            if is_cpu(devices[number].as_dispatch()) == eager {
                results[number] = operation(shard, number);
            }
        }
        if !eager {
            begin(&devices);
        }
    }
    results
}

/// Makes several devices start their queued operations. Without this, a device would start only when it is read, after
/// the devices before it. A single device needs no flush.
fn begin(devices: &[Device]) {
    if devices.iter().all(|device| *device == devices[0]) {
        return;
    }
    for (number, device) in devices.iter().enumerate() {
        if !is_cpu(device.as_dispatch()) && !devices[..number].contains(device) {
            // A device that fails reports it when it is read.
            let _ = device.flush();
        }
    }
}
