//! Every tuning constant, with the measurement behind it.

use super::components::stall::Stall;
use super::components::tile_state::{LookbackConfig, MAX_BLOCK};
use super::strategy::LaunchOptions;
use cubecl::client::Client;
use cubecl::ir::features::Plane;
use std::cell::Cell;
use std::sync::LazyLock;

/// The constants of one class of device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tuning {
    /// Plane scans or shared memory.
    pub plane: bool,
    /// Units of a cube.
    pub units: usize,
    /// Vectors held by a unit.
    pub vectors: usize,
    /// An upper bound of the planes in a cube.
    pub max_planes: usize,
    /// Units of a plane if kernels may rely on it, else 0.
    pub plane_size: usize,
    /// Units of every plane, in whatever order, or 0 if planes differ.
    pub equal_planes: usize,
    /// How often a lookback reads a word before it falls back.
    pub spin_limit: u32,
    /// Tiles of a block, one for each unit that looks back.
    pub block: usize,
    /// One plane looks back in registers; else the cube does in shared memory.
    pub lookback_in_registers: bool,
    /// Cubes start in the order of their positions, as far as is known.
    pub cubes_in_order: bool,
    /// Planes can be made to meet.
    pub planes_meet: bool,
    /// Shared memory in which tiles may be staged, in bytes. 0 without planes, where tiles stay in registers.
    pub shared_bytes: usize,
    /// Units to saturate: with fewer the scan axis is split.
    pub units_to_saturate: usize,
    /// Rows that a column loads before it combines the first.
    pub prefetch_depth: usize,
    /// Per-unit kernels are best: the device is not a hardware GPU and has no plane operations.
    pub per_unit: bool,
}

/// The properties of a device that tuning depends on.
#[derive(Clone, Copy)]
struct Facts {
    plane_ops: bool,
    /// Planes may branch independently.
    plane_branches: bool,
    /// The units of a plane follow one another in the cube.
    planes_in_order: bool,
    planes_meet: bool,
    cubes_in_order: bool,
    /// Units of the smallest plane, and of the largest.
    plane_sizes: [u32; 2],
    is_hardware_gpu: bool,
    most_units: usize,
    shared_bytes: usize,
    multiprocessors: Option<u32>,
}

/// Reads before a fallback. A tile takes a few microseconds, and a read well under one. So a lookback waits for every
/// tile that runs, and a tile that was never scheduled costs it under a millisecond.
const SPIN_LIMIT: u32 = 512;

/// Units to saturate a multiprocessor, if a device says how many it has. With eight loads of 16 bytes each they have 64
/// KiB under way: three times what an H100's multiprocessor needs (bandwidth times latency). Not measured.
const UNITS_TO_SATURATE_A_MULTIPROCESSOR: usize = 512;

/// The most units of a cube whose units walk columns independently. Small cubes spread over more multiprocessors. Not
/// measured.
pub(crate) const COLUMN_UNITS: usize = 128;

/// Units of a tile of columns, and the most of them side by side. With eight rows a unit, a tile has 64 KiB in rows of
/// 512 bytes. Not measured.
pub(crate) const COLUMN_TILE_UNITS: usize = 512;
pub(crate) const COLUMN_TILE_WIDTH: usize = 32;

/// The fewest strips, or the most tiles of a strip, for which columns are scanned in tiles. In fewer and longer strips a
/// tile looks back over many that are under way. On an H200 (2026-11-26, NVRTC 13.0) 32 strips of 32 tiles reach 0.78 of
/// a copy, and one strip of 2,048 tiles with states of two scalars 0.07.
pub(crate) const COLUMN_STRIPS: usize = 16;

/// Vectors of a part of a row that a unit walks. Not a power of two: then neighbouring units would share one set of the
/// cache. On lavapipe, 2^22 elements take 0.95 to 1.04 times an addition with 252 or 300, and 1.09 times with 200 or
/// 508.
pub(crate) const ROW_PART: usize = 260;

/// The fewest steps of a part of columns.
pub(crate) const COLUMN_PART: usize = 32;

