//! Grouping by key.

use crate::small_tile;
use cubecl_scan::scan::LaunchOptions;
use scan_testing::kernels::*;

fn check_keys(keys: &[i32], num_keys: usize) {
    let client = client();
    let expected = grouped(keys, num_keys);
    // At the device's own tuning, then in small and in large tiles.
    let large_tile = LaunchOptions {
        units: Some(256),
        ..launch()
    };
    for launch in [LaunchOptions::default(), small_tile(), large_tile] {
        let found = device_groups(&client, keys, num_keys, launch, 0);
        let what = format!("{} keys below {num_keys}, {launch:?}", keys.len());
        assert_eq!(found.0, expected.0, "destinations of {what}");
        assert_eq!(found.1, expected.1, "offsets of {what}");
        let values: Vec<u32> = (0..keys.len() as u32).map(|at| !at).collect();
        let found = device_partition(&client, keys, &values, num_keys, launch, 0);
        assert_eq!(found.0, moved_to(&expected.0, &values), "values of {what}");
        assert_eq!(found.1, expected.1, "offsets beside values of {what}");
    }
}

#[test]
fn stable_groups_of_every_number_of_keys() {
    let key = |i: usize, num_keys: usize| {
        let mixed = mixed(i);
        // About a fifth of the keys are out of range, on either side.
        match mixed % 10 {
            0 => -1 - (mixed % 3) as i32,
            1 => num_keys as i32 + (mixed % 300) as i32,
            _ => (mixed as usize % num_keys) as i32,
        }
    };
    for (n, num_keys) in [
        (0, 3),
        (1, 1),
        (255, 8),
        (257, 255),
        (1000, 256),
        (1000, 257),
        (3000, 65_536),
        // Several tiles, the last one shorter.
        (1025, 64),
        (20_011, 300),
        (40_000, 4096),
        (40_000, 4097),
    ] {
        let keys: Vec<i32> = (0..n).map(|i| key(i, num_keys)).collect();
        check_keys(&keys, num_keys);
    }
}

#[test]
fn all_alike_and_all_out_of_range() {
    check_keys(&[5; 700], 6);
    check_keys(&[6; 700], 6);
    check_keys(&[i32::MIN, i32::MAX, 0], 1);
}
