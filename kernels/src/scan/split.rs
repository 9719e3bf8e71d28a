//! How lines are split into parts. A unit walks a part alone.

use super::tuning::{COLUMN_PART, LONGEST_PART, ROW_PART, Tuning};
use crate::scan::LaunchOptions;
use cubecl::client::Client;

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
    /// The best split on this device for `rows` rows of so many vectors each.
    pub fn rows(client: &Client, rows: usize, vectors: usize) -> Self {
        let tuning = Tuning::of(client, &LaunchOptions::default());
        Self::of(vectors, longest_in_rows(&tuning, rows))
    }

    /// The best split on this device for so many `columns` of so many `steps`, with a unit for each part of a column.
    pub fn columns(client: &Client, columns: usize, steps: usize) -> Self {
        let tuning = Tuning::of(client, &LaunchOptions::default());
        Self::of_columns(&tuning, columns, steps)
    }

    /// Parts of about one length, of at most `longest` steps.
    pub(crate) fn of(steps: usize, longest: usize) -> Self {
        let parts = steps.div_ceil(longest).max(1);
        let len = steps.div_ceil(parts).max(1);
        Self {
            len,
            parts: steps.div_ceil(len).max(1),
        }
    }

    /// The longest parts that still saturate the device.
    pub(crate) fn of_columns(tuning: &Tuning, columns: usize, steps: usize) -> Self {
        let wanted = tuning.units_to_saturate.div_ceil(columns);
        let most = steps.div_ceil(COLUMN_PART).max(1);
        let parts = wanted.min(most);
        Self::of(steps, steps.div_ceil(parts).clamp(1, LONGEST_PART))
    }
}

/// The most vectors of a part of a row. Rows that saturate the device are walked whole, up to the longest loop.
pub(crate) fn longest_in_rows(tuning: &Tuning, rows: usize) -> usize {
    match rows >= tuning.units_to_saturate {
        true => LONGEST_PART,
        false => ROW_PART,
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

    fn columns(tuning: Tuning, columns: usize, steps: usize) -> Split {
        Split::of_columns(&tuning, columns, steps)
    }

    #[test]
    fn columns_are_cut_until_the_device_is_full() {
        let gpu = Tuning::planes();
        let whole = |steps| Split {
            len: steps,
            parts: 1,
        };
        assert_eq!(columns(gpu, 1 << 16, 1000), whole(1000));
        assert_eq!(columns(gpu, 1 << 16, 31), whole(31));
        assert_eq!(columns(gpu, 1 << 14, 4096).parts, 4);
        assert_eq!(columns(gpu, 1, 4096).len, COLUMN_PART);
        assert_eq!(columns(gpu, 1 << 20, 1 << 20).len, LONGEST_PART);
    }

    #[test]
    fn rows_that_fill_the_device_are_walked_whole() {
        let software = Tuning::software();
        assert_eq!(columns(software, 1 << 9, 4096).parts, 1);
        assert_eq!(longest_in_rows(&software, 1 << 9), LONGEST_PART);
        assert_eq!(longest_in_rows(&software, 1), ROW_PART);
    }
}
