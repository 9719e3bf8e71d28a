//! Log-sum-exp: a row has the bits of a column, which is another kernel.

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

#[test]
fn rows_have_the_bits_of_columns() {
    // A few, and more, of a number that vectors do not divide.
    const COLUMNS: [usize; 2] = [3, 67];
    let mut random = Random(17);
    for len in [1, 2, 49, 127, 128, 129, 300, TILE, TILE + 1, 3 * TILE + 133] {
        let row = drawn(len, &mut random);
        for percent in [0, 2, 60] {
            let starts = random.mask(len, percent);
            for (exclusive, reverse) in WAYS {
                let scan = |values: &[f32], starts: &[u8], inner: usize| {
                    let shape = [1, len, inner];
                    let lines = WalkShape::new(shape, reverse);
                    let marks = View::contiguous(starts, &lines);
                    let starts = (percent > 0).then_some(&marks);
                    let values = View::contiguous(values, &lines);
                    fold_scan::<f32, LogSumExpFold>(&values, starts, None, exclusive, lines)
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
            }
        }
    }
}
