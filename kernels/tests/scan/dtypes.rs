//! Every element type that the device holds. The others are refused by name.

use super::*;
use cubecl::CubeElement;
use cubecl::prelude::*;
use cubecl_scan::ScanError;
use half::{bf16, f16};
use scan_testing::reference;

fn check_type<T>(from: fn(i32) -> T)
where
    T: CubeElement + Numeric + reference::Scalar,
{
    let client = client();
    let dtype = T::elem_type_native();
    let view = View::contiguous(&[2, 300]);
    let [plain, .., both] = all_options();
    for op in ScanOp::ALL {
        // Small enough that every partial sum is exact in half precision.
        let data = values(view.elements(), op).into_iter();
        let data: Vec<T> = data.map(|value| from(value % 3)).collect();
        if !client.properties().supports_type(dtype) {
            unsupported(&format!("{dtype:?} on this device"));
            let refused = device_scan(&client, &data, &view, 1, op, plain, launch()).unwrap_err();
            let is_named = matches!(refused, ScanError::UnsupportedType { .. });
            assert!(is_named, "{refused}");
            return;
        }
        let rows = small_tile(RoutineKind::SinglePass);
        check(&client, &data, &view, 1, op, plain, rows);
        check(&client, &data, &view, 0, op, both, launch());
    }
}

macro_rules! dtypes {
    ($($name:ident: $T:ty = $from:expr;)*) => {$(
        #[test]
        fn $name() {
            check_type::<$T>($from);
        }
    )*};
}

dtypes! {
    f32: f32 = |value| value as f32;
    f64: f64 = f64::from;
    f16: f16 = |value| f16::from_f32(value as f32);
    bf16: bf16 = |value| bf16::from_f32(value as f32);
    i8: i8 = |value| value as i8;
    i16: i16 = |value| value as i16;
    i32: i32 = |value| value;
    i64: i64 = i64::from;
    u8: u8 = |value| value as u8;
    u16: u16 = |value| value as u16;
    u32: u32 = |value| value as u32;
    u64: u64 = |value| value as u64;
}

/// Sums and products of integers wrap, at full width: no bit is spent on flags.
#[test]
fn integers_wrap_at_full_width() {
    let client = client();
    let view = View::contiguous(&[1000]);
    let data: Vec<u32> = (0..1000u32)
        .map(|i| i.wrapping_mul(0x9e37_79b9) | 1)
        .collect();
    for op in [ScanOp::Sum, ScanOp::Prod] {
        let launch = small_tile(RoutineKind::SinglePass);
        check(&client, &data, &view, 0, op, all_options()[0], launch);
        let signed: Vec<i32> = data.iter().map(|&value| value as i32).collect();
        check(&client, &signed, &view, 0, op, all_options()[0], launch);
    }
}

/// A NaN stays in every later result, also across tiles. Infinities propagate as in a loop.
#[test]
fn nan_and_infinities_propagate() {
    let client = client();
    let view = View::contiguous(&[400]);
    for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut data = floats(400, ScanOp::Sum);
        data[150] = special;
        for op in [ScanOp::Sum, ScanOp::Max, ScanOp::Min] {
            let launch = small_tile(RoutineKind::SinglePass);
            let found =
                device_scan(&client, &data, &view, 0, op, all_options()[0], launch).unwrap();
            let expected = reference::scan(&data, &[400], 0, op, all_options()[0]);
            for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let alike = found == expected || found.is_nan() && expected.is_nan();
                assert!(
                    alike,
                    "{op:?} with {special} at 150: {found} instead of {expected} at {i}"
                );
            }
        }
    }
}
