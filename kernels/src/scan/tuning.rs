//! Every tuning constant, with the measurement behind it.

use super::components::stall::Stall;
use super::components::tile_state::{LookbackConfig, MAX_BLOCK};
use super::strategy::LaunchOptions;
use cubecl::client::Client;
use cubecl::ir::features::Plane;

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
    /// Units of a plane where kernels may count on it, else 0.
    pub plane_size: usize,
    /// How often a lookback reads a word before it falls back.
    pub spin_limit: u32,
    /// Tiles of a block, one for each unit that looks back.
    pub block: usize,
    /// One plane looks back in its registers, else the cube in shared memory.
    pub lookback_in_registers: bool,
    /// Planes can be made to meet.
    pub planes_meet: bool,
    /// Shared memory in which tiles may be parked; none without planes, where tiles stay in registers.
    pub shared_bytes: usize,
    /// Units that fill the device: below this the scan axis is cut into chunks.
    pub units_to_saturate: usize,
    /// Rows that a column loads before it combines the first.
    pub prefetch_depth: usize,
    /// Units best walk chunks of their own: the device is not a hardware GPU and has no planes.
    pub per_unit: bool,
}

/// What a device says of itself.
#[derive(Clone, Copy)]
struct Facts {
    plane_ops: bool,
    /// Planes may branch apart from one another.
    plane_branches: bool,
    /// The units of a plane follow one another in the cube.
    planes_in_order: bool,
    planes_meet: bool,
    /// The smallest and the largest.
    plane_sizes: [u32; 2],
    is_hardware_gpu: bool,
    most_units: usize,
    shared_bytes: usize,
    multiprocessors: Option<u32>,
}

/// Reads before a fallback. A tile takes a few microseconds and a read well under one, so a live predecessor is
/// always waited for, while one that was never scheduled costs under a millisecond.
const SPIN_LIMIT: u32 = 512;

/// Units that fill a multiprocessor, where a device says how many it has: with eight loads of 16 bytes each they have 64 KiB under way, three
/// times an H100's bandwidth of a multiprocessor times its latency. Not measured.
const UNITS_TO_SATURATE_A_MULTIPROCESSOR: usize = 512;

/// The most units of a cube whose units walk columns and have nothing to do with one another: small cubes spread over more multiprocessors.
/// Not measured.
pub(crate) const COLUMN_UNITS: usize = 128;

/// Units of a tile of columns, and the most of them side by side: with eight rows a unit, 64 KiB of which every row is 512 bytes. Not measured.
pub(crate) const COLUMN_TILE_UNITS: usize = 512;
pub(crate) const COLUMN_TILE_WIDTH: usize = 32;

/// Rows of a unit of a tile of narrow rows: with 512 units, 32 KiB. Compiled for sm_80 and sm_90, 256 units of eight rows spill, and three cubes of
/// them fill the shared memory of an A100. Not measured.
pub(crate) const NARROW_TILE_ROWS: usize = 4;

/// The most totals of rows of units that a unit folds one by one, and how many are folded first where they are more. Not measured.
pub(crate) const COLUMN_TOTALS: usize = 32;
pub(crate) const COLUMN_TOTALS_GROUP: usize = 16;

/// Vectors of a part of a row that a unit walks alone. Not a power of two, which would make neighbouring units meet in one set of the cache. On
/// lavapipe, 2^22 elements take 0.95 to 1.04 times an addition with 252 or 300, between which this lies, and 1.09 times with 200 or 508.
pub(crate) const ROW_PART: usize = 260;

/// The fewest steps of a part of columns.
pub(crate) const COLUMN_PART: usize = 32;

/// The most steps of any part. CarryIn, rows of 4,096 that are enough for all units take 1.0 times an addition on lavapipe, whole 0.8 times; but
/// no loop may come near the 65,535 rounds after which some drivers end it.
pub(crate) const LONGEST_PART: usize = 1 << 14;

/// On software adapters, the units of a cube that walks columns, which llvmpipe runs as one vector of 256 bits, and the columns that each of them walks
/// abreast. Rows are far apart, and a processor fetches ahead only what lies side by side: [2^11, 2^11] takes 1.1 times an addition on
/// lavapipe (an AMD EPYC), with 16 columns abreast 1.6, with 64 1.5 and with 4 4.1 times.
pub(crate) const SOFTWARE_UNITS: usize = 8;
pub(crate) const SOFTWARE_COLUMNS: usize = 32;

