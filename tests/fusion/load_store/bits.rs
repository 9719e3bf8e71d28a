//! A scan has the same bits with a load and a store and without them: its kernels and its order are the same.

use burn::tensor::{Device, Int, Tensor};

use crate::fusion_support::{floats, hooked_device, ints, planned};

/// Rows of which a cube takes several, rows of a tile, rows that look back, and columns; whole vectors or not. Tiles
/// have 4,096 elements without planes, and 8,192 with them.
const SHAPES: [[usize; 2]; 14] = [
    [300, 7],
    [40, 256],
    [17, 1000],
    [3, 4095],
    [3, 4096],
    [2, 4097],
    [2, 8190],
    [2, 8192],
    [2, 8193],
    [1, 40_000],
    [1, 40_002],
    [3, 50_001],
    [4200, 3],
    [800, 20],
];

/// Values of very different magnitudes, so their sums depend on the order of additions.
fn uneven(device: &Device, shape: [usize; 2]) -> Tensor<2> {
    let x = floats(device, shape);
    x.clone() * (x * 7.0).exp()
}

fn bits(tensor: Tensor<2>) -> Vec<u32> {
    let values = tensor.into_data().try_to_vec::<f32>().expect("f32");
    values.into_iter().map(f32::to_bits).collect()
}

fn words(tensor: Tensor<2, Int>) -> Vec<i32> {
    tensor.into_data().try_to_vec::<i32>().expect("i32")
}

#[track_caller]
fn assert_same<T: PartialEq>(found: &[T], expected: &[T], what: &str) {
    let wrong = (0..expected.len()).find(|&at| found[at] != expected[at]);
    assert_eq!((found.len(), wrong), (expected.len(), None), "{what}");
}

#[test]
fn sums_of_products() {
    let Some(device) = hooked_device() else {
        return;
    };
    for shape in SHAPES {
        for dim in [0, 1] {
            let x = uneven(&device, shape);
            let y = floats(&device, shape) + 0.3;
            device.sync().expect("the device syncs");
            let product = x.clone() * y.clone();
            device.sync().expect("the device syncs");
            let scanned = product.cumsum(dim as i64);
            device.sync().expect("the device syncs");
            let expected = bits(scanned * 3.0);
            for _ in 0..2 {
                let graph = || (x.clone() * y.clone()).cumsum(dim as i64) * 3.0;
                let (found, plan) = planned(&device, graph);
                assert_eq!(plan, "Scan(Mul CumSum MulScalar)");
                assert_same(&bits(found), &expected, &format!("{shape:?} along {dim}"));
            }
        }
    }
}

/// A product before a sum: a compiler would contract them.
#[test]
fn products_before_a_sum() {
    let Some(device) = hooked_device() else {
        return;
    };
    for shape in [[3, 5000], [40, 256], [5000, 4]] {
        for dim in [0, 1] {
            let x = floats(&device, shape) * 0.01 + 1.001;
            device.sync().expect("the device syncs");
            let scanned = x.clone().cumprod(dim as i64);
            device.sync().expect("the device syncs");
            let expected = bits(scanned + 0.1);
            let (found, plan) = planned(&device, || x.clone().cumprod(dim as i64) + 0.1);
            assert_eq!(plan, "Scan(CumProd AddScalar)");
            assert_same(&bits(found), &expected, &format!("{shape:?} along {dim}"));
        }
    }
}

#[test]
fn sums_of_integers() {
    let Some(device) = hooked_device() else {
        return;
    };
    for shape in SHAPES {
        let x = ints(&device, shape);
        device.sync().expect("the device syncs");
        let doubled = x.clone() * 2 + 1;
        device.sync().expect("the device syncs");
        let scanned = doubled.cumsum(1);
        device.sync().expect("the device syncs");
        let expected = words(scanned * 3);
        let (found, plan) = planned(&device, || (x.clone() * 2 + 1).cumsum(1) * 3);
        assert_eq!(plan, "Scan(MulScalar AddScalar CumSum MulScalar)");
        assert_same(&words(found), &expected, &format!("{shape:?}"));
    }
}

/// Rows that look back, too, write what the load makes and the graph keeps.
#[test]
fn a_kept_product() {
    let Some(device) = hooked_device() else {
        return;
    };
    for shape in SHAPES {
        let [x, y] = [0.3, 0.7].map(|shift| floats(&device, shape) + shift);
        device.sync().expect("the device syncs");
        let product = x.clone() * y.clone();
        device.sync().expect("the device syncs");
        let expected = [product.clone(), product.cumsum(1)].map(bits);
        let (found, plan) = planned(&device, || {
            let product = x.clone() * y.clone();
            let scanned = product.clone().cumsum(1);
            [product, scanned]
        });
        assert_eq!(plan, "Scan(Mul CumSum)");
        for (found, expected) in found.map(bits).iter().zip(&expected) {
            assert_same(found, expected, &format!("{shape:?}"));
        }
    }
}
