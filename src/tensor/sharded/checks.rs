//! Checks for bad input, before anything is launched.

use super::Sharded;
use crate::{ScanOp, check};
use burn::tensor::kind::{Basic, Kind};
use burn::tensor::{Bool, DType, Device, Float, Shape, Tensor};

pub(super) const SHARDED: &str = "Sharded";
pub(super) const SPLIT: &str = "Sharded Split";
const GATHER: &str = "Sharded Gather";
const SCAN: &str = "Sharded Scan";
const RECURRENCE: &str = "Sharded Linear Recurrence";
const COMPACT: &str = "Sharded Compact Dim By Mask";

/// There is a shard, and all shards can be parts of one tensor.
#[track_caller]
pub(super) fn shards<const D: usize, K: Basic>(shards: &[Tensor<D, K>], dim: usize) {
    let Some(first) = shards.first() else {
        check::fail(SHARDED, "There are no shards.");
    };
    for (number, shard) in shards.iter().enumerate() {
        let mut shape = shard.dims();
        shape[dim] = first.dims()[dim];
        if shape != first.dims() {
            let (first, shard) = (first.dims(), shard.dims());
            check::fail(
                SHARDED,
                &format!(
                    "Shards must have one shape but for dimension {dim}. Shard 0: {first:?}, shard {number}: {shard:?}."
                ),
            );
        }
        // Booleans count as one dtype, however each device stores them. Burn's `select` on Flex calls them U8.
        if K::KIND != Kind::Bool && first.dtype() != shard.dtype() {
            let (first, shard) = (first.dtype(), shard.dtype());
            check::fail(
                SHARDED,
                &format!(
                    "Shards must have one dtype. Shard 0: {first:?}, shard {number}: {shard:?}."
                ),
            );
        }
        let [first, shard] = [first.device(), shard.device()];
        if shards[0].dtype().is_float() && first.is_autodiff() != shard.is_autodiff() {
            check::fail(
                SHARDED,
                &format!(
                    "Shards must all be on autodiff devices, or none. Shard 0: {first:?}, shard {number}: {shard:?}."
                ),
            );
        }
    }
}

/// There is a device, and all devices hold the dtype.
#[track_caller]
pub(super) fn devices<const D: usize, K: Basic>(tensor: &Tensor<D, K>, devices: &[Device]) {
    if devices.is_empty() {
        check::fail(SPLIT, "There are no devices to split the tensor over.");
    }
    for device in devices {
        holds::<K>(SPLIT, device, tensor.dtype());
    }
}

/// All shards fit the device together.
#[track_caller]
pub(super) fn gathered<const D: usize, K: Basic>(
    shards: &[Tensor<D, K>],
    dim: usize,
    device: &Device,
) {
    let dtype = shards[0].dtype();
    holds::<K>(GATHER, device, dtype);
    let mut shape = shards[0].dims();
    shape[dim] = shards.iter().map(|shard| shard.dims()[dim]).sum();
    check::fits(GATHER, device, Shape::from(shape).num_elements(), dtype);
}

#[track_caller]
fn holds<K: Basic>(operation: &str, device: &Device, dtype: DType) {
    match dtype {
        _ if K::KIND == Kind::Bool => {}
        DType::F32 | DType::I32 | DType::U32 => {}
        _ if !device.supports_dtype(dtype) => check::fail(
            operation,
            &format!("The device {device:?} cannot compute with {dtype:?}."),
        ),
        _ => {}
    }
}

/// Each shard can be scanned with that operator.
#[track_caller]
pub(super) fn scanned<const D: usize, K: Basic>(shards: &[Tensor<D, K>], op: ScanOp) {
    for shard in shards {
        check::dtype(SCAN, shard);
    }
    if op == ScanOp::LogSumExp && !shards[0].dtype().is_float() {
        check::fail(SCAN, "LogSumExp is for float tensors only.");
    }
}

/// There is a decay for each shard, and it broadcasts to it.
#[track_caller]
pub(super) fn recurrence<const D: usize>(values: &Sharded<D, Float>, decay: &Sharded<D, Float>) {
    as_many(RECURRENCE, values.shards.len(), decay.shards.len(), "decay");
    if values.dim != decay.dim {
        check::fail(
            RECURRENCE,
            &format!(
                "The decay must be split along dimension {}, as the values are. It is split along dimension {}.",
                values.dim, decay.dim
            ),
        );
    }
    for (shard, decay) in values.shards.iter().zip(&decay.shards) {
        check::dtype(RECURRENCE, shard);
        check::broadcast(RECURRENCE, shard, decay.clone(), "decay", shard.dims());
    }
}

/// There is a mask for each shard, with an entry for each of its slices.
#[track_caller]
pub(super) fn masks<const D: usize, K: Basic>(values: &Sharded<D, K>, mask: &Sharded<1, Bool>) {
    as_many(COMPACT, values.shards.len(), mask.shards.len(), "mask");
    let instead = "`compact_dim_by_mask_async` of each shard";
    for (shard, mask) in values.shards.iter().zip(&mask.shards) {
        check::dtype(COMPACT, shard);
        check::dim_mask(COMPACT, shard, mask, values.dim);
        check::waits(COMPACT, &shard.device(), instead);
    }
}

#[track_caller]
fn as_many(operation: &str, shards: usize, others: usize, what: &str) {
    if shards != others {
        check::fail(
            operation,
            &format!(
                "There must be one shard of the {what} for each shard. Shards: {shards}, shards of the {what}: {others}."
            ),
        );
    }
}
