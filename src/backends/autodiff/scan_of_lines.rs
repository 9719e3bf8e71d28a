//! A scan of lines or segments, as the gradients see it.

use crate::ops::ScanOps;
use crate::ops::shift::{pulled, pulled_where};
use crate::{ScanOp, ScanOptions};
use burn::backend::Backend;
use burn::backend::tensor::{BoolTensor, FloatTensor};

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
    pub(super) fn pulled(&self, tensor: FloatTensor<B>) -> FloatTensor<B> {
        let tensor = pulled::<B>(tensor, self.dim, self.options.reverse);
        match self.ends() {
            None => tensor,
            Some(ends) => B::float_mask_fill(tensor, ends, 0.into()),
        }
    }

    /// The starts of segments in the order of the scan, except at the first position of a line.
    pub(super) fn starts(&self) -> Option<BoolTensor<B>> {
        let starts = self.starts.clone()?;
        Some(match self.options.reverse {
            false => starts,
            true => pulled_where::<B>(starts, self.dim),
        })
    }

    /// The ends of segments, except at the last position of a line.
    pub(super) fn ends(&self) -> Option<BoolTensor<B>> {
        let starts = self.starts.clone()?;
        Some(match self.options.reverse {
            false => pulled_where::<B>(starts, self.dim),
            true => starts,
        })
    }
}
