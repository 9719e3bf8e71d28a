//! The same with other types in the load, the scan and the store: integers, masks, casts between them, halves.

use burn::tensor::{DType, Tensor};

use super::check;
use crate::fusion_support::{Host, floats, hooked_device, ints, planned};

#[test]
fn integers() {
    let Some(device) = hooked_device() else {
        return;
    };
    for shape in [[4200, 3], [800, 20], [5, 9]] {
        let x = ints(&device, shape);
        let host = || Host::of_int(x.clone());
        for _ in 0..2 {
            let (output, plan) = planned(&device, || (x.clone() * 2 + 1).cumsum(0) * 3);
            assert_eq!(plan, "Scan(MulScalar AddScalar CumSum MulScalar)");
            let expected = host().map(|v| v * 2.0 + 1.0).cumsum(0).map(|v| v * 3.0);
            assert_eq!(Host::of_int(output), expected);

            let (output, plan) = planned(&device, || x.clone().float().cumsum(0) * 0.5);
            assert_eq!(plan, "Scan(IntoFloat CumSum MulScalar)");
            Host::of(output).assert_close(&host().cumsum(0).map(|v| v * 0.5));
        }
    }
}

#[test]
fn masks_on_both_sides() {
    let Some(device) = hooked_device() else {
        return;
    };
    let x = floats(&device, [4200, 3]);
    let positive = Host::of(x.clone()).map(|v| v.max(0.0)).cumsum(0);
    let graph = || {
        x.clone()
            .mask_fill(x.clone().lower_elem(0.0), 0.0)
            .cumsum(0)
    };
    check("Scan(LowerElem MaskFill CumSum)", &device, graph, &positive);

    for _ in 0..2 {
        let (mask, plan) = planned(&device, || (x.clone() + 1.0).cumsum(0).greater_elem(1000.0));
        assert_eq!(plan, "Scan(AddScalar CumSum GreaterElem)");
        let expected = Host::of(x.clone())
            .map(|v| v + 1.0)
            .cumsum(0)
            .map(|v| f64::from(v > 1000.0));
        Host::of(mask.float()).assert_close(&expected);
    }
}

/// Before a scan a mask is cast on its own, because Burn settles the cast before the scan is queued. After a scan the
/// cast goes into the store. It goes into the load if the scan is queued before another block is settled.
#[test]
fn casts_of_masks() {
    let Some(device) = hooked_device() else {
        return;
    };
    for shape in [[4200, 3], [800, 20], [5, 6]] {
        let x = floats(&device, shape);
        let mask = x.clone().greater_elem(0.25);
        device.sync().expect("the device syncs");
        let counts = Host::of(x.clone()).map(|v| f64::from(v > 0.25)).cumsum(0);

        let float = || mask.clone().float().cumsum(0) - 1.0;
        let before = counts.clone().map(|v| v - 1.0);
        check(
            "_(IntoFloat) Scan(CumSum SubScalar)",
            &device,
            float,
            &before,
        );
        for _ in 0..2 {
            let (positions, plan) = planned(&device, || mask.clone().int().cumsum(0) - 1);
            assert_eq!(plan, "_(IntoInt) Scan(CumSum SubScalar)");
            assert_eq!(Host::of_int(positions), before);

            let (late, plan) = planned(&device, || {
                let counts = x.clone().greater_elem(0.25).int().cumsum(0);
                counts.greater_elem(10).int() * 3
            });
            assert_eq!(
                plan,
                "_(GreaterElem IntoInt) Scan(CumSum GreaterElem IntoInt MulScalar)"
            );
            let expected = counts.clone().map(|v| f64::from(v > 10.0) * 3.0);
            assert_eq!(Host::of_int(late), expected);

            let ((_open, positions), plan) = planned(&device, || {
                let open = x.clone() * 2.0;
                (open, mask.clone().int().cumsum(0) - 1)
            });
            assert_eq!(plan, "_(MulScalar) Scan(IntoInt CumSum) _(SubScalar)");
            assert_eq!(Host::of_int(positions), before);
        }
    }
}

#[test]
fn half_precision_accumulates_in_single() {
    let Some(device) = hooked_device() else {
        return;
    };
    if !device.supports_dtype(DType::F16) {
        scan_testing::unsupported("the device does not compute with f16");
        return;
    }
    // Sums of 2^12 eighths are exact in f32. In f16 the eighths are lost at 256, and the sums are off by whole
    // steps.
    let x = (Tensor::<2>::ones([4096, 2], &device) * 0.25).cast(DType::F16);
    device.sync().expect("the device syncs");
    let (output, plan) = planned(&device, || (x.clone() * 0.5).cumsum(0) + 1.0);
    assert_eq!(plan, "Scan(MulScalar CumSum AddScalar)");
    let last = Host::of(output).values[8191];
    assert!((last - 513.0).abs() <= 1.0, "{last} instead of 513");
}
