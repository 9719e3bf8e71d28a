//! `install()` after a tensor operation says that it came too late and what to do. It leaves Burn unchanged.

use crate::fusion_support::{Host, device, floats, planned};
use burn_scan::InstallError;

processes! {
    fn install_late() {
        let Some(device) = device() else {
            return;
        };
        for _ in 0..2 {
            let error = burn_scan::install().expect_err("a tensor operation has run");
            assert!(matches!(error, InstallError::TooLate), "{error:?}");
            let message = error.to_string();
            for part in [
                "burn_scan::install()",
                "too late",
                "start of `main`",
                "inclusive_cumsum",
            ] {
                assert!(message.contains(part), "{part:?} is missing in: {message}");
            }
        }

        let x = floats(&device, [64]);
        let (sums, plan) = planned(&device, || x.clone().cumsum(0));
        assert_eq!(plan, "_(CumSum)");
        assert_eq!(Host::of(sums), Host::of(x).cumsum(0));
    }
}
