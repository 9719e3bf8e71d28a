//! Lines longer than a tile: a pass over all keys for each digit, from the lowest on.
//!
//! ```text
//! launch 1   each cube counts the digits of its tile           → counts [lines, digits, tiles]
//! scan       exclusive, along the digits and tiles of a line   → where each tile's keys of a digit begin in the line
//! launch 2   each cube ranks its keys by the digit again; offset and rank add up to a key's place
//! ```
//!
//! A pass moves keys and positions to new buffers, the last one to the outputs. The first has positions already: where
//! keys lie. Keys that no one reads again are not written.

use super::SortOutputs;
use super::pass::{KeyPassLaunch, PassConfig, count_keys_kernel, move_keys_kernel};
use super::problem::{Sort, Source};
use super::tile::KeyDigit;
use crate::compact::unused;
use crate::scan::{cube_count, scratch};
use crate::{ScanError, ScanOp};
use cubecl::prelude::*;
use cubecl::server::Handle;

/// The digits of a sort, from the lowest on: each with its word, and its lowest bit there.
fn digits_of(sort: &Sort) -> Vec<(usize, u32)> {
    let of_word = |word| {
        let passes = 0..sort.passes(sort.order.bits_of_word(word)) as u32;
        passes.map(move |pass| (word, pass * sort.digits.bits))
    };
    (0..sort.order.words()).flat_map(of_word).collect()
}

/// Sorts lines longer than a tile, and writes the first `kept` keys of each.
pub(super) fn sort_long(
    sort: &Sort,
    mut source: Source,
    outputs: SortOutputs,
    kept: usize,
) -> Result<(), ScanError> {
    let lines = source.lines;
    let pass = |digit, kept| Pass {
        sort,
        digit,
        lines,
        kept,
    };
    let mut digits = digits_of(sort);
    let last = digits.pop();
    for digit in digits {
        let moved = sort.temporaries(lines, outputs.positions.is_some());
        pass(digit, lines[1]).launch(&source, moved.clone().into())?;
        source = moved;
    }
    match last {
        Some(digit) => pass(digit, kept).launch(&source, outputs),
        None => Ok(()),
    }
}

/// One pass.
struct Pass<'a, 'c> {
    sort: &'a Sort<'c>,
    digit: (usize, u32),
    lines: [usize; 2],
    /// The first keys of a line that are written.
    kept: usize,
}

impl Pass<'_, '_> {
    fn tiles(&self) -> usize {
        self.lines[1].div_ceil(self.sort.digits.tile())
    }

    fn of(&self) -> KeyPassLaunch {
        let [lines, len] = self.lines;
        KeyPassLaunch::new(lines, len, self.tiles(), self.kept, self.digit.1)
    }

    fn cubes(&self) -> (CubeCount, CubeDim) {
        (
            cube_count(self.sort.client, self.lines[0] * self.tiles()),
            CubeDim::new_1d(self.sort.digits.units as u32),
        )
    }

    fn key_digit(&self) -> KeyDigit {
        KeyDigit {
            tile: self.sort.digits,
            order: self.sort.order,
            word: self.digit.0,
        }
    }

    fn config(&self, source: &Source, outputs: &SortOutputs) -> PassConfig {
        PassConfig {
            digit: self.key_digit(),
            reads_positions: source.positions.is_some(),
            writes_keys: outputs.keys.is_some(),
            writes_positions: outputs.positions.is_some(),
        }
    }

    /// Where each tile's keys of each digit begin in their line.
    fn digit_offsets(&self, keys: &TensorBinding) -> Result<Handle, ScanError> {
        let sort = self.sort;
        let of_line = sort.digits.digits() * self.tiles();
        let entries = self.lines[0] * of_line;
        let [counts, offsets] =
            [(); 2].map(|()| scratch::temporary(sort.client, entries * size_of::<u32>()));
        let (cubes, cube_dim) = self.cubes();
        let config = self.key_digit();
        // SAFETY: an entry for each line, digit and tile. Cubes beyond the lines write nothing.
        unsafe {
            count_keys_kernel::launch_unchecked(
                sort.client,
                cubes,
                cube_dim,
                sort.address_type,
                keys.clone().into_buffer_arg(),
                BufferArg::from_raw_parts(counts.clone(), entries),
                self.of(),
                config,
                sort.dtype,
            );
        }
        let shape = [self.lines[0], of_line, 1];
        let count = u32::elem_type_native();
        scratch::prefixes_of(
            sort.client,
            &counts,
            &offsets,
            shape,
            count,
            ScanOp::Sum,
            false,
        )?;
        Ok(offsets)
    }

    fn launch(&self, source: &Source, outputs: SortOutputs) -> Result<(), ScanError> {
        let sort = self.sort;
        let offsets = self.digit_offsets(&source.keys)?;
        let entries = self.lines[0] * sort.digits.digits() * self.tiles();
        let (cubes, cube_dim) = self.cubes();
        let config = self.config(source, &outputs);
        let stand_in = || unused(sort.client);
        let positions = source.positions.clone().unwrap_or_else(stand_in);
        let (positions_out, index) = outputs
            .positions
            .unwrap_or_else(|| (stand_in(), u32::elem_type_native()));
        // SAFETY: a digit's offset plus a rank below its count is below the length of the line. What a kernel is
        // compiled not to access is not accessed.
        unsafe {
            move_keys_kernel::launch_unchecked(
                sort.client,
                cubes,
                cube_dim,
                sort.address_type,
                source.keys.clone().into_buffer_arg(),
                positions.into_buffer_arg(),
                BufferArg::from_raw_parts(offsets, entries),
                outputs.keys.unwrap_or_else(stand_in).into_buffer_arg(),
                positions_out.into_buffer_arg(),
                self.of(),
                config,
                sort.dtype,
                index,
            );
        }
        Ok(())
    }
}
