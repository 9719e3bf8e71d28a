//! Compaction, destinations and grouping by key.

#[path = "permutations.rs"]
mod permutations;

use super::planes::Planes;
use super::record::case;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::ScanOp;
use cubecl_scan::compact::{
    Emit, compact, compact_lines, expand, partition, partition_ranks, run_lengths,
};
use cubecl_scan::monoid::Fold;
use cubecl_scan::scan::{LaunchOptions, Stall};
use cubecl_scan::segments::{repeat, segment_ids, segment_reduce, segment_sums};
use cubecl_scan::testing::tile_shape;
use scan_testing::kernels::{
    View, compacted_lines, encoded, expanded, flat, grouped, holds, mixed, moved_to, selected,
    sentinel, tensor, upload, values,
};
use scan_testing::reference;

/// Tiles of 128 elements, whose edges are close together.
fn small() -> LaunchOptions {
    LaunchOptions {
        units: Some(32),
        vectors: Some(1),
        ..Default::default()
    }
}

/// The name of the tiles, and the launch.
type Form = (&'static str, LaunchOptions);

fn stalled(launch: LaunchOptions) -> LaunchOptions {
    LaunchOptions {
        stall: Some(Stall::Every(3)),
        spin_limit: Some(1),
        ..launch
    }
}

pub fn record(client: &Client, planes: Planes) {
    let own = ("own tuning", LaunchOptions::default());
    let stalled = ("stalled tiles", stalled(small()));
    let group = |name: &str| format!("{name}{}", planes.suffix());
    tiles(
        client,
        group,
        &[own, ("small tiles", small()), stalled],
        &[97, 194, 20_002],
    );
    rows(client, group, &[own, stalled]);
    let keys = [(255, 8), (700, 300), (9_001, 256), (9_001, 257)];
    rest(client, group, &keys, &[own, ("small tiles", small())]);
}

/// At the device's own tuning, around its tile, and with every third tile stalled.
#[allow(dead_code, reason = "for NVIDIA, and for gpu_check")]
pub fn at_own_tuning(client: &Client) {
    let own = ("own tuning", LaunchOptions::default());
    let stalled = ("stalled tiles", stalled(LaunchOptions::default()));
    let (_, units, vectors) = tile_shape(client, &own.1);
    let tile = 4 * units * vectors;
    let group = str::to_owned;
    tiles(
        client,
        group,
        &[own, stalled],
        &[tile - 1, tile, 40 * tile + 4],
    );
    if holds::<u8>(client) {
        let name = "values under a mask of bytes";
        let n = 3 * tile + 5;
        record_compact(client, "compact", name, n, Emit::Values, own.1, |bit| {
            bit as u8
        });
    }
    record_expansion(client, 3 * tile + 5, own.1);
    rows(client, group, &[own, stalled]);
    let keys = [(3 * tile, 8), (3 * tile + 1, 256), (3 * tile + 1, 60_000)];
    rest(client, group, &keys, &[own]);
}

fn tiles(client: &Client, group: impl Fn(&str) -> String, forms: &[Form], lengths: &[usize]) {
    for &(tile, launch) in forms {
        for &n in lengths {
            for emit in [Emit::Values, Emit::Indices, Emit::Destinations] {
                let name = format!("{emit:?} of {n}, {tile}");
                let group = group("compact");
                record_compact(client, &group, &name, n, emit, launch, |bit| bit);
            }
        }
    }
}

fn rows(client: &Client, group: impl Fn(&str) -> String, forms: &[Form]) {
    for &(tile, launch) in forms {
        for shape in [[40, 20, 1], [7, 1000, 1], [2, 20_002, 1], [2, 90, 70]] {
            record_lines(client, &group("lines"), tile, shape, launch);
        }
        record_runs(client, &group("runs"), tile, 20_002, launch);
    }
}

fn rest(client: &Client, group: impl Fn(&str) -> String, keys: &[(usize, usize)], forms: &[Form]) {
    for width in [1, 3] {
        record_reduction(client, &group("segments"), width);
    }
    for (outer, inner) in [(2, 5), (3, 8), (1, 1)] {
        permutations::record(client, &group("destinations"), outer, inner);
    }
    for &keys in keys {
        for &form in forms {
            record_keys(client, &group("keys"), keys, form);
        }
    }
    for shape in [[3, 500], [200, 3], [5000, 2]] {
        for axis in [0, 1] {
            record_segments(client, &group("segments"), shape, axis);
        }
    }
}

fn record_compact<M: CubeElement + Numeric>(
    client: &Client,
    group: &str,
    name: &str,
    n: usize,
    emit: Emit,
    launch: LaunchOptions,
    flag: fn(u32) -> M,
) {
    let int = i32::elem_type_native();
    let data = values(n, ScanOp::Sum);
    let mask = thirds(&data);
    let kept = mask.iter().filter(|flag| **flag != 0).count() as i32;
    let expected = selected(&data, &mask, emit);
    let mask: Vec<M> = mask.into_iter().map(flag).collect();
    case(client, group, name, || {
        let (values, mask) = (upload(client, &data), upload(client, &mask));
        let (output, count) = (sentinel(client, n), sentinel(client, 1));
        compact(
            client,
            (emit == Emit::Values).then(|| (flat(&values, n), int)),
            (flat(&mask, n), M::elem_type_native()),
            flat(&output, n),
            flat(&count, 1),
            int,
            emit,
            launch,
        )
        .expect("supported");
        vec![(output, expected), (count, vec![kept])]
    });
}

/// Marks the multiples of three.
fn thirds(data: &[i32]) -> Vec<u32> {
    data.iter().map(|value| u32::from(value % 3 == 0)).collect()
}

fn record_expansion(client: &Client, n: usize, launch: LaunchOptions) {
    let int = i32::elem_type_native();
    let packed = values(n, ScanOp::Sum);
    let mask = thirds(&packed);
    let expected = expanded(&packed, &mask);
    case(client, "expand", &format!("{n}, own tuning"), || {
        let (packed, mask) = (upload(client, &packed), upload(client, &mask));
        let output = sentinel(client, n);
        expand(
            client,
            flat(&packed, n),
            (flat(&mask, n), u32::elem_type_native()),
            flat(&output, n),
            int,
            launch,
        )
        .expect("supported");
        vec![(output, expected)]
    });
}

pub(super) fn record_lines(
    client: &Client,
    group: &str,
    tile: &str,
    shape: [usize; 3],
    launch: LaunchOptions,
) {
    let (n, int) = (shape.iter().product(), i32::elem_type_native());
    let data = values(n, ScanOp::Sum);
    let mask = thirds(&data);
    let (expected, expected_counts) = compacted_lines(&data, &mask, shape);
    case(client, group, &format!("{shape:?}, {tile}"), || {
        let (values, mask) = (upload(client, &data), upload(client, &mask));
        let (lines, view) = (shape[0] * shape[2], View::contiguous(&shape));
        let (output, counts) = (sentinel(client, n), sentinel(client, lines));
        compact_lines(
            client,
            (tensor(values, &view), int),
            (tensor(mask, &view), u32::elem_type_native()),
            tensor(output.clone(), &view),
            flat(&counts, lines),
            1,
            int,
            launch,
        )
        .expect("supported");
        vec![(output, expected), (counts, expected_counts)]
    });
}

fn record_runs(client: &Client, group: &str, tile: &str, n: usize, launch: LaunchOptions) {
    let int = i32::elem_type_native();
    let data: Vec<i32> = (0..n).map(|i| (mixed(i / 3) % 2) as i32 + 7).collect();
    let (expected, expected_lengths, runs) = encoded(&data);
    case(client, group, &format!("{n}, {tile}"), || {
        let values = upload(client, &data);
        let [output, lengths, count] = [n, n, 1].map(|len| sentinel(client, len));
        run_lengths(
            client,
            (flat(&values, n), int),
            flat(&output, n),
            flat(&lengths, n),
            flat(&count, 1),
            int,
            Emit::Values,
            launch,
        )
        .expect("supported");
        vec![
            (output, expected),
            (lengths, expected_lengths),
            (count, vec![runs]),
        ]
    });
}

/// The row of each element, and the totals of rows. Some rows are empty, and one is long.
fn record_reduction(client: &Client, group: &str, width: usize) {
    let int = i32::elem_type_native();
    let offsets = [0, 0, 5, 6, 6, 6, 4000, 4007];
    let (len, rows) = (4010, offsets.len() - 1);
    let data = values(len * width, ScanOp::Sum);
    let ends = offsets.map(|offset| offset as i32);
    let ids = |i: i32| ends[1..].iter().filter(|&&end| end <= i).count() as i32;
    let ids: Vec<i32> = (0..len as i32).map(ids).collect();
    let total = |at: usize| {
        let rows = offsets[at / width]..offsets[at / width + 1];
        rows.map(|row| data[row * width + at % width])
            .fold(0, i32::wrapping_add)
    };
    let totals: Vec<i32> = (0..rows * width).map(total).collect();
    let row = |id: i32| (0..width).map(move |column| (id as usize, column));
    let value = |(id, column): (usize, usize)| {
        if id < rows {
            data[id * width + column]
        } else {
            0
        }
    };
    let repeated: Vec<i32> = ids.iter().flat_map(|&id| row(id)).map(value).collect();
    case(client, group, &format!("rows of {width}"), || {
        let (values, offsets) = (upload(client, &data), upload(client, &ends));
        let (ids_out, totals_out) = (sentinel(client, len), sentinel(client, rows * width));
        let (rows_in, repeated_out) = (upload(client, &data), sentinel(client, len * width));
        let offsets_arg = || (flat(&offsets, rows + 1), int);
        segment_ids(client, offsets_arg(), flat(&ids_out, len), len).expect("supported");
        let (rows_in, room) = (
            flat(&rows_in, rows * width),
            flat(&repeated_out, len * width),
        );
        repeat(client, rows_in, offsets_arg(), room, [len, width], int).expect("supported");
        segment_reduce::<Fold>(
            client,
            flat(&values, len * width),
            offsets_arg(),
            flat(&totals_out, rows * width),
            [len, width],
            int,
            ScanOp::Sum,
        )
        .expect("supported");
        vec![
            (ids_out, ids),
            (repeated_out, repeated),
            (totals_out, totals),
        ]
    });
}

fn record_keys(
    client: &Client,
    group: &str,
    (n, num_keys): (usize, usize),
    (form, launch): (&str, LaunchOptions),
) {
    let int = i32::elem_type_native();
    // A few are out of range on either side.
    let key = |value: (usize, i32)| (value.0 as i32 * 7 + value.1) % (num_keys as i32 + 2) - 1;
    let keys: Vec<i32> = values(n, ScanOp::Sum)
        .into_iter()
        .enumerate()
        .map(key)
        .collect();
    let (destinations, offsets) = grouped(&keys, num_keys);
    let numbers: Vec<u32> = (0..n as u32).map(|at| !at).collect();
    let in_order: Vec<i32> = moved_to(&destinations, &numbers)
        .into_iter()
        .map(|number| number as i32)
        .collect();
    case(
        client,
        group,
        &format!("values of {n} keys below {num_keys} {form}"),
        || {
            let (keys, numbers) = (upload(client, &keys), upload(client, &numbers));
            let (values_out, offsets_out) = (sentinel(client, n), sentinel(client, num_keys + 1));
            partition(
                client,
                (flat(&keys, n), int),
                (flat(&numbers, n), int),
                flat(&values_out, n),
                (flat(&offsets_out, num_keys + 1), int),
                num_keys,
                launch,
            )
            .expect("supported");
            vec![(values_out, in_order), (offsets_out, offsets.clone())]
        },
    );
    case(
        client,
        group,
        &format!("{n} keys below {num_keys} {form}"),
        || {
            let keys = upload(client, &keys);
            let (destinations_out, offsets_out) =
                (sentinel(client, n), sentinel(client, num_keys + 1));
            partition_ranks(
                client,
                (flat(&keys, n), int),
                flat(&destinations_out, n),
                flat(&offsets_out, num_keys + 1),
                num_keys,
                int,
                launch,
            )
            .expect("supported");
            vec![(destinations_out, destinations), (offsets_out, offsets)]
        },
    );
}

/// Sums of segments, in reverse along the second axis.
fn record_segments(client: &Client, group: &str, shape: [usize; 2], axis: usize) {
    let n = shape[0] * shape[1];
    let (data, reverse) = (values(n, ScanOp::Sum), axis == 1);
    let heads: Vec<u32> = (0..n).map(|i| u32::from(mixed(i) % 9 == 0)).collect();
    let expected = reference::segment_sums(&data, &heads, &shape, axis, reverse);
    case(client, group, &format!("{shape:?} along {axis}"), || {
        let (elements, marks) = (upload(client, &data), upload(client, &heads));
        let output = sentinel(client, n);
        let view = View::contiguous(&shape);
        segment_sums(
            client,
            tensor(elements, &view),
            (tensor(marks, &view), u32::elem_type_native()),
            tensor(output.clone(), &view),
            axis,
            i32::elem_type_native(),
            reverse,
        )
        .expect("supported");
        vec![(output, expected)]
    });
}
