//! Compaction, destinations and grouping against plain loops: densities, alternating runs, every size to two tiles, stalled tiles.

mod common;

use common::*;
use cubecl::CubeElement;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::ScanError;
use cubecl_scan::compact::{Emit, PermutationShape, compact, expand, gather, scatter};
use cubecl_scan::scan::{LaunchOptions, Stall};

/// A tile of 32 units × 1 vector.
fn small_tile() -> LaunchOptions {
    LaunchOptions {
        units: Some(32),
        vectors: Some(1),
        ..launch()
    }
}

fn check_compact(client: &Client, name: &str, mask: &[u32], launch: LaunchOptions) {
    let n = mask.len();
    let values: Vec<i32> = (0..n as i32).map(|i| i * 3 + 1).collect();
    let kept = mask.iter().filter(|&&flag| flag != 0).count();
    for emit in EMITS {
        let (found, count) = device_compact(client, &values, mask, emit, launch, 0);
        let expected = selected(&values, mask, emit);
        assert_eq!(count as usize, kept, "{emit:?}, {name}, n = {n}");
        if let Some(at) = (0..expected.len()).find(|&at| found[at] != expected[at]) {
            panic!(
                "{emit:?}, {name}, n = {n}: {} instead of {} at {at}",
                found[at], expected[at]
            );
        }
    }
    // One value too few, and one too many.
    for len in [kept.saturating_sub(1), kept + 1] {
        let packed: Vec<i32> = (1..=len as i32).collect();
        let found = device_expand(client, &packed, mask, launch, 0);
        assert!(
            found == expanded(&packed, mask),
            "{len} values expanded by {name}, n = {n}"
        );
    }
}

#[test]
fn every_size_to_two_tiles() {
    let client = client();
    for n in 0..=2 * 128 + 1 {
        let (name, mask) = masks(n).swap_remove(4);
        check_compact(&client, name, &mask, small_tile());
    }
}

#[test]
fn every_density() {
    let client = client();
    for n in [1, 127, 1000, 20_001] {
        for (name, mask) in masks(n) {
            check_compact(&client, name, &mask, small_tile());
            check_compact(&client, name, &mask, launch());
        }
    }
}

#[test]
fn mute_tiles() {
    let client = client();
    let schedules = [
        (Stall::Every(1), Some(1)),
        (Stall::Every(3), Some(4)),
        (Stall::Every(41), Some(1)),
        (Stall::Chosen(0xffff_fffe), Some(1)),
        (Stall::Random { seed: 1, one_in: 2 }, None),
    ];
    for (stall, spin_limit) in schedules {
        let launch = LaunchOptions {
            stall: Some(stall),
            spin_limit,
            ..small_tile()
        };
        within_20_seconds(&format!("compaction with {stall:?}"), || {
            for (name, mask) in masks(9000) {
                check_compact(&client, name, &mask, launch);
            }
        });
    }
}

/// Rows shorter than a vector, a cube and a tile, of a tile and of several, with and without stalled tiles; columns.
#[test]
fn lines() {
    let client = client();
    let stall = LaunchOptions {
        stall: Some(Stall::Every(3)),
        spin_limit: Some(1),
        ..small_tile()
    };
    for shape in [
        [5, 1, 1],
        [9, 7, 1],
        [40, 33, 1],
        [6, 128, 1],
        [3, 1000, 1],
        [2, 9001, 1],
        [2, 300, 3],
        [1, 2000, 70],
    ] {
        let n = shape.iter().product();
        let values: Vec<i32> = (1..=n as i32).collect();
        for (name, mask) in masks(n) {
            for launch in [launch(), small_tile(), stall] {
                let found = device_compact_lines(&client, &values, &mask, shape, launch, 0);
                let expected = compacted_lines(&values, &mask, shape);
                assert!(found == expected, "{name}, {shape:?}, {launch:?}");
            }
        }
    }
}

/// Runs within tiles and over them, with and without stalled tiles.
#[test]
fn runs() {
    let client = client();
    let stall = LaunchOptions {
        stall: Some(Stall::Every(3)),
        spin_limit: Some(1),
        ..small_tile()
    };
    for n in [1, 2, 127, 128, 129, 1000, 20_000, 20_001] {
        for length in [1, 3, 200, 100_000] {
            let mut run = 0;
            let values: Vec<i32> = (0..n)
                .map(|i| {
                    run += usize::from(mixed(i) as usize % length == 0);
                    run as i32 % 5
                })
                .collect();
            for launch in [launch(), small_tile(), stall] {
                let found = device_run_lengths(&client, &values, launch, 0);
                assert!(
                    found == encoded(&values),
                    "{n} in runs of {length}, {launch:?}"
                );
            }
        }
    }
}

