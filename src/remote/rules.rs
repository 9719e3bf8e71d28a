//! Rules for the tensors and arguments of a call. The tensor methods check the same on the client; a server does not
//! know its caller.

use super::fault::Fault;
use super::limits::{Limits, bytes, bytes_of_copy};
use crate::ScanOp;
use crate::ops::with_dim;
use burn::backend::fusion::custom::TensorSpec;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{BoolDType, DType, IntDType};
use burn_backend::DTypeUsage;
use core::cell::RefCell;

pub(super) struct Rules<'a, B: Backend> {
    device: &'a B::Device,
    limits: Limits,
    /// The sizes of buffers that the call needs in addition to its results, as its tensors and rules tell.
    temporary: RefCell<Vec<usize>>,
}

type Checked = Result<(), Fault>;

/// `Ok` if the rule holds, else the reason.
fn rule(holds: bool, reason: impl FnOnce() -> String) -> Checked {
    if holds {
        Ok(())
    } else {
        Err(Fault::Rule(reason()))
    }
}

impl<'a, B: Backend> Rules<'a, B> {
    pub(super) fn of(device: &'a B::Device) -> Self {
        Self {
            device,
            limits: Limits::of::<B>(device),
            temporary: RefCell::default(),
        }
    }

    /// The call reads the tensor, and may copy it if it is a view.
    pub(super) fn reads<T: TensorMetadata + 'static>(&self, tensor: &T) {
        self.needs(bytes_of_copy(tensor));
    }

    /// The call needs a buffer in addition to its results.
    fn needs(&self, bytes: usize) {
        self.temporary.borrow_mut().push(bytes);
    }

    /// The device holds the results and what else the call needs.
    pub(super) fn fits(&self, results: &[TensorSpec]) -> Checked {
        let temporary = self.temporary.borrow();
        self.limits
            .fits(results.iter().map(bytes).chain(temporary.iter().copied()))
    }

    /// The tensor has that dimension.
    pub(super) fn dimension(&self, tensor: &TensorSpec, dim: &usize) -> Checked {
        let rank = tensor.shape.num_dims();
        rule(*dim < rank, || {
            format!("dimension {dim} is out of range for a tensor of rank {rank}")
        })
    }

    /// The tensor has one dimension.
    pub(super) fn vector(&self, tensor: &TensorSpec) -> Checked {
        let rank = tensor.shape.num_dims();
        rule(rank == 1, || {
            format!("a tensor has rank {rank} where one dimension is expected")
        })
    }

    /// The tensor has one dimension or more.
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

    /// Both have the same shape and dtype.
    pub(super) fn alike(&self, one: &TensorSpec, other: &TensorSpec) -> Checked {
        self.same_shape(one, other)?;
        self.same_dtype(one, other)
    }

    /// There is one element for each line along `dim`.
    pub(super) fn one_a_line(&self, one: &TensorSpec, tensor: &TensorSpec, dim: &usize) -> Checked {
        self.dimension(tensor, dim)?;
        let line = TensorSpec::new(with_dim(&tensor.shape, *dim, 1), tensor.dtype);
        self.alike(one, &line)
    }

    /// The mask has one entry for each slice along `dim`.
    pub(super) fn along(&self, mask: &TensorSpec, tensor: &TensorSpec, dim: &usize) -> Checked {
        self.dimension(tensor, dim)?;
        self.vector(mask)?;
        let (flags, slices) = (mask.shape[0], tensor.shape[*dim]);
        rule(flags == slices, || {
            format!("a mask of {flags} entries for {slices} slices")
        })
    }

    /// The offsets hold the starts of segments, and the end of the last one.
    pub(super) fn offsets(&self, offsets: &TensorSpec) -> Checked {
        self.vector(offsets)?;
        rule(offsets.shape[0] > 0, || "there are no offsets".to_string())
    }

    /// The CPU engine brings the offsets in order and in range, as `usize`.
    pub(super) fn bounds(&self, offsets: &TensorSpec) -> Checked {
        self.offsets(offsets)?;
        self.needs(offsets.shape[0].saturating_mul(size_of::<usize>()));
        Ok(())
    }

    /// The CPU engine reduces the rows in blocks, at least 16 rows of half precision to a state of two `f32`.
    pub(super) fn reduced(&self, rows: &TensorSpec) -> Checked {
        self.rows(rows)?;
        self.needs(bytes(rows) / 4);
        Ok(())
    }

    /// The lines are joined to their initial values in a copy.
    pub(super) fn joined(&self, tensor: &TensorSpec, initial: &TensorSpec) -> Checked {
        self.needs(bytes(tensor).saturating_add(bytes(initial)));
        Ok(())
    }

    /// The keys are grouped. The CPU engine counts them by blocks, in at most two bytes for each; a Cube device moves
    /// them and their positions.
    pub(super) fn grouped(&self, keys: &TensorSpec) -> Checked {
        self.vector(keys)?;
        self.needs(2 * keys.shape[0]);
        self.needs(bytes(keys));
        Ok(())
    }

    /// There is one offset more than rows.
    pub(super) fn offsets_of(&self, offsets: &TensorSpec, rows: &TensorSpec) -> Checked {
        self.bounds(offsets)?;
        self.rows(rows)?;
        let (segments, rows) = (offsets.shape[0] - 1, rows.shape[0]);
        rule(segments == rows, || {
            format!("{segments} segments in the offsets, but {rows} rows")
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
            format!("cannot take the first {count} of {len} elements")
        })
    }

    /// The tensor has that dimension, and at least this many elements along it.
    pub(super) fn along_line(&self, count: &usize, tensor: &TensorSpec, dim: &usize) -> Checked {
        self.dimension(tensor, dim)?;
        let len = tensor.shape[*dim];
        rule(*count <= len, || {
            format!("cannot take the {count} largest of {len} elements")
        })
    }

    /// The keys have this many bits; there is at least one if there are keys.
    pub(super) fn key_bits(&self, bits: &usize, keys: &TensorSpec) -> Checked {
        let (width, elements) = (8 * keys.dtype.size(), keys.shape.num_elements());
        rule(*bits <= width && (*bits > 0 || elements == 0), || {
            format!("{bits} bits of {elements} keys that are {width} bits wide")
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
