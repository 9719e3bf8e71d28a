//! Nothing is written beside an output or a scratch buffer, and no input is modified.
//!
//! Every buffer lies between guards that are checked after the launch, and inputs are surrounded by values that would show in
//! a result. Buffers begin at every element offset from 0 to 16 that the device binds: WebGPU binds multiples of
//! `min_storage_buffer_offset_alignment` only, and Burn copies what begins elsewhere on any device. The offsets that cannot be bound
//! are reached as the rows of one tensor, which begin wherever its strides put them.

mod common;

use common::*;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::adjoint::{RecurrenceGradients, recurrence_adjoint};
use cubecl_scan::compact::{PermutationShape, gather, scatter, scatter_ranks};
use cubecl_scan::monoid::Fold;
use cubecl_scan::scan::{LaunchOptions, RoutineKind, ScanOptions, Stall, Strategy, scan_with};
use cubecl_scan::segments::{repeat, segment_ids, segment_reduce, segment_sums};
use cubecl_scan::testing::{Guarded, watch};
use cubecl_scan::{ScanOp, reference};

/// The offsets in bytes at which buffers of elements of so many bytes are placed: 0 to 16 elements, and 1 to 4 of the smallest
/// offsets that the device binds.
fn offsets(client: &Client, size: usize) -> Vec<usize> {
    let smallest = client.properties().memory.alignment as usize;
    let any = !client.name().starts_with("wgpu");
    let (mut bound, unbound): (Vec<usize>, Vec<usize>) =
        (0..=16).partition(|elements| any || elements * size % smallest == 0);
    if !unbound.is_empty() {
        unsupported(&format!(
            "{} binds no element offsets {unbound:?}",
            client.name()
        ));
    }
    bound.iter_mut().for_each(|elements| *elements *= size);
    bound.extend((1..=4).map(|times| times * smallest));
    bound.sort_unstable();
    bound.dedup();
    bound
}

/// A tile of 32 units × 1 vector, or × 4.
fn launch_of(routine: RoutineKind, vectors: usize) -> LaunchOptions {
    LaunchOptions {
        strategy: Strategy::Forced(routine),
        units: Some(32),
        vectors: Some(vectors),
        ..launch()
    }
}

/// Scans between guards and returns how many scratch buffers that took.
fn check_scan(
    client: &Client,
    view: &View,
    axis: usize,
    options: ScanOptions,
    launch: LaunchOptions,
    offset: usize,
) -> usize {
    let used = (0..view.shape.len()).map(|dim| (view.shape[dim] - 1) * view.strides[dim]);
    let data = values(used.sum::<usize>() + 1, ScanOp::Sum);
    let input = Guarded::new(client, &data, offset);
    let output = Guarded::empty(client, view.elements() * size_of::<i32>(), offset);
    let scratch = watch(
        |_| 0,
        || {
            scan_with(
                client,
                tensor(input.handle(), view),
                tensor(output.handle(), &View::contiguous(&view.shape)),
                axis,
                i32::elem_type_native(),
                ScanOp::Sum,
                options,
                launch,
            )
            .expect("supported");
        },
    );
    let expected = reference::scan(&view.gather(&data), &view.shape, axis, ScanOp::Sum, options);
    assert_eq!(input.read::<i32>(client), data, "the input changed");
    assert!(
        output.read::<i32>(client) == expected,
        "{view:?} along {axis}, {options:?}, {launch:?}, {offset} bytes in"
    );
    for scratch in &scratch {
        scratch.read::<u8>(client);
    }
    scratch.len()
}

