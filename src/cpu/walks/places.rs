//! Where the elements of some dimensions lie.
//!
//! A few sizes and strides suffice. A table would be larger than a tensor of bytes.

use core::ops::Range;

/// The places of the elements of some dimensions, in row-major order.
#[derive(Clone)]
pub(super) struct Places {
    /// Size and stride of each dimension. Neighbouring dimensions that share one stride are merged.
    dims: Vec<(usize, isize)>,
    len: usize,
    are_side_by_side: bool,
}

impl Places {
    pub(super) fn new(shape: &[usize], strides: &[isize]) -> Self {
        let mut dims: Vec<(usize, isize)> = Vec::new();
        for (&size, &stride) in shape.iter().zip(strides).filter(|(size, _)| **size != 1) {
            match dims.last_mut() {
                Some((all, step)) if *step == size as isize * stride => {
                    (*all, *step) = (*all * size, stride);
                }
                _ => dims.push((size, stride)),
            }
        }
        Self {
            are_side_by_side: matches!(dims[..], [] | [(_, 1)]),
            dims,
            len: shape.iter().product(),
        }
    }

    /// The places of each of these elements, and within it of each of `inner`.
    pub(super) fn and(&self, inner: &Self) -> Self {
        let (shape, strides): (Vec<_>, Vec<_>) =
            self.dims.iter().chain(&inner.dims).copied().unzip();
        Self {
            len: self.len * inner.len,
            ..Self::new(&shape, &strides)
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn are_side_by_side(&self) -> bool {
        self.are_side_by_side
    }

    /// The distance of neighbours, if it is the same everywhere.
    pub(super) fn stride(&self) -> Option<isize> {
        match self.dims[..] {
            [(_, stride)] => Some(stride),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn at(&self, mut index: usize) -> isize {
        let Some((&(_, stride), inner)) = self.dims.split_first() else {
            return 0;
        };
        let mut place = 0;
        for &(size, stride) in inner.iter().rev() {
            place += (index % size) as isize * stride;
            index /= size;
        }
        place + index as isize * stride
    }

    /// Cuts some elements into runs. Calls `each` with the place of a run's first element, the distance of its
    /// neighbours and their number.
    ///
    /// # Panics
    ///
    /// If there are not as many elements.
    #[inline(always)]
    pub(super) fn for_each_run(
        &self,
        elements: Range<usize>,
        mut each: impl FnMut(isize, isize, usize),
    ) {
        assert!(elements.end <= self.len);
        let mut last = self.dims.iter().rev().copied();
        let (size, stride) = last.next().unwrap_or((1, 0));
        let (runs, step) = last.next().unwrap_or((1, 0));
        let mut index = elements.start;
        while index < elements.end {
            let (mut run, mut skipped) = (index / size % runs, index % size);
            let mut first = self.at(index - skipped);
            while run < runs && index < elements.end {
                let count = (size - skipped).min(elements.end - index);
                each(first + skipped as isize * stride, stride, count);
                index += count;
                (run, skipped) = (run + 1, 0);
                first += step;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: &[usize], strides: &[isize]) -> (usize, Vec<isize>) {
        let places = Places::new(shape, strides);
        let mut all = Vec::new();
        let in_runs = |elements, all: &mut Vec<isize>| {
            places.for_each_run(elements, |first, stride, count| {
                all.extend((0..count as isize).map(|step| first + step * stride));
            });
        };
        in_runs(0..places.len(), &mut all);
        assert!((0..places.len()).all(|index| places.at(index) == all[index]));
        for first in 0..places.len() {
            let mut some = Vec::new();
            in_runs(first..places.len(), &mut some);
            assert_eq!(some, all[first..]);
        }
        (places.dims.len(), all)
    }

    #[test]
    fn neighbours_with_one_stride_are_one_dimension() {
        assert_eq!(of(&[], &[]), (0, vec![0]));
        assert_eq!(of(&[1, 3, 1, 2], &[9, 2, 7, 1]), (1, (0..6).collect()));
        assert_eq!(of(&[2, 2], &[0, 0]), (1, vec![0; 4]));
        assert_eq!(of(&[2, 3], &[-3, -1]), (1, vec![0, -1, -2, -3, -4, -5]));
    }

    #[test]
    fn dimensions_are_joined() {
        let joined = Places::new(&[3], &[8]).and(&Places::new(&[1, 2], &[7, 4]));
        assert_eq!(joined.dims, [(6, 4)]);
        let none = Places::new(&[2, 0], &[0, 1]).and(&Places::new(&[3], &[1]));
        assert_eq!(none.len(), 0);
    }

    #[test]
    fn other_dimensions_stay_apart() {
        assert_eq!(of(&[2, 3], &[1, 2]), (2, vec![0, 2, 4, 1, 3, 5]));
        assert_eq!(
            of(&[2, 1, 2, 2], &[0, 5, 4, 1]),
            (3, vec![0, 1, 4, 5, 0, 1, 4, 5])
        );
    }
}
