//! The GPU that is played: what CubeCL would find on an H100, and the CUDA C++ it would hand to NVIDIA's compiler.

use super::planes::Planes;
use super::record::Module;
use cubecl::Compiler;
use cubecl::ir::features::Plane;
use cubecl::ir::{
    AddressType, DeviceIdentity, DeviceProperties, HardwareProperties, MemoryDeviceProperties,
    PhysicalDevice, VectorSize,
};
use cubecl::prelude::*;
use cubecl_common::profile::TimingMethod;
use cubecl_cpp::shared::{CompilationOptions, CppCompiler, CppSupportedFeatures};
use cubecl_cpp::target::Cuda;

/// What CubeCL calls the device: the name of the runtime comes first.
pub const NAME: &str = "cuda record";

/// Kernels take pointers, of which there may be more than any has.
pub const MAX_BUFFERS: u32 = 64;

pub const OFFSET_ALIGNMENT: u64 = 512;

pub fn properties(planes: Planes) -> DeviceProperties {
    assert_eq!(planes, Planes::OfThirtyTwo, "NVIDIA has no other planes");
    let hardware = HardwareProperties {
        load_width: 128,
        vector_register_count: None,
        plane_size_min: 32,
        plane_size_max: 32,
        max_bindings: 1024,
        max_shared_memory_size: 232_448,
        max_cube_count: (i32::MAX as u32, 65_535, 65_535),
        max_units_per_cube: 1024,
        max_cube_dim: (1024, 1024, 64),
        num_streaming_multiprocessors: Some(132),
        num_cpu_cores: None,
        last_level_cache_size: None,
        num_tensor_cores: Some(4),
        min_tensor_cores_dim: None,
        max_vector_size: VectorSize::MAX,
        cube_mma_reserved_shared_memory: 0,
    };
    let identity = DeviceIdentity {
        name: "NVIDIA H100, played".into(),
        fingerprint: "ptx_sm90".into(),
        physical: Some(PhysicalDevice::default()),
    };
    let mut properties = DeviceProperties::new(
        Default::default(),
        MemoryDeviceProperties::new(16 << 30, OFFSET_ALIGNMENT),
        hardware,
        TimingMethod::Device,
        identity,
    );
    cubecl_cpp::register_supported_types(&mut properties);
    properties.register_address_type(AddressType::U32);
    properties.register_address_type(AddressType::U64);
    let planes = &mut properties.features.plane;
    planes.insert(Plane::Ops);
    planes.insert(Plane::Sync);
    planes.insert(Plane::NonUniformControlFlow);
    properties.features.memory_reinterpret = true;
    properties.features.alignment = true;
    properties.features.device_memory_scope = true;
    properties
}

/// As the runtime of CubeCL lowers it for compute capability 9.0.
pub fn module(definition: KernelDefinition, _: Planes) -> Result<Module, String> {
    let options = CompilationOptions {
        supports_features: CppSupportedFeatures {
            fast_math: true,
            dp4a: true,
            grid_constants: true,
            clusters: true,
            fast_tanh: true,
            elect_sync: true,
        },
        ..Default::default()
    };
    let entry = definition.settings.kernel_name.clone();
    let units = definition.settings.cube_dim;
    let kernel = CppCompiler::<Cuda>::default()
        .compile(definition, &options)
        .map_err(|e| e.to_string())?;
    Ok(Module {
        device: "cuda",
        entry,
        source: kernel.to_string(),
        units: [units.x, units.y, units.z],
        shared_bytes: kernel.shared_memory_size,
        case: String::new(),
    })
}
