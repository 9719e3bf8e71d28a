//! What the tests and benches of tensors share: the oracle, the devices, element types with sample data, and tensors
//! made from them. The features of this crate are those of burn-scan, which turns them on for its tests.

#[cfg(target_family = "wasm")]
pub mod browser;
pub mod devices;
pub mod element;
pub mod oracle;
pub mod views;
pub mod waiting;

use std::any::Any;

use burn::tensor::kind::Basic;
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_scan::{ScanOp, ScanOptions};
use element::Element;
use waiting::wait;

#[cfg(not(target_family = "wasm"))]
pub use crate::unsupported;
#[cfg(target_family = "wasm")]
pub use browser::unsupported;

/// The attribute of a test: `test`, and in a browser wasm-bindgen's.
#[cfg(target_family = "wasm")]
pub use wasm_bindgen_test::wasm_bindgen_test as test;

/// Stamps properties, functions of a device, as the tests `property::flex` and `property::cube`.
#[cfg(all(feature = "flex", not(target_family = "wasm")))]
#[macro_export]
macro_rules! on_every_device {
    ($($property:ident),* $(,)?) => {$(
        mod $property {
            #[test]
            fn flex() {
                super::$property(&$crate::tensors::devices::flex());
            }

            #[test]
            fn cube() {
                if let Some(cube) = $crate::tensors::devices::cube() {
                    super::$property(&cube.device);
                }
            }
        }
    )*};
}

/// Stamps properties, functions of a device, as the tests `property::cube`.
#[cfg(not(feature = "flex"))]
#[macro_export]
macro_rules! on_every_device {
    ($($property:ident),* $(,)?) => {$(
        mod $property {
            #[test]
            fn cube() {
                if let Some(cube) = $crate::tensors::devices::cube() {
                    super::$property(&cube.device);
                }
            }
        }
    )*};
}

/// Stamps properties, functions of a device, as the tests `property::flex` and `property::cube` of a browser.
#[cfg(all(feature = "flex", target_family = "wasm"))]
#[macro_export]
macro_rules! on_every_device {
    ($($property:ident),* $(,)?) => {$(
        mod $property {
            use $crate::tensors::{browser, devices};

            #[wasm_bindgen_test::wasm_bindgen_test]
            async fn flex() -> Result<(), wasm_bindgen::JsValue> {
                browser::run(|| super::$property(&devices::flex())).await
            }

            #[wasm_bindgen_test::wasm_bindgen_test]
            async fn cube() -> Result<(), wasm_bindgen::JsValue> {
                browser::run(|| super::$property(&devices::cube().expect("WebGPU").device)).await
            }
        }
    )*};
}

/// The operators that every dtype takes.
pub const OPS: [ScanOp; 4] = [ScanOp::Sum, ScanOp::Prod, ScanOp::Max, ScanOp::Min];

/// Whether a scan is exclusive, and whether it is reverse.
pub const WAYS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

/// Every way of summing, and one way of each other operator: for tests that would otherwise compile all 16
/// again and again.
pub const FEW: [(ScanOp, (bool, bool)); 7] = [
    (ScanOp::Sum, WAYS[0]),
    (ScanOp::Sum, WAYS[1]),
    (ScanOp::Sum, WAYS[2]),
    (ScanOp::Sum, WAYS[3]),
    (ScanOp::Prod, WAYS[2]),
    (ScanOp::Max, WAYS[1]),
    (ScanOp::Min, WAYS[3]),
];

/// Whether the device takes all cases. In the long form of the tests every device does, otherwise only Flex: a Cube
/// device compiles kernels for many of them, and the kernels' own tests have them all. A remote device computes on
/// Flex.
pub fn takes_all(device: &Device) -> bool {
    devices::is_flex(device) || cfg!(feature = "heavy")
}

