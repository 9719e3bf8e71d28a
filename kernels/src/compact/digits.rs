//! One pass of a least-significant-digit radix sort that moves keys and positions, in two launches.
//!
//! ```text
//! launch 1   each cube counts the digits of its tile            → counts [16, tiles]
//! scan       exclusive, over digits first and tiles second      → where each tile's run of a digit begins
//! launch 2   each cube sorts its tile by the digit and writes each run to its place
//! ```
//!
//! Within a tile every unit has a counter per digit of its own, so nothing is contended and no plane operation is needed: it walks its run of keys
//! once to count, the cube scans the counters digit by digit, and it walks once more, each counter then being the place of the next key
//! with that digit (Zagha & Blelloch, "Radix sort for vector multiprocessors", 1991).
//!
//! ```text
//! counters   digit 0: unit 0, unit 1, …   digit 1: unit 0, unit 1, …   …     exclusive scan = place in the sorted tile
//! ```

use crate::ScanOp;
use crate::monoid::Fold;
use crate::scan::components::{cube_totals::scan_totals, tile::TileConfig};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Units of a cube.
pub(super) const UNITS: usize = 64;

/// Keys of a unit. Odd, so that units walking their own runs of shared memory hit different banks.
const PER_UNIT: usize = 15;

/// Keys of a tile. With its order and 1,024 counters it takes 12 KiB of the 16 KiB of shared memory that WebGPU guarantees.
pub(super) const TILE: usize = UNITS * PER_UNIT;

pub(super) const DIGIT_BITS: u32 = 4;
pub(super) const DIGITS: usize = 1 << DIGIT_BITS;

const COUNTERS: usize = DIGITS * UNITS;

/// How the counters of a tile are dealt to units: a run of [`DIGITS`] each.
fn counters_tile() -> TileConfig {
    TileConfig {
        exclusive: true,
        reverse: false,
        plane: false,
        vectors: 1,
        units: UNITS,
        max_planes: 0,
        plane_size: 0,
        parked: 0,
    }
}

#[cube]
fn digit_of(key: u32, shift: u32) -> usize {
    ((key >> shift) & comptime!(DIGITS as u32 - 1)) as usize
}

/// The keys of the tile in shared memory and, for each digit and unit, how often it occurs among the unit's own.
#[cube]
fn count_tile(
    keys: &[u32],
    staged: &mut Shared<[u32]>,
    counters: &mut Shared<[u32]>,
    first: usize,
    within: usize,
    shift: u32,
) {
    let unit = UNIT_POS as usize;
    #[unroll]
    for step in 0..PER_UNIT {
        let i = step * UNITS + unit;
        if i < within {
            staged[i] = keys[first + i];
        }
    }
    #[unroll]
    for digit in 0..DIGITS {
        counters[digit * UNITS + unit] = 0u32;
    }
    sync_cube();
    #[unroll]
    for step in 0..PER_UNIT {
        let i = unit * PER_UNIT + step;
        if i < within {
            counters[digit_of(staged[i], shift) * UNITS + unit] += 1u32;
        }
    }
    sync_cube();
}

#[cube]
fn tile_len(first: usize, elements: usize) -> usize {
    select(first < elements, min(elements - first, TILE), 0usize)
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn count_digits_kernel(
    keys: &[u32],
    counts: &mut [u32],
    elements: usize,
    tiles: usize,
    shift: u32,
) {
    let mut staged = Shared::<[u32]>::new_slice(TILE);
    let mut counters = Shared::<[u32]>::new_slice(COUNTERS);
    let tile = CUBE_POS;
    let first = tile * TILE;
    let within = tile_len(first, elements);
    count_tile(keys, &mut staged, &mut counters, first, within, shift);
    let digit = UNIT_POS as usize;
    if tile < tiles && digit < DIGITS {
        let mut count = 0u32;
        for unit in 0..UNITS {
            count += counters[digit * UNITS + unit];
        }
        counts[digit * tiles + tile] = count;
    }
}

/// Turns the counters into their exclusive scan.
#[cube]
fn scan_counters(counters: &mut Shared<[u32]>, #[comptime] config: TileConfig) {
    let mut totals = Shared::<[u32]>::new_slice(comptime!(config.totals() + 1));
    let own = UNIT_POS as usize * DIGITS;
    let mut total = 0u32;
    #[unroll]
    for i in 0..DIGITS {
        total += counters[own + i];
    }
    let zero = 0u32.runtime();
    let mut running =
        scan_totals::<u32, Fold>(&total, &zero, &mut totals, config, ScanOp::Sum).exclusive;
    #[unroll]
    for i in 0..DIGITS {
        let count = counters[own + i];
        counters[own + i] = running;
        running += count;
    }
    sync_cube();
}

/// `begins` is the exclusive scan of the counts. In the first pass the positions are those of the keys as they stand; in the last, each
/// position learns its slot.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn move_digits_kernel<I: Numeric>(
    keys: &[u32],
    positions: &[u32],
    begins: &[u32],
    keys_out: &mut [u32],
    positions_out: &mut [u32],
    slots: &mut [I],
    elements: usize,
    tiles: usize,
    shift: u32,
    num_keys: u32,
    #[comptime] first_pass: bool,
    #[comptime] last_pass: bool,
    #[define(I)] _index: ElemType,
) {
    let mut staged = Shared::<[u32]>::new_slice(TILE);
    let mut counters = Shared::<[u32]>::new_slice(COUNTERS);
    let mut order = Shared::<[u32]>::new_slice(TILE);
    let mut starts = Shared::<[u32]>::new_slice(DIGITS);
    let unit = UNIT_POS as usize;
    let tile = CUBE_POS;
    let first = tile * TILE;
    let within = tile_len(first, elements);
    count_tile(keys, &mut staged, &mut counters, first, within, shift);
    scan_counters(&mut counters, comptime!(counters_tile()));
    if unit < DIGITS {
        starts[unit] = counters[unit * UNITS];
    }
    sync_cube();
    #[unroll]
    for step in 0..PER_UNIT {
        let i = unit * PER_UNIT + step;
        if i < within {
            let counter = digit_of(staged[i], shift) * UNITS + unit;
            let place = counters[counter];
            counters[counter] = place + 1u32;
            order[place as usize] = i as u32;
        }
    }
    sync_cube();
    #[unroll]
    for step in 0..PER_UNIT {
        let place = step * UNITS + unit;
        if place < within {
            let i = order[place] as usize;
            let key = staged[i];
            let digit = digit_of(key, shift);
            let to = begins[digit * tiles + tile] + (place as u32 - starts[digit]);
            let mut position = (first + i) as u32;
            if comptime!(!first_pass) {
                position = positions[first + i];
            }
            keys_out[to as usize] = key;
            if comptime!(last_pass) {
                let slot = select(key < num_keys, I::cast_from(to), I::from_int(-1));
                slots[position as usize] = slot;
            } else {
                positions_out[to as usize] = position;
            }
        }
    }
}
