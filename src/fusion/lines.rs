//! How the lines of a scan lie, and how they are cut into runs. A [line](super::walk) is what one scan goes along.

use burn_std::Shape;

/// Vectors of a run along the axis. Not a power of two: neighbouring units would meet in one set of the cache.
const RUN: usize = 252;

/// The fewest vectors of a run across the axis; a shorter one costs more for its total than it brings.
const MIN_RUN: usize = 32;

/// The most. lavapipe ends every loop of a shader after 65,535 rounds.
const MAX_RUN: usize = 1 << 14;

/// Units that fill a software adapter; lines across the axis are cut where there are fewer. The constant of the scan
/// without a load and store of its own.
const FILL_SOFTWARE: usize = 1 << 9;

/// The same for a GPU. Not measured.
const FILL: usize = 1 << 16;

/// Elements side by side from which on, in f32, every step across the axis is a page of its own. Units that take many steps
/// fall out of the translation buffer of a processor then, and short runs are worth their second reading.
const PAGE: usize = 1 << 10;

/// The shape of a scan as `[outer, len, inner]`.
#[derive(Clone, Copy)]
pub(super) struct Lines {
    outer: usize,
    len: usize,
    inner: usize,
    /// Whether the last dimension is a single element though others are not, which keeps Burn's engine from reading vectors.
    is_scalar: bool,
}

/// Lines cut into runs, in vectors.
#[derive(Debug, PartialEq)]
pub(super) struct Cut {
    /// Whether the lanes of a vector follow each other along the axis.
    pub(super) along: bool,
    /// Vectors of a line.
    pub(super) steps: usize,
    /// Lines side by side.
    pub(super) width: usize,
    /// Vectors of a run.
    pub(super) run: usize,
    /// Runs of a line.
    pub(super) per_line: usize,
    /// Runs of all lines.
    pub(super) runs: usize,
    /// The shape of the totals, to be scanned along its middle.
    pub(super) totals: [usize; 3],
}

impl Lines {
    pub(super) fn of(shape: &Shape, axis: usize) -> Self {
        let len = shape[axis];
        Self {
            outer: shape[..axis].iter().product(),
            len,
            inner: shape[axis + 1..].iter().product(),
            is_scalar: shape[shape.num_dims() - 1] == 1 && len > 1,
        }
    }

    /// Whether the walk suits the device. Along the axis, neighbouring units read far apart: that costs nothing where they
    /// are lanes of one loop on a CPU, and most of the bandwidth of a GPU.
    pub(super) fn suit(&self, scans_tiles: bool) -> bool {
        !self.is_scalar && (self.inner > 1 || self.len == 1 || !scans_tiles)
    }

    /// The cut of lines in vectors of `lanes` elements, which have to divide rows, or the dimensions behind the axis.
    pub(super) fn cut(&self, scans_tiles: bool, lanes: usize) -> Option<Cut> {
        let along = self.inner == 1;
        let divided = if along { self.len } else { self.inner };
        if divided % lanes != 0 {
            return None;
        }
        let (steps, width) = match along {
            true => (self.len / lanes, 1),
            false => (self.len, self.inner / lanes),
        };
        let lines = self.outer * width;
        let fill = if scans_tiles { FILL } else { FILL_SOFTWARE };
        let parts = match along {
            // Rows are enough for all units, and a line that is whole is loaded once.
            true if lines >= FILL_SOFTWARE => 1,
            true => steps.div_ceil(RUN),
            false if !scans_tiles && self.inner >= PAGE => steps / MIN_RUN,
            false => fill.div_ceil(lines).min(steps / MIN_RUN),
        };
        let run = steps.div_ceil(parts.max(1)).min(MAX_RUN);
        let per_line = steps.div_ceil(run);
        let carried = if along { 1 } else { lanes };
        Some(Cut {
            along,
            steps,
            width,
            run,
            per_line,
            runs: lines * per_line,
            totals: [self.outer, per_line, width * carried],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(shape: &[usize], axis: usize, lanes: usize) -> Option<Cut> {
        Lines::of(&Shape::from(shape.to_vec()), axis).cut(false, lanes)
    }

    #[test]
    fn every_vector_is_in_one_run() {
        for shape in [
            [1, 1 << 20],
            [7, 1008],
            [7, 1012],
            [40_000, 8],
            [1 << 20, 4],
            [65, 4096],
            [1, 4],
        ] {
            for axis in [0, 1] {
                let cut = cut(&shape, axis, 4).expect("4 divides rows and columns");
                let whole = (cut.per_line - 1) * cut.run;
                assert!(
                    whole < cut.steps && cut.steps <= whole + cut.run,
                    "{shape:?} {cut:?}"
                );
                assert_eq!(cut.runs * cut.steps, cut.per_line * shape[0] * shape[1] / 4);
                assert!(cut.run <= MAX_RUN);
            }
        }
    }

    #[test]
    fn short_rows_and_many_columns_stay_whole() {
        assert_eq!(cut(&[4096, 1000], 1, 4).map(|cut| cut.per_line), Some(1));
        assert_eq!(cut(&[4096, 8192], 1, 4).map(|cut| cut.per_line), Some(1));
        assert_eq!(cut(&[8, 4096, 512], 1, 4).map(|cut| cut.per_line), Some(1));
        assert!(cut(&[4096, 64], 0, 4).is_some_and(|cut| cut.per_line > 1));
    }

    #[test]
    fn vectors_do_not_straddle_rows() {
        assert_eq!(cut(&[4, 6], 1, 4), None);
        assert_eq!(cut(&[6, 6], 0, 4), None);
    }

    #[test]
    fn rows_wait_for_a_kernel_of_tiles() {
        let lines = |shape: [usize; 2], axis| Lines::of(&Shape::from(shape.to_vec()), axis);
        assert!(lines([64, 64], 1).suit(false) && !lines([64, 64], 1).suit(true));
        assert!(lines([64, 64], 0).suit(true));
        assert!(!lines([64, 1], 0).suit(false));
    }
}
