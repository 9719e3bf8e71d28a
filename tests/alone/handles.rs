//! A reverse scan never makes the two tensors inside its prologue and epilogue. A scan with a load and a store
//! never makes those around it. Neither leaves any handle. All streams of a device share the container of handles, so
//! this is the only test of its process.

use crate::fusion_support::{Host, floats, hooked_device};
use burn::tensor::StreamId;
use burn_fusion::inspect::FusionInspector;

processes! {
    fn a_flip_scan_flip_leaves_one_handle() {
        let Some(device) = hooked_device() else {
            return;
        };
        let x = floats(&device, [64, 2]);
        let expected = Host::of(x.clone()).flip(0).cumsum(0).flip(0);
        let inspector = FusionInspector::install(StreamId::current());
        // Each operation takes a snapshot. This one makes the baseline.
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

        let input = Host::of(x.clone());
        let chained = (x.clone() * 2.0 + 1.0).cumsum(0) * 3.0 + 4.0;
        device.sync().expect("the device syncs");
        let handles = inspector.new_handles_since_baseline().len();
        assert_eq!(handles, 2, "the two outputs alone are new");
        let sums = input.map(|v| v * 2.0 + 1.0).cumsum(0);
        Host::of(chained).assert_close(&sums.map(|v| v * 3.0 + 4.0));
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
}
