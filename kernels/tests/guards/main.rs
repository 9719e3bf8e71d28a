//! Nothing is written outside of an output or a scratch buffer, and no input is modified.
//!
//! Each buffer lies between guards. The tests check the guards after the launch. Inputs are surrounded by
//! values that would show in a result. Buffers start at every element offset from 0 to 16 that the device
//! binds: WebGPU binds multiples of `min_storage_buffer_offset_alignment` only, and Burn copies a buffer that
//! starts elsewhere on any device. The other offsets are reached as rows of one tensor, because a row starts
//! wherever its stride puts it.

mod compactions;
mod gradients;
mod overrun;
mod permutations;
mod scans;
mod segments;
mod sorts;

use cubecl::client::Client;
use scan_testing::kernels::unsupported;
use scan_testing::watch;

/// The offsets in bytes at which buffers are placed: 0 to 16 elements of `size` bytes, and 1 to 4 of the
/// smallest offsets that the device binds.
fn offsets(client: &Client, size: usize) -> Vec<usize> {
    let smallest = client.properties().memory.alignment as usize;
    let any = !client.name().starts_with("wgpu");
    let (mut bound, unbound): (Vec<usize>, Vec<usize>) =
        (0..=16).partition(|elements| any || elements * size % smallest == 0);
    if !unbound.is_empty() {
        unsupported(&format!(
            "{} binds no element offsets {unbound:?}",
            client.name()
        ));
    }
    bound.iter_mut().for_each(|elements| *elements *= size);
    bound.extend((1..=4).map(|times| times * smallest));
    bound.sort_unstable();
    bound.dedup();
    bound
}

/// Calls `launches`, then checks the guards around their scratch memory.
fn with_guarded_scratch<R>(client: &Client, launches: impl FnOnce() -> R) -> R {
    let mut result = None;
    let scratch = watch(|_| 0, || result = Some(launches()));
    for scratch in &scratch {
        scratch.read::<u8>(client);
    }
    result.expect("launched")
}
