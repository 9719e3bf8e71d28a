//! Every bad call panics at the call, in the form of Burn's own checks, and leaves process and device at work.

#[macro_use]
mod common;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::quantization::QuantScheme;
use burn::tensor::{Bool, DType, Device, Int, Tensor, TensorData};
use burn_scan::prelude::*;
use common::{assert_same, devices, host, panic_message};

on_every_device![
    dimension_out_of_range,
    mask_of_another_shape,
    tensors_on_different_devices,
    quantized_tensors,
    keys_and_values_of_different_length,
    no_keys_for_values,
    a_dtype_the_device_cannot_hold,
];

/// Calls, expects the panic of `operation` with all of `fragments` in it, then works with the device.
#[track_caller]
fn refused<T>(device: &Device, operation: &str, fragments: &[&str], call: impl FnOnce() -> T) {
    let outcome = catch_unwind(AssertUnwindSafe(|| Box::new(call()))).map(|_| ());
    let panic: Box<dyn Any + Send> = outcome.expect_err("the bad call was accepted");
    let message = panic_message(&*panic);
    let operation = format!("Operation: '{operation}'");
    let form = ["=== Tensor Operation Error ===", &operation, "Reason:"];
    for fragment in form.iter().chain(fragments) {
        assert!(message.contains(fragment), "no {fragment:?} in: {message}");
    }

    let values = ints(device);
    assert_same(
        &host::<i32, 1>(values.clone().inclusive_cumsum(0)),
        &[3, 7, 12],
        || "a sum after a bad call".to_string(),
    );
    let odd = values.clone().remainder_scalar(2).equal_scalar(1);
    assert_same(
        &host::<i32, 1>(values.compact_by_mask(odd)),
        &[3, 5],
        || "a compaction after a bad call".to_string(),
    );
}

fn ints(device: &Device) -> Tensor<1, Int> {
    Tensor::from_data([3, 4, 5], device)
}

