//! Compaction, slots and grouping against plain loops: densities, alternating runs, every size to two tiles, mute tiles.

mod common;

use common::*;
use cubecl::CubeElement;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::Handle;
use cubecl_scan::ScanError;
use cubecl_scan::compact::{Emit, MoveShape, compact, gather_slots, key_slots, scatter_slots};
use cubecl_scan::scan::LaunchOptions;

/// A tile of 32 units × 1 vector.
fn small_tile() -> LaunchOptions {
    LaunchOptions {
        units: Some(32),
        vectors: Some(1),
        ..launch()
    }
}

fn flat(handle: &Handle, len: usize) -> TensorBinding {
    TensorBinding {
        handle: handle.clone().binding(),
        strides: [1].into(),
        shape: [len].into(),
        tiling: Default::default(),
    }
}

fn upload<T: CubeElement>(client: &Client, data: &[T]) -> Handle {
    client.create_from_slice(T::as_bytes(data))
}

/// A buffer full of a value that no result contains.
fn sentinel(client: &Client, len: usize) -> Handle {
    upload(client, &vec![i32::MIN + 7; len.max(1)])
}

fn read<T: CubeElement + Clone>(client: &Client, handle: Handle, len: usize) -> Vec<T> {
    T::from_bytes(&client.read_one(handle).expect("readable"))[..len].to_vec()
}

/// Masks of every kind of density, by name.
fn masks(n: usize) -> Vec<(&'static str, Vec<u32>)> {
    let mixed = |i: usize| (i as u32).wrapping_mul(2_654_435_761) >> 16;
    let mask = |keep: &dyn Fn(usize) -> bool| (0..n).map(|i| u32::from(keep(i))).collect();
    vec![
        ("none", mask(&|_| false)),
        ("all", mask(&|_| true)),
        ("one", mask(&|i| i == n / 2)),
        ("one in a thousand", mask(&|i| mixed(i) % 1000 == 3)),
        ("half", mask(&|i| mixed(i) % 2 == 1)),
        ("all but one in a thousand", mask(&|i| mixed(i) % 1000 != 3)),
        ("alternating", mask(&|i| i % 2 == 0)),
        ("runs", mask(&|i| (i / 37) % 2 == 0)),
    ]
}

fn check_compact(client: &Client, name: &str, mask: &[u32], launch: LaunchOptions) {
    let n = mask.len();
    let values: Vec<i32> = (0..n as i32).map(|i| i * 3 + 1).collect();
    let kept: Vec<usize> = (0..n).filter(|&i| mask[i] != 0).collect();
    let padded = |mut front: Vec<i32>| {
        front.resize(n, 0);
        front
    };
    let mut slots = vec![-1; n];
    for (slot, &i) in kept.iter().enumerate() {
        slots[i] = slot as i32;
    }
    for (emit, expected) in [
        (
            Emit::Values,
            padded(kept.iter().map(|&i| values[i]).collect()),
        ),
        (
            Emit::Indices,
            padded(kept.iter().map(|&i| i as i32).collect()),
        ),
        (Emit::Slots, slots),
    ] {
        let int = i32::elem_type_native();
        let (output, count) = (sentinel(client, n), sentinel(client, 1));
        let input = upload(client, if n == 0 { &[0] } else { &values });
        let mask_handle = upload(client, if n == 0 { &[0] } else { mask });
        compact(
            client,
            (emit == Emit::Values).then(|| (flat(&input, n), int)),
            (flat(&mask_handle, n), u32::elem_type_native()),
            flat(&output, n),
            flat(&count, 1),
            int,
            emit,
            launch,
        )
        .expect("supported");
        let found: Vec<i32> = read(client, output, n);
        assert_eq!(
            read::<i32>(client, count, 1)[0] as usize,
            kept.len(),
            "{emit:?}, {name}, n = {n}"
        );
        if let Some(at) = (0..n).find(|&at| found[at] != expected[at]) {
            panic!(
                "{emit:?}, {name}, n = {n}: {} instead of {} at {at}",
                found[at], expected[at]
            );
        }
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
    for mute_every in [1, 3, 41] {
        let launch = LaunchOptions {
            mute_every: Some(mute_every),
            polls: Some(1),
            ..small_tile()
        };
        for (name, mask) in masks(9000) {
            check_compact(&client, name, &mask, launch);
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
fn slices_move_to_their_slots_and_back() {
    let client = client();
    for (outer, inner) in [(1, 1), (3, 1), (1, 5), (2, 3)] {
        let slots = [2, -1, 0, 7, 1, -5];
        let shape = MoveShape {
            outer,
            slices: 6,
            slots: 4,
            inner,
        };
        let int = i32::elem_type_native();
        let slices: Vec<i32> = (1..=(outer * 6 * inner) as i32).collect();
        let mut expected = vec![0; outer * 4 * inner];
        let mut back = vec![0; slices.len()];
        for o in 0..outer {
            for (s, &slot) in slots
                .iter()
                .enumerate()
                .filter(|(_, slot)| (0..4).contains(*slot))
            {
                for i in 0..inner {
                    let from = (o * 6 + s) * inner + i;
                    expected[(o * 4 + slot as usize) * inner + i] = slices[from];
                    back[from] = slices[from];
                }
            }
        }
        let slot_list = upload(&client, &slots);
        let in_slots = upload(&client, &vec![0i32; expected.len()]);
        let from = upload(&client, &slices);
        scatter_slots(
            &client,
            flat(&from, slices.len()),
            (flat(&slot_list, 6), int),
            flat(&in_slots, expected.len()),
            int,
            shape,
        );
        let again = sentinel(&client, slices.len());
        gather_slots(
            &client,
            flat(&in_slots, expected.len()),
            (flat(&slot_list, 6), int),
            flat(&again, slices.len()),
            int,
            shape,
        );
        assert_eq!(
            read::<i32>(&client, in_slots, expected.len()),
            expected,
            "{shape:?}"
        );
        assert_eq!(read::<i32>(&client, again, slices.len()), back, "{shape:?}");
    }
}

fn check_keys(keys: &[i32], num_keys: usize) {
    let client = client();
    let n = keys.len();
    let int = i32::elem_type_native();
    let mut slots = vec![-1; n];
    let mut offsets = vec![0; num_keys + 1];
    let mut next = 0;
    for key in 0..num_keys as i32 {
        for i in (0..n).filter(|&i| keys[i] == key) {
            slots[i] = next;
            next += 1;
        }
        offsets[key as usize + 1] = next;
    }
    let handle = upload(&client, if n == 0 { &[0] } else { keys });
    let (slots_out, offsets_out) = (sentinel(&client, n), sentinel(&client, num_keys + 1));
    key_slots(
        &client,
        (flat(&handle, n), int),
        flat(&slots_out, n),
        flat(&offsets_out, num_keys + 1),
        num_keys,
        int,
    )
    .expect("supported");
    assert_eq!(
        read::<i32>(&client, slots_out, n),
        slots,
        "slots of {n} keys below {num_keys}"
    );
    assert_eq!(
        read::<i32>(&client, offsets_out, num_keys + 1),
        offsets,
        "offsets of {n} keys below {num_keys}"
    );
}

#[test]
fn stable_groups_of_every_number_of_keys() {
    let key = |i: usize, num_keys: usize| {
        let mixed = (i as u32).wrapping_mul(2_654_435_761) >> 12;
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
