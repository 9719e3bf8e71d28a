//! A tensor that is split over this machine's devices and two servers: the checks of `tests/sharded`.
//!
//! The servers are on Iroh: between servers on WebSocket a move can wait for ever (docs/upstream.md).

use burn::tensor::Device;
use scan_testing::tensors::devices;

use crate::servers::{another_iroh, iroh};

#[macro_use]
#[path = "../sharded/checks/mod.rs"]
mod checks;

/// The CPU, the Cube device where there is one, and two servers.
fn on_all_devices(check: impl Fn(&[Device])) {
    let servers = [iroh(), another_iroh()];
    let cube = devices::cube().map(|cube| cube.device.clone());
    let local = [devices::flex()].into_iter().chain(cube);
    let remote = servers.iter().map(|server| (**server).clone());
    check(&local.chain(remote).collect::<Vec<_>>());
}

/// Stamps each check as a test.
macro_rules! beyond_this_machine {
    ($($module:ident::$check:ident),* $(,)?) => {$(
        #[test]
        fn $check() {
            on_all_devices(checks::$module::$check);
        }
    )*};
}

every_check!(beyond_this_machine);

/// Fewer runs than on this machine: each one waits for the servers many times.
#[test]
fn bits_stay_under_load() {
    on_all_devices(|devices| checks::bits::bits_stay_under_load(devices, 15));
}
