//! The largest keys of lines.

use super::*;

#[test]
fn of_every_number() {
    let client = client();
    let tile = small_tile_keys(&client);
    let lens = [1, 9, tile, tile + 1, 10 * tile + 5];
    for len in lens {
        // Half a tile is the most that a round keeps.
        for k in [0, 1, 3, tile / 2, tile / 2 + 1, tile, len - 1, len] {
            if k <= len {
                let keys: Vec<u32> = (0..2 * len).map(|i| mixed(i) % 50).collect();
                check_sort(
                    &client,
                    "largest",
                    &keys,
                    len,
                    SortForm::Largest(k),
                    small_tile(),
                );
            }
        }
    }
}

#[test]
fn of_equal_keys_the_first() {
    let client = client();
    check_sort(
        &client,
        "equal",
        &[5i32; 1000],
        1000,
        SortForm::Largest(10),
        small_tile(),
    );
}

#[test]
fn nan_is_the_largest() {
    let client = client();
    let keys: Vec<f32> = (0..600)
        .map(|i| {
            if i % 100 == 7 {
                f32::NAN
            } else {
                mixed(i) as f32
            }
        })
        .collect();
    check_sort(
        &client,
        "NaN",
        &keys,
        600,
        SortForm::Largest(9),
        small_tile(),
    );
}

/// At the device's own tuning, in one and in two rounds.
#[test]
fn of_long_lines() {
    let client = client();
    for (len, k) in [(20_000, 64), (151_936, 50)] {
        let keys: Vec<f32> = (0..2 * len).map(|i| mixed(i) as f32 - 3e4).collect();
        check_sort(
            &client,
            "long lines",
            &keys,
            len,
            SortForm::Largest(k),
            launch(),
        );
    }
}
