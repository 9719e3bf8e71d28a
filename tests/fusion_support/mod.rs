//! What the fusion tests share: the device, the recorded plan of a graph, and the oracle of graphs.
//!
//! Burn's fusion registry and its plan cache are per process. `tests/fusion` calls `install()` before all else; each test
//! of `tests/alone` decides whether and when it does.
#![allow(
    dead_code,
    reason = "each test binary uses the part of the support it needs"
)]

use burn::tensor::{Device, DeviceKind, Int, StreamId, Tensor};
use burn_fusion::inspect::FusionInspector;
use cubecl_scan::ScanOp;
use cubecl_scan::scan::ScanOptions;
use scan_testing::reference;
use scan_testing::unsupported;

pub(crate) mod patient;
pub(crate) mod plain_graphs;

/// The wgpu device, after a first tensor. If no adapter starts, this says so on stderr and returns `None`, or fails
/// with `BURN_SCAN_REQUIRE_CUBE=1`.
pub(crate) fn device() -> Option<Device> {
    let device = Device::wgpu(DeviceKind::DefaultDevice);
    let probe = device.clone();
    let started = std::panic::catch_unwind(move || {
        Tensor::<1>::from_data([1.0], &probe).into_data();
    });
    if started.is_ok() {
        return Some(device);
    }
    let required = std::env::var("BURN_SCAN_REQUIRE_CUBE").is_ok_and(|value| value == "1");
    assert!(
        !required,
        "BURN_SCAN_REQUIRE_CUBE=1, but no wgpu adapter could be started"
    );
    unsupported("no wgpu adapter could be started, this test checks nothing");
    None
}

/// [`device`] with the hook.
pub(crate) fn hooked_device() -> Option<Device> {
    burn_scan::install().expect("no tensor operation precedes the first install of this process");
    device()
}

/// Calls `graph` and returns its result with Burn's plan, one `Name(Op Op ..)` per block in order. An unfused
/// block is named `_`. `Drop`, which only frees a tensor, is omitted.
pub(crate) fn planned<T>(device: &Device, graph: impl FnOnce() -> T) -> (T, String) {
    device.sync().expect("the device syncs");
    let inspector = FusionInspector::install(StreamId::current());
    let result = graph();
    device.sync().expect("the device syncs");
    let blocks = inspector
        .drain()
        .into_iter()
        .flat_map(|report| report.blocks);
    let plan: Vec<String> = blocks
        .filter_map(|block| {
            let operations: Vec<String> = block
                .operations
                .iter()
                .map(|operation| operation_name(&format!("{operation:?}")))
                .filter(|name| name != "Drop")
                .collect();
            let fuser = block.fuser_name().unwrap_or("_");
            (!operations.is_empty()).then(|| format!("{fuser}({})", operations.join(" ")))
        })
        .collect();
    (result, plan.join(" "))
}

/// `NumericFloat(F32, CumSum(DimOpIr { .. }))` → `CumSum`.
fn operation_name(debug: &str) -> String {
    let (family, rest) = debug.split_once('(').unwrap_or((debug, ""));
    let name = match family {
        "Drop" | "Init" | "Custom" => family,
        "NumericFloat" | "NumericInt" | "Float" => {
            rest.split_once(", ").map_or(rest, |(_dtype, name)| name)
        }
        _ => rest,
    };
    name.split('(').next().unwrap_or(name).to_string()
}

/// A deterministic float input with values in [−1, 1), small enough for sums to stay comparable.
pub(crate) fn floats<const D: usize>(device: &Device, shape: [usize; D]) -> Tensor<D> {
    let len = shape.iter().product::<usize>();
    let values: Vec<f32> = (0..len)
        .map(|i| ((i * 37 + 11) % 64) as f32 / 32.0 - 1.0)
        .collect();
    Tensor::<1>::from_data(values.as_slice(), device).reshape(shape)
}

/// Like [`floats`], near one: for products.
pub(crate) fn factors<const D: usize>(device: &Device, shape: [usize; D]) -> Tensor<D> {
    floats(device, shape) * 0.25 + 1.0
}

/// A deterministic integer input with values in [−7, 9].
pub(crate) fn ints<const D: usize>(device: &Device, shape: [usize; D]) -> Tensor<D, Int> {
    let len = shape.iter().product::<usize>();
    let values: Vec<i32> = (0..len).map(|i| (i as i32 * 29 + 5) % 17 - 7).collect();
    Tensor::<1, Int>::from_data(values.as_slice(), device).reshape(shape)
}

/// The elements of a tensor as f64, row-major, with its shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Host {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

impl Host {
    pub(crate) fn of<const D: usize>(tensor: Tensor<D>) -> Self {
        let shape = tensor.dims().to_vec();
        let values = tensor.into_data().iter::<f64>().collect();
        Self { shape, values }
    }

    pub(crate) fn of_int<const D: usize>(tensor: Tensor<D, Int>) -> Self {
        let shape = tensor.dims().to_vec();
        let values = tensor.into_data().iter::<f64>().collect();
        Self { shape, values }
    }

    pub(crate) fn map(mut self, f: impl Fn(f64) -> f64) -> Self {
        self.values.iter_mut().for_each(|value| *value = f(*value));
        self
    }

    pub(crate) fn zip(mut self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        assert_eq!(self.shape, other.shape);
        for (value, &other) in self.values.iter_mut().zip(&other.values) {
            *value = f(*value, other);
        }
        self
    }

    /// The scan along `dim`, by the oracle's loop.
    pub(crate) fn scan(self, dim: usize, op: ScanOp) -> Self {
        let values = reference::scan(&self.values, &self.shape, dim, op, ScanOptions::default());
        Self { values, ..self }
    }

    pub(crate) fn cumsum(self, dim: usize) -> Self {
        self.scan(dim, ScanOp::Sum)
    }

    pub(crate) fn flip(self, dim: usize) -> Self {
        let (len, stride) = (
            self.shape[dim],
            self.shape[dim + 1..].iter().product::<usize>(),
        );
        let mirrored = |i: usize| {
            let position = (i / stride) % len;
            i - position * stride + (len - 1 - position) * stride
        };
        let values = (0..self.values.len())
            .map(|i| self.values[mirrored(i)])
            .collect();
        Self { values, ..self }
    }

    #[track_caller]
    pub(crate) fn assert_close(&self, expected: &Self) {
        assert_eq!(self.shape, expected.shape);
        for (i, (actual, expected)) in self.values.iter().zip(&expected.values).enumerate() {
            let tolerance = 1e-4 * expected.abs().max(1.0);
            assert!(
                (actual - expected).abs() <= tolerance,
                "element {i}: {actual} instead of {expected}"
            );
        }
    }
}
