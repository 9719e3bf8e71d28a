//! The browsers that are played: what CubeCL would find on a WebGPU device.

use cubecl::ir::features::{AtomicUsage, Plane, TypeUsage};
use cubecl::ir::{
    AddressType, DeviceIdentity, DeviceProperties, ElemType, FloatKind, HardwareProperties,
    IntKind, MemoryDeviceProperties, UIntKind,
};
use cubecl::prelude::*;
use cubecl_common::profile::TimingMethod;

/// What WebGPU promises of every device, which is what a kernel may rely on.
pub const STORAGE_BUFFERS: u32 = 8;
pub const WORKGROUP_STORAGE: usize = 16_384;
pub const INVOCATIONS: u32 = 256;
pub const WORKGROUPS: u32 = 65_535;
pub const BINDING_BYTES: u64 = 128 << 20;
pub const OFFSET_ALIGNMENT: u64 = 256;

/// The kinds of browser that are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planes {
    /// No plane operations.
    None = 0,
    /// Plane operations of planes of 4, as Chromium's SwiftShader has them.
    OfFour = 1,
    /// Plane operations of planes of 8 to 128, which CubeCL assumes where a browser does not say.
    Varying = 2,
}

impl Planes {
    /// For the names of groups of cases.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::None => "",
            Self::OfFour => ", planes",
            Self::Varying => ", planes that vary",
        }
    }
}

pub fn properties(planes: Planes) -> DeviceProperties {
    let (plane_size_min, plane_size_max) = match planes {
        Planes::OfFour => (4, 4),
        Planes::None | Planes::Varying => (8, 128),
    };
    let hardware = HardwareProperties {
        load_width: 128,
        vector_register_count: None,
        plane_size_min,
        plane_size_max,
        max_bindings: STORAGE_BUFFERS - 1,
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
