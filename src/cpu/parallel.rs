//! Loops on all threads.
//!
//! rayon's loops are compiled anew for each body, and the engine has hundreds of bodies, one for each type and
//! operator. Here the body is a reference, and the loops are compiled once. The reference costs one indirect
//! call per task of microseconds. So no other file of the engine calls rayon's loops.

use rayon::prelude::*;

use super::buffer::SharedSlice;

/// The fewest elements for which several threads work.
///
/// With two busy cores, two threads took 0.85 times as long as one for this many elements, and 1.7 times as long for
/// half as many.
pub(super) const PARALLEL: usize = 1 << 17;

/// The fewest elements of a task: some 10 µs of work.
pub(super) const GRAIN: usize = 1 << 14;

/// Calls `body` with each number below `count`.
pub(super) fn for_each(count: usize, body: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(body);
}

/// Calls `body` with each number below `count`, `share` of them per task, on this thread alone if the work is on few
/// `elements`.
pub(super) fn for_each_of(
    elements: usize,
    count: usize,
    share: usize,
    body: &(dyn Fn(usize) + Sync),
) {
    if elements < PARALLEL {
        (0..count).for_each(body);
    } else {
        for_each(count.div_ceil(share), &|task| {
            (task * share..count.min((task + 1) * share)).for_each(body);
        });
    }
}

/// Calls `body` with the place of each part of `len` elements, and the part. The last part may have fewer.
pub(super) fn for_each_part<T: Send>(
    slice: &mut [T],
    len: usize,
    body: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    let (all, parts) = (slice.len(), slice.len().div_ceil(len));
    let slice = SharedSlice::new(slice);
    for_each(parts, &|part| {
        let first = part * len;
        // SAFETY: the parts do not overlap, and each is taken once.
        body(first, unsafe { slice.slice(first..all.min(first + len)) });
    });
}

/// [`for_each_part`], on this thread alone if the work is on few `elements`.
pub(super) fn for_each_part_of<T: Send>(
    elements: usize,
    slice: &mut [T],
    len: usize,
    body: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    if elements < PARALLEL {
        for (part, slice) in slice.chunks_mut(len).enumerate() {
            body(part * len, slice);
        }
    } else {
        for_each_part(slice, len, body);
    }
}

/// Calls `work` on up to `threads` threads. The calling thread starts at once, without waiting for the others
/// to join.
pub(super) fn on_threads(threads: usize, work: &(dyn Fn() + Sync)) {
    rayon::in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| work());
        }
        work();
    });
}

/// Calls `work` on one of rayon's threads, so that its loops need not be handed over one by one.
pub(super) fn inside(work: &mut (dyn FnMut() + Send)) {
    rayon::scope(|_| work());
}
