//! What cubes and threads tell each other, checked by the model checker [loom](https://docs.rs/loom): small programs are run in every order of
//! their accesses, and each relaxed load returns each value that it may.
//!
//! ```text
//! the tiles of a launch      cube            the host program: what a cube does, step by step as the kernels do it
//!                            memory          its words, by the layout and the seals that the kernels call
//!                            launch          its shape, its input, what each tile must learn; which mistake is planted
//!                            run             launches on threads, one after the other in the same words
//!                            tiles           that all goes well, in every schedule
//!                            mistakes        that each mistake is found
//! the CPU engine             engine          its own code for carries and kept buffers, with loom's atomics and lock
//! the checker                explore         every schedule, or all with a few interruptions
//!                            shared_word     words that loom explores in full, and tests of that
//! ```
//!
//! Without a bound: two and three cubes. With one, which is printed: threads that hand on the carries of three blocks, or three of them.
//!
//! Loom has no load return what is stored only later (load buffering). The tiles have no use for it: what a cube stores after a load is steered
//! by that load or made of it, but for the aggregate of the next tile on the same thread, which depends on nothing.

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
