//! Floats that leave the range of their type.

use super::*;

/// Totals of single tiles leave the range of the type here, and the sequential result does not.
#[test]
fn a_product_leaves_the_range_where_a_loop_does() {
    for (len, inner) in [(5000, 1), (200_000, 1), (100_000, 2)] {
        let scan = |line: &dyn Fn(usize) -> f32| {
            let input: Vec<f32> = (0..len * inner).map(|index| line(index / inner)).collect();
            let output = scan(&input, [1, len, inner], ScanOp::Prod, false, false);
            output.chunks(inner).map(|line| line[0]).collect::<Vec<_>>()
        };
        let zero_first = scan(&|line| if line == 0 { 0.0 } else { 3.0 });
        assert!(zero_first.iter().all(|&product| product == 0.0));
        let zero_late = scan(&|line| {
            if line == 4000 {
                0.0
            } else {
                1.0 + (line / 4001) as f32
            }
        });
        assert!(
            zero_late
                .iter()
                .enumerate()
                .all(|(line, &product)| product == if line < 4000 { 1.0 } else { 0.0 })
        );
        let grows = scan(&|_| 3.0);
        assert!(grows[81..].iter().all(|&product| product == f32::INFINITY));
        // The product goes up by 2^120, then down by 2^200.
        let up_and_down = scan(&|line| match line {
            0..40 => 8.0,
            300..500 => 0.5,
            _ => 1.0,
        });
        assert_eq!(up_and_down[250], 2f32.powi(120));
        assert!(
            up_and_down[500..]
                .iter()
                .all(|&product| product == 2f32.powi(-80))
        );
    }
    let mut input = vec![0.0f32; 3000];
    (input[0], input[1100], input[1101]) = (-f32::MAX, f32::MAX, f32::MAX);
    assert_eq!(
        super::scan(&input, [1, 3000, 1], ScanOp::Sum, false, false)[2999],
        f32::MAX
    );
}

#[test]
fn a_sum_leaves_the_range_where_a_loop_does() {
    for len in [3000, 200_000] {
        for at in [0, 7, 1500, len - 4] {
            let mut input = vec![0.0f32; len];
            input[at..at + 4].copy_from_slice(&[-f32::MAX, f32::MAX, f32::MAX, -f32::MAX]);
            let output = super::scan(&input, [1, len, 1], ScanOp::Sum, false, false);
            assert_eq!(
                output[at..at + 4],
                [-f32::MAX, 0.0, f32::MAX, 0.0],
                "{len} {at}"
            );
            assert_eq!(output[len - 1], 0.0);
        }
    }
}

/// Segments are walked in tiles of 1,024 elements: the tile of `MAX` and `MAX` is out of range on its own.
#[test]
fn a_sum_of_a_segment_leaves_the_range_where_a_loop_does() {
    for [outer, len, inner] in [[1, 3000, 1], [1, 200_000, 1], [40, 3000, 1], [2, 3000, 70]] {
        let elements = outer * len * inner;
        let mut input = vec![0.0f32; elements];
        for (line, value) in [
            (0, -f32::MAX),
            (1500, f32::MAX),
            (1501, f32::MAX),
            (1502, -f32::MAX),
            (2800, f32::MAX),
            (2801, f32::MAX),
        ] {
            for plane in 0..outer {
                input[(plane * len + line) * inner..][..inner].fill(value);
            }
        }
        let starts = vec![0; elements];
        let lines = WalkShape::new([outer, len, inner], false);
        let output = super::scan_view(
            &View::contiguous(&input, &lines),
            Some(&View::contiguous(&starts, &lines)),
            None,
            ScanOp::Sum,
            false,
            lines,
        );
        for line in 0..outer * inner {
            let first = line / inner * len * inner + line % inner;
            let found = [1499, 1500, 1501, 1502, len - 1].map(|step| output[first + step * inner]);
            let expected = [-f32::MAX, 0.0, f32::MAX, 0.0, f32::INFINITY];
            assert_eq!(found, expected, "{outer} x {len} x {inner}");
        }
    }
}

