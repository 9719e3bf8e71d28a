//! Short lines: each key is compared with all keys of its line.
//!
//! ```text
//! rank of a key = keys of the line below it + equal keys before it
//! ```
//!
//! A cube takes as many whole lines as a tile holds, and has their codes in shared memory. One barrier, whatever the
//! bits of a key.

use super::SortOutputs;
use super::code::{KeyOrder, code_word};
use super::problem::{Sort, Source};
use super::whole_lines::{WholeLines, WholeLinesLaunch};
use crate::compact::unused;
use crate::scan::cube_count;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The most keys of a line. Here a key reads the codes of its line; sorted in passes, it reads about a dozen words in
/// each pass. On lavapipe (two busy cores, 2026-11-26) 2^20 u32 in lines of 32, 64 and 128 keys take 155, 323 and 336
/// ms, and 775, 552 and 554 ms in passes. Not measured on a GPU.
pub(super) const SHORT_LINE: usize = 64;

/// The comptime facts of short lines.
#[derive_cube_comptime]
struct ShortConfig {
    order: KeyOrder,
    units: usize,
    /// The keys of a unit.
    keys: usize,
    /// Positions are read from a tensor; else a key's position is where it lies in its line.
    reads_positions: bool,
    writes_keys: bool,
    writes_positions: bool,
}

impl ShortConfig {
    fn tile(&self) -> usize {
        self.units * self.keys
    }

    /// Words of shared memory.
    fn code_words(&self) -> usize {
        self.tile() * self.order.words()
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn rank_lines_kernel<K: Numeric, I: Numeric>(
    keys: &[K],
    positions: &[u32],
    keys_out: &mut [K],
    positions_out: &mut [I],
    of: &WholeLines,
    #[comptime] config: ShortConfig,
    #[define(K)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let own_lines = of.own();
    let (first, begin, count) = (own_lines.first, own_lines.begin, own_lines.count);
    let mut codes = Shared::<[u32]>::new_slice(comptime!(config.code_words()));
    let mut own = Array::<K>::new(config.keys);
    #[unroll]
    for k in 0..config.keys {
        let place = k * config.units + UNIT_POS as usize;
        if place < count {
            own[k] = keys[begin + place];
            #[unroll]
            for word in 0..config.order.words() {
                let at = comptime!(word * config.tile()) + place;
                codes[at] = code_word::<K>(own[k], word, config.order);
            }
        }
    }
    sync_cube();
    #[unroll]
    for k in 0..config.keys {
        let place = k * config.units + UNIT_POS as usize;
        if place < count {
            let (line, position) = of.len.div_mod(place);
            let rank = rank_in_line(&codes, place, place - position, of.keys_of_line, config);
            if rank < of.kept {
                let to = (first + line) * of.kept + rank;
                if comptime!(config.writes_keys) {
                    keys_out[to] = own[k];
                }
                if comptime!(config.writes_positions) {
                    if comptime!(config.reads_positions) {
                        positions_out[to] = I::cast_from(positions[begin + place]);
                    } else {
                        positions_out[to] = I::cast_from(position);
                    }
                }
            }
        }
    }
}

/// The rank of the key at `place` among the `len` keys from `begin` on.
#[cube]
fn rank_in_line(
    codes: &Shared<[u32]>,
    place: usize,
    begin: usize,
    len: usize,
    #[comptime] config: ShortConfig,
) -> usize {
    let mut rank = 0usize.runtime();
    let tile = comptime!(config.tile());
    let low = codes[place];
    for other in begin..begin + len {
        let other_low = codes[other];
        let mut is_below = other_low < low || (other_low == low && other < place);
        if comptime!(config.order.words() > 1) {
            let high = codes[tile + place];
            let other_high = codes[tile + other];
            is_below = other_high < high || (other_high == high && is_below);
        }
        rank += usize::cast_from(is_below);
    }
    rank
}

/// Sorts lines of at most [`SHORT_LINE`] keys, and writes the first `kept` of each.
pub(super) fn sort_short(sort: &Sort, source: Source, outputs: SortOutputs, kept: usize) {
    let [lines, len] = source.lines;
    let config = ShortConfig {
        order: sort.order,
        units: sort.digits.units,
        keys: sort.digits.keys.max(SHORT_LINE.div_ceil(sort.digits.units)),
        reads_positions: source.positions.is_some(),
        writes_keys: outputs.keys.is_some(),
        writes_positions: outputs.positions.is_some(),
    };
    let client = sort.client;
    let of_cube = config.tile() / len;
    let positions = source.positions.unwrap_or_else(|| unused(client));
    let (positions_out, index) = outputs
        .positions
        .unwrap_or_else(|| (unused(client), u32::elem_type_native()));
    // SAFETY: cubes beyond the lines have no keys. The ranks of a line are different and below its length, and written
    // if below `kept`. What a kernel is compiled not to access is not accessed.
    unsafe {
        rank_lines_kernel::launch_unchecked(
            client,
            cube_count(client, lines.div_ceil(of_cube)),
            CubeDim::new_1d(config.units as u32),
            sort.address_type,
            source.keys.into_buffer_arg(),
            positions.into_buffer_arg(),
            outputs
                .keys
                .unwrap_or_else(|| unused(client))
                .into_buffer_arg(),
            positions_out.into_buffer_arg(),
            WholeLinesLaunch::new(lines, len, len, of_cube, kept),
            config,
            sort.dtype,
            index,
        );
    }
}
