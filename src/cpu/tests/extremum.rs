//! Running extrema with their positions: single columns, a few, and many are different kernels.

use super::*;

#[test]
fn the_last_of_equal_extrema() {
    let mut random = Random(29);
    for shape in [
        [5, 3, 1],
        [1, 2500, 1],
        [2, 1025, 3],
        [1, 60_000, 4],
        [1, 1030, 70],
        [40, 48, 2],
        [500, 4, 3],
        [900, 19, 1],
    ] {
        let [outer, len, inner] = shape;
        let n = outer * len * inner;
        // Few values, so that many are equal; a NaN in long columns.
        let values: Vec<f32> = (0..n)
            .map(|_| match random.next() % 1999 {
                0 => f32::NAN,
                drawn => (drawn % 7) as f32 - 3.0,
            })
            .collect();
        let strides = [len * inner, inner, 1].map(|stride| stride as isize);
        let view = View::new(&values, 0, &shape, &strides, 1);
        for is_max in [false, true] {
            let lines = WalkShape::new(shape, false);
            let (extrema, positions) = extremum::<f32, i32>(&view, is_max, lines);
            for line in 0..outer * inner {
                let mut last = 0;
                for step in 0..len {
                    let at = |step: usize| (line / inner * len + step) * inner + line % inner;
                    let (now, before) = (values[at(step)], values[at(last)]);
                    let no_less = if is_max { now >= before } else { now <= before };
                    if no_less || now.is_nan() {
                        last = step;
                    }
                    let (found, expected) = (extrema[at(step)], values[at(last)]);
                    let is_right = found == expected || found.is_nan() && expected.is_nan();
                    assert!(is_right, "{shape:?}, {line}, {step}: {found}, {expected}");
                    assert_eq!(
                        positions[at(step)],
                        last as i32,
                        "{shape:?}, {line}, {step}"
                    );
                }
            }
        }
    }
}
