//! With `batch_invariant`, a line has the same bits whatever lies next to it, and wherever it lies. The rounding of
//! results depends on the order in which elements are combined.

use super::*;
use cubecl_scan::monoid::{Fold, LinearRecurrence, LogSumExp};

fn invariant() -> LaunchOptions {
    LaunchOptions {
        batch_invariant: true,
        ..launch()
    }
}

fn bits(values: impl IntoIterator<Item = f32>) -> Vec<u32> {
    values.into_iter().map(f32::to_bits).collect()
}

/// The first output of lines that all have these elements.
fn of_equal_lines<O: Operator>(
    client: &Client,
    op: O::Config,
    line: &[Vec<f32>],
    [outer, inner]: [usize; 2],
    options: ScanOptions,
) -> Vec<f32> {
    let with_neighbours = |input: &Vec<f32>| {
        let plane: Vec<f32> = input.iter().flat_map(|&x| vec![x; inner]).collect();
        plane.repeat(outer)
    };
    let inputs: Vec<_> = line.iter().map(with_neighbours).collect();
    let case = Case {
        shape: [outer, line[0].len(), inner],
        options,
        launch: invariant(),
        segmented: false,
        resumes: false,
    };
    let starts = vec![0; inputs[0].len()];
    let (mut outputs, _) = found::<O>(client, case, op, &inputs, &[], &starts);
    outputs.swap_remove(0)
}

/// Lines of each length, each scanned in its direction.
fn equal_lines<O: Operator>(
    op: O::Config,
    line: impl Fn(usize) -> Vec<Vec<f32>>,
    cases: &[(usize, bool)],
) {
    let client = client();
    for &(len, reverse) in cases {
        let line = line(len);
        let options = ScanOptions {
            exclusive: false,
            reverse,
        };
        let of = |shape| of_equal_lines::<O>(&client, op, &line, shape, options);
        let alone = bits(of([1, 1]));
        for count in [2, 3, 9, 17] {
            let rows = bits(of([count, 1]));
            let differs = rows.chunks(len).position(|row| row != alone);
            assert_eq!(differs, None, "{count} rows of {len}, {options:?}");
        }
        if rows_only() {
            continue;
        }
        let two = of([1, 2]);
        let first: Vec<f32> = two.into_iter().step_by(2).collect();
        // Many of the longest columns would take most of the time.
        let wide = (len <= 5000).then_some([3, 260]);
        for [outer, inner] in [[1, 3], [1, 8], [2, 17]].into_iter().chain(wide) {
            let found = of([outer, inner]);
            let expected = first.iter().flat_map(|&x| vec![x; inner]);
            let expected: Vec<f32> = expected.collect();
            let is_same = bits(found) == bits(expected.repeat(outer));
            assert!(is_same, "{outer}×{inner} columns of {len}, {options:?}");
        }
    }
}

/// Less than a vector to several tiles: rows in a plane, in some stripes, in a cube, and across cubes.
const LENS: [usize; 10] = [3, 4, 48, 49, 128, 1000, 1024, 1536, 5000, 20_000];

#[test]
fn sums() {
    let cases = LENS.map(|len| [(len, false), (len, true)]).concat();
    equal_lines::<Fold>(ScanOp::Sum, |len| vec![uneven(len)], &cases);
}

/// Few lengths, each in one direction: each of these operators has kernels of its own, and the routines are the same.
#[test]
fn other_operators() {
    let few = [(48, true), (1000, false), (20_000, true)];
    let near = |len| uneven(len).into_iter().map(|x| 1. + x / 1e6).collect();
    equal_lines::<Fold>(ScanOp::Prod, |len| vec![near(len)], &few);
    equal_lines::<LogSumExp>((), |len| vec![near(len)], &few);
    equal_lines::<LinearRecurrence>((), |len| vec![uneven(len), near(len)], &few);
}

#[test]
fn rows_with_gaps() {
    let client = client();
    for len in [48, 49, 128, 1000, 5000] {
        let options = ScanOptions::default();
        let alone = of_equal_lines::<Fold>(&client, ScanOp::Sum, &[uneven(len)], [1, 1], options);
        for gap in [1, 4] {
            let view = View {
                shape: vec![5, len],
                strides: vec![len + gap, 1],
            };
            let mut row = uneven(len);
            row.resize(len + gap, 7.);
            let (data, op) = (row.repeat(5), ScanOp::Sum);
            let found = device_scan(&client, &data, &view, 1, op, options, invariant());
            let found = bits(found.expect("supported"));
            let is_same = found.chunks(len).all(|row| row == bits(alone.clone()));
            assert!(is_same, "rows of {len}, {gap} apart");
        }
    }
}
