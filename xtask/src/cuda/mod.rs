//! The kernels as CUDA C++, and NVIDIA's compiler and disassembler for them, which need no GPU.
//!
//! [`record`] has the test `cuda` of `cubecl-scan` write down what it asks of a CUDA device; [`toolkit`] is NVIDIA's compiler and
//! disassembler from PyPI; [`sass`] reads what they say.

pub(crate) mod record;
pub(crate) mod sass;
pub(crate) mod toolkit;
