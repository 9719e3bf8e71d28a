//! What the CPU backend allocates: in addition to inputs and outputs while it works, for a result that stays, for a
//! sequence in chunks, and for sizes from corrupt data. Each case is its own process.

#![cfg(all(feature = "flex", feature = "autodiff"))]

#[macro_use]
extern crate scan_testing;

mod counted;

mod chunks;
mod kept;
mod peaks;
mod sizes;
