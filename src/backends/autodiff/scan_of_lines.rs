//! A scan of lines or segments, as the gradients see it.

use crate::ops::ScanOps;
use crate::ops::shift::{next_elements, with_last};
use crate::{ScanOp, ScanOptions};
use burn::backend::tensor::{BoolTensor, FloatTensor};
use burn::backend::{Backend, TensorMetadata};

/// A scan along a dimension.
#[derive(Clone, Debug)]
pub(super) struct Scan<B: Backend> {
    pub(super) dim: usize,
    pub(super) op: ScanOp,
    pub(super) options: ScanOptions,
    /// The starts of segments in the order of memory, if the scan has segments.
    pub(super) starts: Option<BoolTensor<B>>,
}

impl<B: ScanOps> Scan<B> {
    pub(super) fn whole(dim: usize, op: ScanOp, options: ScanOptions) -> Self {
        Self {
            dim,
            op,
            options,
            starts: None,
        }
    }

    /// A scan of the same lines or segments.
    pub(super) fn scan(
        &self,
        tensor: FloatTensor<B>,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<B> {
        match self.starts.clone() {
            None => B::float_scan(tensor, self.dim, op, options),
            Some(starts) => B::float_segmented_scan(tensor, starts, self.dim, op, options),
        }
    }

    /// At each position the next element in its line or segment; 0 at the last position.
    pub(super) fn next_elements(&self, tensor: FloatTensor<B>) -> FloatTensor<B> {
        let tensor = next_elements::<B>(tensor, self.dim, self.options.reverse);
        match self.ends() {
            None => tensor,
            Some(ends) => B::float_mask_fill(tensor, ends, 0.into()),
        }
    }

    /// The gradients of the inclusive results. An exclusive result is the inclusive one of the element before it.
    pub(super) fn inclusive_grad(&self, grad: FloatTensor<B>) -> FloatTensor<B> {
        if self.options.exclusive {
            self.next_elements(grad)
        } else {
            grad
        }
    }

    /// The input, with `nothing` at the elements that no result of an exclusive scan contains, the last of each line or
    /// segment: an infinite one would make the gradients of others NaN.
    pub(super) fn seen(&self, input: FloatTensor<B>, nothing: f64) -> FloatTensor<B> {
        if !self.options.exclusive {
            return input;
        }
        let seen = with_last::<B>(input, self.dim, self.options.reverse, nothing);
        match self.ends() {
            None => seen,
            Some(ends) => B::float_mask_fill(seen, ends, nothing.into()),
        }
    }

    /// The starts of segments in the order of the scan, except at the first position of a line.
    pub(super) fn starts(&self) -> Option<BoolTensor<B>> {
        let starts = self.starts.clone()?;
        Some(if self.options.reverse {
            next_where::<B>(starts, self.dim)
        } else {
            starts
        })
    }

    /// The ends of segments, except at the last position of a line.
    pub(super) fn ends(&self) -> Option<BoolTensor<B>> {
        let starts = self.starts.clone()?;
        Some(if self.options.reverse {
            starts
        } else {
            next_where::<B>(starts, self.dim)
        })
    }
}

/// At each position in memory whether the mask is true at the next position.
fn next_where<B: ScanOps>(mask: BoolTensor<B>, dim: usize) -> BoolTensor<B> {
    let device = mask.device();
    let settings = burn_backend::get_or_init_device_settings::<B>(&device);
    let numbers = B::bool_into_float(mask, settings.float_dtype);
    let next = next_elements::<B>(numbers, dim, false);
    B::float_greater_elem(next, 0.5.into(), settings.bool_dtype)
}
