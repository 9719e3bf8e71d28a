//! The words of one launch of tiles: their number and layout.

use super::components::tile_state::{LookbackConfig, TileWordsLaunch, launch_words};
use super::scratch;
use super::tuning::Tuning;
use cubecl::client::Client;
use cubecl::prelude::*;

/// Words for `[rows, tiles of a row]` and states of `state_words` words.
pub(crate) fn words_of(
    client: &Client,
    [rows, per_row]: [usize; 2],
    state_words: usize,
    lookback: LookbackConfig,
    tuning: &Tuning,
) -> (BufferArg, TileWordsLaunch) {
    let tiles = rows * per_row;
    let blocks = rows * per_row.div_ceil(lookback.block);
    let words = launch_words(blocks, lookback.block, state_words);
    let (state, epoch_bits) = scratch::take(client, words);
    let layout = TileWordsLaunch::new(tiles, per_row, epoch_bits, tuning.spin_limit);
    (state, layout)
}
