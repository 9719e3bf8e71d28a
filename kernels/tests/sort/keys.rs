//! Types of keys, and what they hold.

use super::*;
use cubecl::prelude::*;
use half::{bf16, f16};
use scan_testing::reference::SortKey;

/// Bits that are hard for some type: extremes, both zeros, infinities, NaN of both signs and several payloads,
/// subnormals, and neighbours of these.
fn hard_bits(i: usize, width: u32) -> u64 {
    let special = [
        0,
        1 << (width - 1),
        u64::MAX,
        (1 << (width - 1)) - 1,
        1,
        (1 << (width - 1)) | 1,
    ];
    let float = match width {
        16 => [
            0x7c00, 0xfc00, 0x7e01, 0xfe55, 0x03ff, 0x8400, 0x7bff, 0x3c00,
        ],
        32 => [
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0001,
            0xffc0_1234,
            0x007f_ffff,
            0x8080_0000,
            0x7f7f_ffff,
            0x3f80_0000,
        ],
        _ => [
            0x7ff0 << 48,
            0xfff0 << 48,
            (0x7ff8 << 48) | 5,
            (0xfff8 << 48) | 77,
            (0x0010 << 48) - 1,
            0x8010 << 48,
            (0x7ff0 << 48) - 1,
            0x3ff0 << 48,
        ],
    };
    let all: Vec<u64> = special.into_iter().chain(float).collect();
    let random = u64::from(mixed(i)) << 48 | u64::from(mixed(7 * i + 1)) << 20 | i as u64;
    match mixed(3 * i + 2) as usize % 40 {
        at if at < all.len() => all[at],
        // Many are equal.
        at if at < 20 => (at as u64) << (width - 8),
        _ => random >> (64 - width),
    }
}

fn check_type<T>(from: fn(u64) -> T)
where
    T: CubeElement + Numeric + SortKey,
{
    let client = client();
    if !holds::<T>(&client) {
        return;
    }
    let width = 8 * size_of::<T>() as u32;
    // Keys become codes of an order before planes see them.
    let orders = if launch().plane == Some(true) {
        &ORDERS[width as usize / 8 % 2..][..1]
    } else {
        &ORDERS[..]
    };
    let keys: Vec<T> = (0..1000).map(|i| from(hard_bits(i, width))).collect();
    for (what, len, launch) in [
        ("a line of many tiles", 1000, small_tile()),
        ("short lines", 10, launch()),
        ("lines in passes that share a cube", 10, in_passes()),
    ] {
        for &order in orders {
            check_sort(&client, what, &keys, len, ordered(order), launch);
        }
    }
    let largest = SortForm::Largest(7);
    check_sort(&client, "largest", &keys, 500, largest, small_tile());
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
    f32: f32 = |bits| f32::from_bits(bits as u32);
    f64: f64 = f64::from_bits;
    f16: f16 = |bits| f16::from_bits(bits as u16);
    bf16: bf16 = |bits| bf16::from_bits(bits as u16);
    i8: i8 = |bits| bits as i8;
    i16: i16 = |bits| bits as i16;
    i32: i32 = |bits| bits as i32;
    i64: i64 = |bits| bits as i64;
    u8: u8 = |bits| bits as u8;
    u16: u16 = |bits| bits as u16;
    u32: u32 = |bits| bits as u32;
    u64: u64 = |bits| bits;
}
