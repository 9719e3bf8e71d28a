//! The `k` largest keys of lines, by a tournament of tiles.
//!
//! ```text
//! line         │ tile        │ tile        │ tile        │ …
//! round 1      │ k largest │ k largest │ k largest │ …         each cube sorts its tile and keeps the first k
//! round 2      │ k largest          │ …                         again, until the line is one tile
//! ```
//!
//! The keys are read once, and `len / tile · k` of them are written with their positions. Each round keeps the order of
//! equal keys, so the lowest positions stay in front. Tiles that keep more than half of their keys shorten a line too
//! little: then the whole line is sorted, and only the first `k` are written.

use super::groups::{Kept, sort_groups};
use super::problem::{Sort, Source};
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

/// Plays rounds until lines fit a tile, if they shorten lines by half at least.
fn tournament(sort: &Sort, mut source: Source, has_positions: bool, k: usize) -> Source {
    let kept = Kept {
        group: sort.digits.tile(),
        keys: k,
    };
    while source.lines[1] > kept.group && 2 * k <= kept.group {
        let [lines, len] = source.lines;
        let shape = [lines, kept.of_line(len)];
        let round = sort.temporaries(shape, has_positions);
        sort_groups(sort, source, round.clone().into(), kept);
        source = round;
    }
    source
}
