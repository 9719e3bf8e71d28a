//! Tensors whose elements follow one another in memory.

use super::dtypes::by_size;
use super::slices::{tensor, view};
use burn::backend::TensorMetadata;
use burn_flex::{FlexTensor, Layout};

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

/// How the elements of a tensor without gaps lie along one of its dimensions.
pub(super) struct InMemory {
    /// The first element in memory.
    pub(super) first: usize,
    /// The sizes of the dimensions before, along and after it, in the order of memory.
    pub(super) axis: [usize; 3],
    /// Whether the dimension goes down in memory.
    pub(super) is_flipped: bool,
    /// The layout of a tensor whose memory begins with its own first element.
    pub(super) layout: Layout,
}

impl InMemory {
    /// The tensor without gaps, and how its elements lie: copied only if they lie apart or share a place. Dimensions may
    /// be swapped and flipped.
    pub(super) fn of(values: FlexTensor, dim: usize) -> (FlexTensor, Self) {
        if let Some(found) = Self::find(values.layout(), dim) {
            return (values, found);
        }
        let values = contiguous(values);
        let found = Self::find(values.layout(), dim).expect("a copy has no gaps");
        (values, found)
    }

    fn find(layout: &Layout, dim: usize) -> Option<Self> {
        let (shape, strides) = (layout.shape(), layout.strides());
        let elements = shape.num_elements();
        let is_wide = |&dim: &usize| elements > 0 && shape[dim] > 1;
        let mut dims: Vec<usize> = (0..shape.num_dims()).filter(is_wide).collect();
        dims.sort_by_key(|&dim| strides[dim].unsigned_abs());
        let (mut inner, mut size, mut start) = (1, 1, 0);
        for &other in &dims {
            if strides[other].unsigned_abs() != size {
                return None;
            }
            if other == dim {
                inner = size;
            }
            if strides[other] < 0 {
                start += (shape[other] - 1) * size;
            }
            size *= shape[other];
        }
        Some(Self {
            first: layout.start_offset() - start,
            axis: [elements / (shape[dim] * inner).max(1), shape[dim], inner],
            is_flipped: shape[dim] > 1 && strides[dim] < 0,
            layout: Layout::new(shape.clone(), strides.to_vec(), start),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The axis, whether it is flipped, and the first element, along `dim` of a tensor.
    fn found(
        shape: &[usize],
        strides: &[isize],
        start: usize,
        dim: usize,
    ) -> Option<([usize; 3], bool, usize)> {
        let layout = Layout::new(shape.to_vec().into(), strides.to_vec(), start);
        let found = InMemory::find(&layout, dim)?;
        assert_eq!(
            (found.layout.shape(), found.layout.strides()),
            (layout.shape(), strides)
        );
        assert_eq!(found.layout.start_offset() + found.first, start);
        Some((found.axis, found.is_flipped, found.first))
    }

    #[test]
    fn dimensions_are_found_in_memory() {
        assert_eq!(
            found(&[2, 3, 4], &[12, 4, 1], 5, 1),
            Some(([2, 3, 4], false, 5))
        );
        assert_eq!(
            found(&[2, 3, 4], &[12, 4, 1], 5, 2),
            Some(([6, 4, 1], false, 5))
        );
        // [2, 4, 3] in memory.
        assert_eq!(
            found(&[3, 2, 4], &[1, 12, 3], 0, 1),
            Some(([1, 2, 12], false, 0))
        );
        assert_eq!(
            found(&[3, 2, 4], &[1, 12, 3], 0, 0),
            Some(([8, 3, 1], false, 0))
        );
        assert_eq!(
            found(&[3, 2, 4], &[-1, 12, -3], 13, 2),
            Some(([2, 4, 3], true, 2))
        );
        assert_eq!(
            found(&[3, 2, 4], &[-1, 12, -3], 13, 1),
            Some(([1, 2, 12], false, 2))
        );
        // Of one element, of none, with gaps, broadcast.
        assert_eq!(
            found(&[1, 7, 1], &[99, 1, -5], 3, 0),
            Some(([7, 1, 1], false, 3))
        );
        assert_eq!(
            found(&[3, 0, 2], &[0, 2, 1], 0, 0),
            Some(([0, 3, 1], false, 0))
        );
        assert_eq!(found(&[3, 4], &[5, 1], 0, 0), None);
        assert_eq!(found(&[3, 4], &[0, 1], 0, 0), None);
    }
}
