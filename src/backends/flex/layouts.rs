//! Tensors whose elements follow one another in memory.

use super::dtypes::by_size;
use super::slices::{tensor, view};
use crate::ops::with_dim;
use burn::backend::TensorMetadata;
use burn_flex::{FlexTensor, Layout};
use std::ops::Range;

/// The tensor with its elements one after the other, from the start of its layout on: a slice of whole rows is read where
/// it lies. ([`FlexTensor::to_contiguous`] copies whatever is not the whole of its buffer, into memory without huge
/// pages.)
pub(super) fn contiguous(values: FlexTensor) -> FlexTensor {
    if values.layout().is_contiguous() {
        return values;
    }
    let (shape, dtype) = (values.shape(), values.dtype());
    by_size!(dtype, T => {
        tensor(view::<T>(&values, shape.num_dims() - 1).copied(), shape, dtype)
    })
}

/// How the elements of a tensor lie along one of its dimensions: without gaps, but for one after each row.
pub(super) struct InMemory {
    /// The first element in memory, and the one after the last.
    pub(super) place: Range<usize>,
    /// The sizes of the dimensions before, along and after it, in the order of memory.
    pub(super) axis: [usize; 3],
    /// How far from each other planes begin. Only rows have gaps.
    pub(super) apart: usize,
    /// Whether the dimension goes down in memory.
    pub(super) is_flipped: bool,
    /// The layout of a result, which has no gaps.
    pub(super) layout: Layout,
}

impl InMemory {
    /// The tensor in such an order, and how its elements lie: copied only if there are other gaps, or several elements
    /// share a place. Dimensions may be swapped and flipped.
    pub(super) fn of(values: FlexTensor, dim: usize) -> (FlexTensor, Self) {
        if let Some(found) = Self::find(values.layout(), dim) {
            return (values, found);
        }
        let values = contiguous(values);
        let found = Self::find(values.layout(), dim).expect("a copy has no gaps");
        (values, found)
    }

