//! Loops on all threads, for the kernels that are compiled for every type and operator.
//!
//! rayon's loops are compiled anew for each body. Here the body is behind a reference, and the loops are compiled once:
//! with bodies of their own, the 96 scans of this engine had twice as many functions, most of them rayon's. The
//! reference costs one indirect call for a task of microseconds.

use rayon::prelude::*;

/// Calls `body` with each number below `count`.
pub(super) fn for_each(count: usize, body: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(body);
}

/// Calls `body` with the place of each part of `len` elements, and the part. The last part may have fewer.
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