/// The most steps of any part. On lavapipe, rows of 4,096 that saturate the device take 1.0 times an addition if they
/// are split, and 0.8 times whole. But no loop may come near the 65,535 rounds after which some drivers end it.
pub(crate) const LONGEST_PART: usize = 1 << 14;

/// On software adapters: units of a cube that walks columns, and the columns that each of them walks abreast. Llvmpipe
/// runs 8 units as one vector of 256 bits. Rows are far apart, and a processor prefetches only neighbours. On lavapipe
/// (an AMD EPYC), [2^11, 2^11] takes 1.1 times an addition; 1.6 times with 16 columns abreast, 1.5 with 64 and 4.1 with
/// 4.
pub(crate) const SOFTWARE_UNITS: usize = 8;
pub(crate) const SOFTWARE_COLUMNS: usize = 32;

/// On software adapters: the vectors of neighbouring rows that a cube loads at once, in the order of memory, for a scan
/// in reverse. An AMD EPYC prefetches upwards: on lavapipe a recurrence of [2^16, 64] in reverse takes 35 ms row by row,
/// 15 ms with blocks of 4 KiB and with half of them, 17 ms with twice as many; forward it takes 8 ms. An Intel Xeon
/// prefetches both ways: 8.1 ms row by row (a block of 1), 8.5 ms with two rows, 11.4 ms with 4 KiB; forward 7.5 ms.
pub(crate) fn software_reverse_block() -> usize {
    static OF_HOST: LazyLock<usize> = LazyLock::new(|| if host_is_intel() { 1 } else { 256 });
    *OF_HOST
}

/// Whether the processor that runs software adapters is one of Intel's.
fn host_is_intel() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let vendor = std::arch::x86_64::__cpuid(0);
        [vendor.ebx, vendor.edx, vendor.ecx]
            == [*b"Genu", *b"ineI", *b"ntel"].map(u32::from_le_bytes)
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Tiles are staged in shared memory if so many of them fit into what a cube may have, as on NVIDIA's GPUs through
/// CUDA. Then two cubes and more share a multiprocessor. Staging leaves the lookback 16 registers more. Without it
/// scans of f16 and i64 take over 64.
pub(crate) const CUBES_WITH_STAGED_TILES: usize = 3;

/// Whether [`Strategy::Inferred`](super::Strategy::Inferred) takes
/// [`RoutineKind::PerUnit`](super::RoutineKind::PerUnit) on this device: a software adapter, which is no hardware GPU
/// and advertises no plane operations. There the units of your own kernels, too, may walk memory far apart.
pub fn scans_per_unit(client: &Client) -> bool {
    !AS_ON_GPUS.get() && Tuning::of(client, &LaunchOptions::default()).per_unit
}

thread_local! {
    static AS_ON_GPUS: Cell<bool> = const { Cell::new(false) };
}

/// For tests. Calls `launches`, in which segments take the kernels of hardware GPUs on a software adapter as well.
pub fn as_on_gpus<R>(launches: impl FnOnce() -> R) -> R {
    AS_ON_GPUS.set(true);
    let result = launches();
    AS_ON_GPUS.set(false);
    result
}

impl Tuning {
    pub(crate) fn of(client: &Client, options: &LaunchOptions) -> Self {
        let hardware = &client.properties().hardware;
        let facts = Facts {
            plane_ops: client.features().plane.contains(Plane::Ops),
            plane_branches: client
                .features()
                .plane
                .contains(Plane::NonUniformControlFlow),
            planes_in_order: ["cuda", "hip"]
                .iter()
                .any(|name| client.name().starts_with(name)),
            cubes_in_order: client.name().starts_with("cuda"),
            planes_meet: client.features().plane.contains(Plane::Sync),
            plane_sizes: [hardware.plane_size_min, hardware.plane_size_max],
            is_hardware_gpu: client.properties().identity.physical.is_some(),
            most_units: hardware.max_units_per_cube as usize,
            shared_bytes: hardware.max_shared_memory_size,
            multiprocessors: hardware.num_streaming_multiprocessors,
        };
        Self::from_facts(facts, options)
    }

