//! A device with an int dtype that cannot number the elements. The setting is per process, so this is its only
//! test.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{Bool, DType, Device, FloatDType, Int, IntDType, Tensor, TensorData};
use burn_scan::prelude::*;

processes! {
    fn positions_need_an_int_dtype_that_holds_them() {
        let mut device = Device::flex();
        let dtypes = (FloatDType::F32, IntDType::I8);
        device
            .configure(dtypes)
            .expect("the device has no tensors yet");
        ties_are_counted_in_a_dtype_that_holds_them(&device);
        let mask =
            |n: usize| -> Tensor<1, Bool> { Tensor::<1, Int>::ones([n], &device).equal_scalar(1) };

        let values = Tensor::<1>::ones([127], &device).compact_by_mask(mask(127));
        assert_eq!(values.dims(), [127]);
        let positions = mask(127).compact_indices().into_data();
        let expected: Vec<i8> = (0..127).collect();
        assert_eq!(
            positions.try_to_vec::<i8>().expect("of the device's dtype"),
            expected
        );

        // Without positions, any number is sorted; with them, lines of 127.
        let sorted = Tensor::<1>::ones([128], &device).radix_sort(0, SortOrder::Ascending);
        assert_eq!(sorted.dims(), [128]);
        let lines = Tensor::<2>::ones([9, 127], &device).radix_argsort(1, SortOrder::Descending);
        let expected = expected.repeat(9);
        assert_eq!(
            lines
                .into_data()
                .try_to_vec::<i8>()
                .expect("of the device's dtype"),
            expected
        );

        let many = mask(128);
        let values = Tensor::<1>::ones([128], &device);
        let (order, keys) = (SortOrder::Ascending, Tensor::<1, Int>::ones([128], &device));
        let calls: [(&str, &dyn Fn()); 8] = [
            ("Count True", &|| drop(many.clone().count_true())),
            ("Compact By Mask", &|| {
                drop(values.clone().compact_by_mask(many.clone()))
            }),
            ("Compact Indices", &|| drop(many.clone().compact_indices())),
            ("Compact Indices Padded", &|| {
                drop(mask(3).compact_indices_padded(128, 0))
            }),
            ("Radix Argsort", &|| {
                drop(values.clone().radix_argsort(0, order))
            }),
            ("Radix Sort With Indices", &|| {
                drop(values.clone().radix_sort_with_indices(0, order))
            }),
            ("Radix Topk", &|| drop(values.clone().radix_topk(1, 0))),
            ("Radix Sort By Key Bits", &|| {
                drop(
                    values
                        .clone()
                        .radix_sort_by_key_bits(keys.clone(), 1, order),
                )
            }),
        ];
        let reason = "There are 128 elements; the device's int dtype I8 numbers at most 127.";
        for (operation, call) in calls {
            assert_refused(operation, reason, call);
        }
        // The empty mask has a size that the dtype does not hold.
        let mask = Tensor::<2, Bool>::empty([0, 256], &device);
        let (rows, count) = mask.compact_argwhere_padded(1, -1);
        assert_eq!(rows.into_data().iter::<i64>().collect::<Vec<_>>(), [-1, -1]);
        assert_eq!(count.into_scalar::<i64>(), 0);

        let repeated = |total| {
            let lengths = Tensor::<1, Int>::full([2], 100, &device);
            Tensor::<1>::ones([2], &device).repeat_by_lengths_into(lengths, total)
        };
        assert_eq!(repeated(127).sum().into_scalar::<f32>(), 127.);
        let reason = "The results go up to 128; their dtype I8 holds at most 127.";
        assert_refused("Repeat By Lengths Into", reason, &|| drop(repeated(128)));
    }
}

/// The last one sets the maximum.
fn ties_are_counted_in_a_dtype_that_holds_them(device: &Device) {
    let device = device.clone().autodiff();
    let x = Tensor::<1>::ones([300], &device).require_grad();
    let offsets = Tensor::from_data(TensorData::from([0, 300]), (&device, DType::I32));
    let gradients = x.clone().segment_reduce(offsets, ScanOp::Max).backward();
    let found = x.grad(&gradients).expect("tracked");
    assert_eq!(
        found.clone().narrow(0, 0, 299).sum().into_scalar::<f32>(),
        0.
    );
    assert_eq!(found.narrow(0, 299, 1).into_scalar::<f32>(), 1.);
}

#[track_caller]
fn assert_refused(operation: &str, reason: &str, call: &dyn Fn()) {
    let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("more than the dtype holds");
    let message = panic.downcast_ref::<String>().expect("a message");
    assert!(
        message.contains(&format!("Operation: '{operation}'")) && message.contains(reason),
        "{message}"
    );
}
