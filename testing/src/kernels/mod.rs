//! Operations of the kernels on a device, with their expected results, and what such tests need: buffers, masks, a
//! watchdog.

mod buffers;
mod selections;
mod sorts;
mod watchdog;

pub use buffers::*;
pub use selections::*;
pub use sorts::*;
pub use watchdog::*;

pub use crate::reference::values;
pub use crate::unsupported;

use std::fmt::Debug;

use crate::reference;
use cubecl::Device;
use cubecl::client::Client;
use cubecl::device::WgpuDeviceKind;
use cubecl::prelude::*;
use cubecl::server::Handle;
use cubecl_scan::cube::CubeScanAlgorithm;
use cubecl_scan::scan::{LaunchOptions, ScanOptions, scan_with};
use cubecl_scan::{ScanError, ScanOp};

/// The client of the device under test: the one that `BURN_SCAN_DEVICE` names, or the first that there is.
pub fn client() -> Client {
    let name = std::env::var("BURN_SCAN_DEVICE").unwrap_or_default();
    let device = match name.as_str() {
        "cuda" => Device::cuda(0),
        "rocm" => Device::rocm(0),
        "cpu" => Device::cpu(),
        "vulkan" => Device::vulkan(WgpuDeviceKind::DefaultDevice),
        "metal" => Device::metal_msl(WgpuDeviceKind::DefaultDevice),
        "wgpu" => Device::wgpu(WgpuDeviceKind::DefaultDevice),
        // Not `Device::default`, which only builds with a runtime have: tests of the CPU backend have none.
        _ => Device::cuda(0)
            .or_else(|_| Device::rocm(0))
            .or_else(|_| Device::wgpu(WgpuDeviceKind::DefaultDevice))
            .or_else(|_| Device::cpu()),
    };
    let device = device.unwrap_or_else(|error| panic!("the device `{name}`: {error}"));
    device.client()
}

/// Whether the device computes with `T`. Says so if it does not.
pub fn holds<T: Numeric>(client: &Client) -> bool {
    let dtype = T::elem_type_native();
    let holds = client.properties().supports_type(dtype);
    if !holds {
        unsupported(&format!("the device does not compute with {dtype:?}"));
    }
    holds
}

/// The launch options that every test starts from. `BURN_SCAN_FORCE_PLANE=1` turns plane operations on:
/// software adapters run them without advertising them.
pub fn launch() -> LaunchOptions {
    let force = std::env::var("BURN_SCAN_FORCE_PLANE").is_ok_and(|value| value == "1");
    LaunchOptions {
        plane: force.then_some(true),
        ..Default::default()
    }
}

/// Whether the device advertises plane operations, or is made to use them.
pub fn has_plane_ops(client: &Client) -> bool {
    launch().plane == Some(true) || CubeScanAlgorithm::PlaneScans.is_supported(client)
}

/// Whether another run has the scans of columns. Says so if it does. Their kernels are the same with plane operations
/// and without, so `cargo xtask test` compiles them with plane operations only.
pub fn rows_only() -> bool {
    let rows_only = std::env::var("BURN_SCAN_ROWS_ONLY").is_ok_and(|value| value == "1");
    if rows_only {
        unsupported("BURN_SCAN_ROWS_ONLY=1 leaves scans of columns to another run");
    }
    rows_only
}

/// A strided view of a buffer.
#[derive(Clone, Debug)]
pub struct View {
    /// Elements along each dimension.
    pub shape: Vec<usize>,
    /// Elements of the buffer from one to the next along each dimension.
    pub strides: Vec<usize>,
}

impl View {
    /// A view of the whole buffer, in row-major order.
    pub fn contiguous(shape: &[usize]) -> Self {
        let mut strides = vec![1; shape.len()];
        for i in (0..shape.len().saturating_sub(1)).rev() {
            strides[i] = strides[i + 1] * shape[i + 1];
        }
        Self {
            shape: shape.to_vec(),
            strides,
        }
    }

