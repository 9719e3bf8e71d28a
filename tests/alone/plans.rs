//! Burn's plans of graphs without a scan: the hook keeps them.

use crate::fusion_support::{device, hooked_device, plain_graphs};

processes! {
    fn without_install() {
        if let Some(device) = device() {
            plain_graphs::assert_plans(&device);
        }
    }

    fn with_install() {
        if let Some(device) = hooked_device() {
            plain_graphs::assert_plans(&device);
        }
    }
}
