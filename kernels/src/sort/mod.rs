//! Sorts of lines: stable radix sorts of keys along the last axis, their positions, and the `k` largest.
//!
//! - [`sort`]: the keys of each line in order, the positions they came from, or both.
//! - [`top_k`]: the `k` largest keys of each line, largest first, and their positions.
//!
//! ```text
//! keys        2.5  −0.0   NaN   0.0   1.0
//! ascending  −0.0   0.0   1.0   2.5   NaN      positions  1  3  4  0  2
//! descending  NaN   2.5   1.0  −0.0   0.0      positions  2  0  4  1  3
//! ```
//!
//! A payload of any kind follows its keys by [`gather`](crate::compact::gather()) with the positions.
//!
//! # Order
//!
//! NaN is after everything in ascending order, and before everything in descending order. All NaN are equal, and −0.0
//! equals 0.0. Equal keys keep the order of the input in either [`SortOrder`]. Keys keep their bits.
//!
//! # Example
//!
//! ```no_run
//! use cubecl::{client::Client, prelude::*, server::Handle};
//! use cubecl_scan::{ScanError, scan::LaunchOptions, sort::{SortOptions, SortOutputs, sort}};
//!
//! /// Two lines of three, each sorted, and the positions in their lines.
//! fn sorted(client: &Client) -> Result<(Handle, Handle), ScanError> {
//!     let keys = client.create_from_slice(f32::as_bytes(&[3.0, -1.0, 2.0, 0.0, 5.0, 5.0]));
//!     let (output, positions) = (client.empty(6 * 4), client.empty(6 * 4));
//!     let tensor = |handle: &Handle| TensorBinding {
//!         handle: handle.clone().binding(),
//!         strides: [3, 1].into(),
//!         shape: [2, 3].into(),
//!         tiling: Default::default(),
//!     };
//!     let outputs = SortOutputs {
//!         keys: Some(tensor(&output)),
//!         positions: Some((tensor(&positions), i32::elem_type_native())),
//!     };
//!     sort(
//!         client,
//!         (tensor(&keys), f32::elem_type_native()),
//!         outputs,
//!         [2, 3],
//!         SortOptions::default(),
//!         LaunchOptions::default(),
//!     )?;
//!     Ok((output, positions)) // −1, 2, 3, 0, 5, 5 and 1, 2, 0, 0, 1, 2
//! }
//! # fn main() {}
//! ```

mod code;
mod count;
mod in_cube;
mod long;
mod pass;
mod problem;
mod schedule;
mod select;
mod short;
mod tile;
mod top_k;
mod whole_lines;

pub use top_k::top_k;

use crate::ScanError;
use crate::scan::{LaunchOptions, Strategy};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use in_cube::sort_in_cubes;
use long::sort_long;
use problem::{Sort, Source};
use short::{SHORT_LINE, sort_short};

/// The direction of a sort. Both keep the order of equal keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SortOrder {
    /// Smallest first, NaN last.
    #[default]
    Ascending,
    /// NaN first, then largest first.
    Descending,
}

/// How keys are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SortOptions {
    /// The direction.
    pub order: SortOrder,
    /// How many of the lowest bits of integer keys count, as unsigned numbers. Fewer bits take fewer passes. `None`:
    /// the keys as they are.
    pub bits: Option<u32>,
}

/// What a sort writes. Whatever is `None` is not computed.
#[derive(Clone, Debug, Default)]
pub struct SortOutputs {
    /// The keys in order, of the type of the input.
    pub keys: Option<TensorBinding>,
    /// The position in its line of each of these keys in the input, and the integer type of positions.
    pub positions: Option<(TensorBinding, ElemType)>,
}

impl SortOutputs {
    fn is_empty(&self) -> bool {
        self.keys.is_none() && self.positions.is_none()
    }
}

/// Sorts each of the lines `[lines, len]`.
///
/// Keys are floats or integers of any width that the device holds. All tensors are contiguous and have `lines · len`
/// elements. Outputs share no memory with each other or with the keys. Nothing waits for the device.
///
/// Where several ways can serve, a forced strategy of `launch` decides. All lines are then sorted in passes, however
/// short. Those longer than a tile are sorted by tiles that look back, if the strategy is
/// [`RoutineKind::SinglePass`](crate::scan::RoutineKind::SinglePass), and else by tiles that are counted in each pass.
///
/// # Errors
///
/// - [`ScanError::UnsupportedType`] if the device cannot hold a type;
/// - [`ScanError::KeyBits`] if `options.bits` is 0, more than a key has, or given for float keys;
/// - [`ScanError::PositionsTooLarge`] if the type of positions, or 32 bits, cannot hold them;
/// - [`ScanError::LookbackUnsupported`] if the device cannot sort lines longer than a tile as a forced strategy wants it;
/// - [`ScanError::InvalidOutput`] and [`ScanError::OverlappingMemory`] for outputs.
///
/// # Panics
///
/// If a tensor is too small.
pub fn sort(
    client: &Client,
    keys: (TensorBinding, ElemType),
    outputs: SortOutputs,
    [lines, len]: [usize; 2],
    options: SortOptions,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    let (keys, dtype) = keys;
    let shape = [lines, len];
    let sort = Sort::new(
        client,
        (&keys, dtype),
        &outputs,
        shape,
        len,
        options,
        launch,
    )?;
    let source = Source {
        keys,
        positions: None,
        lines: shape,
    };
    if lines * len == 0 || outputs.is_empty() {
        Ok(())
    } else {
        sort_lines(&sort, source, outputs, len)
    }
}

/// Sorts lines of any length, and writes the first `keys` of each.
fn sort_lines(
    sort: &Sort,
    source: Source,
    outputs: SortOutputs,
    keys: usize,
) -> Result<(), ScanError> {
    let len = source.lines[1];
    let is_free = sort.launch.strategy == Strategy::Inferred;
    if len <= SHORT_LINE && is_free {
        sort_short(sort, source, outputs, keys);
    } else if len <= sort.digits.tile() {
        sort_in_cubes(sort, source, outputs, keys);
    } else {
        return sort_long(&sort.of_long_lines(), source, outputs, keys);
    }
    Ok(())
}
