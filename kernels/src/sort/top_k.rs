//! The `k` largest keys of lines, by a tournament of tiles.
//!
//! ```text
//! line         │ tile        │ tile        │ tile        │ …
//! round 1      │ k largest │ k largest │ k largest │ …         each cube keeps the k largest keys of its tile
//! round 2      │ k largest          │ …                         again, until few are left, which are sorted
//! ```
//!
//! The keys are read once, and `len / tile · k` of them are written with their positions. Each round keeps the order of
//! equal keys, so the lowest positions stay in front. Tiles that keep more than half of their keys shorten a line too
//! little: then the whole line is sorted, and only the first `k` are written.

use super::problem::{Sort, Source};
use super::select::select_keys;
use super::{SortOptions, SortOrder, SortOutputs, sort_lines};
use crate::ScanError;
use crate::scan::LaunchOptions;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Writes the `k` largest keys of each of the lines `[lines, len]`: the first `k` of the descending
/// [`sort`](super::sort()), so NaN come first, and of equal keys those at the lowest positions.
///
/// Outputs have `lines · k` elements. Everything else is as in [`sort`](super::sort()).
///
/// # Errors
///
/// As [`sort`](super::sort()), and [`ScanError::TopKTooLarge`] if `k` exceeds `len`.
///
/// # Panics
///
/// If a tensor is too small.
pub fn top_k(
    client: &Client,
    (keys, dtype): (TensorBinding, ElemType),
    outputs: SortOutputs,
    [lines, len]: [usize; 2],
    k: usize,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    if k > len {
        return Err(ScanError::TopKTooLarge { k, len });
    }
    let options = SortOptions {
        order: SortOrder::Descending,
        bits: None,
    };
    let shape = [lines, len];
    let sort = Sort::new(client, (&keys, dtype), &outputs, shape, k, options, launch)?;
    let source = Source {
        keys,
        positions: None,
        lines: shape,
    };
    if lines * k == 0 || outputs.is_empty() {
        return Ok(());
    }
    let source = tournament(&sort, source, outputs.positions.is_some(), k);
    sort_lines(&sort, source, outputs, k)
}

/// Plays rounds as long as a line fills half a tile and a round at least halves it.
fn tournament(sort: &Sort, mut source: Source, has_positions: bool, k: usize) -> Source {
    let tile = sort.digits.tile();
    let shortens = |len: usize| len > tile / 2 && 2 * k <= tile.min(len);
    while shortens(source.lines[1]) {
        source = select_keys(sort, source, has_positions, k);
    }
    source
}