    fn from_facts(facts: Facts, options: &LaunchOptions) -> Self {
        let [smallest, largest] = facts.plane_sizes;
        let advertised = facts.plane_ops && smallest > 1;
        let plane = options.plane.unwrap_or(advertised);
        let class = match facts.is_hardware_gpu {
            _ if plane => Self::planes(),
            true => Self::shared_memory(),
            false => Self::software(),
        };
        // Kernels with plane operations need whole planes.
        let whole = match plane {
            true => largest.max(1) as usize,
            false => 1,
        };
        let most = (facts.most_units / whole).max(1) * whole;
        let units = options.units.unwrap_or(class.units).max(1);
        let units = units.next_multiple_of(whole).min(most);
        // A caller who forces plane operations on a device that does not advertise them forces all of them.
        let in_registers = plane && (facts.plane_branches || !facts.plane_ops);
        let block = match in_registers {
            true => smallest.max(1) as usize,
            false => units,
        };
        Self {
            units,
            vectors: options.vectors.unwrap_or(class.vectors).max(1),
            max_planes: units.div_ceil(smallest.max(1) as usize),
            spin_limit: options.spin_limit.unwrap_or(class.spin_limit).max(1),
            block: block.min(MAX_BLOCK),
            plane_size: match plane && facts.planes_in_order && smallest == largest {
                true => largest as usize,
                false => 0,
            },
            equal_planes: match plane && smallest == largest {
                true => largest as usize,
                false => 0,
            },
            lookback_in_registers: in_registers,
            cubes_in_order: facts.cubes_in_order,
            planes_meet: in_registers && facts.planes_meet,
            shared_bytes: if plane { facts.shared_bytes } else { 0 },
            units_to_saturate: facts
                .multiprocessors
                .map_or(class.units_to_saturate, |count| {
                    count as usize * UNITS_TO_SATURATE_A_MULTIPROCESSOR
                }),
            ..class
        }
    }

    /// How the tiles of a launch look back.
    pub(crate) fn lookback(&self, stall: Option<Stall>) -> LookbackConfig {
        LookbackConfig {
            block: self.block,
            in_registers: self.lookback_in_registers,
            plane_size: self.plane_size,
            cubes_in_order: self.cubes_in_order,
            meets: self.planes_meet,
            stall,
        }
    }

    /// GPUs. Tiles of 32 KiB. Simulated, 2^18 f32 on a quarter of an H100 take 0.95 of the cycles of tiles of 16 KiB
    /// (256 units by 4 vectors), and 0.83 of those of 24 KiB (256 by 6). Modelled, an H200 reaches 0.98 of copy, and
    /// 0.87 with 16 KiB. Not measured.
    pub(crate) fn planes() -> Self {
        Self {
            plane: true,
            units: 512,
            vectors: 4,
            max_planes: 0,
            plane_size: 0,
            equal_planes: 0,
            spin_limit: SPIN_LIMIT,
            block: 0,
            lookback_in_registers: false,
            cubes_in_order: false,
            planes_meet: false,
            shared_bytes: 0,
            units_to_saturate: 1 << 16,
            prefetch_depth: 8,
            per_unit: false,
        }
    }

    /// Devices without plane operations: GPUs in browsers, and software adapters. WebGPU promises 256 units a cube, and
    /// 16 KiB of shared memory, of which a tile takes a third. Not measured.
    fn shared_memory() -> Self {
        Self {
            plane: false,
            units: 256,
            ..Self::planes()
        }
    }

    /// Software adapters and processors.
    pub(super) fn software() -> Self {
        Self {
            units_to_saturate: 1 << 9,
            // There is no latency to hide, and each further row is another masked body. On lavapipe, [2^11, 2^11] takes
            // 1.1 times an addition with 1, and 1.3 times with 8.
            prefetch_depth: 1,
            per_unit: true,
            ..Self::shared_memory()
        }
    }
}

#[cfg(test)]
mod tests;
