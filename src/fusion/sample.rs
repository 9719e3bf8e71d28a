//! Operations for unit tests, as Burn records them: tensors are numbers, and each is read for the last time.

use burn::tensor::DType;
use burn_ir::{
    BaseOperationIr, DimOpIr, FlipOpIr, NumericOperationIr, OperationIr, SliceOpIr, TensorId,
    TensorIr, TensorStatus,
};
use burn_std::{Shape, Slice};

pub(super) fn tensor(id: u64, status: TensorStatus, shape: [usize; 2]) -> TensorIr {
    TensorIr {
        id: TensorId::new(id),
        shape: Shape::from(shape),
        status,
        dtype: DType::F32,
    }
}

pub(super) fn read(id: u64) -> TensorIr {
    tensor(id, TensorStatus::ReadWrite, [2, 3])
}

pub(super) fn written(id: u64) -> TensorIr {
    tensor(id, TensorStatus::NotInit, [2, 3])
}

pub(super) fn dim(input: u64, out: u64, axis: usize) -> DimOpIr {
    DimOpIr {
        input: read(input),
        out: written(out),
        axis,
    }
}

pub(super) fn cumsum(input: u64, out: u64, axis: usize) -> OperationIr {
    OperationIr::NumericFloat(
        DType::F32,
        NumericOperationIr::CumSum(dim(input, out, axis)),
    )
}

pub(super) fn flip(input: u64, out: u64, axes: &[usize]) -> OperationIr {
    OperationIr::BaseFloat(BaseOperationIr::Flip(FlipOpIr {
        input: read(input),
        out: written(out),
        axes: axes.to_vec(),
    }))
}

/// The whole of a tensor, or its first line.
pub(super) fn slice(input: u64, out: u64, whole: bool) -> OperationIr {
    let shape = if whole { [2, 3] } else { [1, 3] };
    OperationIr::BaseInt(BaseOperationIr::Slice(SliceOpIr {
        tensor: read(input),
        ranges: vec![Slice::full(); 2],
        out: tensor(out, TensorStatus::NotInit, shape),
    }))
}

pub(super) fn freed(id: u64) -> OperationIr {
    OperationIr::Drop(read(id))
}
