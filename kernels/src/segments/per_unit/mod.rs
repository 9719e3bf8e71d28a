//! Segments on software adapters: each unit walks a part of the elements.
//!
//! ```text
//! parts      |     0     |     1     |     2     |
//! segments    aaaa bbb ccccccccccccccccccccccc dd
//! written by  0    0   └ tail of 0 ⊕ heads of 1 and 2 ┘ 2
//! ```
//!
//! A unit finds the segment of its first element by bisection, and the next segments as it reaches them. It reads each
//! element once; marks and a scan would read and write it several times.

#![allow(
    clippy::needless_range_loop,
    reason = "kernels have no iterators over slices"
)]

mod ids;
mod parts;
mod reduce;
mod repeat;

pub(super) use ids::ids;
pub(super) use reduce::reduce;
pub(super) use repeat::repeat;
