//! Sorts of lines, and their largest keys.

use super::planes::Planes;
use super::record::case;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::scan::{LaunchOptions, RoutineKind, Stall, Strategy};
use cubecl_scan::sort::{SortOptions, SortOrder, SortOutputs, sort, top_k};
use cubecl_scan::testing::tile_shape;
use scan_testing::kernels::{SortForm, flat, holds, mixed, sentinel, sorted, upload};
use scan_testing::reference::SortKey;

/// Tiles of a few dozen keys.
fn small(routine: RoutineKind) -> LaunchOptions {
    LaunchOptions {
        strategy: Strategy::Forced(routine),
        units: Some(32),
        vectors: Some(2),
        ..Default::default()
    }
}

/// The name of the launch, and the launch.
type Form = (&'static str, LaunchOptions);

const ASCENDING: SortForm = SortForm::Whole(SortOptions {
    order: SortOrder::Ascending,
    bits: None,
});
const DESCENDING: SortForm = SortForm::Whole(SortOptions {
    order: SortOrder::Descending,
    bits: None,
});

pub fn record(client: &Client, planes: Planes) {
    let group = format!("sorts{}", planes.suffix());
    let own = ("own tuning", LaunchOptions::default());
    let back = ("tiles that look back", small(RoutineKind::SinglePass));
    let counted = ("tiles that are counted", small(RoutineKind::ReduceThenScan));
    let stalled = LaunchOptions {
        stall: Some(Stall::Every(3)),
        spin_limit: Some(1),
        ..small(RoutineKind::SinglePass)
    };
    let stalled = ("stalled tiles", stalled);
    let in_passes = LaunchOptions {
        strategy: Strategy::Forced(RoutineKind::SingleCube),
        ..Default::default()
    };
    let in_passes = ("in passes", in_passes);
    let bits = SortForm::Whole(SortOptions {
        order: SortOrder::Descending,
        bits: Some(13),
    });
    for (shape, form, launch) in [
        ([3, 5], ASCENDING, own),
        ([300, 3], DESCENDING, own),
        ([40, 50], DESCENDING, in_passes),
        ([70, 20], ASCENDING, back),
        ([2, 300], ASCENDING, back),
        ([2, 300], DESCENDING, counted),
        ([1, 1000], ASCENDING, stalled),
        ([1, 9001], DESCENDING, own),
        ([2, 1000], SortForm::Largest(20), back),
        ([2, 300], SortForm::Largest(200), back),
        ([3, 9001], SortForm::Largest(64), own),
    ] {
        floats(client, &group, shape, form, launch);
    }
    integers(client, &group, [2, 300], bits, back, |i| {
        mixed(i) as i32 * 7
    });
    if holds::<i64>(client) {
        let wide = |i| i64::from(mixed(i)) << 45 | i64::from(mixed(i / 3));
        integers(client, &group, [2, 300], ASCENDING, back, wide);
        integers(client, &group, [30, 9], DESCENDING, own, wide);
        integers(client, &group, [30, 9], DESCENDING, in_passes, wide);
    }
}

/// Each way of sorting at lengths around its tiles of 64 keys, in both orders, and the largest of as many.
#[allow(dead_code, reason = "for the simulator")]
pub fn around_tiles(client: &Client, planes: Planes) {
    let group = format!("sorts around tiles{}", planes.suffix());
    let stalled = LaunchOptions {
        stall: Some(Stall::Every(2)),
        spin_limit: Some(1),
        ..small(RoutineKind::SinglePass)
    };
    let launches = [
        ("tiles that look back", small(RoutineKind::SinglePass)),
        ("tiles that are counted", small(RoutineKind::ReduceThenScan)),
        ("stalled tiles", stalled),
    ];
    for launch in launches {
        for len in [1, 2, 63, 64, 65, 128, 129, 257] {
            for form in [ASCENDING, DESCENDING] {
                floats(client, &group, [2, len], form, launch);
            }
        }
    }
    for len in [64, 65, 129] {
        for k in [1, len - 1, len] {
            floats(client, &group, [2, len], SortForm::Largest(k), launches[0]);
        }
    }
}

/// At the device's own tuning: lines in a cube, and lines of several tiles.
#[allow(dead_code, reason = "for NVIDIA, and for gpu_check")]
pub fn at_own_tuning(client: &Client) {
    let (_, units, _) = tile_shape(client, &LaunchOptions::default());
    // At least a tile.
    let tile = 16 * units;
    let own = ("own tuning", LaunchOptions::default());
    let counted = LaunchOptions {
        strategy: Strategy::Forced(RoutineKind::ReduceThenScan),
        ..Default::default()
    };
    for (shape, form, launch) in [
        ([5000, 3], ASCENDING, own),
        ([9, 1000], DESCENDING, own),
        ([1, 9 * tile + 1], ASCENDING, own),
        ([3, 2 * tile], DESCENDING, own),
        (
            [1, 9 * tile + 1],
            DESCENDING,
            ("tiles that are counted", counted),
        ),
        ([8, 9 * tile + 1], SortForm::Largest(64), own),
    ] {
        floats(client, "sorts", shape, form, launch);
    }
}

/// Every twentieth key is hard.
fn floats(client: &Client, group: &str, shape: [usize; 2], form: SortForm, launch: Form) {
    let hard = [
        f32::NAN,
        -f32::NAN,
        0.0,
        -0.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        1e-40,
        -1e-40,
    ];
    let key = |i: usize| match mixed(i) as usize % 160 {
        at if at < hard.len() => hard[at],
        at => at as f32 - 90.5,
    };
    let keys: Vec<f32> = (0..shape[0] * shape[1]).map(key).collect();
    let bits = |keys: &[f32]| keys.iter().map(|key| key.to_bits() as i32).collect();
    record_sort(client, group, "f32", &keys, shape, form, launch, bits);
}

/// As 32-bit halves, the lower first, where they are wider.
fn integers<T: CubeElement + Numeric + SortKey>(
    client: &Client,
    group: &str,
    shape: [usize; 2],
    form: SortForm,
    launch: Form,
    key: impl Fn(usize) -> T,
) {
    let keys: Vec<T> = (0..shape[0] * shape[1]).map(key).collect();
    let name = format!("{:?}", T::elem_type_native());
    let words = |keys: &[T]| i32::from_bytes(T::as_bytes(keys)).to_vec();
    record_sort(client, group, &name, &keys, shape, form, launch, words);
}

#[expect(clippy::too_many_arguments, reason = "what a case consists of")]
fn record_sort<T: CubeElement + Numeric + SortKey>(
    client: &Client,
    group: &str,
    name: &str,
    keys: &[T],
    shape: [usize; 2],
    form: SortForm,
    (launched, launch): Form,
    words: impl Fn(&[T]) -> Vec<i32>,
) {
    let (dtype, int) = (T::elem_type_native(), i32::elem_type_native());
    let (expected, expected_positions) = sorted(keys, shape[1], form);
    let kept = expected.len();
    case(
        client,
        group,
        &format!("{name} {shape:?}, {form:?}, {launched}"),
        || {
            let input = (flat(&upload(client, keys), keys.len()), dtype);
            let output = sentinel(client, kept * size_of::<T>() / size_of::<i32>());
            let positions = sentinel(client, kept);
            let outputs = SortOutputs {
                keys: Some(flat(&output, kept)),
                positions: Some((flat(&positions, kept), int)),
            };
            match form {
                SortForm::Whole(options) => sort(client, input, outputs, shape, options, launch),
                SortForm::Largest(k) => top_k(client, input, outputs, shape, k, launch),
            }
            .expect("supported");
            vec![(output, words(&expected)), (positions, expected_positions)]
        },
    );
}
