//! The rules of each selection, by the key of its row in [`ops::selections`](crate::ops::selections).

use super::{Checked, Rules};
use burn::backend::Backend;
use burn::backend::fusion::custom::TensorSpec;
use burn::tensor::IntDType;

impl<B: Backend> Rules<'_, B> {
    pub(in crate::remote) fn compact_padded(
        &self,
        values: &TensorSpec,
        mask: &TensorSpec,
        _fill: &bool,
        int_dtype: &IntDType,
    ) -> Checked {
        self.same_shape(mask, values)?;
        self.numbered(mask)?;
        self.has_int(int_dtype)
    }

    pub(in crate::remote) fn front(&self, values: &TensorSpec, count: &usize) -> Checked {
        self.within(count, values)
    }

    pub(in crate::remote) fn expand_by_mask(
        &self,
        values: &TensorSpec,
        mask: &TensorSpec,
    ) -> Checked {
        self.vector(values)?;
        self.numbered(mask)
    }

    pub(in crate::remote) fn compact_dim_padded(
        &self,
        values: &TensorSpec,
        mask: &TensorSpec,
        dim: &usize,
        int_dtype: &IntDType,
    ) -> Checked {
        self.along(mask, values, dim)?;
        self.numbered(mask)?;
        self.has_int(int_dtype)
    }

    pub(in crate::remote) fn expand_dim(
        &self,
        values: &TensorSpec,
        mask: &TensorSpec,
        dim: &usize,
    ) -> Checked {
        self.dimension(values, dim)?;
        self.vector(mask)?;
        self.numbered(mask)
    }

    pub(in crate::remote) fn compact_along(
        &self,
        values: &TensorSpec,
        mask: &TensorSpec,
        dim: &usize,
        int_dtype: &IntDType,
    ) -> Checked {
        self.dimension(values, dim)?;
        self.same_shape(mask, values)?;
        self.numbered(mask)?;
        self.has_int(int_dtype)
    }

    pub(in crate::remote) fn repeat_rows(
        &self,
        values: &TensorSpec,
        offsets: &TensorSpec,
        total: &usize,
    ) -> Checked {
        self.offsets_of(offsets, values)?;
        self.countable(total)
    }

    pub(in crate::remote) fn run_lengths_padded(
        &self,
        values: &TensorSpec,
        _fill: &bool,
        int_dtype: &IntDType,
    ) -> Checked {
        self.vector(values)?;
        self.numbered(values)?;
        self.has_int(int_dtype)
    }

    pub(in crate::remote) fn scatter_to(
        &self,
        values: &TensorSpec,
        destinations: &TensorSpec,
        offsets: &TensorSpec,
    ) -> Checked {
        self.vector(values)?;
        self.same_shape(destinations, values)?;
        self.offsets(offsets)?;
        self.same_dtype(offsets, destinations)
    }

    pub(in crate::remote) fn gather_from(
        &self,
        values: &TensorSpec,
        destinations: &TensorSpec,
        offsets: &TensorSpec,
    ) -> Checked {
        self.scatter_to(values, destinations, offsets)
    }

    pub(in crate::remote) fn partition(
        &self,
        values: &TensorSpec,
        keys: &TensorSpec,
        num_keys: &usize,
        int_dtype: &IntDType,
    ) -> Checked {
        self.same_shape(values, keys)?;
        self.grouped(keys)?;
        self.numbered(keys)?;
        self.groups(num_keys)?;
        self.has_int(int_dtype)
    }
}