/// On software adapters, the vectors of neighbouring rows that are asked for at once, in the order of memory, where a scan goes the other way; for rows
/// that one cube walks. A processor fetches ahead upwards: on lavapipe (an AMD EPYC) a recurrence of [2^16, 64] in reverse takes 35 ms with row after
/// row, 15 with these 4 KiB and with half of them, 17 with twice as many, and forward 8.
pub(crate) const SOFTWARE_REVERSE_BLOCK: usize = 256;

/// Tiles are parked in shared memory where a cube may have as much as so many need, as on NVIDIA's GPUs through CUDA: two cubes and more then
/// share a multiprocessor. There it leaves the lookback 16 registers more, without which scans of f16 and i64 take over 64.
pub(crate) const CUBES_WITH_PARKED_TILES: usize = 3;

/// Whether [`Strategy::Inferred`](super::Strategy::Inferred) takes [`RoutineKind::PerUnit`](super::RoutineKind::PerUnit) on this device:
/// a software adapter, which is not a hardware GPU and advertises no plane operations. Kernels of one's own may then have units walk memory far
/// apart.
pub fn scans_per_unit(client: &Client) -> bool {
    Tuning::of(client, &LaunchOptions::default()).per_unit
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
        // Kernels with plane operations count in whole planes.
        let whole = match plane {
            true => largest.max(1) as usize,
            false => 1,
        };
        let most = (facts.most_units / whole).max(1) * whole;
        let units = options.units.unwrap_or(class.units).max(1);
        let units = units.next_multiple_of(whole).min(most);
        // Whoever forces plane operations on a device that does not offer them forces all of them.
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
            lookback_in_registers: in_registers,
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
            meets: self.planes_meet,
            stall,
        }
    }

    /// GPUs. Tiles of 32 KiB. Simulated, 2^18 f32 on a quarter of an H100 take 0.95 of the cycles that they take in tiles of 16 KiB, 256 units by
    /// 4 vectors, and 0.83 of those in tiles of 24 KiB, 256 by 6; modelled, an H200 lets 98 % of copy through, and 87 % with 16 KiB. Not measured.
    pub(crate) fn planes() -> Self {
        Self {
            plane: true,
            units: 512,
            vectors: 4,
            max_planes: 0,
            plane_size: 0,
            spin_limit: SPIN_LIMIT,
            block: 0,
            lookback_in_registers: false,
            planes_meet: false,
            shared_bytes: 0,
            units_to_saturate: 1 << 16,
            prefetch_depth: 8,
            per_unit: false,
        }
    }

    /// GPUs that do not offer plane operations, in practice in browsers. Not measured yet: tiles as on software adapters.
    fn shared_memory() -> Self {
        Self {
            plane: false,
            units: 64,
            vectors: 16,
            ..Self::planes()
        }
    }

    /// Software adapters and processors.
    pub(super) fn software() -> Self {
        Self {
            units_to_saturate: 1 << 9,
            // There is no latency to hide, and each row more is a masked body more: [2^11, 2^11] takes 1.1 times an addition with
            // 1 on lavapipe, 1.3 times with 8.
            prefetch_depth: 1,
            per_unit: true,
            ..Self::shared_memory()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: Facts = Facts {
        plane_ops: true,
        plane_branches: true,
        planes_in_order: true,
        planes_meet: true,
        plane_sizes: [32, 32],
        is_hardware_gpu: true,
        most_units: 1024,
        shared_bytes: 232_448,
        multiprocessors: Some(132),
    };
    const ADAPTER: Facts = Facts {
        plane_ops: false,
        plane_branches: false,
        planes_in_order: false,
        planes_meet: false,
        plane_sizes: [4, 8],
        is_hardware_gpu: false,
        most_units: 1024,
        shared_bytes: 32_768,
        multiprocessors: None,
    };

    fn tuned(facts: Facts) -> Tuning {
        Tuning::from_facts(facts, &LaunchOptions::default())
    }

    /// What `docs/performance.md` and the golden files of the tests were made with.
    #[test]
    fn classes() {
        let planes = Tuning {
            plane: true,
            units: 512,
            vectors: 4,
            max_planes: 16,
            plane_size: 32,
            spin_limit: 512,
            block: 32,
            lookback_in_registers: true,
            planes_meet: true,
            shared_bytes: 232_448,
            units_to_saturate: 132 * 512,
            prefetch_depth: 8,
            per_unit: false,
        };
        assert_eq!(tuned(GPU), planes);
        let in_browsers = Facts {
            plane_ops: false,
            ..GPU
        };
        let shared_memory = Tuning {
            plane: false,
            units: 64,
            vectors: 16,
            max_planes: 2,
            plane_size: 0,
            lookback_in_registers: false,
            planes_meet: false,
            shared_bytes: 0,
            ..planes
        };
        assert_eq!(tuned(in_browsers), shared_memory, "a GPU, and no runs");
        let software = Tuning {
            max_planes: 16,
            units_to_saturate: 512,
            prefetch_depth: 1,
            per_unit: true,
            ..shared_memory
        };
        assert_eq!(tuned(ADAPTER), software);
    }

    /// Kernels ask for the size of a plane when they run, where it may vary.
    #[test]
    fn planes_of_several_units_are_used() {
        let of_sizes = |plane_sizes| tuned(Facts { plane_sizes, ..GPU });
        assert!(of_sizes([2, 2]).plane);
        assert!(!of_sizes([1, 1]).plane, "nothing to combine");
        assert!(!of_sizes([1, 32]).plane, "perhaps nothing");
        for (plane_sizes, max_planes, block) in [([8, 32], 64, 8), ([32, 64], 16, 32)] {
            let varying = of_sizes(plane_sizes);
            assert!(varying.plane);
            assert_eq!(varying.plane_size, 0, "not known");
            assert_eq!((varying.max_planes, varying.block), (max_planes, block));
        }
    }

    #[test]
    fn a_lookback_in_registers_needs_planes_that_branch() {
        let tuning = tuned(Facts {
            plane_branches: false,
            ..GPU
        });
        assert!(tuning.plane && !tuning.lookback_in_registers);
        assert_eq!(tuning.block, 32);
        let wide = tuned(Facts {
            plane_sizes: [64, 64],
            ..GPU
        });
        assert!(wide.lookback_in_registers);
        assert_eq!((wide.block, wide.plane_size), (32, 64));
    }

    #[test]
    fn only_planes_in_order_have_a_size_that_kernels_count_on() {
        let tuning = tuned(Facts {
            planes_in_order: false,
            ..GPU
        });
        assert_eq!((tuning.plane_size, tuning.block), (0, 32));
    }

    #[test]
    fn a_caller_decides_on_planes() {
        let with = |facts, plane| {
            let plane = Some(plane);
            let options = LaunchOptions {
                plane,
                ..Default::default()
            };
            Tuning::from_facts(facts, &options)
        };
        assert_eq!(
            with(ADAPTER, true),
            Tuning {
                max_planes: 128,
                plane_size: 0,
                block: 4,
                planes_meet: false,
                shared_bytes: 32_768,
                units_to_saturate: 1 << 16,
                ..tuned(GPU)
            }
        );
        assert_eq!(with(ADAPTER, false), tuned(ADAPTER));
        assert!(!with(GPU, false).plane);
    }

    #[test]
    fn cubes_are_of_whole_planes_that_the_device_holds() {
        let units = |facts, units| {
            let options = LaunchOptions {
                units: Some(units),
                ..Default::default()
            };
            let tuning = Tuning::from_facts(facts, &options);
            (tuning.units, tuning.max_planes)
        };
        assert_eq!(units(GPU, 0), (32, 1));
        assert_eq!(units(GPU, 33), (64, 2));
        assert_eq!(units(GPU, 4096), (1024, 32));
        let odd = Facts {
            most_units: 100,
            ..GPU
        };
        assert_eq!(units(odd, 4096), (96, 3));
        let small = Facts {
            most_units: 20,
            ..GPU
        };
        assert_eq!(units(small, 1), (32, 1), "one plane at least");
        assert_eq!(units(ADAPTER, 0), (1, 1));
        assert_eq!(units(ADAPTER, 33), (33, 9));
    }

    #[test]
    fn what_a_caller_sets_is_kept() {
        let options = LaunchOptions {
            vectors: Some(0),
            spin_limit: Some(3),
            ..Default::default()
        };
        let tuning = Tuning::from_facts(ADAPTER, &options);
        assert_eq!((tuning.vectors, tuning.spin_limit), (1, 3));
    }

    #[test]
    fn every_word_is_read_once_at_least() {
        let options = LaunchOptions {
            spin_limit: Some(0),
            ..Default::default()
        };
        assert_eq!(Tuning::from_facts(ADAPTER, &options).spin_limit, 1);
    }
}
