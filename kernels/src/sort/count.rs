//! How often each digit occurs in a part of a line.

use super::code::{KeyOrder, code_word};
use crate::compact::digits::config::DigitConfig;
use crate::compact::digits::ranks::digit_of;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The parts of lines. A cube takes one, tile by tile.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(super) struct CountedParts {
    /// Lines, and the keys of one.
    lines: usize,
    len: usize,
    /// The parts of a line, and the tiles of one.
    parts: usize,
    tiles: usize,
    /// The lowest bit of the first digit in its word.
    shift: u32,
}

/// The comptime facts of the digits that are counted.
#[derive_cube_comptime]
pub(super) struct CountConfig {
    pub tile: DigitConfig,
    pub order: KeyOrder,
    /// The word of the first digit.
    pub word: usize,
    /// How many neighbouring digits of this word are counted, and how many of the next.
    pub passes: [usize; 2],
}

impl CountConfig {
    fn all_passes(&self) -> usize {
        self.passes[0] + self.passes[1]
    }

    fn counters(&self) -> usize {
        self.all_passes() * self.tile.digits()
    }

    /// The word of a pass, and how far its digit is from the first of that word.
    fn digit(&self, pass: usize) -> (usize, u32) {
        let (word, at) = match pass.checked_sub(self.passes[0]) {
            None => (self.word, pass),
            Some(at) => (self.word + 1, at),
        };
        (word, at as u32 * self.tile.bits)
    }
}

/// Writes `counts[line, pass, digit, part]`.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn count_digits_kernel<K: Numeric>(
    keys: &[K],
    counts: &mut [u32],
    of: CountedParts,
    #[comptime] config: CountConfig,
    #[define(K)] _dtype: ElemType,
) {
    let tile = comptime!(config.tile);
    let counters = Shared::<[Atomic<u32>]>::new_slice(comptime!(config.counters()));
    let line = CUBE_POS / of.parts;
    let part = CUBE_POS - line * of.parts;
    let steps = comptime!(config.counters().div_ceil(tile.units));
    #[unroll]
    for step in 0..steps {
        let counter = step * tile.units + UNIT_POS as usize;
        if counter < comptime!(config.counters()) {
            counters[counter].store(0u32);
        }
    }
    sync_cube();
    if line < of.lines {
        let part_len = of.tiles * tile.tile();
        let end = min((part + 1) * part_len, of.len);
        let mut at = part * part_len + UNIT_POS as usize;
        while at < end {
            #[unroll]
            for _ in 0..tile.keys {
                if at < end {
                    let key = keys[line * of.len + at];
                    #[unroll]
                    for pass in 0..config.all_passes() {
                        let (word, shift) = comptime!(config.digit(pass));
                        let code = code_word::<K>(key, word, config.order);
                        let digit = digit_of(code, of.shift + shift, tile) as usize;
                        counters[comptime!(pass * tile.digits()) + digit].fetch_add(1u32);
                    }
                }
                at += tile.units;
            }
        }
    }
    sync_cube();
    if line < of.lines {
        #[unroll]
        for step in 0..steps {
            let counter = step * tile.units + UNIT_POS as usize;
            if counter < comptime!(config.counters()) {
                let row = line * comptime!(config.counters()) + counter;
                counts[row * of.parts + part] = counters[counter].load();
            }
        }
    }
}
