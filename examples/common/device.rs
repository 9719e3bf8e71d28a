//! `--device NAME`: a device that has run an operation, or the reason why there is none.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;

/// Every device name, best first.
const NAMES: [&str; 8] = [
    "cuda", "rocm", "metal", "vulkan", "webgpu", "wgpu", "flex", "cpu",
];

/// A device that has run an operation.
struct Started {
    device: Device,
    /// Its name, and in parentheses its hardware or software adapter, if it has one.
    description: String,
    /// Whether it is a CPU that emulates a GPU. Flex is faster.
    is_software: bool,
}

/// The device of that name, with a description. Without a name, the best device that this build has and that starts. A
/// software adapter is taken only by its name.
pub fn choose(name: Option<&str>) -> Result<(Device, String), String> {
    if let Some(name) = name {
        return start(name).map(|started| (started.device, started.description));
    }
    let mut failed = Vec::new();
    for name in NAMES.into_iter().filter(|name| in_this_build(name)) {
        match start(name) {
            Ok(started) if started.is_software => {
                let Started { description, .. } = started;
                failed.push(format!(
                    "{description} is a software adapter; `--device {name}` takes it"
                ));
            }
            Ok(started) => {
                if !failed.is_empty() {
                    eprintln!("falling back to {name}: {}", failed.join("; "));
                }
                return Ok((started.device, started.description));
            }
            Err(reason) => failed.push(reason),
        }
    }
    Err(failed.join("; "))
}

fn in_this_build(name: &str) -> bool {
    match name {
        "flex" => cfg!(feature = "flex"),
        "wgpu" => cfg!(feature = "wgpu"),
        "vulkan" => cfg!(feature = "vulkan"),
        "webgpu" => cfg!(feature = "webgpu"),
        "metal" => cfg!(feature = "metal"),
        "cuda" => cfg!(feature = "cuda"),
        "rocm" => cfg!(feature = "rocm"),
        "cpu" => cfg!(feature = "cpu"),
        _ => false,
    }
}

/// Opens the device and scans three numbers on it: opening alone may succeed without a working driver.
fn start(name: &str) -> Result<Started, String> {
    if !in_this_build(name) {
        return Err(if NAMES.contains(&name) {
            format!("this build has no {name}: add --features {name}")
        } else {
            format!("no device `{name}`; there are: {}", NAMES.join(" "))
        });
    }
    let open_and_scan = || {
        let started = open(name)?;
        let sums = Tensor::<1, Int>::from_data([1, 2, 3], &started.device).inclusive_cumsum(0);
        match sums.try_into_vec_as::<i32>() {
            Ok(sums) if sums == [1, 3, 6] => Ok(started),
            found => Err(format!("the sums of 1, 2 and 3 are {found:?}")),
        }
    };
    // Burn reports a missing driver by a panic. The hook would print that message before ours.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let started = catch_unwind(AssertUnwindSafe(open_and_scan));
    std::panic::set_hook(hook);
    started
        .unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            Err(text
                .or(panic.downcast_ref::<&str>().copied())
                .unwrap_or("panic")
                .to_string())
        })
        .map_err(|reason| format!("{name} does not start here: {reason}"))
}

fn open(name: &str) -> Result<Started, String> {
    #[cfg(feature = "wgpu")]
    if name == "wgpu" {
        return open_wgpu();
    }
    let device = open_other(name);
    #[cfg(feature = "cubecl-backend")]
    let identity = device
        .identity()
        .map(|identity| format!(" ({})", identity.name));
    #[cfg(not(feature = "cubecl-backend"))]
    let identity: Option<String> = None;
    Ok(Started {
        device,
        description: format!("{name}{}", identity.unwrap_or_default()),
        is_software: false,
    })
}

fn open_other(name: &str) -> Device {
    match name {
        #[cfg(feature = "flex")]
        "flex" => Device::flex(),
        #[cfg(feature = "vulkan")]
        "vulkan" => Device::vulkan(burn::tensor::DeviceKind::DefaultDevice),
        #[cfg(feature = "webgpu")]
        "webgpu" => Device::webgpu(burn::tensor::DeviceKind::DefaultDevice),
        #[cfg(feature = "metal")]
        "metal" => Device::metal(burn::tensor::DeviceKind::DefaultDevice),
        #[cfg(feature = "cuda")]
        "cuda" => Device::cuda(0),
        #[cfg(feature = "rocm")]
        "rocm" => Device::rocm(0),
        #[cfg(feature = "cpu")]
        "cpu" => Device::cpu(),
        _ => unreachable!("`{name}` is in the build but cannot be opened"),
    }
}

/// Where there is no adapter, this returns an error. If the first operation opened the device, wgpu would panic.
#[cfg(feature = "wgpu")]
fn open_wgpu() -> Result<Started, String> {
    let opened = Device::wgpu_options().init_with_setup();
    let (device, setup) = opened.map_err(|error| error.to_string())?;
    let info = setup.adapter.get_info();
    Ok(Started {
        device,
        description: format!("wgpu ({}, {:?})", info.name, info.backend),
        is_software: format!("{:?}", info.device_type) == "Cpu",
    })
}
