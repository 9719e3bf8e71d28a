//! Moves of slices to and from destinations.

use super::super::record::case;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::compact::{PermutationShape, gather, scatter, scatter_ranks};
use scan_testing::kernels::{flat, sentinel, upload};

/// Slices scattered to destinations and gathered again. Some destinations are out of range, and one receives no
/// slice.
pub fn record(client: &Client, group: &str, outer: usize, inner: usize) {
    let int = i32::elem_type_native();
    let destinations = [2, -1, 0, 7];
    let shape = PermutationShape {
        outer,
        slices: destinations.len(),
        destinations: 3,
        inner,
    };
    let (from_len, to_len) = (outer * 4 * inner, outer * 3 * inner);
    let data: Vec<i32> = (1..=from_len as i32).collect();
    let (mut there, mut back) = (vec![0; to_len], vec![0; from_len]);
    for (from, value) in data.iter().enumerate() {
        let (at, slice, within) = (from / (4 * inner), from / inner % 4, from % inner);
        if (0..3).contains(&destinations[slice]) {
            there[(at * 3 + destinations[slice] as usize) * inner + within] = *value;
            back[from] = *value;
        }
    }
    // The third slice, then the first, then zeros.
    let ranks = [1, -1, 0, -1];
    let mut in_order = vec![0; to_len];
    for (from, value) in data.iter().enumerate() {
        let (at, slice, within) = (from / (4 * inner), from / inner % 4, from % inner);
        if let Ok(rank) = usize::try_from(ranks[slice]) {
            in_order[(at * 3 + rank) * inner + within] = *value;
        }
    }
    let name = format!("move to ranks [{outer}, 4, {inner}]");
    case(client, group, &name, || {
        let (slices, list) = (upload(client, &data), upload(client, &ranks));
        let (taken, output) = (upload(client, &[2i32]), sentinel(client, to_len));
        scatter_ranks(
            client,
            flat(&slices, from_len),
            (flat(&list, 4), int),
            flat(&taken, 1),
            flat(&output, to_len),
            int,
            shape,
        )
        .expect("supported");
        vec![(output, in_order)]
    });
    let name = format!("scatter, then gather [{outer}, 4, {inner}]");
    case(client, group, &name, || {
        let (slices, list) = (upload(client, &data), upload(client, &destinations));
        let in_destinations = upload(client, &vec![0i32; to_len]);
        let again = sentinel(client, from_len);
        let list = || (flat(&list, 4), int);
        scatter(
            client,
            flat(&slices, from_len),
            list(),
            flat(&in_destinations, to_len),
            int,
            shape,
        )
        .expect("supported");
        gather(
            client,
            flat(&in_destinations, to_len),
            list(),
            flat(&again, from_len),
            int,
            shape,
        )
        .expect("supported");
        vec![(in_destinations, there), (again, back)]
    });
}
