//! What must hold of the tensors and arguments of a call. The tensor methods have checked it; a server does not know
//! who calls.

use super::fault::Fault;
use super::limits::Limits;
use crate::ScanOp;
use crate::ops::with_dim;
use burn::backend::Backend;
use burn::backend::fusion::custom::TensorSpec;
use burn::tensor::{BoolDType, DType, IntDType};
use burn_backend::DTypeUsage;

pub(super) struct Rules<'a, B: Backend> {
    device: &'a B::Device,
    limits: Limits,
}

type Kept = Result<(), Fault>;

/// `Ok` if it holds, else the reason.
fn rule(holds: bool, reason: impl FnOnce() -> String) -> Kept {
    match holds {
        true => Ok(()),
        false => Err(Fault::Rule(reason())),
    }
}

impl<'a, B: Backend> Rules<'a, B> {
    pub(super) fn of(device: &'a B::Device) -> Self {
        Self {
            device,
            limits: Limits::of::<B>(device),
        }
    }

    /// The results fit the device.
    pub(super) fn fits(&self, results: &[TensorSpec]) -> Kept {
        results.iter().try_for_each(|spec| self.limits.fits(spec))
    }

    /// The tensor has that dimension.
    pub(super) fn dimension(&self, tensor: &TensorSpec, dim: &usize) -> Kept {
        let rank = tensor.shape.num_dims();
        rule(*dim < rank, || {
            format!("dimension {dim} is none of a tensor of rank {rank}")
        })
    }

    /// A tensor of one dimension.
    pub(super) fn vector(&self, tensor: &TensorSpec) -> Kept {
        let rank = tensor.shape.num_dims();
        rule(rank == 1, || {
            format!("a tensor has rank {rank} where one dimension is expected")
        })
    }

    /// A tensor of one dimension or more.
    pub(super) fn rows(&self, tensor: &TensorSpec) -> Kept {
        let rank = tensor.shape.num_dims();
        rule(rank > 0, || "a tensor has no dimension".to_string())
    }

    pub(super) fn same_shape(&self, one: &TensorSpec, other: &TensorSpec) -> Kept {
        rule(one.shape == other.shape, || {
            format!("shapes {:?} and {:?} differ", one.shape, other.shape)
        })
    }

    pub(super) fn same_dtype(&self, one: &TensorSpec, other: &TensorSpec) -> Kept {
        rule(one.dtype == other.dtype, || {
            format!("dtypes {:?} and {:?} differ", one.dtype, other.dtype)
        })
    }

    /// Of the same shape and dtype.
    pub(super) fn alike(&self, one: &TensorSpec, other: &TensorSpec) -> Kept {
        self.same_shape(one, other)?;
        self.same_dtype(one, other)
    }

    /// One element for each line along `dim`.
    pub(super) fn one_a_line(&self, one: &TensorSpec, tensor: &TensorSpec, dim: &usize) -> Kept {
        self.dimension(tensor, dim)?;
        let line = TensorSpec::new(with_dim(&tensor.shape, *dim, 1), tensor.dtype);
        self.alike(one, &line)
    }

    /// A mask over the slices along `dim`.
    pub(super) fn along(&self, mask: &TensorSpec, tensor: &TensorSpec, dim: &usize) -> Kept {
        self.dimension(tensor, dim)?;
        self.vector(mask)?;
        let (flags, slices) = (mask.shape[0], tensor.shape[*dim]);
        rule(flags == slices, || {
            format!("a mask of {flags} is over {slices} slices")
        })
    }

    /// Where segments begin, and where the last one ends.
    pub(super) fn offsets(&self, offsets: &TensorSpec) -> Kept {
        self.vector(offsets)?;
        rule(offsets.shape[0] > 0, || "there are no offsets".to_string())
    }

    /// Offsets of as many segments as there are rows.
    pub(super) fn offsets_of(&self, offsets: &TensorSpec, rows: &TensorSpec) -> Kept {
        self.offsets(offsets)?;
        self.rows(rows)?;
        let (segments, rows) = (offsets.shape[0] - 1, rows.shape[0]);
        rule(segments == rows, || {
            format!("offsets of {segments} segments are with {rows} rows")
        })
    }

    pub(super) fn has_elements(&self, tensor: &TensorSpec) -> Kept {
        rule(tensor.shape.num_elements() > 0, || {
            "a tensor is empty".to_string()
        })
    }

    /// No more than the tensor has.
    pub(super) fn within(&self, count: &usize, tensor: &TensorSpec) -> Kept {
        self.vector(tensor)?;
        let len = tensor.shape[0];
        rule(*count <= len, || {
            format!("the first {count} are asked for of {len}")
        })
    }

    /// An operator of integers.
    pub(super) fn of_ints(&self, op: &ScanOp) -> Kept {
        rule(*op != ScanOp::LogSumExp, || {
            format!("{op:?} is for float tensors only")
        })
    }

    /// The device has integers of that width.
    pub(super) fn has_int(&self, dtype: &IntDType) -> Kept {
        self.has((*dtype).into())
    }

    /// The device has booleans of that store.
    pub(super) fn has_bool(&self, dtype: &BoolDType) -> Kept {
        self.has((*dtype).into())
    }

    fn has(&self, dtype: DType) -> Kept {
        let usage = B::dtype_usage(self.device, dtype);
        rule(usage.contains(DTypeUsage::Storage), || {
            format!("the server's device has no {dtype:?}")
        })
    }

    /// The elements of a tensor can be numbered.
    pub(super) fn numbered(&self, tensor: &TensorSpec) -> Kept {
        self.limits.numbered(tensor.shape.num_elements())
    }

    /// So many elements can be numbered.
    pub(super) fn countable(&self, count: &usize) -> Kept {
        self.limits.numbered(*count)
    }

    /// So many groups can be numbered, and one more.
    pub(super) fn groups(&self, count: &usize) -> Kept {
        rule(*count < i32::MAX as usize, || {
            format!("{count} groups; they are numbered in 31 bits")
        })
    }
}