    /// The elements of the tensor, in the order of memory.
    pub(super) fn elements<'a, T: bytemuck::Pod>(&self, tensor: &'a FlexTensor) -> &'a [T] {
        &bytemuck::cast_slice(tensor.bytes())[self.place.clone()]
    }

    /// As [`of`](Self::of), but `dim` never goes down in memory: a tensor that is flipped along it is copied.
    pub(super) fn upwards(values: FlexTensor, dim: usize) -> (FlexTensor, Self) {
        match Self::of(values, dim) {
            (values, found) if found.is_flipped => Self::of(contiguous(values), dim),
            upwards => upwards,
        }
    }

    /// How the elements of two tensors of one shape lie, if they have some, which lie in one order without gaps, and `dim`
    /// goes up in memory.
    pub(super) fn alike(tensors: [&FlexTensor; 2], dim: usize) -> Option<[Self; 2]> {
        let [a, b] = tensors.map(|tensor| Self::find(tensor.layout(), dim));
        let both = [a?, b?];
        let are_dense = both
            .iter()
            .all(|lie| lie.apart == lie.axis[1] * lie.axis[2]);
        let [a, b] = both.each_ref().map(|lie| lie.layout.strides());
        let differ = |dim: usize| both[0].layout.shape()[dim] > 1 && a[dim] != b[dim];
        let are_some = !both[0].place.is_empty();
        let are_alike = are_some && are_dense && !both[0].is_flipped && !(0..a.len()).any(differ);
        are_alike.then_some(both)
    }

    /// The layout of a result whose lines along `dim` have `len` elements.
    pub(super) fn with_len(&self, dim: usize, len: usize) -> Layout {
        let (shape, [_, of_line, inner]) = (self.layout.shape(), self.axis);
        let shape = with_dim(shape, dim, len);
        if shape.contains(&0) {
            return Layout::contiguous(shape);
        }
        let scaled = |(other, &stride): (usize, &isize)| {
            let is_outer = other != dim && stride.unsigned_abs() >= of_line * inner;
            if is_outer {
                stride / of_line as isize * len as isize
            } else {
                stride
            }
        };
        let strides: Vec<isize> = self
            .layout
            .strides()
            .iter()
            .enumerate()
            .map(scaled)
            .collect();
        let flipped = strides
            .iter()
            .zip(shape.iter())
            .filter(|(stride, _)| **stride < 0);
        let start = flipped
            .map(|(stride, size)| (size - 1) * stride.unsigned_abs())
            .sum();
        Layout::new(shape, strides, start)
    }

    fn find(layout: &Layout, dim: usize) -> Option<Self> {
        let (shape, strides) = (layout.shape(), layout.strides());
        let elements = shape.num_elements();
        let is_wide = |&dim: &usize| elements > 0 && shape[dim] > 1;
        let mut dims: Vec<usize> = (0..shape.num_dims()).filter(is_wide).collect();
        dims.sort_by_key(|&dim| strides[dim].unsigned_abs());
        let mut dense = strides.to_vec();
        // Lines of one element lie side by side.
        let mut inner = if shape[dim] == 1 { elements } else { 1 };
        let (mut plane, mut apart) = (1, None);
        // Elements so far, and the places that they take up; the first place, in the input and in a result.
        let (mut size, mut reach, mut first, mut start) = (1, 1, 0, 0);
        for &other in &dims {
            let stride = strides[other].unsigned_abs();
            if stride != reach {
                let is_row = size > 1 && size == plane && size == shape[dim];
                if stride < reach || !is_row {
                    return None;
                }
                (apart, reach) = (Some(stride), stride);
            }
            if other == dim {
                inner = size;
                plane = size * shape[dim];
            }
            dense[other] = size as isize * strides[other].signum();
            if strides[other] < 0 {
                first += (shape[other] - 1) * reach;
                start += (shape[other] - 1) * size;
            }
            size *= shape[other];
            reach *= shape[other];
        }
        let plane = shape[dim] * inner;
        let (outer, apart) = (elements / plane.max(1), apart.unwrap_or(plane));
        // A tensor without elements may begin beyond its memory.
        let (place, layout) = match elements {
            0 => (0..0, Layout::contiguous(shape.clone())),
            _ => {
                let first = layout.start_offset() - first;
                let place = first..first + (outer - 1) * apart + plane;
                (place, Layout::new(shape.clone(), dense, start))
            }
        };
        Some(Self {
            place,
            axis: [outer, shape[dim], inner],
            apart,
            is_flipped: shape[dim] > 1 && strides[dim] < 0,
            layout,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The axis, the distance of planes, whether the dimension is flipped, and the first place, along `dim` of a tensor.
    fn found(
        shape: &[usize],
        strides: &[isize],
        start: usize,
        dim: usize,
    ) -> Option<([usize; 3], usize, bool, usize)> {
        let layout = Layout::new(shape.to_vec().into(), strides.to_vec(), start);
        let found = InMemory::find(&layout, dim)?;
        let [outer, len, inner] = found.axis;
        let elements: usize = shape.iter().product();
        assert_eq!(
            (found.layout.shape(), outer * len * inner),
            (layout.shape(), elements)
        );
        if found.apart == len * inner {
            assert_eq!(found.layout.strides(), strides);
            assert_eq!(found.layout.start_offset() + found.place.start, start);
            assert_eq!(found.place.len(), elements);
        }
        Some((found.axis, found.apart, found.is_flipped, found.place.start))
    }

    #[test]
    fn dimensions_are_found_in_memory() {
        assert_eq!(
            found(&[2, 3, 4], &[12, 4, 1], 5, 1),
            Some(([2, 3, 4], 12, false, 5))
        );
        assert_eq!(
            found(&[2, 3, 4], &[12, 4, 1], 5, 2),
            Some(([6, 4, 1], 4, false, 5))
        );
        // [2, 4, 3] in memory.
        let swapped = [1, 12, 3];
        assert_eq!(
            found(&[3, 2, 4], &swapped, 0, 1),
            Some(([1, 2, 12], 24, false, 0))
        );
        assert_eq!(
            found(&[3, 2, 4], &swapped, 0, 0),
            Some(([8, 3, 1], 3, false, 0))
        );
        let flipped = [-1, 12, -3];
        assert_eq!(
            found(&[3, 2, 4], &flipped, 13, 2),
            Some(([2, 4, 3], 12, true, 2))
        );
        assert_eq!(
            found(&[3, 2, 4], &flipped, 13, 1),
            Some(([1, 2, 12], 24, false, 2))
        );
        // Of one element, and of none.
        assert_eq!(
            found(&[1, 7, 1], &[99, 1, -5], 3, 0),
            Some(([1, 1, 7], 7, false, 3))
        );
        assert_eq!(
            found(&[3, 0, 2], &[0, 2, 1], 0, 0),
            Some(([0, 3, 1], 3, false, 0))
        );
        // Broadcast, and with gaps elsewhere.
        assert_eq!(found(&[3, 4], &[0, 1], 0, 1), None);
        assert_eq!(found(&[3, 4], &[5, 1], 0, 0), None);
        assert_eq!(found(&[3, 4], &[10, 2], 0, 1), None);
        assert_eq!(found(&[3, 4, 2], &[10, 2, 1], 0, 1), None);
    }

    #[test]
    fn rows_may_lie_apart() {
        assert_eq!(
            found(&[3, 4], &[5, 1], 2, 1),
            Some(([3, 4, 1], 5, false, 2))
        );
        assert_eq!(found(&[2, 3, 1], &[6, 2, 9], 2, 2), None);
        let layout = Layout::new(vec![2, 3, 4].into(), vec![-15, 5, -1], 18);
        let found = InMemory::find(&layout, 2).expect("rows with gaps");
        assert_eq!(
            (found.place, found.axis, found.apart),
            (0..29, [6, 4, 1], 5)
        );
        assert!(found.is_flipped);
        assert_eq!(found.layout.strides(), [-12, 4, -1]);
        assert_eq!(found.layout.start_offset(), 15);
    }
}
