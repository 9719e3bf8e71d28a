//! Lines longer than a tile: a pass over all keys for each digit, from the lowest on.
//!
//! With lookback ("Onesweep": Adinets & Merrill, 2022):
//!
//! ```text
//! launch 1   counts the digits of all passes in one read       → counts [lines, passes, digits, parts]
//! scan       exclusive, along the digits and parts of a line   → where each digit begins in the line, in each pass
//! launch 2   finds the passes that move keys                   → schedule [lines, turns]
//! a launch a turn   each cube ranks its keys by the digit, and looks back how often earlier tiles have it
//! ```
//!
//! Without it, launch 1 only finds the digits that differ, and each turn has three launches:
//!
//! ```text
//! launch 1   counts the digit of the pass in each tile          → counts [lines, digits, tiles]
//! scan       exclusive, along the digits and tiles of a line    → where each tile's keys of a digit begin in the line
//! launch 2   each cube ranks its keys by the digit
//! ```
//!
//! There are as many turns as passes. [`schedule`] says which pass a line makes in a turn. The passes
//! that would move nothing are left out, and the host waits for nothing.
//!
//! A turn moves keys and positions to new buffers, the last one to the outputs. The first pass of a line has positions
//! already: where keys lie. What no one reads again is not written.

use super::SortOutputs;
use super::count::{CountConfig, CountedPartsLaunch, count_passes_kernel, count_turn_kernel};
use super::pass::{KeyPassLaunch, PassConfig, move_keys_kernel};
use super::problem::{Sort, Source};
use super::schedule::schedule;
use super::tile::KeyDigits;
use crate::ScanError;
use crate::compact::unused;
use crate::scan::components::column_lookback::StripConfig;
use crate::scan::components::tile_state::TileWordsLaunch;
use crate::scan::scratch::{self, prefixes_of, temporary_words};
use crate::scan::tuning::{COLUMN_STRIPS, Tuning};
use crate::scan::{RoutineKind, Strategy, cube_count};
use cubecl::prelude::*;

/// The most tiles whose digits a cube counts for all passes. With 16, the counts of a part are 1/64 of its bytes.
const TILES_OF_PART: usize = 16;

/// The most tiles of a line that look back, unless there are many lines. On an H200 (2026-11-27, NVRTC 13.0) i32 in
/// tiles that look back and in tiles that are counted take: 2^20, 128 tiles, 68 and 109 µs; 2^22 160 and 161; 2^24 544
/// and 582, but with positions 901 and 689.
const SORTED_CHAIN: usize = 256;

/// Sorts lines longer than a tile, and writes the first `kept` keys of each.
pub(super) fn sort_long(
    sort: &Sort,
    source: Source,
    outputs: SortOutputs,
    kept: usize,
) -> Result<(), ScanError> {
    assert!(
        source.positions.is_none(),
        "what is left of longer lines fits a cube"
    );
    let has_positions = outputs.positions.is_some();
    let (lines, len) = (source.lines, source.lines[1]);
    let passes = Passes::new(sort, source)?;
    let turns = passes.digits.all_passes();
    let table = passes.look_ahead()?;
    let rooms: Vec<_> = (1..turns.min(3))
        .map(|_| sort.temporaries(lines, has_positions))
        .collect();
    let mut moved = None;
    for turn in 0..turns {
        if !passes.looks_back {
            passes.count_turn(turn, moved.as_ref(), &table)?;
        }
        let launch = |outputs, kept| passes.launch(turn, moved.as_ref(), &table, outputs, kept);
        if turn + 1 == turns {
            launch(outputs, kept);
            break;
        }
        // The previous turn has read what the turn before it wrote, so that buffer is free.
        let room: &Source = &rooms[turn % 2];
        launch(room.clone().into(), len);
        moved = Some(room.clone());
    }
    Ok(())
}

/// Where digits begin in lines, `[lines, passes, digits, parts]`, and after that the schedule, if there are several
/// passes. WebGPU promises so few buffers that both share one. Without lookback there is one pass, that of the turn.
struct Table {
    words: TensorBinding,
    /// How often digits occur, in the same order.
    counts: TensorBinding,
    /// `[rows, entries of a row]` of digits. A row has the digits of a line's pass.
    rows: [usize; 2],
    parts: usize,
}

/// The passes of a sort.
struct Passes<'a, 'c> {
    sort: &'a Sort<'c>,
    source: Source,
    digits: KeyDigits,
    /// The tiles of a line.
    tiles: usize,
    looks_back: bool,
    /// Buffers that stand in for those that a launch does not use. Otherwise each launch would make its own, and a
    /// device takes only a limited number of requests before it makes the caller wait.
    stand_ins: [TensorBinding; 5],
}

