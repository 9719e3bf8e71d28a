//! Scatters and gathers of single elements, by destinations such as partition ranks.
//!
//! An element whose destination is below zero or beyond the output is dropped.

use super::buffer::Output;
use super::compact::fill_default;
use super::compress::{Index, Word};
use super::parallel;
use super::row_major::BLOCK;

/// `output[destinations[i]] = values[i]`, and zero at places that are not a destination. Where destinations are equal,
/// the last one counts: one thread writes.
pub(crate) fn scatter<T: Word, I: Index>(values: &[T], destinations: &[I]) -> Vec<T> {
    assert_eq!(
        values.len(),
        destinations.len(),
        "one destination for each value"
    );
    let mut output = Output::new(destinations.len());
    fill_default(output.slots());
    for (&value, destination) in values.iter().zip(destinations) {
        if let Some(place) = output.slots().get_mut(destination.to_usize()) {
            place.write(value);
        }
    }
    // SAFETY: every place has been filled.
    unsafe { output.finish() }
}

/// `output[i] = values[destinations[i]]`, zero where there is no such value.
pub(crate) fn gather<T: Word, I: Index>(values: &[T], destinations: &[I]) -> Vec<T> {
    let mut output = Output::new(destinations.len());
    parallel::for_each_part_of(
        destinations.len(),
        output.slots(),
        BLOCK,
        &|first, places| {
            for (place, destination) in places.iter_mut().zip(&destinations[first..]) {
                place.write(
                    values
                        .get(destination.to_usize())
                        .copied()
                        .unwrap_or_default(),
                );
            }
        },
    );
    // SAFETY: every place has been written.
    unsafe { output.finish() }
}
