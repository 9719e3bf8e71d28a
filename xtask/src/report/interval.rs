//! An interval that holds the median of a distribution, of which there are a few samples.
//!
//! Its ends are two order statistics, each as far from its end of the sample (the sign test, Thompson 1936). It assumes
//! nothing of the distribution, and nobody knows the distribution of times on a busy machine.

/// An interval may miss the median this often: once in a hundred times.
const RISK: f64 = 0.01;

/// The median of a sample, and the interval for the median of its distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Interval {
    /// With fewer than eight values both ends are infinite.
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

/// How many of `n` values may lie outside on either side. This few heads in `n` throws of a coin are rare enough.
fn outside(n: usize) -> usize {
    let (mut k, mut ways, mut at_most) = (0, 1.0, 0.0);
    loop {
        // The share of the throws with k heads among all 2^n.
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

    /// The figures are from tables of the sign test at one percent, both sides together.
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
