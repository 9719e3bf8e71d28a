//! Lines longer than a tile: a pass over all keys for each digit, from the lowest on.
//!
//! With lookback ("Onesweep": Adinets & Merrill, 2022):
//!
//! ```text
//! launch 1   counts the digits of all passes in one read       → counts [lines, passes, digits, parts]
//! scan       exclusive, along the digits and parts of a line   → where each digit begins in the line, in each pass
//! a launch a pass   each cube ranks its keys by the digit, and looks back how often earlier tiles have it
//! ```
//!
//! Without it, each pass has three launches:
//!
//! ```text
//! launch 1   counts the digit of the pass in each tile          → counts [lines, digits, tiles]
//! scan       exclusive, along the digits and tiles of a line    → where each tile's keys of a digit begin in the line
//! launch 2   each cube ranks its keys by the digit
//! ```
//!
//! A pass moves keys and positions to new buffers, the last one to the outputs. The first has positions already: where
//! keys lie. What no one reads again is not written.

use super::SortOutputs;
use super::count::{CountConfig, CountedPartsLaunch, count_digits_kernel};
use super::pass::{KeyPassLaunch, PassConfig, move_keys_kernel};
use super::problem::{Sort, Source};
use super::tile::KeyDigit;
use crate::compact::unused;
use crate::scan::components::column_lookback::{StripConfig, launch_words, tile_words};
use crate::scan::components::tile_state::TileWordsLaunch;
use crate::scan::tuning::{COLUMN_CHAIN, COLUMN_STRIPS, Tuning};
use crate::scan::{RoutineKind, Strategy, cube_count, scratch};
use crate::{ScanError, ScanOp};
use cubecl::prelude::*;
use cubecl::server::Handle;

/// The most tiles whose digits a cube counts for all passes. With 16, the counts of a part are 1/64 of its bytes. Not
/// measured.
const TILES_OF_PART: usize = 16;

/// A digit of codes.
#[derive(Clone, Copy)]
struct Digit {
    /// Its word, and its lowest bit there.
    word: usize,
    shift: u32,
}

/// Sorts lines longer than a tile, and writes the first `kept` keys of each.
pub(super) fn sort_long(
    sort: &Sort,
    mut source: Source,
    outputs: SortOutputs,
    kept: usize,
) -> Result<(), ScanError> {
    if !sort.can_count() {
        let device = sort.client.name();
        return Err(ScanError::AtomicsUnsupported { device });
    }
    let passes = Passes::new(sort, source.lines)?;
    let swept = match passes.looks_back {
        true => Some(passes.offsets_of_all(&source)?),
        false => None,
    };
    let count = passes.digits.len();
    let has_positions = outputs.positions.is_some();
    let rooms: Vec<_> = (1..count.min(3))
        .map(|_| sort.temporaries(source.lines, has_positions))
        .collect();
    for pass in 0..count {
        let offsets = match &swept {
            Some(offsets) => offsets.clone(),
            None => passes.offsets_of_pass(&source, pass)?,
        };
        if pass + 1 == count {
            passes.launch(pass, offsets, &source, outputs, kept);
            break;
        }
        // What the pass before last has written was read by the last.
        let moved = rooms[pass % 2].clone();
        passes.launch(
            pass,
            offsets,
            &source,
            moved.clone().into(),
            source.lines[1],
        );
        source = moved;
    }
    Ok(())
}

/// Where digits begin in lines, `[lines, passes, digits, parts]`.
#[derive(Clone)]
struct Offsets {
    handle: Handle,
    entries: usize,
    passes: usize,
    parts: usize,
}

/// The passes of a sort.
struct Passes<'a, 'c> {
    sort: &'a Sort<'c>,
    lines: [usize; 2],
    /// The tiles of a line.
    tiles: usize,
    /// From the lowest on.
    digits: Vec<Digit>,
    looks_back: bool,
    /// What is bound for what a pass does not use. Each pass would make its own otherwise, and a device takes only so
    /// many requests before it makes the caller wait.
    stand_ins: [TensorBinding; 4],
}

impl<'a, 'c> Passes<'a, 'c> {
    fn new(sort: &'a Sort<'c>, lines: [usize; 2]) -> Result<Self, ScanError> {
        let bits = sort.digits.bits;
        let of_word = |word| {
            let passes = 0..sort.passes(sort.order.bits_of_word(word)) as u32;
            passes.map(move |pass| Digit {
                word,
                shift: pass * bits,
            })
        };
        let tiles = lines[1].div_ceil(sort.digits.tile());
        let reason = scratch::unsupported_reason(sort.client);
        let looks_back = match (sort.launch.strategy, reason) {
            (Strategy::Forced(RoutineKind::SinglePass), Some(reason)) => {
                return Err(ScanError::LookbackUnsupported { reason });
            }
            (Strategy::Forced(RoutineKind::SinglePass), None) => true,
            (Strategy::Forced(_), _) => false,
            (Strategy::Inferred, reason) => reason.is_none() && serves(sort, [lines[0], tiles]),
        };
        Ok(Self {
            sort,
            lines,
            tiles,
            digits: (0..sort.order.words()).flat_map(of_word).collect(),
            looks_back,
            stand_ins: [(); 4].map(|()| unused(sort.client)),
        })
    }

