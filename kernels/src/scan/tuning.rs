//! Every tuning constant, with the measurement behind it.

use super::strategy::LaunchOptions;
use cubecl::client::Client;
use cubecl::ir::features::Plane;

/// The constants of one class of device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// Plane scans or shared memory.
    pub plane: bool,
    /// Units of a cube.
    pub units: usize,
    /// Vectors held by a unit.
    pub vectors: usize,
    /// An upper bound of the planes in a cube.
    pub max_planes: usize,
    /// How often a lookback reads a word before it falls back.
    pub polls: u32,
    /// Units that fill the device: below this the scan axis is cut into chunks.
    pub fill: usize,
    /// Rows that a column loads before it combines the first.
    pub ahead: usize,
    /// Units best walk runs of their own: the device is no card, and has no planes.
    pub unit_runs: bool,
}

/// Reads before a fallback. A tile takes a few microseconds and a read well under one, so a live predecessor is
/// always waited for, while one that was never scheduled costs under a millisecond.
const POLLS: u32 = 512;

impl Tuning {
    pub(crate) fn of(client: &Client, options: &LaunchOptions) -> Self {
        let hardware = &client.properties().hardware;
        let advertised = client.features().plane.contains(Plane::Ops)
            && hardware.plane_size_min == hardware.plane_size_max
            && hardware.plane_size_min > 1;
        let plane = options.plane.unwrap_or(advertised);
        let class = match &client.properties().identity.physical {
            _ if plane => Self::planes(),
            Some(_) => Self::shared_memory(),
            None => Self::software(),
        };
        // Kernels with plane operations count in whole planes.
        let whole = match plane {
            true => hardware.plane_size_max.max(1) as usize,
            false => 1,
        };
        let most = (hardware.max_units_per_cube as usize / whole).max(1) * whole;
        let units = options.units.unwrap_or(class.units).max(1);
        let units = units.next_multiple_of(whole).min(most);
        Self {
            plane,
            units,
            vectors: options.vectors.unwrap_or(class.vectors).max(1),
            max_planes: units.div_ceil(hardware.plane_size_min.max(1) as usize),
            polls: options.polls.unwrap_or(class.polls),
            ..class
        }
    }

    /// GPUs. Not measured yet: 4,096 four-byte elements a tile, as published for decoupled fallback.
    fn planes() -> Self {
        Self {
            plane: true,
            units: 256,
            vectors: 4,
            max_planes: 0,
            polls: POLLS,
            fill: 1 << 16,
            ahead: 8,
            unit_runs: false,
        }
    }

    /// Cards that do not offer plane operations, in practice in browsers. Not measured yet: tiles as on software adapters.
    fn shared_memory() -> Self {
        Self {
            plane: false,
            units: 64,
            vectors: 16,
            ..Self::planes()
        }
    }

    /// Devices that are no card: software adapters, and processors.
    fn software() -> Self {
        Self {
            fill: 1 << 9,
            // There is no latency to hide, and each row more is a masked body more: [2^11, 2^11] takes 1.1 times an addition with
            // 1 on lavapipe, 1.3 times with 8.
            ahead: 1,
            unit_runs: true,
            ..Self::shared_memory()
        }
    }
}
