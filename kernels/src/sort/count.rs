//! How often each digit occurs in a part of a line, and which digits tell the keys of a line apart.

use super::code::code_word;
use super::schedule::own_pass;
use super::tile::{KeyDigits, digit_in_pass, read_vector};
use crate::compact::digits::ranks::{clear, digit_of};
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
}

/// What is found out about all passes.
#[derive_cube_comptime]
pub(super) struct CountConfig {
    pub digits: KeyDigits,
    /// How often each digit occurs.
    pub counts: bool,
    /// Whether keys have another digit than the first of the line.
    pub differs: bool,
}

impl CountConfig {
    /// Words of counts in shared memory; flags follow.
    fn counts(&self) -> usize {
        if self.counts {
            self.digits.all_passes() * self.digits.tile.digits()
        } else {
            0
        }
    }

    fn words(&self) -> usize {
        let flags = if self.differs {
            self.digits.all_passes()
        } else {
            0
        };
        self.counts() + flags
    }
}

/// Writes `counts[line, pass, digit, part]`, and `differing[line, pass, part]`.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn count_passes_kernel<K: Numeric, N: Size>(
    keys: &[Vector<K, N>],
    counts: &mut [u32],
    differing: &mut [u32],
    of: CountedParts,
    #[comptime] config: CountConfig,
    #[define(K)] _dtype: ElemType,
) {
    let lanes = N::value().comptime();
    let tile = comptime!(config.digits.tile);
    let passes = comptime!(config.digits.all_passes());
    let units = comptime!(tile.units);
    let words = Shared::<[Atomic<u32>]>::new_slice(comptime!(config.words()));
    clear(&words, comptime!(config.words()), units);
    sync_cube();
    let line = CUBE_POS / of.parts;
    let part = CUBE_POS - line * of.parts;
    if line < of.lines {
        let part_len = of.tiles * tile.tile();
        let begin = part * part_len;
        // The end of a part may lie beyond the numbers that addresses have.
        let end = begin + min(part_len, of.len - begin);
        let mut at = begin + UNIT_POS as usize * lanes;
        let first = keys[line * of.len / lanes].extract(0usize);
        let mut others = Array::<u32>::new(comptime!(config.digits.order.words()));
        #[unroll]
        for word in 0..config.digits.order.words() {
            others[word] = 0u32;
        }
        while at < end {
            #[unroll]
            for _ in 0..comptime!(tile.keys.div_ceil(lanes)) {
                if at < end {
                    let vector = keys[(line * of.len + at) / lanes];
                    #[unroll]
                    for lane in 0..lanes {
                        let key = vector.extract(lane);
                        if comptime!(config.counts) {
                            #[unroll]
                            for pass in 0..passes {
                                let (word, shift) = comptime!(config.digits.place(pass));
                                let code = code_word::<K>(key, word, config.digits.order);
                                let digit = digit_of(code, shift, tile) as usize;
                                words[comptime!(pass * tile.digits()) + digit].fetch_add(1u32);
                            }
                        }
                        if comptime!(config.differs) {
                            #[unroll]
                            for word in 0..config.digits.order.words() {
                                let code = code_word::<K>(key, word, config.digits.order);
                                others[word] |=
                                    code ^ code_word::<K>(first, word, config.digits.order);
                            }
                        }
                    }
                }
                at += comptime!(units * lanes);
            }
        }
        if comptime!(config.differs) {
            #[unroll]
            for pass in 0..passes {
                let (word, shift) = comptime!(config.digits.place(pass));
                if digit_of(others[word], shift, tile) != 0u32 {
                    words[comptime!(config.counts() + pass)].store(1u32);
                }
            }
        }
    }
    sync_cube();
    if line < of.lines {
        #[unroll]
        for step in 0..comptime!(config.words().div_ceil(units)) {
            let word = step * units + UNIT_POS as usize;
            if word < comptime!(config.counts()) {
                let row = line * comptime!(config.counts()) + word;
                counts[row * of.parts + part] = words[word].load();
            } else if word < comptime!(config.words()) {
                let row = line * passes + word - comptime!(config.counts());
                differing[row * of.parts + part] = words[word].load();
            }
        }
    }
}

/// Writes `counts[line, digit, tile]` of the pass that the line makes in a turn.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn count_turn_kernel<K: Numeric, N: Size>(
    keys: &[Vector<K, N>],
    moved: &[Vector<K, N>],
    table: &[u32],
    counts: &mut [u32],
    of: CountedParts,
    schedule: usize,
    turn: usize,
    #[comptime] digits: KeyDigits,
    #[define(K)] _dtype: ElemType,
) {
    let lanes = N::value().comptime();
    let tile = comptime!(digits.tile);
    let units = comptime!(tile.units);
    let words = Shared::<[Atomic<u32>]>::new_slice(comptime!(tile.digits()));
    clear(&words, comptime!(tile.digits()), units);
    sync_cube();
    let line = min(CUBE_POS / of.parts, of.lines - 1);
    let number = CUBE_POS - line * of.parts;
    let first = min(number * tile.tile(), of.len);
    let vectors = min(of.len - first, tile.tile()) / lanes;
    let pass = own_pass(
        table,
        schedule,
        line,
        turn,
        comptime!(digits.all_passes()),
        comptime!(!tile.planes_meet),
    );
    if pass.exists {
        #[unroll]
        for step in 0..comptime!(tile.keys.div_ceil(lanes)) {
            let vector = step * units + UNIT_POS as usize;
            if vector < vectors {
                let at = (line * of.len + first) / lanes + vector;
                let read = read_vector::<K, N>(keys, moved, pass.is_first, at);
                #[unroll]
                for lane in 0..lanes {
                    let digit = digit_in_pass::<K>(read.extract(lane), pass.number, digits);
                    words[digit as usize].fetch_add(1u32);
                }
            }
        }
    }
    sync_cube();
    if number < of.parts {
        #[unroll]
        for step in 0..comptime!(tile.digits().div_ceil(units)) {
            let digit = step * units + UNIT_POS as usize;
            if digit < comptime!(tile.digits()) {
                let row = line * comptime!(tile.digits()) + digit;
                counts[row * of.parts + number] = words[digit].load();
            }
        }
    }
}