/// Every form of each routine, its tile, and the scratch buffers it takes; lengths are around the edges of tiles and vectors.
fn every_form(mut check: impl FnMut(&[usize], usize, LaunchOptions, usize)) {
    use RoutineKind::*;
    for len in [1, 2, 4, 31, 32, 36, 63] {
        check(&[7, len], 1, launch_of(SingleCube, 4), 0);
    }
    // Of rows longer than half a tile, each takes a cube: one chunk a row.
    for len in [65, 67, 125, 127] {
        check(&[3, len], 1, launch_of(SingleCube, 4), 1);
    }
    for len in [1, 31, 32, 33, 127, 128, 129, 132, 1000] {
        check(&[3, len], 1, launch_of(SinglePass, 1), 1);
        check(&[3, len], 1, launch_of(ReduceThenScan, 1), 1);
    }
    for (len, columns) in [(1, 5), (31, 5), (33, 8), (200, 3)] {
        check(&[2, len, columns], 1, launch_of(Columns, 1), 1);
        check(&[2, len, columns], 1, launch_of(Columns, 8), 1);
    }
    // Many chunks: totals, and their scan.
    for (len, columns) in [(1000, 3), (1000, 8)] {
        check(&[2, len, columns], 1, launch_of(Columns, 1), 1);
    }
    for (len, columns) in [(1, 5), (15, 160), (17, 132), (200, 3), (65, 8)] {
        check(&[2, len, columns], 1, launch_of(ColumnTiles, 1), 1);
        check(&[2, len, columns], 1, launch_of(ColumnTiles, 4), 1);
    }
    // Rows cut in many runs, rows of one run, and runs of several rows.
    for len in [5, 31, 32, 33, 132, 1000] {
        check(&[3, len], 1, launch_of(PerUnit, 1), 1);
    }
    // Runs that do not divide their row: the last is shorter.
    for len in [5, 31, 131, 1001] {
        check(&[3, len], 1, launch_of(PerUnit, 4), 1);
    }
    for len in [1, 2, 3, 7, 31, 64] {
        check(&[33, len], 1, launch_of(PerUnit, 64), 0);
    }
}

/// Whether runs of units leave what precedes the edges of rows in one buffer more: vectors of four straddle the rows.
fn leaves_edges(shape: &[usize], launch: LaunchOptions, offset: usize) -> bool {
    let len = shape[shape.len() - 1];
    let of_short_rows = launch.vectors == Some(64);
    launch.strategy == Strategy::Forced(RoutineKind::PerUnit)
        && !of_short_rows
        && len % 4 != 0
        && len >= 8
        && offset % 4 == 0
}

#[test]
fn scans_write_nothing_but_their_output() {
    let client = client();
    for offset in offsets(&client, size_of::<i32>()) {
        every_form(|shape, axis, launch, scratch| {
            for options in [all_options()[0], all_options()[3]] {
                let view = View::contiguous(shape);
                let found = check_scan(&client, &view, axis, options, launch, offset);
                let edges = usize::from(leaves_edges(shape, launch, offset));
                assert_eq!(found, scratch + edges, "{shape:?}, {launch:?}");
            }
        });
    }
}

/// The words of a chain in which every tile falls back are as few as those of one in which none does.
#[test]
fn fallbacks_write_nothing_but_their_words() {
    let client = client();
    // The last tile, which has the last words, publishes under the second.
    for stall in [
        Stall::Every(1),
        Stall::Every(2),
        Stall::Random { seed: 7, one_in: 2 },
    ] {
        let launch = LaunchOptions {
            stall: Some(stall),
            spin_limit: Some(1),
            ..launch_of(RoutineKind::SinglePass, 1)
        };
        let columns = LaunchOptions {
            strategy: Strategy::Forced(RoutineKind::ColumnTiles),
            ..launch
        };
        within_20_seconds("a scan between guards", || {
            for (shape, launch) in [([2, 40 * 32 + 1, 1], launch), ([2, 65, 36], columns)] {
                let view = View::contiguous(&shape);
                let scratch = check_scan(&client, &view, 1, all_options()[3], launch, 0);
                assert_eq!(scratch, 1);
            }
        });
    }
}

/// Rows that begin at every element offset, and between which lie values that would show.
#[test]
fn rows_at_every_element_offset() {
    use RoutineKind::*;
    let client = client();
    for (routine, len) in [
        (SingleCube, 32),
        (SinglePass, 132),
        (ReduceThenScan, 132),
        (PerUnit, 132),
    ] {
        for pitch in [len + 1, len + 2, len + 4] {
            let view = View {
                shape: vec![17, len],
                strides: vec![pitch, 1],
            };
            let launch = launch_of(routine, 4);
            check_scan(&client, &view, 1, all_options()[0], launch, 0);
            check_scan(&client, &view, 1, all_options()[3], launch, 0);
        }
    }
    for (columns, pitch) in [(8, 9), (8, 10), (8, 12), (7, 8)] {
        let view = View {
            shape: vec![17, columns],
            strides: vec![pitch, 1],
        };
        for routine in [Columns, ColumnTiles] {
            let launch = launch_of(routine, 1);
            check_scan(&client, &view, 0, all_options()[0], launch, 0);
            check_scan(&client, &view, 0, all_options()[3], launch, 0);
        }
    }
}

