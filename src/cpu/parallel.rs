//! Loops on all threads, for the kernels that are compiled for every type and operator.
//!
//! rayon's loops are compiled anew for each body. Behind a reference, which costs one indirect call for a task of microseconds, they are
//! compiled once: with bodies of their own, the 96 scans of this engine were made of twice as many functions, most of them rayon's.

use rayon::prelude::*;

/// Calls `body` with each number below `count`.
pub(super) fn for_each(count: usize, body: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(body);
}

/// Calls `body` with each part of `len` elements (the last may have fewer) and the place where it begins.
pub(super) fn for_each_part<T: Send>(
    slice: &mut [T],
    len: usize,
    body: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    slice
        .par_chunks_mut(len)
        .enumerate()
        .for_each(|(part, slice)| body(part * len, slice));
}

/// Calls `work` on up to `threads` threads. This one begins at once, whoever joins it.
pub(super) fn on_threads(threads: usize, work: &(dyn Fn() + Sync)) {
    rayon::in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| work());
        }
        work();
    });
}

/// Calls `work` on one of rayon's threads, so that the loops in it need not be handed over one by one.
pub(super) fn inside(work: &mut (dyn FnMut() + Send)) {
    rayon::scope(|_| work());
}
