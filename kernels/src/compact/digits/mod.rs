//! Grouping by key in tiles: a least-significant-digit radix sort that moves positions only.
//!
//! ```text
//! launch 1   each cube counts the digits of its tile              → counts [digits, tiles]
//! scan       exclusive, over digits first and tiles second        → where each tile's keys of a digit begin
//! launch 2   each cube ranks its keys by the digit again; offset and rank add up to a key's place
//! ```
//!
//! A digit has 8 bits if the device has plane operations, else 4 ([`ranks`]). If one digit distinguishes all keys, the
//! place of a key is its destination. Then one pass writes destinations in the order of keys, and where groups begin,
//! and nothing moves. Otherwise each pass moves keys and positions to their places. It sorts them in shared memory
//! first, so that neighbours are written together. The last pass writes the destination of each position.

pub(crate) mod config;
mod move_tile;
mod move_values;
pub(crate) mod ranks;
mod tile;

use crate::ScanError;
use crate::error::Typed;
use crate::scan::scratch::{prefixes_of, temporary_words};
use crate::scan::{ELEMENTWISE_UNITS, cube_count};
use config::DigitConfig;
use cubecl::client::Client;
use cubecl::ir::{AddressType, ElemType};
use cubecl::prelude::*;
use move_tile::{find_offsets_kernel, move_digits_kernel};
use move_values::move_values_kernel;
use ranks::RankedTile;
use tile::{begins_of_digits, count_keys, rank_keys};

/// One pass over the keys.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(super) struct DigitPass {
    pub elements: usize,
    pub tiles: usize,
    /// The digits that have counts: digits of keys in range, or all.
    pub groups: usize,
    /// The lowest bit of the digit.
    pub shift: u32,
    /// Keys in range are below this.
    pub num_keys: u32,
}

/// Writes `counts[digit, tile]`, and a zero after them: so their scan ends with the number of keys.
#[cube(launch_unchecked, address_type = "dynamic")]
fn count_digits_kernel<K: Numeric>(
    keys: &[K],
    counts: &mut [u32],
    of: DigitPass,
    #[comptime] config: DigitConfig,
    #[define(K)] _dtype: ElemType,
) {
    let counted = Shared::<[Atomic<u32>]>::new_slice(comptime!(config.digits() + 1));
    count_keys::<K>(&counted, keys, of, config);
    #[unroll]
    for step in 0..comptime!(config.digits().div_ceil(config.units)) {
        let digit = step * config.units + UNIT_POS as usize;
        if digit < of.groups && CUBE_POS < of.tiles {
            counts[digit * of.tiles + CUBE_POS] = counted[digit].load();
        }
    }
    if CUBE_POS == 0 && UNIT_POS == 0 {
        counts[of.groups * of.tiles] = 0u32;
    }
}

/// Writes the destinations of keys that one digit distinguishes, −1 for keys out of range, and where groups begin.
#[cube(launch_unchecked, address_type = "dynamic")]
fn place_digits_kernel<K: Numeric, I: Numeric>(
    keys: &[K],
    digit_offsets: &[u32],
    destinations: &mut [I],
    offsets: &mut [I],
    of: DigitPass,
    #[comptime] config: DigitConfig,
    #[define(K)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let mut tile = RankedTile::new(config);
    let begins = begins_of_digits::<I>(digit_offsets, offsets, of, config);
    let _ = rank_keys::<K>(&mut tile, keys, of, config);
    let first = CUBE_POS * config.tile();
    #[unroll]
    for k in 0..config.keys {
        let at = first + ranks::place_of_key(k, config);
        if at < of.elements {
            let rank = tile.ranks[k];
            let mut destination = I::from_int(-1);
            if ranks::has_digit(rank, config) {
                let digit = ranks::digit_of_rank(rank) as usize;
                let place = ranks::place_of_rank(rank) as u32;
                destination = I::cast_from(begins[digit] + place - tile.starts[digit]);
            }
            destinations[at] = destination;
        }
    }
}

/// One call, after all checks.
pub(super) struct Digits<'a> {
    pub client: &'a Client,
    pub keys: Typed,
    pub num_keys: usize,
    pub index: ElemType,
    pub address_type: AddressType,
    pub elements: usize,
    pub config: DigitConfig,
}