/// Runs `launches`, whose scratch memory is checked afterwards.
fn with_guarded_scratch<R>(client: &Client, launches: impl FnOnce() -> R) -> R {
    let mut result = None;
    let scratch = watch(|_| 0, || result = Some(launches()));
    for scratch in &scratch {
        scratch.read::<u8>(client);
    }
    result.expect("launched")
}

#[test]
fn compactions_write_nothing_but_their_output() {
    let client = client();
    let launch = LaunchOptions {
        units: Some(32),
        vectors: Some(1),
        ..launch()
    };
    for offset in offsets(&client, size_of::<i32>()) {
        for n in [1, 31, 32, 33, 127, 128, 129, 132, 1000] {
            for (name, mask) in masks(n).into_iter().step_by(2) {
                for emit in EMITS {
                    let values: Vec<i32> = (1..=n as i32).collect();
                    let (found, _) = with_guarded_scratch(&client, || {
                        device_compact(&client, &values, &mask, emit, launch, offset)
                    });
                    let expected = selected(&values, &mask, emit);
                    assert!(
                        found[..expected.len()] == expected,
                        "{emit:?}, {name}, {n}, {offset} bytes in"
                    );
                }
                let packed: Vec<i32> = (1..=n.div_ceil(2) as i32).collect();
                let found = with_guarded_scratch(&client, || {
                    device_expand(&client, &packed, &mask, launch, offset)
                });
                assert!(found == expanded(&packed, &mask), "{name}, {n}");
            }
        }
    }
}

/// Software adapters compact large masks by runs of 1,024 elements, but for destinations; other devices as above.
#[test]
fn compactions_of_large_masks_write_nothing_but_their_output() {
    let (client, launch) = (client(), LaunchOptions::default());
    for offset in offsets(&client, size_of::<i32>()) {
        for n in [20 * 1024, 20 * 1024 + 1, 24 * 1024 - 4] {
            let (name, mask) = masks(n).swap_remove(4);
            let values: Vec<i32> = (1..=n as i32).collect();
            for emit in EMITS {
                let mut found = Vec::new();
                let scratch = watch(
                    |_| 0,
                    || found = device_compact(&client, &values, &mask, emit, launch, offset).0,
                );
                // The counts of runs, or the words of tiles.
                assert_eq!(scratch.len(), 1, "{emit:?} of {n}");
                scratch[0].read::<u8>(&client);
                let expected = selected(&values, &mask, emit);
                assert!(
                    found[..expected.len()] == expected,
                    "{emit:?}, {name}, {n}, {offset} bytes in"
                );
            }
        }
    }
}

#[test]
fn lines_and_runs_write_nothing_but_their_output() {
    let client = client();
    let small = LaunchOptions {
        units: Some(32),
        vectors: Some(1),
        ..launch()
    };
    for offset in offsets(&client, size_of::<i32>()) {
        for (shape, launch) in [
            ([3, 257, 1], launch()),
            ([3, 257, 1], small),
            ([70, 9, 1], launch()),
            ([2, 200, 5], launch()),
        ] {
            let n = shape.iter().product();
            let (name, mask) = masks(n).swap_remove(4);
            let values: Vec<i32> = (0..n as i32).map(|i| i / 3 % 4 + 1).collect();
            let (lines, runs) = with_guarded_scratch(&client, || {
                let lines = device_compact_lines(&client, &values, &mask, shape, launch, offset);
                (lines, device_run_lengths(&client, &values, launch, offset))
            });
            let context = || format!("{name}, {shape:?}, {offset} bytes in");
            assert!(
                lines == compacted_lines(&values, &mask, shape),
                "{}",
                context()
            );
            assert!(runs == encoded(&values), "{}", context());
        }
    }
}

