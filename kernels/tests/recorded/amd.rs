//! The GPUs that are emulated: what CubeCL would find on an MI300X and on a Radeon 7900, and the HIP C++ that it would
//! hand to AMD's compiler.

use super::gpu;
pub use super::gpu::MAX_BUFFERS;
use super::planes::Planes;
use super::record::Module;
use cubecl::Compiler;
use cubecl::ir::features::Plane;
use cubecl::ir::{DeviceProperties, HardwareProperties};
use cubecl::prelude::*;
use cubecl_cpp::shared::{CompilationOptions, CppCompiler, CppSupportedFeatures};
use cubecl_cpp::target::Hip;

/// CubeCL's name for the device. The name of the runtime comes first.
pub const NAME: &str = "hip record";

pub const OFFSET_ALIGNMENT: u64 = 256;

/// Shared memory of a cube.
const SHARED_BYTES: usize = 64 << 10;

/// The architecture, the units of a plane, and the multiprocessors as the driver counts them.
fn facts(planes: Planes) -> (&'static str, u32, u32) {
    match planes {
        Planes::OfSixtyFour => ("gfx942", 64, 304),
        Planes::OfThirtyTwo => ("gfx1100", 32, 48),
        _ => panic!("AMD has no other planes"),
    }
}

pub fn properties(planes: Planes) -> DeviceProperties {
    let (device, plane_size, multiprocessors) = facts(planes);
    let hardware = HardwareProperties {
        max_shared_memory_size: SHARED_BYTES,
        max_cube_count: (i32::MAX as u32, 65_536, 65_536),
        num_streaming_multiprocessors: Some(multiprocessors),
        ..gpu::hardware(plane_size)
    };
    gpu::properties(
        hardware,
        format!("{device}, played"),
        format!("hip-kernel_{device}"),
        OFFSET_ALIGNMENT,
        &[Plane::Ops, Plane::NonUniformControlFlow],
    )
}

/// The module as CubeCL's runtime lowers it to C++.
pub fn module(definition: KernelDefinition, planes: Planes) -> Result<Module, String> {
    let (device, plane_size, _) = facts(planes);
    let options = CompilationOptions {
        warp_size: plane_size as usize,
        supports_features: CppSupportedFeatures {
            fast_math: true,
            ..Default::default()
        },
        ..Default::default()
    };
    let entry = definition.settings.kernel_name.clone();
    let units = definition.settings.cube_dim;
    let kernel = CppCompiler::<Hip>::default()
        .compile(definition, &options)
        .map_err(|e| e.to_string())?;
    if kernel.shared_memory_size > SHARED_BYTES {
        let bytes = kernel.shared_memory_size;
        return Err(format!("{bytes} bytes of shared memory"));
    }
    Ok(Module {
        device,
        entry,
        source: kernel.to_string(),
        units: [units.x, units.y, units.z],
        shared_bytes: kernel.shared_memory_size,
        case: String::new(),
    })
}
