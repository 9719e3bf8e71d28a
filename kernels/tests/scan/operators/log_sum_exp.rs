//! Logarithms of sums of exponentials that overflow and vanish.

use super::{Case, Oracle, found};
use crate::{ScanOptions, client, launch, uneven};
use cubecl_scan::monoid::LogSumExp;

pub struct LogSums;

impl Oracle for LogSums {
    type Operator = LogSumExp;
    /// The largest element, and the sum of the exponentials of the others relative to it.
    type State = (f64, f64);

    fn config() {}

    fn identity() -> (f64, f64) {
        (f64::NEG_INFINITY, 0.)
    }

    fn read(values: &[f32], _position: usize) -> (f64, f64) {
        (values[0].into(), 1.)
    }

    fn resume(written: &[f32]) -> (f64, f64) {
        (written[0].into(), 1.)
    }

    fn combine(&(largest, sum): &(f64, f64), &(x, count): &(f64, f64)) -> (f64, f64) {
        if x == f64::NEG_INFINITY {
            (largest, sum)
        } else if x > largest {
            (x, sum * (largest - x).exp() + count)
        } else {
            (largest, sum + count * (x - largest).exp())
        }
    }

    fn write(&(largest, sum): &(f64, f64)) -> (Vec<f32>, i32) {
        let result = match largest == f64::NEG_INFINITY {
            true => largest,
            false => largest + sum.ln(),
        };
        (vec![result as f32], -1)
    }

    fn elements(n: usize) -> Vec<Vec<f32>> {
        let mut data: Vec<f32> = uneven(n).iter().map(|x| x * 50.).collect();
        data[0] = f32::NEG_INFINITY;
        data[n / 2] = f32::NEG_INFINITY;
        vec![data]
    }

    fn is_close(found: f32, expected: f32) -> bool {
        found == expected || (found - expected).abs() <= 1e-5 * (1. + expected.abs())
    }
}

#[test]
fn nan_and_infinities() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let data = vec![-inf, -inf, 3., inf, 5., nan, 1.];
    let case = Case {
        shape: [1, data.len(), 1],
        options: ScanOptions::default(),
        launch: launch(),
        segmented: false,
        resumes: false,
    };
    let (found, _) = found::<LogSumExp>(&client(), case, (), &[data], &[], &[]);
    let found = &found[0];
    assert_eq!(found[..2], [-inf, -inf]);
    assert!((found[2] - 3.).abs() < 1e-6, "{found:?}");
    assert_eq!(found[3..5], [inf, inf]);
    assert!(found[5].is_nan() && found[6].is_nan(), "{found:?}");
}
