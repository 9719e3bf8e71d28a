//! Slices that move to destinations and back, and groupings by key.

use crate::{offsets, with_guarded_scratch};
use cubecl::prelude::*;
use cubecl_scan::compact::{PermutationShape, gather, scatter, scatter_ranks};
use cubecl_scan::scan::LaunchOptions;
use scan_testing::Guarded;
use scan_testing::kernels::*;

/// Destinations out of range on either side, by one and by far more.
#[test]
fn slices_move_to_nothing_but_their_destinations() {
    let client = client();
    let int = i32::elem_type_native();
    for offset in offsets(&client, size_of::<i32>()) {
        for (outer, inner) in [(1, 1), (3, 1), (1, 5), (2, 64)] {
            let destinations = [2, -1, 0, 4, 1, i32::MIN, 5, i32::MAX, 3];
            let shape = PermutationShape {
                outer,
                slices: destinations.len(),
                destinations: 4,
                inner,
            };
            let slices: Vec<i32> = (1..=(outer * destinations.len() * inner) as i32).collect();
            let from = Guarded::new(&client, &slices, offset);
            let destination_list = Guarded::new(&client, &destinations, offset);
            let in_destinations = Guarded::new(&client, &vec![0i32; outer * 4 * inner], offset);
            let again = Guarded::empty(&client, size_of_val(&slices[..]), offset);
            let list = || (flat(&destination_list.handle(), destinations.len()), int);
            let placed = || flat(&in_destinations.handle(), outer * 4 * inner);
            scatter(
                &client,
                flat(&from.handle(), slices.len()),
                list(),
                placed(),
                int,
                shape,
            )
            .expect("supported");
            gather(
                &client,
                placed(),
                list(),
                flat(&again.handle(), slices.len()),
                int,
                shape,
            )
            .expect("supported");
            let kept = |at: usize| (0..4).contains(&destinations[at / inner % destinations.len()]);
            let expected: Vec<i32> = (0..slices.len())
                .map(|at| if kept(at) { slices[at] } else { 0 })
                .collect();
            assert_eq!(again.read::<i32>(&client), expected, "{shape:?}");
            assert_eq!(from.read::<i32>(&client), slices);
            assert_eq!(destination_list.read::<i32>(&client), destinations);
            in_destinations.read::<i32>(&client);
        }
    }
}

/// Zeros follow the taken destinations: none, some and all are taken.
#[test]
fn slices_move_to_ranks_and_zeros_follow() {
    let client = client();
    let int = i32::elem_type_native();
    for offset in offsets(&client, size_of::<i32>()) {
        for (outer, slices, inner) in [(1, 1000, 1), (3, 9, 1), (1, 9, 5), (2, 40, 64)] {
            for kept in [0, slices / 3, slices] {
                // The last slices are kept, in reverse order.
                let rank = |slice: usize| {
                    if slice + kept >= slices {
                        (slices - 1 - slice) as i32
                    } else {
                        -1
                    }
                };
                let list: Vec<i32> = (0..slices).map(rank).collect();
                let elements = outer * slices * inner;
                let data: Vec<i32> = (1..=elements as i32).collect();
                let from = Guarded::new(&client, &data, offset);
                let destination_list = Guarded::new(&client, &list, offset);
                let taken = Guarded::new(&client, &[-7, kept as i32], offset);
                let to = Guarded::empty(&client, elements * size_of::<i32>(), offset);
                let shape = PermutationShape {
                    outer,
                    slices,
                    destinations: slices,
                    inner,
                };
                scatter_ranks(
                    &client,
                    flat(&from.handle(), elements),
                    (flat(&destination_list.handle(), slices), int),
                    flat(&taken.handle(), 2),
                    flat(&to.handle(), elements),
                    int,
                    shape,
                )
                .expect("supported");
                let mut expected = vec![0; elements];
                for (at, value) in data.iter().enumerate() {
                    let (row, slice) = (at / inner / slices, at / inner % slices);
                    if let Ok(destination) = usize::try_from(list[slice]) {
                        expected[(row * slices + destination) * inner + at % inner] = *value;
                    }
                }
                assert_eq!(to.read::<i32>(&client), expected, "{shape:?}, {kept} kept");
                assert_eq!(from.read::<i32>(&client), data);
                assert_eq!(destination_list.read::<i32>(&client), list);
            }
        }
    }
}

#[test]
fn groupings_write_nothing_but_destinations_and_offsets() {
    let client = client();
    for offset in offsets(&client, size_of::<i32>()) {
        for (n, num_keys) in [(1, 1), (255, 3), (256, 255), (257, 256), (1000, 300)] {
            let key = |i| match mixed(i) % 7 {
                0 => -1,
                1 => num_keys as i32,
                2 => i32::MAX,
                _ => (mixed(i) as usize % num_keys) as i32,
            };
            let keys: Vec<i32> = (0..n).map(key).collect();
            // At the device's own tuning, and in small tiles.
            let small_tiles = LaunchOptions {
                units: Some(64),
                ..LaunchOptions::default()
            };
            for launch in [LaunchOptions::default(), small_tiles] {
                let (destinations, starts) = with_guarded_scratch(&client, || {
                    device_groups(&client, &keys, num_keys, launch, offset)
                });
                let (expected, expected_offsets) = grouped(&keys, num_keys);
                assert_eq!(destinations, expected, "{n} keys");
                assert_eq!(starts, expected_offsets, "{n} keys");
                let values: Vec<u32> = (0..n as u32).map(|at| !at).collect();
                let (moved, starts) = with_guarded_scratch(&client, || {
                    device_partition(&client, &keys, &values, num_keys, launch, offset)
                });
                assert_eq!(moved, moved_to(&expected, &values), "{n} values");
                assert_eq!(starts, expected_offsets, "{n} values");
            }
        }
    }
}
