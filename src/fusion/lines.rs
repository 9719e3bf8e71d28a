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

/// Lines in vectors: each has as many columns as a vector has lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct VectorLines {
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

    /// Whether they can be read in vectors.
    pub(super) fn suit(&self) -> bool {
        !self.is_scalar
    }

    /// The lines in vectors of `lanes` elements. `lanes` must divide the dimensions after the axis.
    pub(super) fn in_vectors(&self, lanes: usize) -> Option<VectorLines> {
        (self.inner % lanes == 0).then_some(VectorLines {
            outer: self.outer,
            width: self.inner / lanes,
            steps: self.len,
        })
    }
}

impl VectorLines {
    /// How they are split into parts.
    pub(super) fn split(&self, client: &Client) -> Split {
        Split::columns(client, self.outer * self.width, self.steps)
    }

    /// The parts, one for each lane of a vector.
    pub(super) fn parts(&self, split: Split, lanes: usize) -> Parts {
        Parts {
            outer: self.outer,
            parts: split.parts,
            inner: self.width * lanes,
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
        for shape in [[7, 3, 1008], [40_000, 1, 8], [1, 1 << 20, 4], [1, 1, 4]] {
            for axis in [0, 1] {
                let lines = in_vectors(&shape, axis).expect("4 divides columns");
                let vectors = lines.outer * lines.width * lines.steps;
                assert_eq!(vectors, shape.iter().product::<usize>() / 4, "{lines:?}");
            }
        }
    }

    #[test]
    fn columns_have_a_total_for_each_lane() {
        let split = Split { len: 8, parts: 5 };
        let lines = in_vectors(&[3, 40, 12], 1).expect("4 divides 12");
        let expected = Parts {
            outer: 3,
            parts: 5,
            inner: 12,
        };
        assert_eq!(lines.parts(split, 4), expected);
    }

    #[test]
    fn vectors_do_not_straddle_rows() {
        assert_eq!(in_vectors(&[6, 6], 0), None);
    }

    #[test]
    fn single_elements_are_no_vectors() {
        let lines = |shape: [usize; 2]| Lines::of(&Shape::from(shape.to_vec()), 0);
        assert!(lines([64, 64]).suit() && lines([1, 1]).suit());
        assert!(!lines([64, 1]).suit());
    }
}
