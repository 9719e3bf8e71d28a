//! `--device RUNTIME[:ADAPTER[:INDEX]]`.

use cubecl::client::Client;
use cubecl::device::{DeviceUnavailable, MetalDevice, WgpuDeviceKind};
use cubecl::wgpu::wgpu::{AdapterInfo, DeviceType};
use cubecl::wgpu::{AutoGraphicsApi, RuntimeOptions, try_init_setup};
use cubecl::{Device, RuntimeId};
use std::fmt::Display;

pub struct Opened {
    pub client: Client,
    /// Runtime, adapter and planes, for the head of every report.
    pub description: String,
    /// Whether kernels run on CPU cores.
    pub software: bool,
}

/// The device of that name, or CubeCL's default one.
pub fn open(name: Option<&str>) -> Result<Opened, String> {
    match name {
        None => start(Device::default()),
        Some(name) => find(name).and_then(start).map_err(|reason| {
            format!("--device {name}: {reason}. This machine has: {}", present())
        }),
    }
}

fn find(name: &str) -> Result<Device, String> {
    let (runtime, adapter) = name.split_once(':').unwrap_or((name, ""));
    let on_wgpu: fn(WgpuDeviceKind) -> Result<Device, DeviceUnavailable> = match runtime {
        "cuda" => return Device::cuda(index_of(adapter)?).map_err(message),
        "rocm" => return Device::rocm(index_of(adapter)?).map_err(message),
        "metal" | "cpu" if !adapter.is_empty() => {
            return Err(format!("{runtime} has no adapters to choose from"));
        }
        "metal" => return Device::metal(MetalDevice::default()).map_err(message),
        "cpu" => return Device::cpu().map_err(message),
        "wgpu" => Device::wgpu,
        "vulkan" => Device::vulkan,
        "metal-msl" => Device::metal_msl,
        "dx12" => Device::dx12,
        "gl" => Device::gl,
        _ => {
            return Err(format!(
                "no runtime `{runtime}`; there are: cuda rocm metal cpu wgpu vulkan metal-msl dx12 gl"
            ));
        }
    };
    on_wgpu(kind_of(adapter)?).map_err(message)
}

fn message(error: impl Display) -> String {
    error.to_string()
}

fn kind_of(adapter: &str) -> Result<WgpuDeviceKind, String> {
    let (kind, index) = adapter.split_once(':').unwrap_or((adapter, ""));
    let index = index_of(index)?;
    Ok(match kind {
        "" => WgpuDeviceKind::DefaultDevice,
        "discrete" => WgpuDeviceKind::DiscreteGpu(index),
        "integrated" => WgpuDeviceKind::IntegratedGpu(index),
        "virtual" => WgpuDeviceKind::VirtualGpu(index),
        "other" => WgpuDeviceKind::Other(index),
        "software" => WgpuDeviceKind::Cpu,
        _ => {
            return Err(format!(
                "no kind of adapter `{kind}`; there are: discrete integrated virtual software other"
            ));
        }
    })
}

fn index_of(text: &str) -> Result<usize, String> {
    match text {
        "" => Ok(0),
        _ => text
            .parse()
            .map_err(|_| format!("`{text}` is not the index of a device")),
    }
}

/// The devices of this machine in the runtimes of this build, as `--device` spells them.
fn present() -> String {
    let names: Vec<String> = Device::enumerate_all().iter().map(spell).collect();
    if names.is_empty() {
        "no device of the runtimes in this build".into()
    } else {
        names.join(" ")
    }
}

fn spell(device: &Device) -> String {
    match device {
        Device::Wgpu(device) => match device.kind {
            WgpuDeviceKind::DiscreteGpu(index) => format!("wgpu:discrete:{index}"),
            WgpuDeviceKind::IntegratedGpu(index) => format!("wgpu:integrated:{index}"),
            WgpuDeviceKind::VirtualGpu(index) => format!("wgpu:virtual:{index}"),
            WgpuDeviceKind::Other(index) => format!("wgpu:other:{index}"),
            WgpuDeviceKind::Cpu => "wgpu:software".into(),
            WgpuDeviceKind::DefaultDevice | WgpuDeviceKind::Existing(_) => "wgpu".into(),
        },
        other => {
            let index = other.to_id().index_id;
            match other.runtime() {
                RuntimeId::Cuda => format!("cuda:{index}"),
                RuntimeId::Hip => format!("rocm:{index}"),
                runtime => format!("{runtime:?}").to_lowercase(),
            }
        }
    }
}

/// Without an adapter, `try_init_setup` returns an error where `client` would panic.
fn start(device: Device) -> Result<Opened, String> {
    let (name, software) = match &device {
        Device::Wgpu(wgpu) => {
            let options = RuntimeOptions::try_default().map_err(message)?;
            let setup = try_init_setup::<AutoGraphicsApi>(wgpu, options);
            let info: AdapterInfo = setup.map_err(message)?.adapter.get_info();
            let name = format!("{} ({:?})", info.name, info.backend);
            (name, info.device_type == DeviceType::Cpu)
        }
        other => (spell(other), matches!(other, Device::Cpu(_))),
    };
    let client = device.client();
    let hardware = &client.properties().hardware;
    let planes = match (hardware.plane_size_min, hardware.plane_size_max) {
        (min, max) if min == max => format!("planes of {min}"),
        (min, max) => format!("planes of {min} to {max}"),
    };
    Ok(Opened {
        description: format!("{} on {name}, {planes}", client.name()),
        software,
        client,
    })
}