impl<'a, 'c> Passes<'a, 'c> {
    fn new(sort: &'a Sort<'c>, source: Source) -> Result<Self, ScanError> {
        let [lines, len] = source.lines;
        let tiles = len.div_ceil(sort.digits.tile());
        let reason = scratch::unsupported_reason(sort.client);
        let looks_back = match (sort.launch.strategy, reason) {
            (Strategy::Forced(RoutineKind::SinglePass), Some(reason)) => {
                return Err(ScanError::LookbackUnsupported { reason });
            }
            (Strategy::Forced(RoutineKind::SinglePass), None) => true,
            (Strategy::Forced(_), _) => false,
            (Strategy::Inferred, reason) => reason.is_none() && serves(sort, [lines, tiles]),
        };
        Ok(Self {
            sort,
            source,
            digits: sort.key_digits(),
            tiles,
            looks_back,
            stand_ins: [(); 5].map(|()| unused(sort.client)),
        })
    }

    /// Reads all keys once, unless there is nothing to find out. Counts the digits of all passes, if tiles look back,
    /// and finds the passes that move keys, if there are several.
    fn look_ahead(&self) -> Result<Table, ScanError> {
        let sort = self.sort;
        let [lines, len] = self.source.lines;
        let passes = self.digits.all_passes();
        let config = CountConfig {
            digits: self.digits,
            counts: self.looks_back,
            differs: passes > 1,
        };
        let tiles = self.tiles_of_part();
        let parts = self.tiles.div_ceil(tiles);
        let flags = if config.differs { lines * passes } else { 0 };
        let table = if self.looks_back {
            self.table(lines * passes, parts, flags)
        } else {
            self.table(lines, self.tiles, flags)
        };
        if !config.counts && !config.differs {
            return Ok(table);
        }
        let differing = temporary_words(sort.client, flags * parts);
        // SAFETY: a count for each line, pass, digit and part, and a flag for each line, pass and part. Cubes beyond
        // the lines read and write nothing. What a kernel is compiled not to access is not accessed.
        unsafe {
            count_passes_kernel::launch_unchecked(
                sort.client,
                cube_count(sort.client, lines * parts),
                CubeDim::new_1d(sort.digits.units as u32),
                sort.address_type,
                sort.lanes(len, &[&self.source.keys]),
                self.source.keys.clone().into_buffer_arg(),
                table.counts.clone().into_buffer_arg(),
                differing.clone().into_buffer_arg(),
                CountedPartsLaunch::new(lines, len, parts, tiles),
                config,
                sort.dtype,
            );
        }
        if config.counts {
            prefixes_of(sort.client, &table.counts, &table.words, table.rows)?;
        }
        if config.differs {
            let to = (table.words.clone().into_buffer_arg(), table.counts.shape[0]);
            schedule(
                sort,
                differing.into_buffer_arg(),
                to,
                [lines, parts],
                passes,
            );
        }
        Ok(table)
    }

    /// Tiles that one cube counts: fewer than the most where it takes more cubes to saturate the device.
    fn tiles_of_part(&self) -> usize {
        let units = Tuning::of(self.sort.client, &self.sort.launch).units_to_saturate;
        let cubes = units.div_ceil(self.sort.digits.units);
        (self.source.lines[0] * self.tiles / cubes).clamp(1, TILES_OF_PART)
    }

    /// A table with this number of rows of digits and of parts a row, and with room for the words of a schedule.
    fn table(&self, rows: usize, parts: usize, scheduled: usize) -> Table {
        let of_row = self.sort.digits.digits() * parts;
        Table {
            words: temporary_words(self.sort.client, rows * of_row + scheduled),
            counts: temporary_words(self.sort.client, rows * of_row),
            rows: [rows, of_row],
            parts,
        }
    }

    /// Finds where each tile's keys of each digit of a turn's pass begin in their line.
    fn count_turn(
        &self,
        turn: usize,
        moved: Option<&Source>,
        table: &Table,
    ) -> Result<(), ScanError> {
        let sort = self.sort;
        let [lines, len] = self.source.lines;
        let (keys, moved) = (&self.source.keys, self.moved(moved));
        // SAFETY: a count for each line, digit and tile. Cubes beyond the lines read and write nothing.
        unsafe {
            count_turn_kernel::launch_unchecked(
                sort.client,
                cube_count(sort.client, lines * self.tiles),
                CubeDim::new_1d(sort.digits.units as u32),
                sort.address_type,
                sort.lanes(len, &[keys, &moved]),
                keys.clone().into_buffer_arg(),
                moved.into_buffer_arg(),
                table.words.clone().into_buffer_arg(),
                table.counts.clone().into_buffer_arg(),
                CountedPartsLaunch::new(lines, len, self.tiles, 1),
                table.counts.shape[0],
                turn,
                self.digits,
                sort.dtype,
            );
        }
        prefixes_of(sort.client, &table.counts, &table.words, table.rows)
    }

