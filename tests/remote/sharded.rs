//! A tensor cut over this machine's devices and two servers: what `tests/sharded` asks of local devices.

use burn::tensor::Device;

use crate::common::devices;
use crate::servers::{another_websocket, websocket};

#[path = "../sharded/checks/mod.rs"]
mod checks;

/// The CPU, the Cube device where there is one, and two servers.
fn on_all_devices(check: impl Fn(&[Device])) {
    let servers = [websocket(), another_websocket()];
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

beyond_this_machine![
    scans::integers,
    scans::exact_floats,
    scans::halves_are_rounded_once,
    scans::what_is_not_finite,
    scans::random_floats,
    scans::nothing_to_scan,
    scans::more_shards_than_devices,
    bits::bits_stay_under_load,
    recurrences::exact_recurrences,
    recurrences::random_recurrences,
    recurrences::decays_that_broadcast,
    moves::split_and_gather,
    moves::compaction,
    moves::compaction_and_scan,
    gradients::of_scans,
    gradients::of_recurrences,
    gradients::of_compaction,
];
