//! Several threads make the first call at the same time, and every call is Ok.

use crate::fusion_support::{device, floats, planned};
use std::sync::Barrier;

processes! {
    fn install_from_threads() {
        const THREADS: usize = 8;
        let barrier = Barrier::new(THREADS);
        std::thread::scope(|scope| {
            let first = || {
                barrier.wait();
                burn_scan::install()
            };
            let calls: Vec<_> = (0..THREADS).map(|_| scope.spawn(first)).collect();
            for call in calls {
                call.join()
                    .expect("no panic")
                    .expect("a first call among others");
            }
        });

        if let Some(device) = device() {
            let x = floats(&device, [64]);
            let (_, plan) = planned(&device, || x.cumsum(0));
            assert_eq!(plan, "Scan(CumSum)");
        }
    }
}
