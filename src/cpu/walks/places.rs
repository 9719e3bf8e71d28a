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
