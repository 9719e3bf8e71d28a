//! The words of one launch of tiles: how many, and how they are laid out.

use super::components::tile_state::{LookbackConfig, TileWordsLaunch, state_words};
use super::scratch;
use super::tuning::Tuning;
use cubecl::client::Client;
use cubecl::prelude::*;

/// Words for `[rows, tiles of a row]` with states of `state_size` bytes.
pub(crate) fn words_of(
    client: &Client,
    [rows, per_row]: [usize; 2],
    state_size: usize,
    lookback: LookbackConfig,
    tuning: &Tuning,
) -> (BufferArg, TileWordsLaunch) {
    let tiles = rows * per_row;
    let blocks = rows * per_row.div_ceil(lookback.block);
    let words = state_size.div_ceil(size_of::<u32>());
    let words = state_words(blocks, lookback.block, words);
    let (state, tag) = scratch::take(client, words);
    let layout = TileWordsLaunch::new(tiles, per_row, tag, tuning.spins);
    (state, layout)
}
