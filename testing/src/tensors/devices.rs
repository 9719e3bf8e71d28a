//! The devices under test: Flex, and one Cube device where the build and the machine have one.
//!
//! `BURN_SCAN_DEVICE` names the Cube device (`wgpu`, `vulkan`, `cuda`, ..). Without it, the first runtime of the build
//! is taken. If that does not start, its tests print `Unsupported: ..` and pass. They fail if a device was named or
//! `BURN_SCAN_REQUIRE_CUBE=1`.

use std::sync::OnceLock;

use burn::tensor::{Device, Int, Tensor};

use super::waiting::caught;
#[cfg(feature = "wgpu")]
use super::waiting::wait;
use super::{host, unsupported};

/// A Cube device that has run an operation.
pub struct Cube {
    /// The device.
    pub device: Device,
    /// Name, graphics API, driver and plane size.
    pub adapter: String,
}

/// Burn's CPU backend.
#[cfg(feature = "flex")]
pub fn flex() -> Device {
    Device::flex()
}

/// The Cube device. It is started once per process.
pub fn cube() -> Option<&'static Cube> {
    static CUBE: OnceLock<Result<Cube, String>> = OnceLock::new();
    let required = std::env::var("BURN_SCAN_REQUIRE_CUBE").is_ok_and(|value| value == "1")
        || std::env::var_os("BURN_SCAN_DEVICE").is_some();
    let cube = CUBE.get_or_init(|| {
        start().inspect_err(|reason| {
            unsupported(&format!(
                "no Cube device, its tests check nothing: {reason}"
            ));
        })
    });
    match cube {
        Ok(cube) => Some(cube),
        Err(reason) => {
            assert!(
                !required,
                "a Cube device is required, and there is none: {reason}"
            );
            None
        }
    }
}

/// Flex, and the Cube device where there is one.
pub fn devices() -> Vec<Device> {
    let cube = cube().map(|cube| cube.device.clone());
    #[cfg(feature = "flex")]
    let cube = std::iter::once(flex()).chain(cube);
    cube.into_iter().collect()
}

/// Whether it is the Cube device.
pub fn is_cube(device: &Device) -> bool {
    cube().is_some_and(|cube| cube.device == *device)
}

/// Whether it is the CPU of this process: neither Cube nor behind a network.
#[cfg(feature = "flex")]
pub fn is_flex(device: &Device) -> bool {
    flex() == *device
}

/// Whether it is the CPU of this process: neither Cube nor behind a network.
#[cfg(not(feature = "flex"))]
pub fn is_flex(_: &Device) -> bool {
    false
}

/// Whether Burn reaches the device over a network.
pub fn is_remote(device: &Device) -> bool {
    #[cfg(feature = "remote")]
    return matches!(
        device.as_dispatch(),
        burn::backend::DispatchDevice::Remote(_)
    );
    #[cfg(not(feature = "remote"))]
    {
        let _ = device;
        false
    }
}

fn start() -> Result<Cube, String> {
    let first = if cfg!(feature = "wgpu") {
        "wgpu"
    } else if cfg!(feature = "cuda") {
        "cuda"
    } else if cfg!(feature = "rocm") {
        "rocm"
    } else {
        "cpu"
    };
    let name = std::env::var("BURN_SCAN_DEVICE").unwrap_or_else(|_| first.to_string());
    let (device, driver) = open(&name)?;
    // A device may open and still not run an operation.
    let mut sum = vec![];
    let mut probe = || {
        let values = Tensor::<1, Int>::from_data([1, 2, 3], &device);
        sum = host::<i32, 1>(values.sum());
    };
    if cfg!(target_family = "wasm") {
        // In a browser, a panic in a call that waits cannot be caught.
        probe();
    } else if let Some(message) = caught(probe) {
        return Err(format!("`{name}` does not start: {message}"));
    }
    assert_eq!(sum, [6], "`{name}` starts, and adds wrongly");
    Ok(Cube {
        adapter: describe(&device, &driver),
        device,
    })
}

/// The device of that name, and a description of its driver.
fn open(name: &str) -> Result<(Device, String), String> {
    match name {
        #[cfg(feature = "wgpu")]
        "wgpu" => open_wgpu(burn::tensor::wgpu::WgpuBackend::Auto),
        #[cfg(feature = "vulkan")]
        "vulkan" => open_wgpu(burn::tensor::wgpu::WgpuBackend::Vulkan),
        #[cfg(feature = "metal")]
        "metal" => open_wgpu(burn::tensor::wgpu::WgpuBackend::Metal),
        #[cfg(feature = "cuda")]
        "cuda" => Ok((Device::cuda(0), "CUDA".to_string())),
        #[cfg(feature = "rocm")]
        "rocm" => Ok((Device::rocm(0), "ROCm".to_string())),
        #[cfg(feature = "cpu")]
        "cpu" => Ok((Device::cpu(), "CubeCL's CPU runtime".to_string())),
        _ => Err(format!(
            "the features of this build have no device `{name}`"
        )),
    }
}

/// Where there is no adapter, this returns an error. If the first operation opened the device, wgpu would panic. In a
/// browser nothing else opens a device, and Burn's own scans are this crate's.
#[cfg(feature = "wgpu")]
fn open_wgpu(api: burn::tensor::wgpu::WgpuBackend) -> Result<(Device, String), String> {
    #[cfg(target_family = "wasm")]
    burn_scan::install().map_err(|error| error.to_string())?;
    let opened = Device::wgpu_options().graphics_api(api);
    let opened = wait(opened.init_with_setup_async());
    let (device, setup) = opened.map_err(|error| error.to_string())?;
    let info = setup.adapter.get_info();
    Ok((
        device,
        format!(
            "{:?}, driver {} {}",
            info.backend, info.driver, info.driver_info
        ),
    ))
}

#[cfg(feature = "cubecl-backend")]
fn describe(device: &Device, driver: &str) -> String {
    let burn::backend::DispatchDevice::Cube(cube) = device.as_dispatch() else {
        unreachable!("a runtime of CubeCL opened it")
    };
    let client = cube.client();
    let (identity, hardware) = (&client.properties().identity, &client.properties().hardware);
    let (min, max) = (hardware.plane_size_min, hardware.plane_size_max);
    format!("{} ({driver}), plane size {min}-{max}", identity.name)
}

#[cfg(not(feature = "cubecl-backend"))]
fn describe(_: &Device, _: &str) -> String {
    unreachable!("a build without CubeCL opens no device of it")
}