/// Offsets of every kind, some of which lead out of the rows.
#[test]
fn segments_write_nothing_but_their_output() {
    let (client, int) = (client(), i32::elem_type_native());
    for offset in offsets(&client, size_of::<i32>()) {
        for (starts, len) in [
            (vec![0, 3, 3, 90, 130], 130),
            (vec![0, 3, 3, 90, 200], 130),
            (vec![0, 5, 5, 3001, 3002, 5000], 5001),
            (vec![9, 2, -4, i32::MAX, 40], 130),
            (vec![0, 0], 64),
        ] {
            let is_good = starts.is_sorted() && starts[starts.len() - 1] as usize <= len;
            let data: Vec<i32> = (1..=len as i32).collect();
            let n = starts.len() - 1;
            let offsets_in = Guarded::new(&client, &starts, offset);
            let data_in = Guarded::new(&client, &data, offset);
            let ids = Guarded::empty(&client, len * size_of::<i32>(), offset);
            let totals = Guarded::empty(&client, n * size_of::<i32>(), offset);
            let repeated = Guarded::empty(&client, len * size_of::<i32>(), offset);
            let rows: Vec<i32> = (1..=n as i32).collect();
            let rows_in = Guarded::new(&client, &rows, offset);
            let offsets_arg = || (flat(&offsets_in.handle(), n + 1), int);
            with_guarded_scratch(&client, || {
                segment_ids(&client, offsets_arg(), flat(&ids.handle(), len), len)
                    .expect("supported");
                segment_reduce::<Fold>(
                    &client,
                    flat(&data_in.handle(), len),
                    offsets_arg(),
                    flat(&totals.handle(), n),
                    [len, 1],
                    int,
                    ScanOp::Sum,
                )
                .expect("supported");
                let (rows, room) = (flat(&rows_in.handle(), n), flat(&repeated.handle(), len));
                repeat(&client, rows, offsets_arg(), room, [len, 1], int).expect("supported");
            });
            let repeated = repeated.read::<i32>(&client);
            assert_eq!(offsets_in.read::<i32>(&client), starts);
            assert_eq!(data_in.read::<i32>(&client), data);
            let (ids, totals) = (ids.read::<i32>(&client), totals.read::<i32>(&client));
            if is_good {
                let ends = &starts[1..];
                let expected =
                    (0..len as i32).map(|i| ends.iter().filter(|&&end| end <= i).count());
                let row = |id: usize| rows.get(id).copied().unwrap_or_default();
                assert!(repeated.into_iter().eq(expected.clone().map(row)));
                assert!(ids.into_iter().map(|id| id as usize).eq(expected));
                let rows = starts
                    .windows(2)
                    .map(|row| row[0] as usize..row[1] as usize);
                assert!(
                    totals
                        .into_iter()
                        .eq(rows.map(|row| data[row].iter().sum::<i32>()))
                );
            }
        }
    }
}

/// Destinations out of range on either side, by one and by much.
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

