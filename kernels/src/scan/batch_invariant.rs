//! The option [`batch_invariant`](super::LaunchOptions::batch_invariant): a line's bits depend on that line alone.
//!
//! | lines | how |
//! |---|---|
//! | short rows that keep their place among stripes, see [`short_rows`](super::routines::short_rows) | several per cube; copied first unless they lie one after the other from the beginning of a vector |
//! | other rows of at most 16 elements | a unit each, as if they were columns |
//! | other rows of no more elements than a plane holds | a plane each; copied as above |
//! | other rows of at most a tile | a cube each, as large as the row |
//! | longer rows | tiles of one size that look back; without lookback a cube walks a row |
//! | columns of more than a tile | tiles of one shape that look back; without lookback a unit walks a column |
//! | other columns | a unit walks a column |

use super::call::Call;
use super::problem::Dim;
use super::routines::short_rows;
use super::strategy::{LaunchOptions, Strategy};
use super::tuning::Tuning;
use crate::monoid::Operator;

/// The longest rows that units walk. On an H200 (2026-11-27, NVRTC 13.0) this takes [2^20, 3] 1.1 times as long as
/// without the option, where a cube for each row takes 96 times as long; it takes [2^20, 33] 10.8 times as long.
const WALKED_ROW: usize = 16;

impl<O: Operator> Call<'_, O> {
    fn is_row(&self) -> bool {
        self.launch.batch_invariant && self.lines.inner.is_empty()
    }

    fn walks_rows(&self) -> bool {
        self.is_row()
            && self.len() <= WALKED_ROW
            && self.launch.strategy == Strategy::Inferred
            && !short_rows::keeps_places(self)
    }

    /// Whether a row's bits do not depend on its place among the others, if the rows lie as the option asks.
    pub(super) fn keeps_places(&self) -> bool {
        self.is_row() && (short_rows::keeps_places(self) || short_rows::fits_plane(self))
    }

    pub(super) fn batch_invariant(mut self) -> Self {
        if self.walks_rows() {
            // A row is the only column of its group.
            self.lines.inner = vec![Dim {
                size: 1,
                strides: vec![1; O::INPUTS],
            }];
            self.lanes = 1;
        } else if self.is_row() && short_rows::keeps_places(&self) {
            self.flat_lanes = self.widest_vector;
        } else if self.keeps_places() {
            self.flat_lanes = 1;
        } else if self.is_row() && self.launch.units.is_none() && self.tiles_per_row() == 1 {
            // A cube as large as a row.
            let vectors = self.tuning.vectors;
            let units = self.len().div_ceil(self.widest_vector * vectors);
            let options = LaunchOptions {
                units: Some(units),
                vectors: Some(vectors),
                ..self.launch
            };
            self.tuning = Tuning::of(self.client, &options);
        }
        // No line is split for want of others.
        self.tuning.units_to_saturate = 1;
        self
    }
}
