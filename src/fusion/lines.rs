//! How the [lines](super::walk) of a scan lie, and how they are split into parts.

use burn_std::Shape;
use cubecl::client::Client;
use cubecl_scan::scan::parts::{Parts, Split};

/// The shape of a scan as `[outer, len, inner]`.
#[derive(Clone, Copy)]
pub(super) struct Lines {
    outer: usize,
    len: usize,
    inner: usize,
    /// Whether the last dimension has one element and others have more. Then Burn's engine reads no vectors.
    is_scalar: bool,
}

/// Lines in vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct VectorLines {
    /// Whether the lanes of a vector follow each other along the axis.
    pub(super) along: bool,
    /// Groups of lines, and the lines side by side in each.
    pub(super) outer: usize,
    pub(super) width: usize,
    /// Vectors of a line.
    pub(super) steps: usize,
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

    /// Whether the walk suits the device. Along the last axis, neighbouring units read far apart. That costs nothing on
    /// a CPU, where they are lanes of one loop. It costs most of the bandwidth of a GPU.
    pub(super) fn suit(&self, scans_tiles: bool) -> bool {
        !self.is_scalar && (self.inner > 1 || self.len == 1 || !scans_tiles)
    }

    /// The lines in vectors of `lanes` elements. `lanes` must divide the length of a row, or the dimensions after the
    /// axis.
    pub(super) fn in_vectors(&self, lanes: usize) -> Option<VectorLines> {
        let along = self.inner == 1;
        let divided = if along { self.len } else { self.inner };
        let (steps, width) = match along {
            true => (self.len / lanes, 1),
            false => (self.len, self.inner / lanes),
        };
        (divided % lanes == 0).then_some(VectorLines {
            along,
            outer: self.outer,
            width,
            steps,
        })
    }
}

impl VectorLines {
    /// How they are split into parts.
    pub(super) fn split(&self, client: &Client) -> Split {
        let lines = self.outer * self.width;
        match self.along {
            true => Split::rows(client, lines, self.steps),
            false => Split::columns(client, lines, self.steps),
        }
    }

    /// The parts, one for each lane of a vector across the axis.
    pub(super) fn parts(&self, split: Split, lanes: usize) -> Parts {
        Parts {
            outer: self.outer,
            parts: split.parts,
            inner: self.width * if self.along { 1 } else { lanes },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_vectors(shape: &[usize], axis: usize) -> Option<VectorLines> {
        Lines::of(&Shape::from(shape.to_vec()), axis).in_vectors(4)
    }

    #[test]
    fn every_element_is_in_one_line() {
        for shape in [[7, 1008], [40_000, 8], [1 << 20, 4], [1, 4]] {
            for axis in [0, 1] {
                let lines = in_vectors(&shape, axis).expect("4 divides rows and columns");
                let vectors = lines.outer * lines.width * lines.steps;
                assert_eq!(vectors, shape[0] * shape[1] / 4, "{lines:?}");
                assert_eq!(lines.along, axis == 1);
            }
        }
    }

    #[test]
    fn columns_have_a_total_for_each_lane() {
        let split = Split { len: 8, parts: 5 };
        let inner = |axis| {
            let lines = in_vectors(&[40, 12], axis).expect("4 divides 12");
            let Parts {
                outer,
                parts,
                inner,
            } = lines.parts(split, 4);
            [outer, parts, inner]
        };
        assert_eq!(inner(0), [1, 5, 12]);
        assert_eq!(inner(1), [40, 5, 1]);
    }

    #[test]
    fn vectors_do_not_straddle_rows() {
        assert_eq!(in_vectors(&[4, 6], 1), None);
        assert_eq!(in_vectors(&[6, 6], 0), None);
    }

    #[test]
    fn rows_wait_for_a_kernel_of_tiles() {
        let lines = |shape: [usize; 2], axis| Lines::of(&Shape::from(shape.to_vec()), axis);
        assert!(lines([64, 64], 1).suit(false) && !lines([64, 64], 1).suit(true));
        assert!(lines([64, 64], 0).suit(true));
        assert!(!lines([64, 1], 0).suit(false));
    }
}