/// Zeros stand behind the destinations taken: none, some, all.
#[test]
fn slices_move_to_ranks_with_zeros_behind() {
    let client = client();
    let int = i32::elem_type_native();
    for offset in offsets(&client, size_of::<i32>()) {
        for (outer, slices, inner) in [(1, 1000, 1), (3, 9, 1), (1, 9, 5), (2, 40, 64)] {
            for kept in [0, slices / 3, slices] {
                // The last ones are kept, in turned order.
                let rank = |slice: usize| match slice + kept >= slices {
                    true => (slices - 1 - slice) as i32,
                    false => -1,
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
            // As the device would have it, and by digits.
            let by_digits = LaunchOptions {
                units: Some(64),
                ..LaunchOptions::default()
            };
            for launch in [LaunchOptions::default(), by_digits] {
                let (destinations, starts) = with_guarded_scratch(&client, || {
                    device_groups(&client, &keys, num_keys, launch, offset)
                });
                let (expected, expected_offsets) = grouped(&keys, num_keys);
                assert_eq!(destinations, expected, "{n} keys");
                assert_eq!(starts, expected_offsets, "{n} keys");
            }
        }
    }
}

#[test]
fn segments_stay_inside() {
    let (client, int) = (client(), i32::elem_type_native());
    for offset in offsets(&client, size_of::<i32>()) {
        for (shape, axis) in [([1, 200], 1), ([5000, 3], 1), ([130, 7], 0)] {
            let n = shape[0] * shape[1];
            let values: Vec<i32> = (0..n).map(|i| i as i32 % 11 + 1).collect();
            let heads: Vec<u32> = (0..n).map(|i| u32::from(mixed(i) % 5 == 0)).collect();
            let [values_in, heads_in] = [
                Guarded::new(&client, &values, offset),
                Guarded::new(&client, &heads, offset),
            ];
            let output = Guarded::empty(&client, size_of_val(&values[..]), offset);
            let view = View::contiguous(&shape);
            with_guarded_scratch(&client, || {
                segment_sums(
                    &client,
                    tensor(values_in.handle(), &view),
                    (tensor(heads_in.handle(), &view), u32::elem_type_native()),
                    tensor(output.handle(), &view),
                    axis,
                    int,
                    false,
                )
                .expect("supported");
            });
            let expected = reference::segment_sums(&values, &heads, &shape, axis, false);
            assert_eq!(output.read::<i32>(&client), expected, "{shape:?}");
            assert_eq!(values_in.read::<i32>(&client), values, "the values changed");
            assert_eq!(heads_in.read::<u32>(&client), heads, "the heads changed");
        }
    }
}

#[test]
fn gradients_of_recurrences_stay_inside() {
    let (client, float) = (client(), f32::elem_type_native());
    for offset in offsets(&client, size_of::<f32>()) {
        for shape in [[3, 200, 1], [2, 33, 3], [1, 9, 64]] {
            let (n, lines) = (shape.iter().product::<usize>(), shape[0] * shape[2]);
            let small = |i: usize| (mixed(i) % 3) as f32 - 1.0;
            let all: [Vec<f32>; 4] = [n, n, n, lines].map(|n| (0..n).map(small).collect());
            let inputs = [0, 1, 2, 3].map(|i| Guarded::new(&client, &all[i], offset));
            let outputs =
                [n, n, lines].map(|n| Guarded::empty(&client, n * size_of::<f32>(), offset));
            let [view, ends] =
                [&shape, &[shape[0], 1, shape[2]]].map(|shape| View::contiguous(shape));
            let of = |it: &Guarded| tensor(it.handle(), &view);
            let of_line = |it: &Guarded| tensor(it.handle(), &ends);
            with_guarded_scratch(&client, || {
                let gradients = RecurrenceGradients {
                    flow: of(&inputs[0]),
                    decay: of(&inputs[1]),
                    results: of(&inputs[2]),
                    of_values: of(&outputs[0]),
                    of_decay: of(&outputs[1]),
                    initial: Some([of_line(&inputs[3]), of_line(&outputs[2])]),
                };
                recurrence_adjoint(&client, gradients, 1, float, false).expect("supported");
            });
            let three = [&all[0][..], &all[1], &all[2]];
            let expected = reference::recurrence_adjoint(three, &all[3], &shape, 1, false);
            for (output, expected) in outputs.iter().zip(expected) {
                assert_eq!(output.read::<f32>(&client), expected, "{shape:?}");
            }
            for (input, values) in inputs.iter().zip(&all) {
                assert_eq!(input.read::<f32>(&client), *values, "an input changed");
            }
        }
    }
}

/// The guards themselves: a kernel that writes one element too far is seen.
#[cube(launch_unchecked)]
fn overrun_kernel(output: &mut [u32], at: usize) {
    output[at] = 0;
}

fn overrun(at: usize) {
    let client = client();
    let output = Guarded::empty(&client, 40, 0);
    // SAFETY: the buffer goes on behind the ten elements.
    unsafe {
        let binding = BufferArg::from_raw_parts(output.handle(), 10);
        let (one, units) = (CubeCount::new_single(), CubeDim::new_single());
        overrun_kernel::launch_unchecked(&client, one, units, binding, at);
    }
    output.read::<u32>(&client);
}

#[test]
fn the_last_element_may_be_written() {
    overrun(9);
}

#[test]
#[should_panic(expected = "written 0 bytes behind the data")]
fn an_overrun_is_seen() {
    overrun(10);
}
