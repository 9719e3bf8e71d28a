//! What cubes and threads tell each other, checked by the model checker [loom](https://docs.rs/loom). It runs small
//! programs in every order of their accesses, and each relaxed load returns each value that it may.
//!
//! ```text
//! the tiles of a launch      cube            the host program: what a cube does, step by step as the kernels do it
//!                            memory          its words: layout and seals are the functions that the kernels call
//!                            launch          its shape, its input, what each tile must learn, the planted mistake
//!                            run             launches on threads, one after the other in the same words
//!                            tiles           that every tile learns what it must, in every schedule
//!                            mistakes        that each mistake is found
//! the CPU engine             engine          its code for carries and the buffer cache, with loom's atomics and lock
//! the checker                explore         every schedule, or all with a few interruptions
//!                            shared_word     words that loom explores in full, and tests of that
//! ```
//!
//! Models of two and three cubes have no bound. Models in which three threads, or three blocks, hand on carries have a
//! bound, which is printed.
//!
//! In loom no load returns a value that is stored only later (load buffering). The tiles need no such loads: what a
//! cube stores after a load depends on that load. The exception is the aggregate of the next tile on the same thread,
//! which depends on nothing.

#![allow(
    clippy::duplicate_mod,
    reason = "the engine is compiled once more, with a lock that does not lock"
)]

mod cube;
mod engine;
mod explore;
mod launch;
mod memory;
mod mistakes;
mod run;
mod shared_word;
mod tiles;
