//! Every tuning constant, with the measurement behind it.

use super::components::tile_state::{LookbackConfig, MAX_BLOCK};
use super::strategy::LaunchOptions;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::ir::features::Plane;

/// The constants of one class of device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tuning {
    /// Plane scans or shared memory.
    pub plane: bool,
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
    /// How the tiles of a launch look back.
    pub lookback: LookbackConfig,
    /// Shared memory in which tiles may be staged, in bytes. 0 without planes, where tiles stay in registers.
    pub shared_bytes: usize,
    /// Units to saturate: with fewer the scan axis is split.
    pub units_to_saturate: usize,
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

/// Units of a cube that scans accumulators of 64 bits. Each holds as many more vectors, so tiles keep their size. On an
/// H200 (2026-11-26, NVRTC 13.0) a row of 2^24 i64 takes 79 µs with 256 units by 8 vectors, 89 µs with 256 by 4, 98 µs
/// with 512 by 4, and CUB takes 86 µs.
const UNITS_OF_WIDE: usize = 256;

/// Rows with at least this number of tiles have tiles that are half as large again, if these can be staged. On an H200
/// (2026-11-26, NVRTC 13.0) a row of 2^22 f32 takes 11.7 µs with six vectors per unit instead of 12.4 with four, 2^24
/// takes 39.8 instead of 42.1, and 2^28 takes 528 instead of 580; eight vectors take 11.4, 41.5 and 551. Shorter rows
/// lack the tiles to fill a GPU.
const TILES_OF_LONG_ROW: usize = 512;

/// The bytes of the widest vector of a GPU.
const WIDEST_VECTOR: usize = 16;

/// The most units of a cube whose units walk columns independently. Small cubes spread over more multiprocessors. Not
/// measured.
pub(crate) const COLUMN_UNITS: usize = 128;

/// Units of a tile of columns, and the most of them side by side. With eight rows per unit, a tile has 64 KiB in rows
/// of 512 bytes. Not measured.
pub(crate) const COLUMN_TILE_UNITS: usize = 512;
pub(crate) const COLUMN_TILE_WIDTH: usize = 32;

/// The most tiles of a strip of columns that look back. On an H200 (2026-11-27, NVRTC 13.0) the recurrence of f32
/// [2^18, 64], one strip of 2,048 tiles, takes 95 µs in tiles and 133 in parts. Longer strips were not measured.
pub(crate) const COLUMN_CHAIN: usize = 2048;

/// From this number of strips on, their length does not matter: on an H200 (2026-11-26, NVRTC 13.0) [4096, 4096] has 32
/// strips and takes 43 µs in tiles, 90 in parts; [2^14, 1024] has 8 and takes 47 and 85 µs.
pub(crate) const COLUMN_STRIPS: usize = 16;

/// The fewest steps of a part of columns.
pub(crate) const COLUMN_PART: usize = 32;

/// The most steps of any part: no loop may come near the 65,535 rounds after which some drivers end it. Not measured on
/// a GPU.
pub(crate) const LONGEST_PART: usize = 1 << 14;

/// Rows that a column loads before it combines the first. Not measured.
pub(crate) const PREFETCH_DEPTH: usize = 8;

/// Tiles are staged in shared memory if this number of them fits into what a cube may have, as on NVIDIA's GPUs through
/// CUDA. Then two or more cubes share a multiprocessor. Staging leaves the lookback 16 more registers. Without it scans
/// of f16 and i64 take over 64.
pub(crate) const CUBES_WITH_STAGED_TILES: usize = 3;

