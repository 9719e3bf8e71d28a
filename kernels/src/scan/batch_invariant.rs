//! The option [`batch_invariant`](super::LaunchOptions::batch_invariant): a line's bits depend on that line alone.
//!
//! | lines | how |
//! |---|---|
//! | short rows that keep their place among stripes, see [`short_rows`](super::routines::short_rows) | several a cube; copied first unless they lie one behind the other from a vector's begin |
//! | other rows of at most a tile | a cube each, as large as the row |
//! | longer rows | tiles of one size that look back; without lookback a cube walks a row |
//! | columns | tiles of one shape that look back; without lookback a unit walks a column |

use super::call::Call;
use super::routines::short_rows;
use super::strategy::LaunchOptions;
use super::tuning::Tuning;
use crate::monoid::Operator;

impl<O: Operator> Call<'_, O> {
    /// Whether short rows keep their place, as the option asks of them.
    pub(super) fn keeps_places(&self) -> bool {
        self.launch.batch_invariant && self.lines.inner.is_empty() && short_rows::keeps_places(self)
    }

    pub(super) fn batch_invariant(mut self) -> Self {
        if self.keeps_places() {
            self.flat_lanes = self.widest_vector;
        } else if self.lines.inner.is_empty()
            && self.launch.units.is_none()
            && self.tiles_per_row() == 1
        {
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
