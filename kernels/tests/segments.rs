//! Sums of segments against a plain loop: every length around a part and around parts of parts, lines and
//! columns, both directions.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cubecl::CubeElement;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::ScanError;
use cubecl_scan::compact::{Emit, PermutationShape, compact, gather, partition_ranks, scatter};
use cubecl_scan::scan::LaunchOptions;
use cubecl_scan::segments::{segment_starts, segment_sums};
use half::f16;
use scan_testing::kernels::*;
use scan_testing::reference;

/// One in `density` elements is a head, by a hash; none if `density` is 0.
fn heads(n: usize, density: usize) -> Vec<u32> {
    let drawn = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    let is_head = |i: usize| density > 0 && drawn(i).is_multiple_of(density as u64);
    (0..n).map(|i| 3 * u32::from(is_head(i))).collect()
}

/// Small, never zero, and without a period that a power of two divides. Every sum is exact.
fn values(n: usize) -> Vec<i32> {
    (0..n)
        .map(|i| (i % 13) as i32 - 4 + (i % 13 / 4) as i32)
        .collect()
}

fn check_as<T>(client: &Client, shape: [usize; 3], density: usize, from: fn(i32) -> T)
where
    T: CubeElement + Numeric + PartialEq + reference::Scalar,
{
    let n = shape.iter().product();
    let (values, heads) = (values(n), heads(n, density));
    let elements: Vec<T> = values.iter().map(|&value| from(value)).collect();
    let contiguous = View::contiguous(&shape);
    let (input, marks) = (upload(client, &elements), upload(client, &heads));
    for reverse in [false, true] {
        let output = sentinel(client, n * size_of::<T>().div_ceil(4));
        segment_sums(
            client,
            tensor(input.clone(), &contiguous),
            (tensor(marks.clone(), &contiguous), u32::elem_type_native()),
            tensor(output.clone(), &contiguous),
            1,
            T::elem_type_native(),
            reverse,
        )
        .expect("supported");
        let expected = reference::segment_sums(&elements, &heads, &shape, 1, reverse);
        let found = read::<T>(client, output, n);
        if let Some(at) = (0..n).find(|&at| found[at] != expected[at]) {
            panic!(
                "{shape:?}, a head in {density}, reverse {reverse}: {:?} instead of {:?} at {at}",
                found[at], expected[at]
            );
        }
    }
}

fn check(client: &Client, shape: [usize; 3], density: usize) {
    check_as::<i32>(client, shape, density, |value| value);
}

#[test]
fn every_length_up_to_three_parts() {
    let client = client();
    for len in 0..=3 * 64 + 1 {
        check(&client, [2, len, 1], 7);
    }
}

/// A part of parts, and a part of those.
#[test]
fn long_lines() {
    let client = client();
    for len in [
        64 * 64 - 1,
        64 * 64,
        64 * 64 + 1,
        64 * 64 * 64 + 65,
        (1 << 20) + 3,
    ] {
        for density in [0, 1, 2, 100, 20_000] {
            check(&client, [1, len, 1], density);
        }
    }
}

/// Columns, enough lines to be walked whole, and empty tensors.
#[test]
fn many_lines() {
    let client = client();
    for shape in [
        [3, 70, 5],
        [1, 300, 129],
        [4100, 90, 1],
        [1, 90, 4100],
        [2, 70, 2050],
        [0, 5, 2],
        [2, 0, 3],
        [2, 3, 0],
        [5, 1, 7],
    ] {
        for density in [0, 9] {
            check(&client, shape, density);
        }
    }
}

#[test]
fn floats() {
    let client = client();
    let shape = [3, 1000, 2];
    check_as::<f32>(&client, shape, 50, |value| value as f32);
    if client.properties().supports_type(f16::elem_type_native()) {
        check_as::<f16>(&client, shape, 50, |value| f16::from_f32(value as f32));
    } else {
        unsupported("f16 on this device");
    }
}

