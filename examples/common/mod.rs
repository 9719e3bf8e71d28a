//! What the examples share: choosing a device by name, and timing an operation.

#![allow(dead_code, reason = "every example uses its own part")]

pub mod device;
pub mod timing;
