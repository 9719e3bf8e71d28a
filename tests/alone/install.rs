//! After the first time `install()` is Ok again: at once, after tensor operations, and from another thread.

use crate::fusion_support::{device, floats, planned};

processes! {
    fn install_again() {
        burn_scan::install().expect("nothing has run yet");
        burn_scan::install().expect("the second call finds the first one's work done");
        let Some(device) = device() else {
            return;
        };
        burn_scan::install().expect("tensor operations do not undo an install");
        let late = std::thread::spawn(burn_scan::install);
        late.join().expect("no panic").expect("any thread may ask");

        let x = floats(&device, [64]);
        let (_, plan) = planned(&device, || x.cumsum(0));
        assert_eq!(plan, "Scan(CumSum)");
    }
}
