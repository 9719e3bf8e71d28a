//! Slices that move to destinations and back.

use cubecl::CubeElement;
use cubecl::prelude::*;
use cubecl_scan::compact::{PermutationShape, gather, scatter};
use scan_testing::kernels::*;

#[test]
fn move_to_their_destinations_and_back() {
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

/// A destination is out of range in its own type, although its lower half alone would be in range. So is a
/// negative one.
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
fn the_range_of_destinations_is_checked_in_their_type() {
    check_range(&[3, i32::MAX, -1, i32::MIN], 2i32);
    check_range(&[3, 1 << 31, u32::MAX], 2u32);
    check_range(&[3, 1 << 32, i64::MAX, -1, -(1 << 32), i64::MIN + 1], 2i64);
    check_range(&[3, 1 << 32, (1 << 63) + 1, u64::MAX], 2u64);
}
