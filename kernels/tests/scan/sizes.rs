//! The shapes of real use at the device's own tuning: long, few, many, short, and three-dimensional.

use super::*;
use cubecl::prelude::*;
use half::f16;

fn check_inferred(shape: &[usize], axis: usize, options: ScanOptions) {
    let view = View::contiguous(shape);
    let data = values(view.elements(), ScanOp::Sum);
    check(
        &client(),
        &data,
        &view,
        axis,
        ScanOp::Sum,
        options,
        launch(),
    );
}

#[test]
fn one_long_row() {
    check_inferred(&[1 << 24], 0, ScanOptions::default());
}

#[test]
fn powers_of_two_and_their_neighbours() {
    for exponent in (6..=20).step_by(2) {
        for n in [(1 << exponent) - 1, 1 << exponent, (1 << exponent) + 1] {
            check_inferred(&[n], 0, ScanOptions::default());
        }
    }
}

#[test]
fn a_few_rows_of_odd_length() {
    check_inferred(
        &[3, 400_001],
        1,
        ScanOptions {
            exclusive: true,
            reverse: true,
        },
    );
}

#[test]
fn more_than_65_535_short_rows() {
    check_inferred(&[1 << 17, 3], 1, ScanOptions::default());
}

/// With 32 units of one element, 2^22 elements make 131,072 tiles: more than one axis of the grid holds.
#[test]
fn more_than_65_535_tiles() {
    let n = (1 << 22) + 1;
    let view = View::contiguous(&[n]);
    let data = values(n, ScanOp::Sum);
    let launch = small_tile(RoutineKind::SinglePass);
    check(
        &client(),
        &data,
        &view,
        0,
        ScanOp::Sum,
        ScanOptions::default(),
        launch,
    );
}

#[test]
fn rows_and_columns_of_a_square() {
    let side = 1 << 10;
    for axis in [0, 1] {
        check_inferred(&[side, side], axis, ScanOptions::default());
    }
}

#[test]
fn few_long_columns() {
    check_inferred(
        &[1 << 18, 3],
        0,
        ScanOptions {
            exclusive: false,
            reverse: true,
        },
    );
    check_inferred(&[16, 1 << 10, 16], 1, ScanOptions::default());
}

/// Some drivers end every loop after 65,535 rounds, so these columns must be split. f32 would exceed the 128 MiB
/// that a device may bind.
#[test]
fn many_columns_longer_than_any_loop() {
    let client = client();
    if !client.properties().supports_type(f16::elem_type_native()) {
        unsupported("f16 on this device");
        return;
    }
    let view = View::contiguous(&[66_000, 513]);
    let data = values(view.elements(), ScanOp::Sum);
    let data: Vec<f16> = data
        .into_iter()
        .map(|value| f16::from_f32(value as f32))
        .collect();
    let options = ScanOptions::default();
    check(&client, &data, &view, 0, ScanOp::Sum, options, launch());
}

#[test]
fn nothing_at_all() {
    for shape in [vec![0], vec![0, 5], vec![5, 0], vec![2, 0, 3]] {
        for axis in 0..shape.len() {
            check_inferred(&shape, axis, ScanOptions::default());
        }
    }
}
