//! Rules for the tensors and arguments of a call. The tensor methods check the same on the client; a server does not
//! know its caller.

mod selections;

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

type Checked = Result<(), Fault>;

/// `Ok` if the rule holds, else the reason.
fn rule(holds: bool, reason: impl FnOnce() -> String) -> Checked {
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
    pub(super) fn fits(&self, results: &[TensorSpec]) -> Checked {
        results.iter().try_for_each(|spec| self.limits.fits(spec))
    }

    /// The tensor has that dimension.
    pub(super) fn dimension(&self, tensor: &TensorSpec, dim: &usize) -> Checked {
        let rank = tensor.shape.num_dims();
        rule(*dim < rank, || {
            format!("dimension {dim} is none of a tensor of rank {rank}")
        })
    }

    /// A tensor of one dimension.
    pub(super) fn vector(&self, tensor: &TensorSpec) -> Checked {
        let rank = tensor.shape.num_dims();
        rule(rank == 1, || {
            format!("a tensor has rank {rank} where one dimension is expected")
        })
    }

    /// A tensor of one dimension or more.
    pub(super) fn rows(&self, tensor: &TensorSpec) -> Checked {
        let rank = tensor.shape.num_dims();
        rule(rank > 0, || "a tensor has no dimension".to_string())
    }

    pub(super) fn same_shape(&self, one: &TensorSpec, other: &TensorSpec) -> Checked {
        rule(one.shape == other.shape, || {
            format!("shapes {:?} and {:?} differ", one.shape, other.shape)
        })
    }

    pub(super) fn same_dtype(&self, one: &TensorSpec, other: &TensorSpec) -> Checked {
        rule(one.dtype == other.dtype, || {
            format!("dtypes {:?} and {:?} differ", one.dtype, other.dtype)
        })
    }

    /// Of the same shape and dtype.
    pub(super) fn alike(&self, one: &TensorSpec, other: &TensorSpec) -> Checked {
        self.same_shape(one, other)?;
        self.same_dtype(one, other)
    }

    /// One element for each line along `dim`.
    pub(super) fn one_a_line(&self, one: &TensorSpec, tensor: &TensorSpec, dim: &usize) -> Checked {
        self.dimension(tensor, dim)?;
        let line = TensorSpec::new(with_dim(&tensor.shape, *dim, 1), tensor.dtype);
        self.alike(one, &line)
    }

    /// A mask over the slices along `dim`.
    pub(super) fn along(&self, mask: &TensorSpec, tensor: &TensorSpec, dim: &usize) -> Checked {
        self.dimension(tensor, dim)?;
        self.vector(mask)?;
        let (flags, slices) = (mask.shape[0], tensor.shape[*dim]);
        rule(flags == slices, || {
            format!("a mask of {flags} is over {slices} slices")
        })
    }

    /// The starts of segments, and the end of the last one.
    pub(super) fn offsets(&self, offsets: &TensorSpec) -> Checked {
        self.vector(offsets)?;
        rule(offsets.shape[0] > 0, || "there are no offsets".to_string())
    }

    /// There are offsets for as many segments as rows.
    pub(super) fn offsets_of(&self, offsets: &TensorSpec, rows: &TensorSpec) -> Checked {
        self.offsets(offsets)?;
        self.rows(rows)?;
        let (segments, rows) = (offsets.shape[0] - 1, rows.shape[0]);
        rule(segments == rows, || {
            format!("offsets of {segments} segments are with {rows} rows")
        })
    }

    pub(super) fn has_elements(&self, tensor: &TensorSpec) -> Checked {
        rule(tensor.shape.num_elements() > 0, || {
            "a tensor is empty".to_string()
        })
    }

    /// The count is at most the number of elements.
    pub(super) fn within(&self, count: &usize, tensor: &TensorSpec) -> Checked {
        self.vector(tensor)?;
        let len = tensor.shape[0];
        rule(*count <= len, || {
            format!("the first {count} are asked for of {len}")
        })
    }

    /// The tensor has that dimension, and so many elements along it.
    pub(super) fn along_line(&self, count: &usize, tensor: &TensorSpec, dim: &usize) -> Checked {
        self.dimension(tensor, dim)?;
        let len = tensor.shape[*dim];
        rule(*count <= len, || {
            format!("the {count} largest are asked for of {len}")
        })
    }

    /// The keys have so many bits; there is at least one if there are keys.
    pub(super) fn key_bits(&self, bits: &usize, keys: &TensorSpec) -> Checked {
        let (width, elements) = (8 * keys.dtype.size(), keys.shape.num_elements());
        rule(*bits <= width && (*bits > 0 || elements == 0), || {
            format!("{bits} bits of {elements} keys that have {width}")
        })
    }

    /// The operator exists for integers.
    pub(super) fn of_ints(&self, op: &ScanOp) -> Checked {
        rule(*op != ScanOp::LogSumExp, || {
            format!("{op:?} is for float tensors only")
        })
    }

    /// The device has integers of that width.
    pub(super) fn has_int(&self, dtype: &IntDType) -> Checked {
        self.has((*dtype).into())
    }

    /// The device has booleans of that store.
    pub(super) fn has_bool(&self, dtype: &BoolDType) -> Checked {
        self.has((*dtype).into())
    }

    fn has(&self, dtype: DType) -> Checked {
        let usage = B::dtype_usage(self.device, dtype);
        rule(usage.contains(DTypeUsage::Storage), || {
            format!("the server's device has no {dtype:?}")
        })
    }

    /// The elements of a tensor can be numbered.
    pub(super) fn numbered(&self, tensor: &TensorSpec) -> Checked {
        self.limits.numbered(tensor.shape.num_elements())
    }

    /// This number of elements can be numbered.
    pub(super) fn countable(&self, count: &usize) -> Checked {
        self.limits.numbered(*count)
    }

    /// This number of groups, and one more, can be numbered.
    pub(super) fn groups(&self, count: &usize) -> Checked {
        rule(*count < i32::MAX as usize, || {
            format!("{count} groups; they are numbered in 31 bits")
        })
    }
}
