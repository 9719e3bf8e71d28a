//! The bits of float scans on the CPU, recorded so that an accidental change of the order of additions is
//! noticed.
//!
//! Neither threads nor vector instructions change these bits. The kernels' own tests record theirs for each
//! class of device.

use burn_scan::{ScanOp, TensorScan};
use cubecl_scan::testing::digest;

use crate::common::element::hash;
use crate::common::{WAYS, devices, host, options, tensor};

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
        0x1af8_509c_37c0_1eee,
        0x7108_2b7a_37d1_3e6d,
        0x7889_28b2_e517_b851,
        0xab42_7084_d63e_f3b1,
        0x343e_b5ef_23b1_f672,
    ],
    [
        0xd4df_d190_3ddd_2c78,
        0x56d7_2e00_0e55_fd95,
        0x98fb_636c_7e68_2d70,
        0x0dde_abee_b1ae_13f1,
        0x3f70_b94a_1ca8_0f29,
    ],
    [
        0x6964_58b8_1ff8_b4f7,
        0x0daf_1d7f_55f7_ccbe,
        0xf0fa_d393_7ab7_c746,
        0xb2e0_6b6c_9077_77da,
        0x955a_5b48_2baf_9889,
    ],
    [
        0x2d27_0a53_5b47_2735,
        0x8a3a_199e_0b3b_30cd,
        0x624f_96b1_f62f_7ef9,
        0xe735_0912_d018_8bd9,
        0xf0ec_bd09_0848_7da1,
    ],
    [
        0xa214_c818_c8c7_073d,
        0x9698_a668_87ce_ca48,
        0x55f3_68d6_5656_e74f,
        0x0ca3_0a9e_c7ab_04bc,
        0x6111_08ed_cd83_8f77,
    ],
    [
        0xd5ef_011a_ed92_4b94,
        0xb7da_88af_3b4b_91bc,
        0xec5f_aaec_d9ed_7b41,
        0x4b81_1af0_4cc1_1f61,
        0xffcd_0d81_3db6_3f33,
    ],
    [
        0x25b8_1cc6_9223_151a,
        0x7f20_749a_1876_f3de,
        0xb06d_a399_f48c_0402,
        0x7f26_7beb_f5f0_be11,
        0x004d_2d02_8492_ccb0,
    ],
    [
        0x2744_2182_1c3e_d605,
        0xf8fb_5160_09b2_70ae,
        0x947b_0d98_d3af_6d4a,
        0xc3b0_92d6_395f_6e97,
        0x45fb_d58e_9d0a_fc90,
    ],
];

/// Values of very different size: their sums depend on the order of additions.
fn uneven(i: usize) -> f32 {
    let mixed = hash(i) % (1 << 24);
    (mixed as f32 / 16_777_216.0 - 0.5) * 8_f32.powi((mixed % 7) as i32 - 3)
}

#[test]
fn bits_are_those_that_were_recorded() {
    let device = devices::flex();
    let found = SHAPES.map(|(shape, dim)| {
        let values: Vec<f32> = (0..shape.iter().product()).map(uneven).collect();
        // Near 1, so that no product leaves the range of f32.
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
