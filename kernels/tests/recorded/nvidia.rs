//! The GPU that is emulated: what CubeCL would find on an H100, and the CUDA C++ that it would hand to NVIDIA's
//! compiler.

use super::gpu;
pub use super::gpu::MAX_BUFFERS;
use super::planes::Planes;
use super::record::Module;
use cubecl::Compiler;
use cubecl::ir::features::Plane;
use cubecl::ir::{DeviceProperties, HardwareProperties};
use cubecl::prelude::*;
use cubecl_cpp::shared::{CompilationOptions, CppCompiler, CppSupportedFeatures};
use cubecl_cpp::target::Cuda;

/// CubeCL's name for the device. The name of the runtime comes first.
pub const NAME: &str = "cuda record";

pub const OFFSET_ALIGNMENT: u64 = 512;

pub fn properties(planes: Planes) -> DeviceProperties {
    assert_eq!(planes, Planes::OfThirtyTwo, "NVIDIA has no other planes");
    let hardware = HardwareProperties {
        max_shared_memory_size: 232_448,
        max_cube_count: (i32::MAX as u32, 65_535, 65_535),
        max_cube_dim: (1024, 1024, 64),
        num_streaming_multiprocessors: Some(132),
        num_tensor_cores: Some(4),
        ..gpu::hardware(32)
    };
    gpu::properties(
        hardware,
        "NVIDIA H100, played".into(),
        "ptx_sm90".into(),
        OFFSET_ALIGNMENT,
        &[Plane::Ops, Plane::Sync, Plane::NonUniformControlFlow],
    )
}

/// The module as CubeCL's runtime lowers it for compute capability 9.0.
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