/// Strided values and masks are read in place: transposed, broadcast along either dimension, rows with gaps, every second element.
#[test]
fn strided_values_and_masks() {
    let client = client();
    let view = |strides: &[usize]| View {
        shape: vec![137, 152],
        strides: strides.to_vec(),
    };
    let buffer_len = 137 * 304;
    let values: Vec<i32> = (0..buffer_len as i32).map(|i| i * 3 + 1).collect();
    let strides = [
        [152, 1],
        [1, 137],
        [0, 1],
        [1, 0],
        [0, 0],
        [256, 1],
        [304, 2],
    ];
    for values_strides in strides {
        for mask_strides in strides {
            let (values_view, mask_view) = (view(&values_strides), view(&mask_strides));
            for (name, mask) in masks(buffer_len).drain(4..6) {
                let gathered = (values_view.gather(&values), mask_view.gather(&mask));
                for (emit, launch) in EMITS
                    .into_iter()
                    .flat_map(|emit| [(emit, small_tile()), (emit, launch())])
                {
                    let found = device_compact_views(
                        &client,
                        (&values, &values_view),
                        (&mask, &mask_view),
                        emit,
                        launch,
                        0,
                    );
                    let expected = selected(&gathered.0, &gathered.1, emit);
                    let kept = gathered.1.iter().filter(|&&flag| flag != 0).count();
                    assert!(
                        found.1 as usize == kept && found.0[..expected.len()] == expected[..],
                        "{emit:?} with {launch:?} of {values_strides:?} by {name} {mask_strides:?}"
                    );
                }
            }
        }
    }
}

/// What is true is what is not zero, whatever the value.
#[test]
fn any_non_zero_is_true() {
    let mask: Vec<u32> = (0..500)
        .map(|i| if i % 3 == 0 { 0 } else { i << 20 | 2 })
        .collect();
    check_compact(&client(), "large values", &mask, small_tile());
}

#[test]
fn slices_move_to_their_destinations_and_back() {
    let client = client();
    for (outer, inner) in [(1, 1), (3, 1), (1, 5), (2, 6), (2, 8)] {
        let destinations = [2, -1, 0, 7, 1, -5];
        let shape = PermutationShape {
            outer,
            slices: 6,
            destinations: 4,
            inner,
        };
        let int = i32::elem_type_native();
        let slices: Vec<i32> = (1..=(outer * 6 * inner) as i32).collect();
        let mut expected = vec![0; outer * 4 * inner];
        let mut back = vec![0; slices.len()];
        for o in 0..outer {
            for (s, &destination) in destinations
                .iter()
                .enumerate()
                .filter(|(_, destination)| (0..4).contains(*destination))
            {
                for i in 0..inner {
                    let from = (o * 6 + s) * inner + i;
                    expected[(o * 4 + destination as usize) * inner + i] = slices[from];
                    back[from] = slices[from];
                }
            }
        }
        let destination_list = upload(&client, &destinations);
        let in_destinations = upload(&client, &vec![0i32; expected.len()]);
        let from = upload(&client, &slices);
        scatter(
            &client,
            flat(&from, slices.len()),
            (flat(&destination_list, 6), int),
            flat(&in_destinations, expected.len()),
            int,
            shape,
        )
        .expect("supported");
        let again = sentinel(&client, slices.len());
        gather(
            &client,
            flat(&in_destinations, expected.len()),
            (flat(&destination_list, 6), int),
            flat(&again, slices.len()),
            int,
            shape,
        )
        .expect("supported");
        assert_eq!(
            read::<i32>(&client, in_destinations, expected.len()),
            expected,
            "{shape:?}"
        );
        assert_eq!(read::<i32>(&client, again, slices.len()), back, "{shape:?}");
    }
}