    /// The keys that the turn before has moved. In the first turn a line reads the keys of the call.
    fn moved(&self, moved: Option<&Source>) -> TensorBinding {
        moved.map_or_else(|| self.stand_ins[0].clone(), |moved| moved.keys.clone())
    }

    fn launch(
        &self,
        turn: usize,
        moved: Option<&Source>,
        table: &Table,
        outputs: SortOutputs,
        kept: usize,
    ) {
        let sort = self.sort;
        let [lines, len] = self.source.lines;
        let tuning = Tuning::of(sort.client, &sort.launch);
        let config = PassConfig {
            digits: self.digits,
            lookback: self.looks_back.then(|| strip_of(sort, lines)),
            cubes_in_order: tuning.lookback.cubes_in_order,
            writes_keys: outputs.keys.is_some(),
            writes_positions: outputs.positions.is_some(),
        };
        let (state, words) = self.words(&tuning);
        let stand_in = |at: usize| self.stand_ins[at].clone();
        let positions = moved.and_then(|moved| moved.positions.clone());
        let (keys, moved) = (&self.source.keys, self.moved(moved));
        let (positions_out, index) = outputs
            .positions
            .unwrap_or_else(|| (stand_in(1), u32::elem_type_native()));
        // SAFETY: where a digit begins in a tile plus a rank below its count is below the length of the line, and
        // written if below `kept`. What a kernel is compiled not to access is not accessed, and no line reads what was
        // moved before its first pass.
        unsafe {
            move_keys_kernel::launch_unchecked(
                sort.client,
                cube_count(sort.client, lines * self.tiles),
                CubeDim::new_1d(sort.digits.units as u32),
                sort.address_type,
                sort.lanes_of_tile(len, &[keys, &moved]),
                keys.clone().into_buffer_arg(),
                moved.into_buffer_arg(),
                positions.unwrap_or_else(|| stand_in(2)).into_buffer_arg(),
                table.words.clone().into_buffer_arg(),
                outputs
                    .keys
                    .unwrap_or_else(|| stand_in(3))
                    .into_buffer_arg(),
                positions_out.into_buffer_arg(),
                state,
                KeyPassLaunch::new(lines, len, kept, turn, table.counts.shape[0], table.parts),
                words,
                config,
                sort.dtype,
                index,
            );
        }
    }

    /// The words through which tiles tell their counts.
    fn words(&self, tuning: &Tuning) -> (BufferArg, TileWordsLaunch) {
        let (lines, tiles) = (self.source.lines[0], self.tiles);
        if self.looks_back {
            let words = strip_of(self.sort, lines).launch_words([lines, tiles], 1);
            scratch::take(self.sort.client, words, [lines, tiles], tuning.spin_limit)
        } else {
            let state = self.stand_ins[4].clone().into_buffer_arg();
            (state, TileWordsLaunch::new(lines * tiles, tiles, 0, 0))
        }
    }
}

/// Whether tiles that look back serve better: if a tile has no more words than keys, all words can be bound, and lines
/// are not so long that hundreds of their tiles are under way. A caller who stalls tiles, or sets their spin limit, wants
/// tiles that look back.
fn serves(sort: &Sort, [lines, tiles]: [usize; 2]) -> bool {
    let is_set = sort.launch.stall.is_some() || sort.launch.spin_limit.is_some();
    let is_short = tiles <= SORTED_CHAIN || lines >= COLUMN_STRIPS;
    let strip = strip_of(sort, lines);
    let words = strip.launch_words([lines, tiles], 1);
    let has_room = scratch::too_many_words(sort.client, words).is_none();
    is_set || is_short && strip.tile_words(1) <= sort.digits.tile() && has_room
}

/// The strips of lines: a column for each digit, whose state is how many keys have it.
fn strip_of(sort: &Sort, lines: usize) -> StripConfig {
    debug_assert!(sort.digits.tile() <= u16::MAX.into());
    StripConfig::of_counts(sort.digits.digits(), lines, &sort.launch)
}
