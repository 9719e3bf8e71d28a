//! The memory of a sequence that arrives in chunks.

use burn::tensor::{Device, Tensor};
use burn_scan::prelude::*;

use crate::counted::live;

const CHUNKS: usize = 10_000;

/// How much the process's memory grows over the last nine tenths of the chunks.
fn growth(mut next: impl FnMut()) -> usize {
    (0..CHUNKS / 10).for_each(|_| next());
    let before = live();
    (CHUNKS / 10..CHUNKS).for_each(|_| next());
    live().saturating_sub(before)
}

processes! {
    fn memory_does_not_grow_with_the_sequence() {
        let plain = Device::flex();
        let tracking = Device::flex().autodiff();
        let chunk = |device: &Device| Tensor::<2>::full([4, 64], 0.5, device);
        let sums = || RunningScan::new(1, ScanOp::Sum, ScanOptions::default());

        let mut scan = sums();
        let evaluated = growth(|| drop(scan.next(chunk(&plain))));
        let mut recurrence = RunningRecurrence::new(1);
        let decoded = growth(|| drop(recurrence.next(chunk(&plain), chunk(&plain))));
        let (mut scan, mut recurrence) = (sums(), RunningRecurrence::new(1));
        let trained = growth(|| {
            let x = chunk(&tracking).require_grad();
            let sums = scan.next(x.clone());
            let states = recurrence.next(x.clone(), chunk(&tracking));
            let gradients = (sums + states).sum().backward();
            assert!(x.grad(&gradients).is_some());
            scan.detach();
            recurrence.detach();
        });
        for (what, growth) in [
            ("evaluation", evaluated),
            ("decoding", decoded),
            ("training", trained),
        ] {
            assert!(growth < 1 << 20, "{what} keeps {growth} bytes");
        }

        // A sequence whose graph is kept shows that the size of the process tells.
        let (mut scan, mut kept) = (sums(), Vec::new());
        let graph = growth(|| kept.push(scan.next(chunk(&tracking).require_grad())));
        assert!(graph > 4 << 20, "a graph keeps {graph} bytes");
    }
}
