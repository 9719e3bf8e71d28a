//! The properties that GPUs share for which CubeCL lowers to C++.

use cubecl::ir::features::Plane;
use cubecl::ir::{
    AddressType, DeviceIdentity, DeviceProperties, HardwareProperties, MemoryDeviceProperties,
    PhysicalDevice, VectorSize,
};
use cubecl_common::profile::TimingMethod;

/// Kernels take pointers. No kernel has more than this.
pub const MAX_BUFFERS: u32 = 64;

/// The hardware of a GPU with planes of `plane_size` units, without what each vendor has of its own.
pub fn hardware(plane_size: u32) -> HardwareProperties {
    HardwareProperties {
        load_width: 128,
        vector_register_count: None,
        plane_size_min: plane_size,
        plane_size_max: plane_size,
        max_bindings: 1024,
        max_shared_memory_size: 0,
        max_cube_count: (0, 0, 0),
        max_units_per_cube: 1024,
        max_cube_dim: (1024, 1024, 1024),
        num_streaming_multiprocessors: None,
        num_cpu_cores: None,
        last_level_cache_size: None,
        num_tensor_cores: None,
        min_tensor_cores_dim: None,
        max_vector_size: VectorSize::MAX,
        cube_mma_reserved_shared_memory: 0,
    }
}

/// The properties of such a GPU with these plane operations.
pub fn properties(
    hardware: HardwareProperties,
    name: String,
    fingerprint: String,
    alignment: u64,
    planes: &[Plane],
) -> DeviceProperties {
    let identity = DeviceIdentity {
        name,
        fingerprint,
        physical: Some(PhysicalDevice::default()),
    };
    let mut properties = DeviceProperties::new(
        Default::default(),
        MemoryDeviceProperties::new(16 << 30, alignment),
        hardware,
        TimingMethod::Device,
        identity,
    );
    cubecl_cpp::register_supported_types(&mut properties);
    properties.register_address_type(AddressType::U32);
    properties.register_address_type(AddressType::U64);
    for &operation in planes {
        properties.features.plane.insert(operation);
    }
    properties.features.memory_reinterpret = true;
    properties.features.alignment = true;
    properties.features.device_memory_scope = true;
    properties
}