/// Every tile has zeros, before and after the product has become zero.
#[test]
fn a_product_of_a_mask_is_one_up_to_the_first_zero() {
    for len in [3000, 200_000] {
        for first in [0, 5, 1023, 2500] {
            let input: Vec<f32> = (0..len)
                .map(|index| {
                    if index >= first && index % 3 != 1 {
                        0.0
                    } else {
                        1.0
                    }
                })
                .collect();
            let end = input.iter().position(|&x| x == 0.0).unwrap();
            let output = super::scan(&input, [1, len, 1], ScanOp::Prod, false, false);
            assert!((0..len).all(|index| output[index] == if index < end { 1.0 } else { 0.0 }));
        }
    }
}

/// Products of parts are subnormal here, where a loop has none: they have lost bits when they come back into range.
#[test]
fn a_product_of_parts_keeps_its_bits() {
    let cases: [&[(usize, f32)]; 4] = [
        // Within a vector, in pairs and in fours.
        &[
            (0, 1e38),
            (8, 3e-6),
            (9, 3e-6),
            (10, 3e-6),
            (11, 3e-6),
            (12, 3e-6),
            (13, 3e-6),
            (14, 3e-6),
            (15, 3e-6),
        ],
        &[(0, 1e30), (20, 1e-25), (21, 1e-15), (22, 1e20)],
        // Within a tile, and on the way to its total.
        &[(0, 1e10), (1024, 1e-30), (1025, 1e-12), (1026, 1e32)],
        // In the order of a reduction: the first and the ninth element.
        &[(0, 1e-30), (1, 1e32), (2, 1e20), (8, 1e-12)],
    ];
    for (case, places) in cases.iter().enumerate() {
        for [outer, len, inner] in [
            [1, 64, 1],
            [1, 3072, 1],
            [3, 3072, 1],
            [1, 3072, 2],
            [1, 40_000, 1],
            [1, 40_000, 3],
            [2, 3072, 70],
        ] {
            if places.iter().any(|&(at, _)| at >= len) {
                continue;
            }
            for reverse in [false, true] {
                let mut line = vec![1.0f32; len];
                for &(at, value) in *places {
                    line[if reverse { len - 1 - at } else { at }] = value;
                }
                let input: Vec<f32> = (0..outer * len * inner)
                    .map(|index| line[index / inner % len])
                    .collect();
                let mut product = 1f64;
                let steps = (0..len).map(|step| if reverse { len - 1 - step } else { step });
                let mut expected = vec![0.0; len];
                for at in steps {
                    product *= f64::from(line[at]);
                    expected[at] = product;
                }
                let shape = [outer, len, inner];
                let agrees = |output: &[f32], what: &str| {
                    for (index, &found) in output.iter().enumerate() {
                        let expected = expected[index / inner % len];
                        let off = (f64::from(found) / expected - 1.0).abs();
                        assert!(
                            off < 1e-5,
                            "{what} {case} {shape:?} {reverse} {index}: {found}, not {expected}"
                        );
                    }
                };
                agrees(
                    &super::scan(&input, shape, ScanOp::Prod, false, reverse),
                    "scan",
                );
                let lines = WalkShape::new(shape, reverse);
                let starts = vec![0; input.len()];
                let output = super::scan_view(
                    &View::contiguous(&input, &lines),
                    Some(&View::contiguous(&starts, &lines)),
                    None,
                    ScanOp::Prod,
                    false,
                    lines,
                );
                agrees(&output, "segments");
                if outer == 1 && !reverse {
                    let offsets = [0, len];
                    let bounds = Bounds::new(&offsets, len);
                    let product = segment_reduce(&input, &bounds, inner, ScanOp::Prod);
                    let off = (f64::from(product[inner - 1]) / expected[len - 1] - 1.0).abs();
                    assert!(off < 1e-5, "reduction {case} {shape:?}: {product:?}");
                }
            }
        }
    }
}
