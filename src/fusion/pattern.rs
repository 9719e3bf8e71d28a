//! The operations the fuser looks for, read from Burn's intermediate representation.
//!
//! At planning time the representation is *relative*: tensor ids and shapes are numbered within the segment, equal
//! sizes share a number, and the bounds of a slice are replaced by a reference to a table that is filled at run time.
//! Whether a slice reverses an axis is therefore only known then.

use burn_cubecl::fusion::CubeFusionHandle;
use burn_fusion::stream::Context;
use burn_ir::{
    BaseOperationIr, BoolOperationIr, CastOpIr, DimOpIr, NumericOperationIr, OperationIr, TensorIr,
    TensorStatus,
};
use burn_std::Slice;
use serde::{Deserialize, Serialize};

use crate::options::ScanOp;

/// The tensor kind of a scan, which decides how its handles are fetched and registered.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Kind {
    Float,
    Int,
}

/// One of the four cumulative operations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ScanStep {
    pub(super) op: ScanOp,
    pub(super) kind: Kind,
    pub(super) ir: DimOpIr,
}

impl ScanStep {
    pub(super) fn parse(operation: &OperationIr) -> Option<Self> {
        let (kind, numeric) = match operation {
            OperationIr::NumericFloat(_, numeric) => (Kind::Float, numeric),
            OperationIr::NumericInt(_, numeric) => (Kind::Int, numeric),
            _ => return None,
        };
        let (op, ir) = match numeric {
            NumericOperationIr::CumSum(ir) => (ScanOp::Sum, ir),
            NumericOperationIr::CumProd(ir) => (ScanOp::Prod, ir),
            NumericOperationIr::CumMax(ir) => (ScanOp::Max, ir),
            NumericOperationIr::CumMin(ir) => (ScanOp::Min, ir),
            _ => return None,
        };
        Some(Self {
            op,
            kind,
            ir: ir.clone(),
        })
    }
}

/// An operation that may reverse a tensor along one axis.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reversal {
    pub(super) input: TensorIr,
    pub(super) out: TensorIr,
    form: ReversalForm,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum ReversalForm {
    Flip { axis: usize },
    Slice { ranges: Vec<Slice> },
}

impl Reversal {
    /// A flip of one axis, or a slice as large as its input. Burn records the flip of a float tensor as an integer
    /// operation, so the kind is not looked at: the scan in the middle tells it.
    pub(super) fn parse(operation: &OperationIr) -> Option<Self> {
        let (OperationIr::BaseFloat(base) | OperationIr::BaseInt(base)) = operation else {
            return None;
        };
        match base {
            BaseOperationIr::Flip(ir) => match ir.axes[..] {
                [axis] => Some(Self {
                    input: ir.input.clone(),
                    out: ir.out.clone(),
                    form: ReversalForm::Flip { axis },
                }),
                _ => None,
            },
            BaseOperationIr::Slice(ir) if ir.tensor.shape == ir.out.shape => Some(Self {
                input: ir.tensor.clone(),
                out: ir.out.clone(),
                form: ReversalForm::Slice {
                    ranges: ir.ranges.clone(),
                },
            }),
            _ => None,
        }
    }

    /// Whether this may be a reversal of `axis`: certain for a flip, up to the bounds for a slice.
    pub(super) fn may_reverse(&self, axis: usize) -> bool {
        match self.form {
            ReversalForm::Flip { axis: flipped } => flipped == axis,
            ReversalForm::Slice { .. } => true,
        }
    }

    /// Whether this reverses `axis` and leaves every other axis as it is, with the bounds of the call at hand.
    pub(super) fn reverses(&self, axis: usize, context: &Context<CubeFusionHandle>) -> bool {
        let ranges = match &self.form {
            ReversalForm::Flip { axis: flipped } => return *flipped == axis,
            ReversalForm::Slice { ranges } => ranges,
        };
        let shape = &context.tensors[&self.input.id].shape;
        let bound = |dim: usize| match ranges.get(dim) {
            Some(relative) => context.ranges[relative.start as usize],
            None => Slice::full(),
        };
        shape.iter().enumerate().all(|(dim, &size)| {
            let (range, step) = bound(dim).to_range_and_step(size);
            let wanted = if dim == axis { -1 } else { 1 };
            range == (0..size) && (step == wanted || size <= 1)
        })
    }
}

/// A cast of a mask to numbers, which Burn's fusers do not take.
pub(super) fn mask_cast(operation: &OperationIr) -> Option<&CastOpIr> {
    match operation {
        OperationIr::Bool(BoolOperationIr::IntoFloat(cast) | BoolOperationIr::IntoInt(cast)) => {
            Some(cast)
        }
        _ => None,
    }
}

/// Whether `reader` is the last use of `written`: nothing else in the program can see the tensor afterwards.
pub(super) fn is_consumed_by(written: &TensorIr, reader: &TensorIr) -> bool {
    written.id == reader.id && reader.status == TensorStatus::ReadWrite
}
