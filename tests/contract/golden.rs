//! The bits of float scans on the CPU, recorded so that an accidental change of the order of additions is
//! noticed.
//!
//! Neither threads nor vector instructions change these bits. The kernels' own tests record theirs for each
//! class of device.

use burn_scan::{ScanOp, TensorScan};
use scan_testing::digest;
use scan_testing::tensors::element::hash;
#[cfg(target_family = "wasm")]
use scan_testing::tensors::test;
use scan_testing::tensors::{WAYS, devices, host, options, tensor};

/// Shapes and dimensions that lead to every path of the engine: rows of many tiles, in blocks on all threads,
/// several rows, short rows, rows of one tile; columns, narrow columns that are split, and planes of columns.
const SHAPES: [([usize; 3], i64); 8] = [
    ([1, 1, 50_003], 2),
    ([1, 1, 300_001], 2),
    ([3, 1, 20_000], 2),
    ([1, 500, 7], 2),
    ([40, 1, 900], 2),
    ([1, 300, 640], 1),
    ([1, 70_000, 3], 1),
    ([4, 700, 5], 1),
];

/// For each shape the sums, in the order of [`WAYS`], and the inclusive products.
const RECORDED: [[u64; 5]; 8] = [
    [
        0x6d61_33c1_5043_6e84,
        0x4dc2_e25b_a139_6527,
        0x9bb6_c5bc_8899_9b1e,
        0x31dd_0b33_1250_c2ba,
        0x86a5_eeae_e3fc_8a6f,
    ],
    [
        0x17ab_ab73_ca8e_eac0,
        0xdf6c_0b7d_7e01_a727,
        0x9310_1960_9b52_7262,
        0xb521_23b0_ccfc_5356,
        0xef98_058f_97bd_8f98,
    ],
    [
        0x9648_aaa3_b342_3c71,
        0xa9bc_4df4_57be_768f,
        0x30a2_e1aa_4ed6_bd31,
        0x587b_cd93_342f_156e,
        0x87f8_1369_40ac_b190,
    ],
    [
        0x0f89_a387_7e89_b260,
        0x4845_98c7_525e_fb34,
        0xa89b_7aa6_883f_f982,
        0xa7a1_da2b_742e_fc61,
        0xf268_8f23_7f54_0ed4,
    ],
    [
        0x7d53_316e_8c63_a997,
        0xd754_1a13_2da8_115e,
        0xf8cc_3902_43ed_9f63,
        0xf7fe_52a4_45d7_7dee,
        0x43b4_2c63_ff11_0682,
    ],
    [
        0xd5ef_011a_ed92_4b94,
        0xb7da_88af_3b4b_91bc,
        0xec5f_aaec_d9ed_7b41,
        0x4b81_1af0_4cc1_1f61,
        0xffcd_0d81_3db6_3f33,
    ],
    [
        0x2318_f416_799f_3cf9,
        0x40ea_c25d_7637_2a9a,
        0x4bdd_bcae_a8fc_43c4,
        0xf54e_288a_c4b7_67ab,
        0x2dba_9012_4a0b_e46e,
    ],
    [
        0x2744_2182_1c3e_d605,
        0xf8fb_5160_09b2_70ae,
        0x947b_0d98_d3af_6d4a,
        0xc3b0_92d6_395f_6e97,
        0x45fb_d58e_9d0a_fc90,
    ],
];

/// Values of very different magnitudes: their sums depend on the order of additions.
fn uneven(i: usize) -> f32 {
    let mixed = hash(i) % (1 << 24);
    (mixed as f32 / 16_777_216.0 - 0.5) * 8_f32.powi((mixed % 7) as i32 - 3)
}

#[test]
fn bits_are_those_that_were_recorded() {
    let device = devices::flex();
    let found = SHAPES.map(|(shape, dim)| {
        let values: Vec<f32> = (0..shape.iter().product()).map(uneven).collect();
        // Factors are near 1, so that no product leaves the range of f32.
        let factors: Vec<f32> = values.iter().map(|value| 1.0 + value / 65_536.0).collect();
        let scanned = |values: &[f32], op, way| {
            let input = tensor::<f32, 3>(values, shape, &device);
            digest(&host::<f32, 3>(input.scan(dim, op, options(way))))
        };
        let [a, b, c, d] = WAYS.map(|way| scanned(&values, ScanOp::Sum, way));
        [a, b, c, d, scanned(&factors, ScanOp::Prod, WAYS[0])]
    });
    assert!(found == RECORDED, "the bits are now {found:#018x?}");
}
