//! Bad calls of `Sharded`: each panics at once with exactly this message, and the devices work afterwards.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{Bool, DType, Device, Float, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::{host, panic_message};

on_every_device![cuts_that_do_not_fit, masks_and_decays_that_do_not_fit];

/// Makes a call that must be refused, and then one that must not.
#[track_caller]
fn refuse<T>(device: &Device, operation: &str, reason: &str, call: impl FnOnce() -> T) {
    let panic = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(_) => panic!("not refused: {reason}"),
        Err(panic) => panic,
    };
    let expected = format!(
        "=== Tensor Operation Error ===\n  Operation: '{operation}'\n  Reason:\n    1. {reason} \n"
    );
    assert_eq!(panic_message(&*panic), expected);
    let sums = ints(device, [2, 3]).inclusive_cumsum().gather(device);
    assert_eq!(host::<i32, 1>(sums), [1, 2, 3, 4, 5], "after: {reason}");
}

/// Ones in shards of these lengths.
fn ints(device: &Device, lengths: [usize; 2]) -> Sharded<1, Int> {
    let shard = |length| Tensor::<1, Int>::ones([length], device);
    Sharded::new(lengths.map(shard).to_vec(), 0)
}

fn floats(device: &Device, shapes: [[usize; 2]; 2], dim: usize) -> Sharded<2, Float> {
    let shard = |shape| Tensor::<2>::ones(shape, device);
    Sharded::new(shapes.map(shard).to_vec(), dim)
}

fn trues(device: &Device, lengths: &[usize]) -> Sharded<1, Bool> {
    let shard = |&length: &usize| Tensor::<1, Int>::ones([length], device).greater_elem(0);
    Sharded::new(lengths.iter().map(shard).collect(), 0)
}

fn cuts_that_do_not_fit(device: &Device) {
    let ones = |shape| Tensor::<2>::ones(shape, device);
    let refuse =
        |operation: &str, reason: &str, call: &dyn Fn()| refuse(device, operation, reason, call);
    refuse("Sharded", "There are no shards.", &|| {
        Sharded::<1, Int>::new(vec![], 0);
    });
    refuse(
        "Sharded",
        "BoundsError: dimension 2 out of bounds: 0..2",
        &|| {
            Sharded::new(vec![ones([2, 3])], 2);
        },
    );
    refuse(
        "Sharded",
        "BoundsError: dimension -3 out of bounds: 0..2",
        &|| {
            Sharded::new(vec![ones([2, 3])], -3);
        },
    );
    refuse(
        "Sharded",
        "Shards must have one shape but for dimension 1. Shard 0: [2, 3], shard 2: [1, 4].",
        &|| {
            Sharded::new(vec![ones([2, 3]), ones([2, 0]), ones([1, 4])], 1);
        },
    );
    refuse(
        "Sharded Split",
        "There are no devices to split the tensor over.",
        &|| {
            Sharded::split(ones([2, 3]), 0, &[]);
        },
    );
    refuse(
        "Sharded Split",
        "BoundsError: dimension 2 out of bounds: 0..2",
        &|| {
            Sharded::split(ones([2, 3]), 2, std::slice::from_ref(device));
        },
    );
    refuse(
        "Sharded Scan",
        "LogSumExp is for float tensors only.",
        &|| {
            ints(device, [1, 2]).scan(ScanOp::LogSumExp, ScanOptions::default());
        },
    );
    if device.supports_dtype(DType::F16) {
        refuse(
            "Sharded",
            "Shards must have one dtype. Shard 0: F32, shard 1: F16.",
            &|| {
                Sharded::new(vec![ones([1, 1]), ones([1, 1]).cast(DType::F16)], 0);
            },
        );
    }
    dtypes_of_integers(device);
    #[cfg(feature = "autodiff")]
    some_with_autodiff(device);
}

fn dtypes_of_integers(device: &Device) {
    let ones = |dtype| Tensor::<1, Int>::ones([2], (device, dtype));
    refuse(
        device,
        "Sharded",
        "Shards must have one dtype. Shard 0: I32, shard 1: U32.",
        || Sharded::new(vec![ones(DType::I32), ones(DType::U32)], 0),
    );
    for other in scan_testing::tensors::devices::devices() {
        if device.supports_dtype(DType::I64) && !other.supports_dtype(DType::I64) {
            let reason = format!("The device {other:?} cannot compute with I64.");
            refuse(device, "Sharded Split", &reason, || {
                Sharded::split(ones(DType::I64), 0, &[device.clone(), other.clone()])
            });
            refuse(device, "Sharded Gather", &reason, || {
                Sharded::new(vec![ones(DType::I64)], 0).gather(&other)
            });
        }
    }
}

#[cfg(feature = "autodiff")]
fn some_with_autodiff(device: &Device) {
    let plain = Tensor::<1>::ones([2], device);
    let tracking = Tensor::<1>::ones([2], &device.clone().autodiff());
    let reason = format!(
        "Shards must all be on autodiff devices, or none. Shard 0: {:?}, shard 1: {:?}.",
        plain.device(),
        tracking.device()
    );
    refuse(device, "Sharded", &reason, || {
        Sharded::new(vec![plain, tracking], 0)
    });
}

fn masks_and_decays_that_do_not_fit(device: &Device) {
    let refuse =
        |operation: &str, reason: &str, call: &dyn Fn()| refuse(device, operation, reason, call);
    let compact = "Sharded Compact Dim By Mask";
    refuse(
        compact,
        "There must be one shard of the mask for each shard. Shards: 2, shards of the mask: 1.",
        &|| {
            ints(device, [2, 3]).compact_dim_by_mask(trues(device, &[5]));
        },
    );
    refuse(
        compact,
        "The mask must have one entry per slice along dimension 0. Tensor shape: [3], mask shape: [2].",
        &|| {
            ints(device, [2, 3]).compact_dim_by_mask(trues(device, &[2, 2]));
        },
    );
    let recurrence = "Sharded Linear Recurrence";
    let x = || floats(device, [[2, 3], [2, 4]], 1);
    refuse(
        recurrence,
        "There must be one shard of the decay for each shard. Shards: 2, shards of the decay: 1.",
        &|| {
            x().linear_recurrence(Sharded::new(vec![Tensor::ones([2, 7], device)], 1));
        },
    );
    refuse(
        recurrence,
        "The decay must be split along dimension 1, as the values are. It is split along dimension 0.",
        &|| {
            x().linear_recurrence(floats(device, [[2, 1], [2, 1]], 0));
        },
    );
    refuse(
        recurrence,
        "The decay must broadcast to [2, 4]. Tensor shape: [2, 4], decay shape: [2, 3].",
        &|| {
            x().linear_recurrence(floats(device, [[2, 3], [2, 3]], 1));
        },
    );
    for other in scan_testing::tensors::devices::devices() {
        if other == *device {
            continue;
        }
        let reason = |what: &str| {
            format!(
                "The tensor and the {what} must be on the same device. Tensor device: {device:?}, {what} device: {other:?}."
            )
        };
        refuse(compact, &reason("mask"), &|| {
            ints(device, [2, 3]).compact_dim_by_mask(trues(&other, &[2, 3]));
        });
        refuse(recurrence, &reason("decay"), &|| {
            x().linear_recurrence(floats(&other, [[2, 3], [2, 4]], 1));
        });
    }
}