/// All of `cases` on a device that [takes all](takes_all), on others one in `one_in`, from `turn` on.
pub fn sampled<T>(
    cases: impl IntoIterator<Item = T>,
    device: &Device,
    turn: usize,
    one_in: usize,
) -> Vec<T> {
    let step = if takes_all(device) { 1 } else { one_in };
    cases.into_iter().skip(turn % step).step_by(step).collect()
}

/// The options of one of [`WAYS`].
pub fn options((exclusive, reverse): (bool, bool)) -> ScanOptions {
    let options = ScanOptions::default();
    let options = if exclusive {
        options.exclusive()
    } else {
        options
    };
    if reverse { options.reverse() } else { options }
}

/// `shape` as `[outer, len, inner]` around `dim`.
pub fn axis(shape: &[usize], dim: usize) -> [usize; 3] {
    let product = |sizes: &[usize]| sizes.iter().product();
    [
        product(&shape[..dim]),
        shape[dim],
        product(&shape[dim + 1..]),
    ]
}

/// The values, split along `dim` into parts of these lengths.
pub fn split_by_lengths<T: Clone>(
    values: &[T],
    shape: &[usize],
    dim: usize,
    lengths: &[usize],
) -> Vec<Vec<T>> {
    let [outer, len, inner] = axis(shape, dim);
    assert_eq!(lengths.iter().sum::<usize>(), len, "the lengths");
    let mut begin = 0;
    let part = |&length: &usize| {
        let rows = (0..outer).flat_map(|row| {
            let first = (row * len + begin) * inner;
            values[first..first + length * inner].iter().cloned()
        });
        let part = rows.collect();
        begin += length;
        part
    };
    lengths.iter().map(part).collect()
}

/// The values in a tensor of their dtype.
pub fn tensor<T: Element, const D: usize>(
    values: &[T],
    shape: [usize; D],
    device: &Device,
) -> Tensor<D, T::Kind> {
    Tensor::from_data(
        TensorData::new(values.to_vec(), shape),
        (device, T::dtype()),
    )
}

/// The values in a bool tensor.
pub fn mask<const D: usize>(
    mask: &[bool],
    shape: [usize; D],
    device: &Device,
) -> Tensor<D, burn::tensor::Bool> {
    tensor(mask, shape, device)
}

/// What a tensor holds.
pub fn read<K: Basic, const D: usize>(tensor: Tensor<D, K>) -> TensorData {
    wait(tensor.into_data_async()).expect("the tensor can be read")
}

/// The elements of a tensor, whose dtype must match `T`. A bool tensor may have any store.
pub fn host<T: Element, const D: usize>(tensor: Tensor<D, T::Kind>) -> Vec<T> {
    let dtype = tensor.dtype();
    let data = read(tensor);
    assert_eq!(
        data.dtype(),
        dtype,
        "the data are not of the dtype the tensor states"
    );
    match (T::dtype(), dtype) {
        (DType::Bool(_), DType::Bool(_)) => data.iter().collect(),
        _ => data
            .try_into_vec()
            .expect("the result has the dtype of the input"),
    }
}

/// The elements of an index tensor, which must have the device's own int dtype.
pub fn host_indices<const D: usize>(tensor: Tensor<D, Int>) -> Vec<usize> {
    assert_eq!(tensor.dtype(), tensor.device().settings().int_dtype.into());
    let index = |value: i64| usize::try_from(value).expect("indices are not negative");
    read(tensor).iter::<i64>().map(index).collect()
}

/// Compares element by element. NaN is equal to NaN.
#[track_caller]
pub fn assert_same<T: Element>(found: &[T], expected: &[T], context: impl Fn() -> String) {
    assert_eq!(found.len(), expected.len(), "{}: the length", context());
    let wrong = |&i: &usize| !found[i].same(expected[i]);
    if let Some(first) = (0..found.len()).find(wrong) {
        panic!(
            "{}: {} of {} elements wrong, the first is {first}: {:?} instead of {:?}",
            context(),
            (0..found.len()).filter(wrong).count(),
            found.len(),
            found[first],
            expected[first],
        );
    }
}

/// The message of a caught panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}