/// Destinations that would be in range with their upper half cut off are nowhere, and so are negative ones.
fn check_range<I: CubeElement + Numeric>(far: &[I], near: I) {
    let client = client();
    let (int, index) = (i32::elem_type_native(), I::elem_type_native());
    if !client.properties().supports_type(index) {
        return unsupported(&format!("destinations of {index:?} on this device"));
    }
    let destination_list: Vec<I> = far.iter().copied().chain([near]).collect();
    let slices: Vec<i32> = (1..=destination_list.len() as i32).collect();
    let last = slices[far.len()];
    let shape = PermutationShape {
        outer: 1,
        slices: slices.len(),
        destinations: 3,
        inner: 1,
    };
    let list = || {
        (
            flat(&upload(&client, &destination_list), destination_list.len()),
            index,
        )
    };
    let in_destinations = upload(&client, &[0i32; 3]);
    let from = upload(&client, &slices);
    scatter(
        &client,
        flat(&from, slices.len()),
        list(),
        flat(&in_destinations, 3),
        int,
        shape,
    )
    .expect("supported");
    let expected = [0, 0, last];
    assert_eq!(
        read::<i32>(&client, in_destinations, 3),
        expected,
        "{index:?}"
    );

    let full = upload(&client, &[7i32, 8, 9]);
    let gathered = sentinel(&client, slices.len());
    gather(
        &client,
        flat(&full, 3),
        list(),
        flat(&gathered, slices.len()),
        int,
        shape,
    )
    .expect("supported");
    let mut expected = vec![0; far.len()];
    expected.push(9);
    let found = read::<i32>(&client, gathered, slices.len());
    assert_eq!(found, expected, "{index:?}");
}

#[test]
fn destinations_are_told_out_of_range_in_their_own_type() {
    check_range(&[3, i32::MAX, -1, i32::MIN], 2i32);
    check_range(&[3, 1 << 31, u32::MAX], 2u32);
    check_range(&[3, 1 << 32, i64::MAX, -1, -(1 << 32), i64::MIN + 1], 2i64);
    check_range(&[3, 1 << 32, (1 << 63) + 1, u64::MAX], 2u64);
}

fn check_keys(keys: &[i32], num_keys: usize) {
    let client = client();
    let expected = grouped(keys, num_keys);
    // As the device would have it, and by digits in small tiles and large.
    let large_tile = LaunchOptions {
        units: Some(256),
        ..launch()
    };
    for launch in [LaunchOptions::default(), small_tile(), large_tile] {
        let found = device_groups(&client, keys, num_keys, launch, 0);
        let what = format!("{} keys below {num_keys}, {launch:?}", keys.len());
        assert_eq!(found.0, expected.0, "destinations of {what}");
        assert_eq!(found.1, expected.1, "offsets of {what}");
    }
}

#[test]
fn stable_groups_of_every_number_of_keys() {
    let key = |i: usize, num_keys: usize| {
        let mixed = mixed(i);
        // Every tenth key or so is out of range, on either side.
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
        // Several runs, the last of which is cut short; and one key more than runs serve.
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
fn keys_all_alike_and_all_out_of_range() {
    check_keys(&[5; 700], 6);
    check_keys(&[6; 700], 6);
    check_keys(&[i32::MIN, i32::MAX, 0], 1);
}

#[test]
fn values_and_outputs_of_another_size_than_the_mask() {
    let client = client();
    let (bool, int) = (u32::elem_type_native(), i32::elem_type_native());
    let mask = upload(&client, &[1u32; 64]);
    let (values, output, count) = (
        sentinel(&client, 65),
        sentinel(&client, 65),
        sentinel(&client, 1),
    );
    let compacted = |values_len, output_len| {
        compact(
            &client,
            Some((flat(&values, values_len), int)),
            (flat(&mask, 64), bool),
            flat(&output, output_len),
            flat(&count, 1),
            int,
            Emit::Values,
            launch(),
        )
    };
    let expanded = expand(
        &client,
        flat(&values, 65),
        (flat(&mask, 64), bool),
        flat(&output, 65),
        int,
        launch(),
    );
    for (refused, operand, found) in [
        (compacted(63, 64), "values", 63),
        (compacted(64, 65), "output", 65),
        (expanded, "output", 65),
    ] {
        let expected = ScanError::ShapeMismatch {
            operand,
            expected: vec![64],
            found: vec![found],
        };
        assert_eq!(refused, Err(expected));
    }
    assert_eq!(read::<i32>(&client, output, 65), [i32::MIN + 7; 65]);
}

/// The kernel is launched unchecked: without values there is no buffer of the output's size to write to.
#[test]
fn values_asked_for_but_not_given() {
    let client = client();
    let int = i32::elem_type_native();
    let (mask, output, count) = (
        upload(&client, &[1u32; 64]),
        sentinel(&client, 64),
        sentinel(&client, 1),
    );
    let refused = compact(
        &client,
        None,
        (flat(&mask, 64), u32::elem_type_native()),
        flat(&output, 64),
        flat(&count, 1),
        int,
        Emit::Values,
        launch(),
    );
    let expected = ScanError::ShapeMismatch {
        operand: "values",
        expected: vec![64],
        found: vec![],
    };
    assert_eq!(refused, Err(expected));
    assert_eq!(read::<i32>(&client, output, 64), [i32::MIN + 7; 64]);
}
