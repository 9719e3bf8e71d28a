//! The contract's own tests, on remote devices, with fewer sizes and the cases that a Cube device takes: a size changes
//! what a kernel does, not what a network does. Both transports carry the same messages, so the contract goes over one,
//! and gradients go over both.

/// Stamps properties, functions of a device, as the tests `property::websocket`.
macro_rules! on_every_device {
    ($($property:ident),* $(,)?) => {$(
        mod $property {
            #[test]
            fn websocket() {
                super::$property(&crate::servers::websocket());
            }
        }
    )*};
}

#[path = "../contract/operations/mod.rs"]
mod operations;

/// The tile of the local devices. Here it is a number of elements like any other.
const TILE: usize = 512;

/// Sizes: empty, one element, a few, many.
const SIZES: [usize; 6] = [0, 1, 2, 65, 1025, 4097];

/// More elements than Flex scans on one thread.
const LARGE_SIZES: [usize; 1] = [262_143];
