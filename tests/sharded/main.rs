//! A tensor that is cut over devices gives what one device gives, wherever its shards lie.
//!
//! What is asked is in `checks`, as functions of the devices on which the shards lie, so that a binary with other
//! devices can ask the same.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod checks;
mod refusals;

use burn::tensor::Device;
use common::devices;

/// Where shards lie: all on one device, on every device in turns, and beginning with another one. Says `Unsupported`
/// where there is only one device, through [`devices::cube`].
fn placements() -> Vec<Vec<Device>> {
    let devices = devices::devices();
    let turns = |first: usize, shards: usize| -> Vec<Device> {
        let devices = devices.iter().cycle().skip(first).take(shards);
        devices.cloned().collect()
    };
    let alone = devices.iter().map(|device| vec![device.clone(); 3]);
    let mut placements: Vec<Vec<Device>> = alone.collect();
    if devices.len() > 1 {
        placements.extend([turns(0, 4), turns(1, 3)]);
    }
    placements
}

/// Stamps each check as a test over all placements.
macro_rules! on_every_placement {
    ($($module:ident::$check:ident),* $(,)?) => {$(
        #[test]
        fn $check() {
            for devices in placements() {
                checks::$module::$check(&devices);
            }
        }
    )*};
}

on_every_placement![
    scans::integers,
    scans::every_dtype,
    scans::exact_floats,
    scans::halves_are_rounded_once,
    scans::what_is_not_finite,
    scans::random_floats,
    scans::one_shard_is_a_plain_scan,
    scans::nothing_to_scan,
    scans::more_shards_than_devices,
    bits::bits_stay_under_load,
    recurrences::exact_recurrences,
    recurrences::random_recurrences,
    recurrences::decays_that_broadcast,
    recurrences::halves_of_recurrences,
    moves::split_and_gather,
    moves::shards_stay_on_their_devices,
    moves::compaction,
    moves::compaction_and_scan,
];

#[cfg(feature = "autodiff")]
on_every_placement![
    gradients::of_scans,
    gradients::of_ties,
    gradients::of_recurrences,
    gradients::of_compaction,
    gradients::of_empty_shards,
];
