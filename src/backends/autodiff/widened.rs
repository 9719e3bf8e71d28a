//! Gradients of f16 and bf16 by way of f32.

use crate::ops::ScanOps;
use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{DType, FloatDType};

/// A gradient of two tensors of one dtype, which is computed in f32 if they are f16 or bf16.
pub(super) fn widened<B: ScanOps>(
    tensors: [FloatTensor<B>; 2],
    gradient: impl FnOnce([FloatTensor<B>; 2]) -> FloatTensor<B>,
) -> FloatTensor<B> {
    let dtype = tensors[0].dtype();
    if !matches!(dtype, DType::F16 | DType::BF16) {
        return gradient(tensors);
    }
    let wide = tensors.map(|tensor| B::float_cast(tensor, FloatDType::F32));
    B::float_cast(gradient(wide), dtype.into())
}
