//! A reverse scan never makes the two inner tensors of its sandwich, and leaves nothing behind. The container of
//! handles is shared by all streams of a device, so this is the only test of its process.
#![cfg(all(feature = "fusion", feature = "wgpu"))]

mod fusion_support;

use burn::tensor::StreamId;
use burn_fusion::inspect::FusionInspector;
use fusion_support::{Host, floats, hooked_device};

#[test]
fn a_sandwich_leaves_one_handle() {
    let Some(device) = hooked_device() else {
        return;
    };
    let x = floats(&device, [128]);
    let expected = Host::of(x.clone()).flip(0).cumsum(0).flip(0);
    let inspector = FusionInspector::install(StreamId::current());
    // A snapshot is taken with every operation: this one makes the baseline.
    let warm = x.clone() + 1.0;
    device.sync().expect("the device syncs");
    inspector.set_baseline();

    let output = x.clone().flip([0]).cumsum(0).flip([0]);
    device.sync().expect("the device syncs");
    assert_eq!(
        inspector.new_handles_since_baseline().len(),
        1,
        "the output alone is new"
    );
    Host::of(output).assert_close(&expected);

    // The last use of an input frees it with the scan.
    let output = x.flip([0]).cumsum(0).flip([0]);
    device.sync().expect("the device syncs");
    assert_eq!(
        inspector.new_handles_since_baseline().len(),
        1,
        "the output alone is new"
    );
    Host::of(output).assert_close(&expected);
    drop(warm);
}
