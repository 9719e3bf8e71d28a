//! Remote devices: the public contract on Flex behind a network, and faults that occur only there.
//!
//! The tests of the contract come from `tests/contract`. Every test that runs on each device has its own session, so
//! that no test can end another's session. Servers are threads of this process. A server that must end or stall is a
//! child process.
//!
//! Tests start in the order of their names. Those of `trouble` are among the last: each opens devices, and the two threads
//! of a device wake every 150 µs until the process ends. With `trouble` before `sharded`, all tests took 335 s instead
//! of 117, most of them in the kernel.

#![allow(
    dead_code,
    reason = "the contract's files hold what only their own binary uses"
)]

#[cfg(feature = "wgpu")]
#[path = "../fusion_support/mod.rs"]
mod fusion_support;

/// Stamps properties, functions of a device, as the tests `property::websocket` and `property::iroh`.
macro_rules! on_every_device {
    ($($property:ident),* $(,)?) => {$(
        mod $property {
            #[test]
            fn websocket() {
                super::$property(&crate::servers::websocket());
            }

            #[test]
            fn iroh() {
                super::$property(&crate::servers::iroh());
            }
        }
    )*};
}

mod contract;
#[cfg(feature = "cubecl-backend")]
mod cube;
mod gradients;
#[cfg(feature = "wgpu")]
mod installed;
mod laziness;
mod malformed;
mod operations;
mod proxy;
mod replays;
mod servers;
mod sharded;
mod trouble;
mod versions;