    /// How many elements it has.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// The viewed elements in row-major order.
    pub fn gather<T: Copy>(&self, buffer: &[T]) -> Vec<T> {
        (0..self.elements())
            .map(|index| {
                let mut rest = index;
                let mut at = 0;
                for (size, stride) in self.shape.iter().zip(&self.strides).rev() {
                    at += rest % size * stride;
                    rest /= size;
                }
                buffer[at]
            })
            .collect()
    }
}

/// Launches a scan of `view` of `buffer`. Returns its output.
pub fn start_scan<T: CubeElement + Numeric>(
    client: &Client,
    buffer: &[T],
    view: &View,
    axis: usize,
    op: ScanOp,
    options: ScanOptions,
    launch: LaunchOptions,
) -> Result<Handle, ScanError> {
    let input = client.create_from_slice(T::as_bytes(buffer));
    let output = client.empty(view.elements().max(1) * size_of::<T>());
    scan_with(
        client,
        tensor(input, view),
        tensor(output.clone(), &View::contiguous(&view.shape)),
        axis,
        T::elem_type_native(),
        op,
        options,
        launch,
    )?;
    Ok(output)
}

/// Scans on the device.
pub fn device_scan<T: CubeElement + Numeric>(
    client: &Client,
    buffer: &[T],
    view: &View,
    axis: usize,
    op: ScanOp,
    options: ScanOptions,
    launch: LaunchOptions,
) -> Result<Vec<T>, ScanError> {
    let output = start_scan(client, buffer, view, axis, op, options, launch)?;
    Ok(read(client, output, view.elements()))
}

/// Scans on the device and on the host, and compares the results bit for bit.
pub fn check<T>(
    client: &Client,
    buffer: &[T],
    view: &View,
    axis: usize,
    op: ScanOp,
    options: ScanOptions,
    launch: LaunchOptions,
) where
    T: CubeElement + Numeric + reference::Scalar,
{
    let is_of_columns = view.shape[axis + 1..].iter().any(|&size| size > 1);
    if is_of_columns && rows_only() {
        return;
    }
    let found = device_scan(client, buffer, view, axis, op, options, launch).expect("supported");
    let expected = reference::scan(&view.gather(buffer), &view.shape, axis, op, options);
    assert_same(&found, &expected, || {
        format!("{op:?} {options:?} of {view:?} along {axis} with {launch:?}")
    });
}

/// Compares bit for bit.
#[track_caller]
pub fn assert_same<T: CubeElement + Debug>(
    found: &[T],
    expected: &[T],
    context: impl Fn() -> String,
) {
    assert_eq!(found.len(), expected.len(), "{}: the length", context());
    let differs = |&i: &usize| T::as_bytes(&found[i..=i]) != T::as_bytes(&expected[i..=i]);
    let wrong: Vec<_> = (0..found.len()).filter(differs).collect();
    if let Some(&first) = wrong.first() {
        panic!(
            "{}: {} of {} wrong, first {first}: {:?} instead of {:?}",
            context(),
            wrong.len(),
            found.len(),
            found[first],
            expected[first],
        );
    }
}

/// Inclusive and exclusive, forward and reverse.
pub fn all_options() -> [ScanOptions; 4] {
    [(false, false), (true, false), (false, true), (true, true)]
        .map(|(exclusive, reverse)| ScanOptions { exclusive, reverse })
}

/// [`values`] as floats.
pub fn floats(n: usize, op: ScanOp) -> Vec<f32> {
    let values = values(n, op).into_iter();
    values.map(|value| value as f32).collect()
}

/// Values of very different size, so their sum depends on the order of additions. Each `n` has other values.
pub fn uneven(n: usize) -> Vec<f32> {
    (0..n)
        .map(|i| {
            let mixed = ((n + i) as u32).wrapping_mul(2_654_435_761) >> 8;
            (mixed as f32 / 16_777_216.0 - 0.5) * 8f32.powi((mixed % 7) as i32 - 3)
        })
        .collect()
}
