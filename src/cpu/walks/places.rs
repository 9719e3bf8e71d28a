//! Where the elements of some dimensions lie.
//!
//! A few sizes and strides say it. A table would be larger than a tensor of bytes.

use core::ops::Range;

/// The places of the elements of some dimensions, in row-major order.
pub(super) struct Places {
    /// Size and stride of each dimension. Neighbours that one stride goes through are one.
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

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn are_side_by_side(&self) -> bool {
        self.are_side_by_side
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

    /// Calls `each` with the place of each element of some, in order.
    #[inline]
    pub(super) fn for_each(&self, elements: Range<usize>, mut each: impl FnMut(isize)) {
        let (size, stride) = self.dims.last().copied().unwrap_or((1, 0));
        let mut index = elements.start;
        while index < elements.end {
            let run = (size - index % size).min(elements.end - index);
            let first = self.at(index);
            (0..run as isize).for_each(|step| each(first + step * stride));
            index += run;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: &[usize], strides: &[isize]) -> (usize, Vec<isize>) {
        let places = Places::new(shape, strides);
        let mut all = Vec::new();
        places.for_each(0..places.len(), |place| all.push(place));
        assert!((0..places.len()).all(|index| places.at(index) == all[index]));
        for first in 0..places.len() {
            let mut some = Vec::new();
            places.for_each(first..places.len(), |place| some.push(place));
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
    fn other_dimensions_stay_apart() {
        assert_eq!(of(&[2, 3], &[1, 2]), (2, vec![0, 2, 4, 1, 3, 5]));
        assert_eq!(
            of(&[2, 1, 2, 2], &[0, 5, 4, 1]),
            (3, vec![0, 1, 4, 5, 0, 1, 4, 5])
        );
    }
}
