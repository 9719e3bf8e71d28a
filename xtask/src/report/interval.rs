//! Where the median lies of what a few samples were drawn from.
//!
//! The interval between two order statistics as far from either end, by the sign test (Thompson 1936): it assumes nothing of the
//! distribution, and the times of a busy machine have none that is worth assuming.

/// How often an interval may miss the median: once in a hundred times.
const RISK: f64 = 0.01;

/// The median of a sample, and the interval that holds the distribution's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Interval {
    /// With fewer than eight values either end is open, and infinite.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        let n = values.len();
        values.sort_by(f64::total_cmp);
        let median = match n {
            0 => return None,
            n if n % 2 == 1 => values[n / 2],
            n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
        };
        let (low, high) = match outside(n) {
            0 => (f64::NEG_INFINITY, f64::INFINITY),
            k => (values[k - 1], values[n - k]),
        };
        Some(Self { low, median, high })
    }
}

/// How many of `n` values may lie outside on either side: as long as so few throws of a coin show heads too rarely.
fn outside(n: usize) -> usize {
    let (mut k, mut ways, mut at_most) = (0, 1.0, 0.0);
    loop {
        // Throws with k heads among all 2^n.
        at_most += ways * 0.5_f64.powi(n as i32);
        if 2.0 * at_most > RISK {
            return k;
        }
        ways *= (n - k) as f64 / (k + 1) as f64;
        k += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tables of the sign test at one percent, both sides together.
    #[test]
    fn as_many_lie_outside_as_the_tables_say() {
        for (n, k) in [(0, 0), (7, 0), (8, 1), (12, 2), (20, 4), (30, 8), (50, 16)] {
            assert_eq!(outside(n), k, "{n}");
        }
    }

    #[test]
    fn the_ends_are_order_statistics() {
        let values = (1..=12).rev().map(f64::from).collect();
        let found = Interval::of(values).unwrap();
        assert_eq!(
            found,
            Interval {
                low: 2.0,
                median: 6.5,
                high: 11.0
            }
        );
        assert_eq!(Interval::of(Vec::new()), None);
        let few = Interval::of(vec![3.0, 1.0, 2.0]).unwrap();
        assert_eq!((few.median, few.high), (2.0, f64::INFINITY));
    }
}
