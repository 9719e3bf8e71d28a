//! Sums of segments.

use half::f16;

use super::*;

fn check<T: ElementType + PartialEq>(from: fn(i32) -> T) {
    let mut random = Random(71);
    for shape in [
        [0, 4, 2],
        [2, 0, 3],
        [3, 5, 0],
        [1, 1, 1],
        [4, 7, 1],
        [3, 129, 65],
        [2, 300, 7],
        [1, 140_000, 1],
        [300, 451, 1],
        [1, 1100, 130],
        [700, 4, 3],
        [1000, 16, 1],
        [900, 5, 1],
    ] {
        let n = shape.iter().product();
        for percent in [0, 3, 60, 100] {
            let heads = random.mask(n, percent);
            // Few and small values: sums of half-precision floats stay exact.
            let values: Vec<i32> = (0..n)
                .map(|_| i32::from(random.next() % 200 == 0))
                .collect();
            let elements: Vec<T> = values.iter().map(|&value| from(value)).collect();
            for reverse in [false, true] {
                let mut sums = vec![0; n];
                for places in line_places(shape, reverse) {
                    let mut head = places.first().copied().unwrap_or_default();
                    for at in places {
                        if heads[at] != 0 {
                            head = at;
                        }
                        sums[head] += values[at];
                    }
                }
                let expected: Vec<T> = sums.into_iter().map(from).collect();
                let found = segment_sums(&elements, &heads, shape, reverse);
                assert!(found == expected, "{shape:?} {percent} % reverse {reverse}");
            }
        }
    }
}

#[test]
fn sums_of_long_segments_do_not_drift() {
    let n = if has_time_for(5_000_000) {
        5_000_000
    } else {
        150_000
    };
    let mut heads = vec![0; n];
    heads[0] = 1;
    let sums = segment_sums(&vec![0.1f32; n], &heads, [1, n, 1], false);
    let exact = f64::from(0.1f32) * n as f64;
    let error = (f64::from(sums[0]) - exact).abs() / exact;
    assert!(error < 1e-4, "{error}");
}

#[test]
fn sums_segments() {
    check(|value| value);
    check(|value| value as f64);
    check(|value| f16::from_f32(value as f32));
}
