//! Burn's scans in a browser: what the page asks of WebAssembly.
//!
//! A worker of the page calls these functions, so that the page itself never waits: neither for the device nor for the
//! compilation of a kernel, which takes longer than a frame. Each returns when the device has answered.
//!
//! The page is in `page/`. On other targets this crate is empty.
#![cfg(target_family = "wasm")]

mod bench;
mod checks;
mod particles;

use std::cell::RefCell;

use burn::tensor::kind::Basic;
use burn::tensor::{Device, Element, Tensor};
use wasm_bindgen::prelude::wasm_bindgen;

pub use bench::Bench;
pub use checks::{self_check, self_checks};
pub use particles::Particles;

thread_local! {
    static DEVICE: RefCell<Option<Device>> = const { RefCell::new(None) };
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Opens the visitor's GPU. Everything else needs it.
///
/// # Errors
///
/// Why there is none.
#[wasm_bindgen]
pub async fn open() -> Result<(), String> {
    std::panic::set_hook(Box::new(|panic| PANIC.set(panic.to_string())));
    let opened = Device::wgpu_options().init_async().await;
    DEVICE.set(Some(opened.map_err(|error| error.to_string())?));
    Ok(())
}

/// What the last panic said. A panic ends in a trap, after which the page starts a new worker.
#[wasm_bindgen]
pub fn last_panic() -> String {
    PANIC.take()
}

/// The opened device.
fn device() -> Device {
    DEVICE.with_borrow(|device| device.clone().expect("`open` comes first"))
}

/// The elements of a tensor, read back without blocking.
async fn elements<T: Element, const D: usize, K: Basic>(
    tensor: Tensor<D, K>,
) -> Result<Vec<T>, String> {
    let data = tensor.into_data_async().await;
    let data = data.map_err(|error| format!("the GPU does not answer: {error:?}"))?;
    Ok(data.iter::<T>().collect())
}

/// Well-mixed bits of `i`, of 31 bits.
fn mixed(i: usize) -> i32 {
    let bits = (i as u32 ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b);
    let bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    ((bits ^ (bits >> 16)) >> 1) as i32
}