    /// Where each digit of each pass begins in its line.
    fn offsets_of_all(&self, source: &Source) -> Result<Offsets, ScanError> {
        let first = Digit { word: 0, shift: 0 };
        self.offsets(source, first, self.sort.passes_of_words(), TILES_OF_PART)
    }

    /// Where each tile's keys of each digit of the pass begin in their line.
    fn offsets_of_pass(&self, source: &Source, pass: usize) -> Result<Offsets, ScanError> {
        self.offsets(source, self.digits[pass], [1, 0], 1)
    }

    fn offsets(
        &self,
        source: &Source,
        first: Digit,
        passes: [usize; 2],
        tiles: usize,
    ) -> Result<Offsets, ScanError> {
        let sort = self.sort;
        let [lines, len] = self.lines;
        let parts = self.tiles.div_ceil(tiles);
        let rows = lines * (passes[0] + passes[1]);
        let shape = [rows, sort.digits.digits() * parts, 1];
        let entries = shape.iter().product();
        let [counts, handle] =
            [(); 2].map(|()| scratch::temporary(sort.client, entries * size_of::<u32>()));
        let config = CountConfig {
            tile: sort.digits,
            order: sort.order,
            word: first.word,
            passes,
        };
        // SAFETY: an entry for each line, pass, digit and part. Cubes beyond the lines read and write nothing.
        unsafe {
            count_digits_kernel::launch_unchecked(
                sort.client,
                cube_count(sort.client, lines * parts),
                CubeDim::new_1d(sort.digits.units as u32),
                sort.address_type,
                source.keys.clone().into_buffer_arg(),
                BufferArg::from_raw_parts(counts.clone(), entries),
                CountedPartsLaunch::new(lines, len, parts, tiles, first.shift),
                config,
                sort.dtype,
            );
        }
        let (count, sum) = (u32::elem_type_native(), ScanOp::Sum);
        scratch::prefixes_of(sort.client, &counts, &handle, shape, count, sum, false)?;
        Ok(Offsets {
            handle,
            entries,
            passes: passes[0] + passes[1],
            parts,
        })
    }

    fn launch(
        &self,
        pass: usize,
        offsets: Offsets,
        source: &Source,
        outputs: SortOutputs,
        kept: usize,
    ) {
        let sort = self.sort;
        let [lines, len] = self.lines;
        let digit = self.digits[pass];
        let tuning = Tuning::of(sort.client, &sort.launch);
        let config = PassConfig {
            digit: KeyDigit {
                tile: sort.digits,
                order: sort.order,
                word: digit.word,
            },
            lookback: self.looks_back.then_some(StripConfig {
                columns: sort.digits.digits(),
                stall: sort.launch.stall,
            }),
            cubes_in_order: tuning.cubes_in_order,
            reads_positions: source.positions.is_some(),
            writes_keys: outputs.keys.is_some(),
            writes_positions: outputs.positions.is_some(),
        };
        let (state, words) = self.words(&tuning);
        let stand_in = |at: usize| self.stand_ins[at].clone();
        let positions = source.positions.clone().unwrap_or_else(|| stand_in(0));
        let (positions_out, index) = outputs
            .positions
            .unwrap_or_else(|| (stand_in(1), u32::elem_type_native()));
        // SAFETY: where a digit begins in a tile plus a rank below its count is below the length of the line, and
        // written if below `kept`. What a kernel is compiled not to access is not accessed.
        unsafe {
            move_keys_kernel::launch_unchecked(
                sort.client,
                cube_count(sort.client, lines * self.tiles),
                CubeDim::new_1d(sort.digits.units as u32),
                sort.address_type,
                source.keys.clone().into_buffer_arg(),
                positions.into_buffer_arg(),
                BufferArg::from_raw_parts(offsets.handle, offsets.entries),
                outputs
                    .keys
                    .unwrap_or_else(|| stand_in(2))
                    .into_buffer_arg(),
                positions_out.into_buffer_arg(),
                state,
                KeyPassLaunch::new(
                    lines,
                    len,
                    kept,
                    digit.shift,
                    pass % offsets.passes,
                    offsets.passes,
                    offsets.parts,
                ),
                words,
                config,
                sort.dtype,
                index,
            );
        }
    }

    /// The words through which tiles tell their counts.
    fn words(&self, tuning: &Tuning) -> (BufferArg, TileWordsLaunch) {
        let (lines, tiles) = (self.lines[0], self.tiles);
        let (state, epoch_bits) = match self.looks_back {
            true => {
                let words = launch_words(lines, tiles, self.sort.digits.digits(), 1);
                scratch::take(self.sort.client, words)
            }
            false => (self.stand_ins[3].clone().into_buffer_arg(), 0),
        };
        let layout = TileWordsLaunch::new(lines * tiles, tiles, epoch_bits, tuning.spin_limit);
        (state, layout)
    }
}

/// Whether tiles that look back serve better: if a tile has no more words than keys, and lines are not so long that
/// hundreds of their tiles are under way. The limits are those of columns. A caller who stalls tiles, or sets their spin
/// limit, wants tiles that look back.
fn serves(sort: &Sort, [lines, tiles]: [usize; 2]) -> bool {
    let is_set = sort.launch.stall.is_some() || sort.launch.spin_limit.is_some();
    let is_short = tiles <= COLUMN_CHAIN || lines >= COLUMN_STRIPS;
    is_set || is_short && tile_words(sort.digits.digits(), 1) <= sort.digits.tile()
}
