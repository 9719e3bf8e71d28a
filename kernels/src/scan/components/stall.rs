//! A test switch: tiles that publish nothing.
//!
//! To other tiles, such a tile looks like one that was never scheduled, or that the driver has suspended. So their
//! lookback takes the fallback, on any device. A stalled tile still writes its own part of the output.

use cubecl::prelude::*;

/// Which tiles stall. A tile that stalls at once publishes nothing; one that stalls later publishes its aggregate
/// alone.
#[derive_cube_comptime]
#[non_exhaustive]
pub enum Stall {
    /// At once: tile `i` if `i` is a multiple of this number, which is not 0.
    Every(usize),
    /// At once: tile `i` if bit `i % 32` of this number is set.
    Chosen(u32),
    /// By a hash of `seed` and index: one tile in `one_in` at once, and as many after publishing their aggregate.
    Random {
        /// Another seed, another draw.
        seed: u32,
        /// 1 for every tile; not 0.
        one_in: u32,
    },
}

/// What a tile is about to publish.
#[derive_cube_comptime]
pub(crate) enum Publication {
    Aggregate,
    Prefix,
}

/// Whether `tile` has stalled before `what`.
#[cube]
pub(crate) fn is_stalled(
    tile: usize,
    #[comptime] what: Publication,
    #[comptime] stall: Option<Stall>,
) -> bool {
    match stall {
        None => false.runtime(),
        Some(Stall::Every(every)) => tile % every == 0,
        Some(Stall::Chosen(bits)) => {
            let bits = comptime!(bits).runtime();
            (bits >> (tile as u32 % 32u32)) & 1u32 == 1u32
        }
        Some(Stall::Random { seed, one_in }) => {
            let mut stalled = is_drawn(tile as u32, comptime!(seed), comptime!(one_in));
            if comptime!(what == Publication::Prefix) {
                let later = comptime!(seed.wrapping_add(0x9e37_79b9));
                stalled = stalled || is_drawn(tile as u32, later, comptime!(one_in));
            }
            stalled
        }
    }
}

/// One tile in `one_in`, by the finalizer of MurmurHash3.
#[cube]
fn is_drawn(tile: u32, #[comptime] seed: u32, #[comptime] one_in: u32) -> bool {
    let mut mixed = tile ^ seed;
    mixed = (mixed ^ (mixed >> 16u32)) * 0x85eb_ca6bu32;
    mixed = (mixed ^ (mixed >> 13u32)) * 0xc2b2_ae35u32;
    (mixed ^ (mixed >> 16u32)) % one_in == 0
}
