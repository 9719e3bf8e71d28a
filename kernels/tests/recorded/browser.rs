//! The browsers that are emulated: what CubeCL would find on a WebGPU device, and the WGSL that it would compile.
//!
//! CubeCL is not compiled for wasm here, which changes two things in its WGSL. This file redoes both. In a
//! browser every buffer has memory of its own, so a buffer that a kernel only reads is bound read-only. And
//! where planes are used, `enable subgroups` is written. A browser without planes refuses that line.

use super::planes::Planes;
use super::record::Module;

use cubecl::ir::features::{AtomicUsage, Plane, TypeUsage};
use cubecl::ir::{
    AddressType, DeviceIdentity, DeviceProperties, ElemType, FloatKind, HardwareProperties,
    IntKind, MemoryDeviceProperties, UIntKind,
};
use cubecl::prelude::*;
use cubecl::wgpu::WgslCompiler;
use cubecl::{Compiler, WgpuCompilationOptions};
use cubecl_common::profile::TimingMethod;

/// CubeCL's name for the device.
pub const NAME: &str = "webgpu record";

/// WebGPU promises these limits on every device, so a kernel may rely on them.
pub const MAX_BUFFERS: u32 = 8;
pub const WORKGROUP_STORAGE: usize = 16_384;
pub const INVOCATIONS: u32 = 256;
pub const WORKGROUPS: u32 = 65_535;
pub const BINDING_BYTES: u64 = 128 << 20;
pub const OFFSET_ALIGNMENT: u64 = 256;

pub fn properties(planes: Planes) -> DeviceProperties {
    let (plane_size_min, plane_size_max) = match planes {
        Planes::OfFour => (4, 4),
        _ => (8, 128),
    };
    let hardware = HardwareProperties {
        load_width: 128,
        vector_register_count: None,
        plane_size_min,
        plane_size_max,
        max_bindings: MAX_BUFFERS - 1,
        max_shared_memory_size: WORKGROUP_STORAGE,
        max_cube_count: (WORKGROUPS, WORKGROUPS, WORKGROUPS),
        max_units_per_cube: INVOCATIONS,
        max_cube_dim: (INVOCATIONS, INVOCATIONS, 64),
        num_streaming_multiprocessors: None,
        num_cpu_cores: None,
        last_level_cache_size: None,
        num_tensor_cores: None,
        min_tensor_cores_dim: None,
        max_vector_size: 4,
        cube_mma_reserved_shared_memory: 0,
    };
    let identity = DeviceIdentity {
        name: "browser".into(),
        fingerprint: "browser".into(),
        physical: None,
    };
    let mut properties = DeviceProperties::new(
        Default::default(),
        MemoryDeviceProperties::new(BINDING_BYTES, OFFSET_ALIGNMENT),
        hardware,
        TimingMethod::System,
        identity,
    );
    properties.register_address_type(AddressType::U32);
    let words = [
        ElemType::UInt(UIntKind::U32),
        ElemType::Int(IntKind::I32),
        ElemType::Float(FloatKind::F32),
    ];
    for word in words.into_iter().chain([ElemType::Index, ElemType::Bool]) {
        properties.register_type_usage(word, TypeUsage::all());
    }
    for word in &words[..2] {
        let usage = AtomicUsage::LoadStore | AtomicUsage::Exchange | AtomicUsage::Add;
        properties.register_atomic_type_usage(Type::atomic(*word), usage);
    }
    if planes != Planes::None {
        properties.features.plane.insert(Plane::Ops);
    }
    properties
}

pub fn module(definition: KernelDefinition, planes: Planes) -> Result<Module, String> {
    let entry = definition.settings.kernel_name.clone();
    let shader = WgslCompiler
        .compile(definition, &WgpuCompilationOptions::default())
        .map_err(|e| e.to_string())?;
    if shader.shared_memory_size > WORKGROUP_STORAGE {
        return Err(format!("{} bytes shared", shader.shared_memory_size));
    }
    let mut source = shader.to_string();
    for (binding, io) in shader.io.iter().enumerate() {
        if !io.is_writable() {
            let declared = |access| format!("@binding({binding}) var<storage, {access}>");
            source = source.replace(&declared("read_write"), &declared("read"));
        }
    }
    if source.contains("subgroup") {
        if planes == Planes::None {
            return Err("asks for planes, which this browser does not have".into());
        }
        source.insert_str(0, "enable subgroups;\n");
    }
    Ok(Module {
        device: "webgpu",
        entry,
        source,
        units: [0; 3],
        shared_bytes: shader.shared_memory_size,
        case: String::new(),
    })
}