impl Tuning {
    pub(crate) fn of(client: &Client, options: &LaunchOptions) -> Self {
        let hardware = &client.properties().hardware;
        let planes = client.features().plane;
        let facts = Facts {
            plane_ops: planes.contains(Plane::Ops),
            plane_branches: planes.contains(Plane::NonUniformControlFlow),
            planes_in_order: ["cuda", "hip"]
                .iter()
                .any(|name| client.name().starts_with(name)),
            cubes_in_order: client.name().starts_with("cuda"),
            planes_meet: planes.contains(Plane::Sync),
            plane_sizes: [hardware.plane_size_min, hardware.plane_size_max],
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
        let class = if plane {
            Self::planes()
        } else {
            Self::shared_memory(facts.shared_bytes)
        };
        // Kernels with plane operations need whole planes.
        let whole = if plane { largest.max(1) as usize } else { 1 };
        let most = (facts.most_units / whole).max(1) * whole;
        let units = options.units.unwrap_or(class.units).max(1);
        let units = units.next_multiple_of(whole).min(most);
        let is_equal = plane && smallest == largest;
        let equal_planes = if is_equal { largest as usize } else { 0 };
        let plane_size = equal_planes * usize::from(facts.planes_in_order);
        // A caller who forces plane operations on a device that does not advertise them forces all of them.
        let in_registers = plane && (facts.plane_branches || !facts.plane_ops);
        let block = if in_registers {
            smallest.max(1) as usize
        } else {
            units
        };
        Self {
            units,
            vectors: options.vectors.unwrap_or(class.vectors).max(1),
            max_planes: units.div_ceil(smallest.max(1) as usize),
            spin_limit: options.spin_limit.unwrap_or(class.spin_limit).max(1),
            plane_size,
            equal_planes,
            lookback: LookbackConfig {
                block: block.min(MAX_BLOCK),
                in_registers,
                plane_size,
                cubes_in_order: facts.cubes_in_order,
                meets: in_registers && facts.planes_meet,
                stall: options.stall,
            },
            shared_bytes: if plane { facts.shared_bytes } else { 0 },
            units_to_saturate: facts
                .multiprocessors
                .map_or(class.units_to_saturate, |count| {
                    count as usize * UNITS_TO_SATURATE_A_MULTIPROCESSOR
                }),
            ..class
        }
    }

    /// For rows of such accumulators.
    pub(crate) fn for_accumulators(self, accumulator: ElemType, options: &LaunchOptions) -> Self {
        let is_free = options.units.is_none() && options.vectors.is_none();
        if !self.plane || !is_free || accumulator.size() <= 4 || self.units <= UNITS_OF_WIDE {
            return self;
        }
        let share = self.units / UNITS_OF_WIDE;
        Self {
            units: UNITS_OF_WIDE,
            vectors: self.vectors * share,
            max_planes: self.max_planes.div_ceil(share),
            ..self
        }
    }

    /// For rows of `len` elements, in vectors of `lanes` elements.
    pub(crate) fn for_long_rows(self, len: usize, lanes: usize, options: &LaunchOptions) -> Self {
        let is_free = options.units.is_none() && options.vectors.is_none();
        let vectors = self.vectors * 3 / 2;
        let staged = self.units * vectors * WIDEST_VECTOR * CUBES_WITH_STAGED_TILES;
        let tiles = len / (self.units * self.vectors * lanes);
        if !is_free || tiles < TILES_OF_LONG_ROW || staged > self.shared_bytes {
            return self;
        }
        Self { vectors, ..self }
    }

    /// Devices with plane operations. Tiles of f32 have 32 KiB. On an H200, compiled by NVRTC 13.0, 2^20 f32 take 6.7
    /// µs; 7.2 with 256 units of 4 vectors, 6.6 with 256 of 8, 7.4 with 512 of 2, 7.5 with 1,024 of 4. 2^26 f32 take
    /// 154 µs with 256 of 4, 155 with 256 of 8, 208 with 512 of 2.
    pub(crate) fn planes() -> Self {
        Self {
            plane: true,
            units: 512,
            vectors: 4,
            spin_limit: SPIN_LIMIT,
            units_to_saturate: 1 << 16,
            ..Self::default()
        }
    }

    /// Devices without plane operations. WebGPU promises 256 units per cube, and 16 KiB of shared memory, of which a
    /// tile of 256 units takes a third. Simulated, a row of 2^18 f32 takes 10,100 cycles with 256 units and 9,800 with
    /// 512. Not measured.
    fn shared_memory(bytes: usize) -> Self {
        Self {
            plane: false,
            units: if bytes < 32 << 10 { 256 } else { 512 },
            ..Self::planes()
        }
    }
}

#[cfg(test)]
mod tests;
