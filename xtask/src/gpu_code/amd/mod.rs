//! Clang for AMD's GPUs, from Debian, and what it says of a kernel.

pub(crate) mod isa;
pub(crate) mod toolkit;