/// What was in memory before does not count as a start.
#[test]
fn starts_are_marked_in_cleared_memory() {
    let (client, int, word) = (client(), i32::elem_type_native(), u32::elem_type_native());
    for len in [1, 130, 5000] {
        let offsets = [0, len as i32 / 3, len as i32 / 3, len as i32];
        let (given, starts) = (upload(&client, &offsets), sentinel(&client, len));
        let marks = (flat(&starts, len), word);
        segment_starts(&client, (flat(&given, 4), int), marks, len).expect("supported");
        let mut expected = vec![0u32; len];
        offsets[..3]
            .iter()
            .for_each(|&at| expected[at as usize] = 1);
        assert_eq!(read::<u32>(&client, starts, len), expected);
    }
}

/// NaN and infinities stay in their segment.
#[test]
fn segments_are_apart() {
    let client = client();
    let values = [1.0, f32::INFINITY, 2.0, f32::NAN, 3.0, 4.0];
    let shape = View::contiguous(&[6]);
    let output = sentinel(&client, 6);
    segment_sums(
        &client,
        tensor(upload(&client, &values), &shape),
        (
            tensor(upload(&client, &[1u32, 1, 1, 1, 1, 0]), &shape),
            u32::elem_type_native(),
        ),
        tensor(output.clone(), &shape),
        0,
        f32::elem_type_native(),
        false,
    )
    .expect("supported");
    let found = read::<f32>(&client, output, 6);
    assert_eq!((found[0], found[1], found[2]), (1.0, f32::INFINITY, 2.0));
    assert!(found[3].is_nan());
    assert_eq!((found[4], found[5]), (7.0, 0.0));
}

#[test]
fn heads_of_another_shape_are_refused() {
    let client = client();
    let (six, five) = (View::contiguous(&[6]), View::contiguous(&[5]));
    let binding = |view: &View| tensor(upload(&client, &[1u32; 6]), view);
    let int = u32::elem_type_native();
    let heads = (binding(&five), int);
    let found = segment_sums(&client, binding(&six), heads, binding(&six), 0, int, false);
    assert_eq!(
        found,
        Err(ScanError::ShapeMismatch {
            operand: "starts",
            expected: vec![6],
            found: vec![5],
        })
    );
}

/// The kernels do not check bounds; the host does.
#[test]
fn tensors_that_are_too_small_are_refused() {
    let client = client();
    let (six, five) = (View::contiguous(&[6]), View::contiguous(&[5]));
    let binding = |view: &View| tensor(upload(&client, &[1u32; 6]), view);
    let integer = u32::elem_type_native();
    let at = |view: &View| (binding(view), integer);
    let shape = PermutationShape {
        outer: 2,
        slices: 3,
        destinations: 3,
        inner: 1,
    };
    let default = LaunchOptions::default();
    let calls: [(&str, &dyn Fn()); 4] = [
        ("destinations must hold 6", &|| {
            let _ = gather(
                &client,
                binding(&five),
                at(&six),
                binding(&six),
                integer,
                shape,
            );
        }),
        ("list of destinations must hold 3", &|| {
            let list = View::contiguous(&[2]);
            let _ = scatter(
                &client,
                binding(&six),
                at(&list),
                binding(&six),
                integer,
                shape,
            );
        }),
        ("offsets must hold 6", &|| {
            let _ = partition_ranks(
                &client,
                at(&six),
                binding(&six),
                binding(&five),
                5,
                integer,
                default,
            );
        }),
        ("count must hold 1", &|| {
            let (none, emit) = (View::contiguous(&[0]), Emit::Values);
            let _ = compact(
                &client,
                Some(at(&six)),
                at(&six),
                binding(&six),
                binding(&none),
                integer,
                emit,
                default,
            );
        }),
    ];
    for (expected, call) in calls {
        let panic = catch_unwind(AssertUnwindSafe(call)).expect_err(expected);
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(message.contains(expected), "{message}");
    }
}
