//! How lines are split into parts. A unit walks a part alone.

use super::tuning::{COLUMN_PART, LONGEST_PART, Tuning};

/// A line split into parts of one length. The last part may be shorter. Lengths are in steps: a step is a vector of a
/// row, or of columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// Steps of a part.
    pub len: usize,
    /// Parts of a line.
    pub parts: usize,
}

impl Split {
    /// Parts of about one length, of at most `longest` steps.
    fn of(steps: usize, longest: usize) -> Self {
        let parts = steps.div_ceil(longest).max(1);
        let len = steps.div_ceil(parts).max(1);
        Self {
            len,
            parts: steps.div_ceil(len).max(1),
        }
    }

    /// The longest parts of `columns` columns of `steps` steps that still saturate the device, with a unit for each.
    pub(crate) fn of_columns(tuning: &Tuning, columns: usize, steps: usize) -> Self {
        let wanted = tuning.units_to_saturate.div_ceil(columns);
        let most = steps.div_ceil(COLUMN_PART).max(1);
        let parts = wanted.min(most);
        Self::of(steps, steps.div_ceil(parts).clamp(1, LONGEST_PART))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_of_one_length_but_the_last() {
        for longest in [1, 2, 7, 260] {
            for steps in 1..600 {
                let Split { len, parts } = Split::of(steps, longest);
                assert!(len <= longest);
                assert!((parts - 1) * len < steps && steps <= parts * len);
            }
        }
        assert_eq!(Split::of(0, 5), Split { len: 1, parts: 1 });
    }

    #[test]
    fn columns_are_cut_until_the_device_is_full() {
        let split = |columns, steps| Split::of_columns(&Tuning::planes(), columns, steps);
        let whole = |steps| Split {
            len: steps,
            parts: 1,
        };
        assert_eq!(split(1 << 16, 1000), whole(1000));
        assert_eq!(split(1 << 16, 31), whole(31));
        assert_eq!(split(1 << 14, 4096).parts, 4);
        assert_eq!(split(1, 4096).len, COLUMN_PART);
        assert_eq!(split(1 << 20, 1 << 20).len, LONGEST_PART);
    }
}