impl Digits<'_> {
    /// Writes the destination of each key.
    pub fn launch(
        self,
        offsets: TensorBinding,
        destinations: TensorBinding,
    ) -> Result<(), ScanError> {
        if self.is_one_pass() {
            self.place(offsets, destinations)
        } else {
            self.sort(offsets, destinations)
        }
    }

    /// Whether one digit distinguishes all keys.
    pub fn is_one_pass(&self) -> bool {
        self.config.drops
    }

    fn tiles(&self) -> usize {
        self.elements.div_ceil(self.config.tile()).max(1)
    }

    fn cubes(&self) -> CubeCount {
        cube_count(self.client, self.tiles())
    }

    fn cube_dim(&self) -> CubeDim {
        CubeDim::new_1d(self.config.units as u32)
    }

    fn pass(&self, shift: u32) -> DigitPassLaunch {
        DigitPassLaunch::new(
            self.elements,
            self.tiles(),
            self.groups(),
            shift,
            self.num_keys as u32,
        )
    }

    fn groups(&self) -> usize {
        if self.config.drops {
            self.num_keys
        } else {
            self.config.digits()
        }
    }

    /// Where each tile's keys of each digit begin; after that, how many keys have a digit.
    fn digit_offsets(&self, (keys, dtype): &Typed, shift: u32) -> Result<TensorBinding, ScanError> {
        let len = self.groups() * self.tiles() + 1;
        let [counts, digit_offsets] = [(); 2].map(|()| temporary_words(self.client, len));
        // SAFETY: one count per digit and tile, and one more; units beyond the keys and cubes beyond the tiles do
        // nothing.
        unsafe {
            count_digits_kernel::launch_unchecked(
                self.client,
                self.cubes(),
                self.cube_dim(),
                self.address_type,
                keys.clone().into_buffer_arg(),
                counts.clone().into_buffer_arg(),
                self.pass(shift),
                self.config,
                *dtype,
            );
        }
        prefixes_of(self.client, &counts, &digit_offsets, [1, len])?;
        Ok(digit_offsets)
    }

    /// One digit distinguishes all keys: one pass writes their destinations.
    fn place(self, offsets: TensorBinding, destinations: TensorBinding) -> Result<(), ScanError> {
        let digit_offsets = self.digit_offsets(&self.keys, 0)?;
        let (keys, dtype) = self.keys.clone();
        // SAFETY: as in `digit_offsets`; there is a destination for each key, and `offsets` has one more than there are
        // groups.
        unsafe {
            place_digits_kernel::launch_unchecked(
                self.client,
                self.cubes(),
                self.cube_dim(),
                self.address_type,
                keys.into_buffer_arg(),
                digit_offsets.into_buffer_arg(),
                destinations.into_buffer_arg(),
                offsets.into_buffer_arg(),
                self.pass(0),
                self.config,
                dtype,
                self.index,
            );
        }
        Ok(())
    }

    /// One digit distinguishes all keys: one pass moves their values, which have 32 bits.
    pub fn move_values(
        self,
        offsets: TensorBinding,
        values: TensorBinding,
        grouped: TensorBinding,
    ) -> Result<(), ScanError> {
        assert!(self.is_one_pass(), "keys have several digits");
        let digit_offsets = self.digit_offsets(&self.keys, 0)?;
        let (keys, dtype) = self.keys.clone();
        // SAFETY: as in `place`; there is a value for each key, and room for it.
        unsafe {
            move_values_kernel::launch_unchecked(
                self.client,
                self.cubes(),
                self.cube_dim(),
                self.address_type,
                keys.into_buffer_arg(),
                values.into_buffer_arg(),
                digit_offsets.into_buffer_arg(),
                grouped.into_buffer_arg(),
                offsets.into_buffer_arg(),
                self.pass(0),
                self.config,
                dtype,
                self.index,
            );
        }
        Ok(())
    }

    /// A pass for each digit. Keys out of range count as `num_keys`.
    fn sort(self, offsets: TensorBinding, destinations: TensorBinding) -> Result<(), ScanError> {
        let n = self.elements;
        let bits = usize::BITS - self.num_keys.leading_zeros();
        let passes = bits.div_ceil(self.config.bits);
        let mut keys = self.keys.clone();
        // The first pass does not read `positions`, and the last does not write them: one word stands in.
        let mut positions = temporary_words(self.client, 1);
        for pass in 0..passes {
            let shift = pass * self.config.bits;
            let last = pass + 1 == passes;
            let digit_offsets = self.digit_offsets(&keys, shift)?;
            let (keys_in, dtype) = keys;
            let keys_out = temporary_words(self.client, n);
            let positions_out = temporary_words(self.client, if last { 1 } else { n });
            // SAFETY: a digit's offset plus a rank below its count is below `n`; positions are a permutation of `0..n`.
            unsafe {
                move_digits_kernel::launch_unchecked(
                    self.client,
                    self.cubes(),
                    self.cube_dim(),
                    self.address_type,
                    keys_in.into_buffer_arg(),
                    positions.into_buffer_arg(),
                    digit_offsets.into_buffer_arg(),
                    keys_out.clone().into_buffer_arg(),
                    positions_out.clone().into_buffer_arg(),
                    destinations.clone().into_buffer_arg(),
                    self.pass(shift),
                    pass == 0,
                    last,
                    self.config,
                    dtype,
                    self.index,
                );
            }
            (keys, positions) = ((keys_out, u32::elem_type_native()), positions_out);
        }
        let offset_cubes = (self.num_keys + 1).div_ceil(ELEMENTWISE_UNITS);
        // SAFETY: bisection stays in the `n` sorted keys; `offsets` has one more than there are keys.
        unsafe {
            find_offsets_kernel::launch_unchecked(
                self.client,
                cube_count(self.client, offset_cubes),
                CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
                self.address_type,
                keys.0.into_buffer_arg(),
                offsets.into_buffer_arg(),
                n,
                self.num_keys,
                self.index,
            );
        }
        Ok(())
    }
}
