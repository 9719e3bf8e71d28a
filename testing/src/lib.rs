//! What the tests, benches and self-checks of this workspace share:
//!
//! - [`reference`](mod@reference): the oracle, plain loops that say what every operation must return.
//! - [`Guarded`]: guards around buffers. [`watch`]: guards around the scratch memory of launches.
//! - [`unsupported`]: a word on what a test leaves out.
//! - [`kernels`]: operations of the kernels on a device, with their expected results.
//! - [`processes!`]: tests that run in processes of their own.
//! - [`digest`]: hashes of results, as they are recorded.
//! - `tensors`, with the feature of that name: devices, element types and tensors with their expected results.

mod guards;
pub mod kernels;
pub mod processes;
pub mod reference;
#[cfg(feature = "tensors")]
pub mod tensors;

pub use guards::{EPOCH, Guarded, watch};

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Mutex;

/// Says once what a test skips. It writes to standard error itself, because the harness hides what a passing test
/// prints.
pub fn unsupported(what: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let is_new = SAID
        .lock()
        .is_ok_and(|mut said| said.insert(what.to_owned()));
    if is_new {
        let _ = std::io::stderr().write_all(format!("\nUnsupported: {what}\n").as_bytes());
    }
}

/// FNV-1a of the bits, as results are recorded.
pub fn digest(values: &[f32]) -> u64 {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
