//! Lines of every length and number, and data that breaks passes.

use super::*;
use cubecl_scan::scan::Stall;

/// Keys in `0..range`, so that many are equal.
fn few(n: usize, range: u32) -> Vec<u32> {
    (0..n).map(|i| mixed(i) % range).collect()
}

/// Tiles that look back and tiles that do not.
fn routines() -> [LaunchOptions; 2] {
    [RoutineKind::SinglePass, RoutineKind::ReduceThenScan].map(|routine| LaunchOptions {
        strategy: Strategy::Forced(routine),
        ..small_tile()
    })
}

#[test]
fn every_length_up_to_two_tiles() {
    let client = client();
    let [looking_back, counting] = routines();
    let tile = small_tile_keys(&client);
    // Two passes at most.
    let bytes = SortOptions {
        bits: Some(8),
        ..Default::default()
    };
    for len in 0..=2 * tile + 2 {
        let launch = if len % 2 == 0 { looking_back } else { counting };
        let keys = few(3 * len, 256);
        check_sort(
            &client,
            "three lines",
            &keys,
            len,
            SortForm::Whole(bytes),
            launch,
        );
    }
}

#[test]
fn data_that_breaks_passes() {
    let client = client();
    let n = 1000;
    let with = |key: &dyn Fn(usize) -> u32| (0..n).map(key).collect::<Vec<u32>>();
    for (what, keys) in [
        ("all equal", with(&|_| 0x0101_0101)),
        ("all bits", with(&|_| u32::MAX)),
        ("the highest bit", with(&|i| (mixed(i) & 1) << 31)),
        ("the lowest bit", with(&|i| mixed(i) & 1)),
        (
            "bits at the edges of digits",
            with(&|i| 1 << (mixed(i) % 32)),
        ),
        ("sorted", with(&|i| i as u32 / 3)),
        ("reversed", with(&|i| ((n - i) as u32) << 8)),
        (
            "one out of order",
            with(&|i| if i == n - 1 { 0 } else { 7 }),
        ),
        ("one in front", with(&|i| if i == 1 { 1 << 17 } else { 7 })),
    ] {
        for (launch, order) in routines().into_iter().zip(ORDERS) {
            check_sort(&client, what, &keys, n, ordered(order), launch);
            check_sort(&client, what, &keys, 20, ordered(order), launch);
        }
    }
}

/// A line for each set of bytes in which its keys differ, so that each line makes other passes.
#[test]
fn passes_of_each_set_of_digits() {
    let client = client();
    let len = 500;
    let key = |i: usize| {
        let differing = (0..4).filter(|byte| (i / len) >> byte & 1 == 1);
        let mask: u32 = differing.map(|byte| 0xff << (8 * byte)).sum();
        (mixed(i) << 16 ^ mixed(7 * i)) & mask | 0x3a5c_96e1 & !mask
    };
    let keys: Vec<u32> = (0..16 * len).map(key).collect();
    for (launch, order) in routines().into_iter().zip(ORDERS) {
        check_sort(
            &client,
            "sets of digits",
            &keys,
            len,
            ordered(order),
            launch,
        );
    }
    check_sort(
        &client,
        "the largest",
        &keys,
        len,
        SortForm::Largest(400),
        small_tile(),
    );
    if !holds::<u64>(&client) {
        return;
    }
    // In the words of wide keys.
    let keys: Vec<u64> = (0..16 * len)
        .map(|i| u64::from(key(i)) << (i / len % 5 * 8) | 0x11 << 56)
        .collect();
    for (launch, order) in routines().into_iter().zip(ORDERS) {
        check_sort(
            &client,
            "sets of wide digits",
            &keys,
            len,
            ordered(order),
            launch,
        );
    }
}

/// All but a few keys of a line of many parts are equal, and these are in one part.
#[test]
fn a_digit_in_one_part() {
    let client = client();
    let len = 40 * small_tile_keys(&client);
    for (launch, order) in routines().into_iter().zip(ORDERS) {
        for at in [0, len / 2, len - 3] {
            let key = |i: usize| {
                if (at..at + 3).contains(&i) {
                    i as u32 * 0x0101
                } else {
                    0x0303
                }
            };
            let keys: Vec<u32> = (0..len).map(key).collect();
            check_sort(
                &client,
                "a digit in one part",
                &keys,
                len,
                ordered(order),
                launch,
            );
        }
    }
}

