//! The kernels in the hands of GPUs' compilers. These need no GPU.
//!
//! [`record`] makes a test of `cubecl-scan` write down what it asks of a device. [`nvidia`] and [`amd`] get the
//! compilers. [`code`] holds what they say of the machine code.

pub(crate) mod amd;
pub(crate) mod code;
pub(crate) mod nvidia;
pub(crate) mod record;
