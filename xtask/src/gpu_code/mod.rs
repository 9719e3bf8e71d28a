//! The kernels as GPUs' compilers take them, and those compilers, which need no GPU.
//!
//! [`record`] has a test of `cubecl-scan` write down what it asks of a device; [`code`] is what is read off the machine code; [`nvidia`] and
//! [`amd`] bring the compilers.

pub(crate) mod amd;
pub(crate) mod code;
pub(crate) mod nvidia;
pub(crate) mod record;
