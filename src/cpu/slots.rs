//! Moves of single elements to and from slots, as a grouping by key hands them out.
//!
//! A slot below zero, or beyond the output, is none.

use core::mem::MaybeUninit;

use rayon::prelude::*;

use super::buffer::Output;
use super::compact::{BLOCK, fill_default};
use super::moves::{Index, Moved};
use super::rows::PARALLEL;

/// `output[slots[i]] = values[i]`, zero where no slot points; of several slots that point to one place the last one counts. One thread
/// writes, since nothing says that slots are apart.
pub(crate) fn scatter_slots<T: Moved, I: Index>(values: &[T], slots: &[I]) -> Vec<T> {
    assert_eq!(values.len(), slots.len(), "one slot for each value");
    let mut output = Output::new(slots.len());
    fill_default(output.slots());
    for (&value, slot) in values.iter().zip(slots) {
        if let Some(place) = output.slots().get_mut(slot.to_usize()) {
            place.write(value);
        }
    }
    // SAFETY: every place has been filled.
    unsafe { output.finish() }
}

/// `output[i] = values[slots[i]]`, zero where there is no such value.
pub(crate) fn gather_slots<T: Moved, I: Index>(values: &[T], slots: &[I]) -> Vec<T> {
    let mut output = Output::new(slots.len());
    let gather = |(places, slots): (&mut [MaybeUninit<T>], &[I])| {
        for (place, slot) in places.iter_mut().zip(slots) {
            place.write(values.get(slot.to_usize()).copied().unwrap_or_default());
        }
    };
    let places = output.slots();
    if slots.len() < PARALLEL {
        gather((places, slots));
    } else {
        places
            .par_chunks_mut(BLOCK)
            .zip(slots.par_chunks(BLOCK))
            .for_each(gather);
    }
    // SAFETY: every place has been written.
    unsafe { output.finish() }
}
