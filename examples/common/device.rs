//! `--device NAME`: a device that has been seen to run an operation, or a message that says why there is none.

use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(any(feature = "vulkan", feature = "webgpu", feature = "metal"))]
use burn::tensor::DeviceKind;
use burn::tensor::{Device, Int, Tensor};

/// Every name this can be asked for, the best first. A software adapter counts as `wgpu`.
const NAMES: [&str; 8] = [
    "cuda", "rocm", "metal", "vulkan", "webgpu", "wgpu", "flex", "cpu",
];

/// The device of that name, or without a name the best that this build has and that starts; with a description.
pub fn choose(name: Option<&str>) -> Result<(Device, String), String> {
    if let Some(name) = name {
        return start(name).map(|device| (device.clone(), describe(name, &device)));
    }
    let mut failed = Vec::new();
    for name in NAMES.into_iter().filter(|name| in_this_build(name)) {
        match start(name) {
            Ok(device) => {
                if !failed.is_empty() {
                    println!("falling back to {name}: {}", failed.join("; "));
                }
                return Ok((device.clone(), describe(name, &device)));
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

/// Opens the device and lets it add three numbers: opening alone may succeed without a working driver.
fn start(name: &str) -> Result<Device, String> {
    if !in_this_build(name) {
        return Err(match NAMES.contains(&name) {
            true => format!("this build has no {name}: add --features {name}"),
            false => format!("no device `{name}`; there are: {}", NAMES.join(" ")),
        });
    }
    let sum = || {
        let device = open(name)?;
        let sum = Tensor::<1, Int>::from_data([1, 2, 3], &device)
            .sum()
            .into_scalar::<i32>();
        (sum == 6)
            .then_some(device)
            .ok_or_else(|| format!("{name} adds 1, 2 and 3 to {sum}"))
    };
    // Burn reports a missing driver by a panic, whose message would stand before ours.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let started = catch_unwind(AssertUnwindSafe(sum));
    std::panic::set_hook(hook);
    started.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("it panics");
        Err(format!(
            "{name} does not start here ({})",
            text.lines().next().unwrap_or_default()
        ))
    })
}

fn open(name: &str) -> Result<Device, String> {
    Ok(match name {
        #[cfg(feature = "flex")]
        "flex" => Device::flex(),
        // Through its options wgpu returns an error where there is no adapter.
        #[cfg(feature = "wgpu")]
        "wgpu" => Device::wgpu_options()
            .init()
            .map_err(|error| format!("wgpu does not start here ({error})"))?,
        #[cfg(feature = "vulkan")]
        "vulkan" => Device::vulkan(DeviceKind::DefaultDevice),
        #[cfg(feature = "webgpu")]
        "webgpu" => Device::webgpu(DeviceKind::DefaultDevice),
        #[cfg(feature = "metal")]
        "metal" => Device::metal(DeviceKind::DefaultDevice),
        #[cfg(feature = "cuda")]
        "cuda" => Device::cuda(0),
        #[cfg(feature = "rocm")]
        "rocm" => Device::rocm(0),
        #[cfg(feature = "cpu")]
        "cpu" => Device::cpu(),
        _ => unreachable!("`{name}` is in the build but cannot be opened"),
    })
}

/// The name asked for and, of a card or a software adapter, the name it gives itself.
fn describe(name: &str, device: &Device) -> String {
    #[cfg(feature = "cubecl-backend")]
    if let Some(identity) = device.identity() {
        return format!("{name} ({})", identity.name);
    }
    let _ = device;
    name.to_string()
}
