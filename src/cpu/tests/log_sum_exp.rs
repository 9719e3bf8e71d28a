//! Log-sum-exp: a row has the bits of a column, which is another kernel, and both are near the definition.

use super::*;

/// Numbers of either sign that sometimes rise far; now and then an infinity, and a NaN near the end of long lines.
fn drawn(len: usize, random: &mut Random) -> Vec<f32> {
    let mut values: Vec<f32> = (0..len)
        .map(|_| match random.next() % 97 {
            0 => 60.0,
            1 => f32::NEG_INFINITY,
            drawn => drawn as f32 / 4.0 - 12.0,
        })
        .collect();
    if len > 300 {
        values[len - 7] = f32::NAN;
        values[len - 90] = f32::INFINITY;
    }
    values
}

/// Step by step in f64.
fn expected(values: &[f32], starts: &[u8], exclusive: bool, reverse: bool) -> Vec<f64> {
    let len = values.len();
    let mut found = vec![0.0; len];
    let (mut largest, mut sum) = (f64::NEG_INFINITY, 0.0);
    for step in 0..len {
        let at = if reverse { len - 1 - step } else { step };
        let start = at + usize::from(reverse);
        if starts.get(start).is_some_and(|&start| start != 0) {
            (largest, sum) = (f64::NEG_INFINITY, 0.0);
        }
        let value = |largest: f64, sum: f64| {
            if sum == 0.0 {
                largest
            } else {
                largest + sum.ln()
            }
        };
        let before = value(largest, sum);
        let x = f64::from(values[at]);
        let relative = |part: f64, largest: f64| {
            if part == largest {
                1.0
            } else {
                (part - largest).exp()
            }
        };
        let next = if x > largest || x.is_nan() {
            x
        } else {
            largest
        };
        sum = sum * relative(largest, next) + relative(x, next);
        largest = next;
        found[at] = if exclusive {
            before
        } else {
            value(largest, sum)
        };
    }
    found
}

#[test]
fn rows_have_the_bits_of_columns() {
    // A few, and more, of a number that vectors do not divide.
    const COLUMNS: [usize; 2] = [3, 67];
    let mut random = Random(17);
    for len in [1, 2, 49, 127, 128, 129, 300, TILE, TILE + 1, 3 * TILE + 133] {
        let row = drawn(len, &mut random);
        for percent in [0, 2, 60] {
            let starts = random.mask(len, percent);
            for (exclusive, reverse) in [(false, false), (true, false), (false, true), (true, true)]
            {
                let scan = |values: &[f32], starts: &[u8], inner: usize| {
                    let shape = [1, len, inner];
                    let lines = WalkShape::new(shape, reverse);
                    let marks = View::contiguous(starts, &lines);
                    let starts = (percent > 0).then_some(&marks);
                    let values = View::contiguous(values, &lines);
                    log_sum_exp::<f32>(&values, starts, exclusive, lines)
                };
                let found = scan(&row, &starts, 1);
                let context = format!("{len}, {percent} %, {exclusive}, {reverse}");
                for count in COLUMNS {
                    let columns: Vec<f32> = row.iter().flat_map(|&x| vec![x; count]).collect();
                    let marks: Vec<u8> = starts.iter().flat_map(|&x| vec![x; count]).collect();
                    let of_columns = scan(&columns, &marks, count);
                    for (at, (results, &found)) in of_columns.chunks(count).zip(&found).enumerate()
                    {
                        let same = |x: &f32| {
                            x.to_bits() == found.to_bits() || x.is_nan() && found.is_nan()
                        };
                        assert!(
                            results.iter().all(same),
                            "{context}, {at}: {results:?}, {found}"
                        );
                    }
                }
                let starts = if percent > 0 { &starts[..] } else { &[] };
                let expected = expected(&row, starts, exclusive, reverse);
                for (at, (&found, expected)) in found.iter().zip(expected).enumerate() {
                    let found = f64::from(found);
                    let is_close = found == expected
                        || found.is_nan() && expected.is_nan()
                        || (found - expected).abs() <= 1e-6 * expected.abs().max(1.0);
                    assert!(is_close, "{context}, {at}: {found} instead of {expected}");
                }
            }
        }
    }
}