/// Later tiles count the digits of a tile that publishes nothing.
#[test]
fn stalled_tiles() {
    let client = client();
    let keys = few(2000, 300);
    for stall in [
        Stall::Every(1),
        Stall::Every(3),
        Stall::Random { seed: 5, one_in: 4 },
    ] {
        let launch = LaunchOptions {
            stall: Some(stall),
            spin_limit: Some(1),
            ..small_tile()
        };
        for len in [2000, 500] {
            check_sort(
                &client,
                "stalled",
                &keys,
                len,
                ordered(SortOrder::Ascending),
                launch,
            );
        }
    }
}

/// Tiles hardly wait, so late ones are counted by others.
#[test]
fn a_spin_limit_of_one() {
    let client = client();
    let launch = LaunchOptions {
        spin_limit: Some(1),
        ..small_tile()
    };
    let keys = few(20_000, 1 << 16);
    for _ in 0..3 {
        check_sort(
            &client,
            "spin limit 1",
            &keys,
            20_000,
            ordered(SortOrder::Ascending),
            launch,
        );
    }
}

/// In passes, although each key could be compared with all keys of its line; and compared.
#[test]
fn short_lines_that_share_a_cube() {
    let client = client();
    for len in [1, 2, 7, 63, 64, 65, 100] {
        let keys = few(6700, 300);
        let keys = &keys[..6700 / len * len];
        for (launch, order) in [in_passes(), launch()].into_iter().zip(ORDERS) {
            check_sort(&client, "short lines", keys, len, ordered(order), launch);
        }
        check_sort(
            &client,
            "short lines",
            keys,
            len,
            SortForm::Largest(len.div_ceil(3)),
            launch(),
        );
    }
}

/// At the device's own tuning. The line has too many tiles for them to look back unless forced, and more than 2^16 keys
/// of a digit.
#[test]
fn a_long_line() {
    let client = client();
    let keys: Vec<u32> = (0..(1 << 20) + 1)
        .map(|i| (mixed(i) << 16 ^ mixed(i / 5 + 3)) & 0x01ff_ffff)
        .collect();
    let looking_back = LaunchOptions {
        strategy: Strategy::Forced(RoutineKind::SinglePass),
        ..launch()
    };
    for (launch, order) in [launch(), looking_back].into_iter().zip(ORDERS) {
        check_sort(&client, "long", &keys, keys.len(), ordered(order), launch);
    }
}

#[test]
fn many_lines() {
    let client = client();
    for (lines, len) in [(65_537, 3), (65_537, 1), (70, 1000), (3, 12_000)] {
        let keys = few(lines * len, 1 << 16);
        check_sort(
            &client,
            "many lines",
            &keys,
            len,
            ordered(SortOrder::Descending),
            launch(),
        );
    }
}

/// Only this many of the lowest bits count. Both routines take turns, each with long lines and short ones.
#[test]
fn the_lowest_bits() {
    let client = client();
    for (turn, bits) in [1, 5, 13, 32].into_iter().enumerate() {
        let keys: Vec<i32> = (0..900)
            .map(|i| (mixed(i) << 16 ^ mixed(i + 9)) as i32)
            .collect();
        let options = SortOptions {
            order: ORDERS[turn % 2],
            bits: Some(bits),
        };
        let (form, launch) = (SortForm::Whole(options), routines()[turn % 2]);
        for len in [900, 30] {
            check_sort(&client, "bits", &keys, len, form, launch);
        }
    }
}

#[test]
fn the_lowest_bits_of_wide_keys() {
    let client = client();
    if !holds::<i64>(&client) {
        return;
    }
    for bits in [8, 32, 36, 64] {
        let key = |i: usize| i64::from(mixed(i)) << 48 | i64::from(mixed(i / 2)) << 20;
        let keys: Vec<i64> = (0..900).map(key).collect();
        let options = SortOptions {
            order: SortOrder::Ascending,
            bits: Some(bits),
        };
        for (len, launch) in [(900, small_tile()), (30, in_passes()), (30, launch())] {
            check_sort(
                &client,
                "bits",
                &keys,
                len,
                SortForm::Whole(options),
                launch,
            );
        }
    }
}
