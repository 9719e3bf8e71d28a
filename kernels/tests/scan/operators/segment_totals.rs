//! Totals of segments by every routine, also by routines that tensors of the tests' size would not take.

use super::*;
use cubecl_scan::monoid::{Fold, SegmentTotals};
use scan_testing::reference;

#[test]
fn every_routine() {
    let client = client();
    for (launch, shape) in forms() {
        for backwards in [false, true] {
            let view = View::contiguous(&shape);
            let data = values(view.elements(), ScanOp::Sum);
            let starts = starts(view.elements());
            let flags = client.create_from_slice(u32::as_bytes(&starts));
            let input = client.create_from_slice(i32::as_bytes(&data));
            let output = client.empty(view.elements() * size_of::<i32>());
            let (inputs, outputs) = (tensor(input, &view), tensor(output.clone(), &view));
            let tensors = ScanTensors::new(vec![inputs], vec![outputs], 1, i32::elem_type_native())
                .segmented(tensor(flags, &view), u32::elem_type_native(), backwards);
            let options = ScanOptions {
                exclusive: false,
                reverse: !backwards,
            };
            scan_operator::<SegmentTotals<Fold>>(&client, tensors, ScanOp::Sum, options, launch)
                .expect("supported");
            let found = read::<i32>(&client, output, view.elements());
            let expected = reference::segment_sums(&data, &starts, &shape, 1, backwards);
            let wrong = (0..found.len()).find(|&i| found[i] != expected[i]);
            assert!(
                wrong.is_none(),
                "{shape:?}, {launch:?}, backwards {backwards}: the first wrong one is {wrong:?}"
            );
        }
    }
}
