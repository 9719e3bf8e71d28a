//! Which pass each line makes in which turn. A turn is a launch that may move keys.
//!
//! A pass in which all keys of a line have the same digit would leave each key where it is. The device finds these
//! passes, and the others take the last turns:
//!
//! ```text
//! turn            0    1    2         3
//! pass            –    –    0         2          passes 1 and 3 have one digit only
//! reads           –    –    keys      room 0     its first turn reads the keys of the call
//! writes          –    –    room 0    outputs    what a turn writes, the host has decided
//! ```
//!
//! In a line of equal keys the last pass still runs, because the outputs must be written.

use super::problem::Sort;
use crate::scan::{ELEMENTWISE_UNITS, cube_count};
use cubecl::prelude::*;

/// No pass.
const NONE: u32 = 0;

/// The pass that a line makes in a turn.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(super) struct OwnPass {
    /// Whether there is one.
    pub exists: bool,
    pub number: usize,
    /// Whether it is the first of the line.
    pub is_first: bool,
}

/// The pass of a line, the same for every unit of the cube. WGSL asks for a proof of that, and gets one if `is_proved`.
/// The words from `schedule` on are the schedule.
#[cube]
pub(super) fn own_pass(
    table: &[u32],
    schedule: usize,
    line: usize,
    turn: usize,
    #[comptime] turns: usize,
    #[comptime] is_proved: bool,
) -> OwnPass {
    let mut next = 1u32.runtime();
    let mut before = NONE.runtime();
    if comptime!(turns > 1 && !is_proved) {
        let at = schedule + line * turns + turn;
        next = table[at];
        if turn > 0 {
            before = table[at - 1];
        }
    } else if comptime!(turns > 1) {
        let mut told = Shared::<[u32]>::new_slice(2usize);
        if UNIT_POS == 0 {
            let at = schedule + line * turns + turn;
            told[0] = table[at];
            told[1] = NONE;
            if turn > 0 {
                told[1] = table[at - 1];
            }
        }
        next = workgroup_uniform_load(&told[0]);
        before = workgroup_uniform_load(&told[1]);
    }
    OwnPass {
        exists: next != NONE,
        number: select(next == NONE, 0u32, next - 1u32) as usize,
        is_first: before == NONE,
    }
}

/// Writes `table[schedule..][line, turn]`: [`NONE`], or one more than the number of the pass.
/// `differing[line, pass, part]` says whether keys of that part of the line have another digit than the first key of
/// the line.
#[cube(launch_unchecked, address_type = "dynamic")]
fn schedule_kernel(
    differing: &[u32],
    table: &mut [u32],
    schedule: usize,
    lines: usize,
    parts: usize,
    #[comptime] turns: usize,
) {
    let moves = Shared::<[Atomic<u32>]>::new_slice(turns);
    let line = CUBE_POS;
    let own = UNIT_POS as usize;
    if own < turns {
        moves[own].store(0u32);
    }
    sync_cube();
    if line < lines {
        #[unroll]
        for pass in 0..turns {
            let mut part = UNIT_POS as usize;
            let mut any = 0u32.runtime();
            while part < parts {
                any |= differing[(line * turns + pass) * parts + part];
                part += ELEMENTWISE_UNITS;
            }
            if any != 0u32 {
                moves[pass].store(1u32);
            }
        }
    }
    sync_cube();
    if line < lines && own < turns {
        let mut count = 0usize.runtime();
        let mut later = 0usize.runtime();
        #[unroll]
        for pass in 0..turns {
            let is_made = usize::cast_from(moves[pass].load());
            count += is_made;
            later += select(pass > own, is_made, 0usize);
        }
        let is_last = own == comptime!(turns - 1);
        if moves[own].load() != 0u32 || (count == 0 && is_last) {
            table[schedule + line * turns + comptime!(turns - 1) - later] = own as u32 + 1u32;
        }
        if own < turns - max(count, 1usize) {
            table[schedule + line * turns + own] = NONE;
        }
    }
}

/// Writes the schedule of lines into a table, from the given word on. Each line has `parts` parts.
pub(super) fn schedule(
    sort: &Sort,
    differing: BufferArg,
    (table, first): (BufferArg, usize),
    [lines, parts]: [usize; 2],
    turns: usize,
) {
    // SAFETY: there is a word for each line and turn, and one to read for each line, pass and part.
    unsafe {
        schedule_kernel::launch_unchecked(
            sort.client,
            cube_count(sort.client, lines),
            CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
            sort.address_type,
            differing,
            table,
            first,
            lines,
            parts,
            turns,
        );
    }
}