fn floats(device: &Device) -> Tensor<2> {
    Tensor::from_data([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device)
}

fn mask(device: &Device) -> Tensor<2, Bool> {
    floats(device).greater_scalar(2.0)
}

fn row(device: &Device, length: usize) -> Tensor<1, Bool> {
    Tensor::from_data(TensorData::new(vec![true; length], [length]), device)
}

fn dimension_out_of_range(device: &Device) {
    let x = || floats(device);
    for dim in [2, 100, -3, i64::MAX, i64::MIN] {
        let name = dim.to_string();
        let names = [name.as_str()];
        let options = ScanOptions::default();
        refused(device, "Scan", &names, || {
            x().scan(dim, ScanOp::Max, options)
        });
        refused(device, "Inclusive Cumsum", &names, || {
            x().inclusive_cumsum(dim)
        });
        refused(device, "Inclusive Cumsum", &names, || {
            burn_scan::cumsum(x(), dim)
        });
        refused(device, "Exclusive Cumsum", &names, || {
            x().exclusive_cumsum(dim)
        });
        refused(device, "Reverse Cumsum", &names, || x().reverse_cumsum(dim));
        refused(device, "Compact Dim By Mask", &names, || {
            x().compact_dim_by_mask(row(device, 2), dim)
        });
        refused(device, "Compact Dim By Mask Padded", &names, || {
            x().compact_dim_by_mask_padded(row(device, 2), dim)
        });
    }
}

/// As many elements in another shape are as wrong as more elements.
fn mask_of_another_shape(device: &Device) {
    let x = || floats(device);
    for other in [
        mask(device).swap_dims(0, 1),
        mask(device).slice([0..1, 0..3]),
    ] {
        let shape = format!("{:?}", other.dims());
        let shapes = ["[2, 3]", shape.as_str()];
        refused(device, "Compact By Mask", &shapes, || {
            x().compact_by_mask(other.clone())
        });
        refused(device, "Compact By Mask", &shapes, || {
            burn::tensor::read_sync(x().compact_by_mask_async(other.clone()))
        });
        refused(device, "Compact By Mask Padded", &shapes, || {
            x().compact_by_mask_padded(other.clone())
        });
    }
    for (length, dim) in [(2, 1), (3, 0), (0, 0), (4, -1)] {
        let length_name = format!("[{length}]");
        let shapes = ["[2, 3]", length_name.as_str()];
        let row = || row(device, length);
        refused(device, "Compact Dim By Mask", &shapes, || {
            x().compact_dim_by_mask(row(), dim)
        });
        refused(device, "Compact Dim By Mask Padded", &shapes, || {
            x().compact_dim_by_mask_padded(row(), dim)
        });
    }
}

/// Says `Unsupported` where there is only one device, through [`devices::cube`].
fn tensors_on_different_devices(device: &Device) {
    for other in devices::devices().iter().filter(|other| *other != device) {
        let (x, row) = (|| floats(device), || row(other, 2));
        let names = [format!("{device:?}"), format!("{other:?}")];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        refused(device, "Compact By Mask", &names, || {
            x().compact_by_mask(mask(other))
        });
        refused(device, "Compact By Mask Padded", &names, || {
            x().compact_by_mask_padded(mask(other))
        });
        refused(device, "Compact Dim By Mask", &names, || {
            x().compact_dim_by_mask(row(), 0)
        });
        refused(device, "Compact Dim By Mask Padded", &names, || {
            x().compact_dim_by_mask_padded(row(), 0)
        });
        refused(device, "Expand By Mask", &names, || {
            ints(device).expand_by_mask(mask(other))
        });
        refused(device, "Partition By Key", &names, || {
            ints(device).partition_by_key(ints(other), 6)
        });
    }
}

fn quantized_tensors(device: &Device) {
    let values: Vec<f32> = (0..64).map(|i| i as f32 / 8.0).collect();
    let flat = Tensor::<1>::from_data(values.as_slice(), device);
    let scheme = QuantScheme::default().with_store(device.settings().quantization.scheme.store);
    let flat = || flat.clone().quantize_dynamic(&scheme);
    let (all, says) = (|| row(device, 64), ["quantized", "dequantize"]);
    refused(device, "Scan", &says, || {
        flat().scan(0, ScanOp::Sum, ScanOptions::default())
    });
    refused(device, "Inclusive Cumsum", &says, || {
        flat().inclusive_cumsum(0)
    });
    refused(device, "Exclusive Cumsum", &says, || {
        flat().exclusive_cumsum(0)
    });
    refused(device, "Reverse Cumsum", &says, || flat().reverse_cumsum(0));
    refused(device, "Compact By Mask", &says, || {
        flat().compact_by_mask(all())
    });
    refused(device, "Compact By Mask Padded", &says, || {
        flat().compact_by_mask_padded(all())
    });
    refused(device, "Compact Dim By Mask", &says, || {
        flat().compact_dim_by_mask(all(), 0)
    });
    refused(device, "Compact Dim By Mask Padded", &says, || {
        flat().compact_dim_by_mask_padded(all(), 0)
    });
    refused(device, "Expand By Mask", &says, || {
        flat().expand_by_mask(all())
    });
    let keys = || Tensor::<1, Int>::zeros([64], device);
    refused(device, "Partition By Key", &says, || {
        flat().partition_by_key(keys(), 1)
    });
}

fn keys_and_values_of_different_length(device: &Device) {
    for length in [0, 2, 4] {
        let keys = || Tensor::<1, Int>::zeros([length], device);
        let shape = format!("[{length}]");
        let shapes = ["[3]", shape.as_str()];
        refused(device, "Partition By Key", &shapes, || {
            ints(device).partition_by_key(keys(), 2)
        });
        let values = || row(device, 3);
        refused(device, "Partition By Key", &shapes, || {
            values().partition_by_key(keys(), 2)
        });
    }
}

fn no_keys_for_values(device: &Device) {
    let keys = || Tensor::<1, Int>::zeros([3], device);
    refused(device, "Partition By Key", &["num_keys"], || {
        ints(device).partition_by_key(keys(), 0)
    });
}

/// Burn uploads what a device cannot compute with, and most of its operations fail on it later, some in the driver.
fn a_dtype_the_device_cannot_hold(device: &Device) {
    let mut refusals = 0;
    for dtype in [DType::F64, DType::F16, DType::BF16] {
        if !device.supports_dtype(dtype) {
            refusals += 1;
            let x = || Tensor::<1>::from_data([1.0, 2.0], (device, dtype));
            let name = format!("{dtype:?}");
            let (row, name) = (|| row(device, 2), [name.as_str()]);
            refused(device, "Inclusive Cumsum", &name, || {
                x().inclusive_cumsum(0)
            });
            refused(device, "Compact By Mask", &name, || {
                x().compact_by_mask(row())
            });
            refused(device, "Expand By Mask", &name, || {
                x().expand_by_mask(row())
            });
        }
    }
    for dtype in [
        DType::I64,
        DType::U64,
        DType::I16,
        DType::U16,
        DType::I8,
        DType::U8,
    ] {
        if !device.supports_dtype(dtype) {
            refusals += 1;
            let x = || Tensor::<1, Int>::from_data([1, 2], (device, dtype));
            let name = format!("{dtype:?}");
            let name = [name.as_str()];
            refused(device, "Scan", &name, || {
                x().scan(0, ScanOp::Min, ScanOptions::default())
            });
            refused(device, "Partition By Key", &name, || {
                x().partition_by_key(Tensor::zeros([2], device), 1)
            });
            refused(device, "Partition By Key", &name, || {
                row(device, 2).partition_by_key(x(), 3)
            });
        }
    }
    println!("{device:?} refuses {refusals} of 9 dtypes");
}
