//! A tensor that is split over devices gives what one device gives, wherever its shards lie.
//!
//! The checks are in `checks`, as functions of the devices on which the shards lie. `tests/remote` uses them with other
//! devices.

#[macro_use]
extern crate scan_testing;

#[macro_use]
mod checks;
mod refusals;

use burn::tensor::Device;
use scan_testing::tensors::devices;

/// Where shards lie: all on one device, or on every device in turn. Where there is only one device, [`devices::cube`]
/// prints `Unsupported`.
fn placements() -> Vec<Vec<Device>> {
    let devices = devices::devices();
    let alone = devices.iter().map(|device| vec![device.clone(); 3]);
    let mut placements: Vec<Vec<Device>> = alone.collect();
    if devices.len() > 1 {
        placements.push(devices.iter().cycle().take(4).cloned().collect());
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

every_check!(on_every_placement);

/// The placement in turn on all devices. Each of the others would take as long.
#[test]
fn bits_stay_under_load() {
    let devices = placements().pop().expect("there is a device");
    checks::bits::bits_stay_under_load(&devices, 50);
}

// The rest of the checks, on local devices only.
on_every_placement![
    scans::every_dtype,
    scans::one_shard_is_a_plain_scan,
    recurrences::halves_of_recurrences,
    recurrences::ends_of_the_range,
    split_and_compact::shards_stay_on_their_devices,
    split_and_compact::selected_booleans,
];

#[cfg(feature = "autodiff")]
on_every_placement![gradients::of_ties, gradients::of_empty_shards];
