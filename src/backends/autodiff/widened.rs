//! Gradients of f16 and bf16 by way of f32.

use crate::ops::ScanOps;
use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{DType, FloatDType};

/// A gradient of tensors of one dtype, which is computed in f32 if they are f16 or bf16.
pub(super) fn widened<B: ScanOps, const N: usize>(
    tensors: [FloatTensor<B>; N],
    gradient: impl FnOnce([FloatTensor<B>; N]) -> FloatTensor<B>,
) -> FloatTensor<B> {
    let dtype = tensors[0].dtype();
    if !matches!(dtype, DType::F16 | DType::BF16) {
        return gradient(tensors);
    }
    let wide = tensors.map(|tensor| B::float_cast(tensor, FloatDType::F32));
    B::float_cast(gradient(wide), dtype.into())
}
