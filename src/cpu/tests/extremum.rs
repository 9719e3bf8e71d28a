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
        // Few values, so that many are equal; a NaN in long columns.
        let values: Vec<f32> = (0..shape.iter().product())
            .map(|_| match random.next() % 1999 {
                0 => f32::NAN,
                drawn => (drawn % 7) as f32 - 3.0,
            })
            .collect();
        let lines = WalkShape::new(shape, false);
        let view = View::contiguous(&values, &lines);
        for is_max in [false, true] {
            let (extrema, positions) = extremum::<f32, i32>(&view, is_max, lines);
            for places in line_places(shape, false) {
                let mut last = 0;
                for (step, &at) in places.iter().enumerate() {
                    let (now, before) = (values[at], values[places[last]]);
                    let no_less = if is_max { now >= before } else { now <= before };
                    if no_less || now.is_nan() {
                        last = step;
                    }
                    let (found, expected) = (extrema[at], values[places[last]]);
                    let is_right = found == expected || found.is_nan() && expected.is_nan();
                    assert!(is_right, "{shape:?}, {at}: {found}, {expected}");
                    assert_eq!(positions[at], last as i32, "{shape:?}, {at}");
                }
            }
        }
    }
}
