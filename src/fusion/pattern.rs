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
pub(super) enum NumberKind {
    Float,
    Int,
}

/// One of the four cumulative operations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ScanStep {
    pub(super) op: ScanOp,
    pub(super) kind: NumberKind,
    pub(super) ir: DimOpIr,
}

impl ScanStep {
    pub(super) fn parse(operation: &OperationIr) -> Option<Self> {
        let (kind, numeric) = match operation {
            OperationIr::NumericFloat(_, numeric) => (NumberKind::Float, numeric),
            OperationIr::NumericInt(_, numeric) => (NumberKind::Int, numeric),
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
#[derive(Debug)]
pub(super) struct Reversal {
    pub(super) input: TensorIr,
    pub(super) out: TensorIr,
    form: ReversalForm,
}

#[derive(Debug)]
enum ReversalForm {
    Flip { axis: usize },
    Slice { ranges: Vec<Slice> },
}

impl Reversal {
    /// A flip of one axis, or a slice as large as its input. Burn records the flip of a float tensor as an integer
    /// operation, so the kind is ignored: the scan in the middle tells it.
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

#[cfg(test)]
mod tests {
    use super::super::sample::{cumsum, dim, flip, freed, read, slice, tensor, written};
    use super::*;
    use burn::tensor::DType;
    use burn_std::BoolStore;

    #[test]
    fn cumulative_operations_are_scans() {
        let parsed = |operation: &OperationIr| {
            let step = ScanStep::parse(operation)?;
            Some((
                step.op,
                matches!(step.kind, NumberKind::Float),
                step.ir.axis,
            ))
        };
        let float = |numeric| parsed(&OperationIr::NumericFloat(DType::F32, numeric));
        let int = |numeric| parsed(&OperationIr::NumericInt(DType::I32, numeric));
        let ir = || dim(0, 1, 1);
        let sum = NumericOperationIr::CumSum(ir());
        assert_eq!(float(sum.clone()), Some((ScanOp::Sum, true, 1)));
        assert_eq!(int(sum), Some((ScanOp::Sum, false, 1)));
        let product = float(NumericOperationIr::CumProd(ir()));
        assert_eq!(product, Some((ScanOp::Prod, true, 1)));
        let max = int(NumericOperationIr::CumMax(ir()));
        assert_eq!(max, Some((ScanOp::Max, false, 1)));
        let min = float(NumericOperationIr::CumMin(ir()));
        assert_eq!(min, Some((ScanOp::Min, true, 1)));
        assert_eq!(parsed(&flip(0, 1, &[1])), None);
    }

    #[test]
    fn flips_of_one_axis_and_slices_of_everything_may_reverse() {
        let flipped = Reversal::parse(&flip(0, 1, &[1])).expect("a flip");
        assert_eq!((flipped.input.id, flipped.out.id), (read(0).id, read(1).id));
        assert!(flipped.may_reverse(1) && !flipped.may_reverse(0));
        let whole = Reversal::parse(&slice(0, 1, true)).expect("a slice");
        assert!(whole.may_reverse(0) && whole.may_reverse(1));

        assert!(Reversal::parse(&flip(0, 1, &[0, 1])).is_none());
        assert!(Reversal::parse(&slice(0, 1, false)).is_none());
        assert!(Reversal::parse(&cumsum(0, 1, 1)).is_none());
        assert!(Reversal::parse(&freed(0)).is_none());
    }

    #[test]
    fn masks_are_cast_to_floats_and_integers() {
        let cast = CastOpIr {
            input: TensorIr {
                dtype: DType::Bool(BoolStore::Native),
                ..read(0)
            },
            out: written(1),
        };
        let out = |operation: BoolOperationIr| {
            let operation = OperationIr::Bool(operation);
            mask_cast(&operation).map(|cast| cast.out.id)
        };
        assert_eq!(
            out(BoolOperationIr::IntoFloat(cast.clone())),
            Some(read(1).id)
        );
        assert_eq!(out(BoolOperationIr::IntoInt(cast)), Some(read(1).id));
        assert!(mask_cast(&cumsum(0, 1, 1)).is_none());
    }

    #[test]
    fn the_last_reader_consumes() {
        assert!(is_consumed_by(&written(1), &read(1)));
        assert!(!is_consumed_by(&written(1), &read(2)));
        let again = tensor(1, TensorStatus::ReadOnly, [2, 3]);
        assert!(!is_consumed_by(&written(1), &again));
    }
}
