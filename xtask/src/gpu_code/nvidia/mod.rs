//! NVIDIA's compiler and disassembler, from PyPI, and what they say of a kernel.

pub(crate) mod sass;
pub(crate) mod toolkit;
