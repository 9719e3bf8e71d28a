//! The option [`batch_invariant`](super::LaunchOptions::batch_invariant): a line's bits depend on that line alone.
//!
//! | lines | how |
//! |---|---|
//! | short rows that keep their place among stripes, see [`short_rows`](super::routines::short_rows) | several a cube; copied first unless they lie one behind the other from a vector's begin |
//! | other rows of at most a tile | a cube each, as large as the row |
//! | longer rows | tiles of one size that look back; without lookback a cube walks a row |
//! | columns | tiles of one shape that look back; without lookback a unit walks a column |

use super::call::Call;
use super::problem::Lines;
use super::routines::short_rows;
use super::strategy::LaunchOptions;
use super::tuning::Tuning;
use crate::monoid::Operator;
use cubecl::std::tensor::into_contiguous;

impl<O: Operator> Call<'_, O> {
    pub(super) fn batch_invariant(mut self) -> Self {
        if self.lines.inner.is_empty() {
            if short_rows::keeps_places(&self) {
                self.align();
            } else if self.launch.units.is_none() && self.tiles_per_row() == 1 {
                self.tuning = self.fitted();
            }
        }
        // No line is split for want of others.
        self.tuning.units_to_saturate = 1;
        self
    }

    /// For a cube as large as a row.
    fn fitted(&self) -> Tuning {
        let vectors = self.tuning.vectors;
        let units = self.len().div_ceil(self.widest_vector * vectors);
        let options = LaunchOptions {
            units: Some(units),
            vectors: Some(vectors),
            ..self.launch
        };
        Tuning::of(self.client, &options)
    }

    /// Copies inputs that do not begin at a vector, or that have gaps.
    fn align(&mut self) {
        let (axis, dtype) = (self.tensors.axis, self.tensors.dtype);
        for input in &mut self.tensors.inputs {
            let is_contiguous = Lines::of(std::slice::from_ref(input), axis).is_contiguous_rows();
            let bytes = (self.widest_vector * dtype.size()) as u64;
            let begins = input.handle.offset_start.unwrap_or(0).is_multiple_of(bytes);
            if !is_contiguous || !begins {
                *input = into_contiguous(self.client, input.clone(), dtype).binding();
            }
        }
        self.lines = Lines::of(&self.tensors.inputs, axis);
        self.flat_lanes = self.widest_vector;
    }
}
