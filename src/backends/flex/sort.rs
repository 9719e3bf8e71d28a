//! Sorts on the CPU engine.

use super::dtypes::{by_index, by_size};
use super::layouts::{InMemory, contiguous};
use super::slices::{elements, indices, tensor};
use crate::SortOrder;
use crate::cpu;
use crate::ops::SortOps;
use crate::ops::rows::functions_of;
use crate::ops::sort::sort_operations;
use burn::backend::TensorMetadata;
use burn::tensor::IntDType;
use burn_flex::{Flex, FlexTensor};
use half::{bf16, f16};

/// Runs `$body` with `$B` the type of the bits of `$dtype`, and `$order` the order of its numbers.
macro_rules! by_order {
    ($dtype:expr, $descending:expr, ($B:ident, $order:ident) => $body:expr) => {
        by_order! {
            $dtype, $descending, ($B, $order) => $body;
            F64 u64, cpu::Floats::new(f64::INFINITY.to_bits(), $descending);
            F32 u32, cpu::Floats::new(f32::INFINITY.to_bits(), $descending);
            Flex32 u32, cpu::Floats::new(f32::INFINITY.to_bits(), $descending);
            F16 u16, cpu::Floats::new(f16::INFINITY.to_bits(), $descending);
            BF16 u16, cpu::Floats::new(bf16::INFINITY.to_bits(), $descending);
            I64 u64, cpu::Integers::signed($descending);
            I32 u32, cpu::Integers::signed($descending);
            I16 u16, cpu::Integers::signed($descending);
            I8 u8, cpu::Integers::signed($descending);
            U64 u64, cpu::Integers::unsigned($descending);
            U32 u32, cpu::Integers::unsigned($descending);
            U16 u16, cpu::Integers::unsigned($descending);
            U8 u8, cpu::Integers::unsigned($descending);
        }
    };
    (
        $dtype:expr, $descending:expr, ($B:ident, $order:ident) => $body:expr;
        $($DType:ident $bits:ty, $new:expr;)*
    ) => {
        match $dtype {
            $(burn::tensor::DType::$DType => {
                type $B = $bits;
                let $order = $new;
                $body
            })*
            dtype => crate::check::fail("Sort", &format!("The CPU backend cannot sort {dtype:?}.")),
        }
    };
}

fn descending(order: SortOrder) -> bool {
    order == SortOrder::Descending
}

fn radix_sort(keys: FlexTensor, dim: usize, order: SortOrder) -> FlexTensor {
    let (keys, lie) = InMemory::upwards(keys, dim);
    by_order!(keys.dtype(), descending(order), (B, order) => {
        let sorted = cpu::sort::<B, _>(lie.elements(&keys), lie.axis, lie.apart, order);
        tensor(sorted, keys.shape(), keys.dtype()).with_layout(lie.layout)
    })
}

fn radix_argsort(keys: FlexTensor, dim: usize, order: SortOrder, int: IntDType) -> FlexTensor {
    let (keys, lie) = InMemory::upwards(keys, dim);
    by_order!(keys.dtype(), descending(order), (B, order) => by_index!(int, I => {
        let positions = cpu::argsort::<B, _, I>(lie.elements(&keys), lie.axis, lie.apart, order);
        indices(positions, keys.shape(), int).with_layout(lie.layout)
    }))
}

/// The first `k` elements of each line in order, and their positions.
fn first(
    keys: FlexTensor,
    k: usize,
    dim: usize,
    order: SortOrder,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let (keys, lie) = InMemory::upwards(keys, dim);
    let layout = lie.with_len(dim, k);
    let shape = layout.shape().clone();
    by_order!(keys.dtype(), descending(order), (B, order) => by_index!(int, I => {
        let (values, positions) = cpu::first::<B, _, I>(lie.elements(&keys), lie.axis, lie.apart, k, order);
        (
            tensor(values, shape.clone(), keys.dtype()).with_layout(layout.clone()),
            indices(positions, shape, int).with_layout(layout),
        )
    }))
}

fn radix_sort_with_indices(
    keys: FlexTensor,
    dim: usize,
    order: SortOrder,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let len = keys.shape()[dim];
    first(keys, len, dim, order, int)
}

fn radix_topk(keys: FlexTensor, k: usize, dim: usize, int: IntDType) -> (FlexTensor, FlexTensor) {
    first(keys, k, dim, SortOrder::Descending, int)
}

fn radix_sort_bits(
    keys: FlexTensor,
    bits: usize,
    order: SortOrder,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let keys = contiguous(keys);
    let shape = keys.shape();
    let lines = [1, shape[0], 1];
    by_size!(keys.dtype(), B => by_index!(int, I => {
        let order = cpu::Integers::lowest(bits, descending(order));
        let (values, positions) = cpu::first::<B, _, I>(elements(&keys), lines, shape[0], shape[0], order);
        (
            tensor(values, shape.clone(), keys.dtype()),
            indices(positions, shape, int),
        )
    }))
}

sort_operations! { functions_of(FlexTensor, FlexTensor, FlexTensor) Flex all }
