//! The meaning of sums, recurrences, recurrences that reset, extrema with positions, and logarithms of sums of
//! exponentials.

use super::oracle::Oracle;
use cubecl_scan::ScanOp;
use cubecl_scan::monoid::{
    ArgExtremum, Extremum, Fold, LinearRecurrence, LogSumExp, ResetRecurrence,
};
use scan_testing::kernels::{floats, uneven};

pub struct Sums;

impl Oracle for Sums {
    type Operator = Fold;
    type State = f32;

    fn config() -> ScanOp {
        ScanOp::Sum
    }

    fn identity() -> f32 {
        0.
    }

    fn read(values: &[f32], _position: usize) -> f32 {
        values[0]
    }

    fn resume(written: &[f32]) -> f32 {
        written[0]
    }

    fn combine(lhs: &f32, rhs: &f32) -> f32 {
        lhs + rhs
    }

    fn write(state: &f32) -> (Vec<f32>, i32) {
        (vec![*state], -1)
    }

    fn elements(n: usize) -> Vec<Vec<f32>> {
        vec![floats(n, ScanOp::Sum)]
    }
}

/// Decays of −1, 0 and 1.
pub struct Recurrences;

impl Oracle for Recurrences {
    type Operator = LinearRecurrence;
    /// The map `h ↦ decay·h + value`.
    type State = [f32; 2];

    fn config() {}

    fn identity() -> [f32; 2] {
        [1., 0.]
    }

    fn read(values: &[f32], _position: usize) -> [f32; 2] {
        [values[1], values[0]]
    }

    fn resume(written: &[f32]) -> [f32; 2] {
        [1., written[0]]
    }

    fn combine([_, h]: &[f32; 2], [decay, value]: &[f32; 2]) -> [f32; 2] {
        [1., decay * h + value]
    }

    fn write([_, h]: &[f32; 2]) -> (Vec<f32>, i32) {
        (vec![*h], -1)
    }

    fn elements(n: usize) -> Vec<Vec<f32>> {
        let both = floats(2 * n, ScanOp::Sum);
        let (values, decays) = both.split_at(n);
        vec![
            values.to_vec(),
            decays.iter().map(|decay| decay % 2.).collect(),
        ]
    }
}

/// The same with infinities and NaN, which a decay of 0 forgets.
pub struct ResetRecurrences;

impl Oracle for ResetRecurrences {
    type Operator = ResetRecurrence;
    type State = [f32; 2];

    fn config() {}

    fn identity() -> [f32; 2] {
        Recurrences::identity()
    }

    fn read(values: &[f32], position: usize) -> [f32; 2] {
        Recurrences::read(values, position)
    }

    fn resume(written: &[f32]) -> [f32; 2] {
        Recurrences::resume(written)
    }

    fn combine(before: &[f32; 2], element: &[f32; 2]) -> [f32; 2] {
        if element[0] == 0. {
            [1., element[1]]
        } else {
            Recurrences::combine(before, element)
        }
    }

    fn write(state: &[f32; 2]) -> (Vec<f32>, i32) {
        Recurrences::write(state)
    }

    fn elements(n: usize) -> Vec<Vec<f32>> {
        let mut elements = Recurrences::elements(n);
        for (i, value) in elements[0].iter_mut().enumerate() {
            match i % 701 {
                350 => *value = f32::INFINITY,
                420 => *value = f32::NAN,
                _ => {}
            }
        }
        elements
    }
}

/// A few different numbers and some NaN. Of equal numbers the last counts.
pub struct Extrema<const LARGEST: bool>;

impl<const LARGEST: bool> Oracle for Extrema<LARGEST> {
    type Operator = ArgExtremum;
    type State = (f32, i32);

    fn config() -> Extremum {
        if LARGEST {
            Extremum::Max
        } else {
            Extremum::Min
        }
    }

    fn identity() -> (f32, i32) {
        if LARGEST {
            (f32::NEG_INFINITY, -1)
        } else {
            (f32::INFINITY, -1)
        }
    }

    fn read(values: &[f32], position: usize) -> (f32, i32) {
        (values[0], position as i32)
    }

    fn resume(written: &[f32]) -> (f32, i32) {
        (written[0], -1)
    }

    fn combine(lhs: &(f32, i32), rhs: &(f32, i32)) -> (f32, i32) {
        let beats = if LARGEST {
            rhs.0 >= lhs.0
        } else {
            rhs.0 <= lhs.0
        };
        if rhs.0.is_nan() || beats { *rhs } else { *lhs }
    }

    fn write(state: &(f32, i32)) -> (Vec<f32>, i32) {
        (vec![state.0], state.1)
    }

    fn elements(n: usize) -> Vec<Vec<f32>> {
        let element = |(i, value): (usize, f32)| match i % 701 {
            350 => f32::NAN,
            351 => f32::NEG_INFINITY,
            352 => f32::INFINITY,
            _ => value,
        };
        vec![
            floats(n, ScanOp::Sum)
                .into_iter()
                .enumerate()
                .map(element)
                .collect(),
        ]
    }
}

/// Exponentials that overflow and vanish.
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
        let result = if largest == f64::NEG_INFINITY {
            largest
        } else {
            largest + sum.ln()
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
