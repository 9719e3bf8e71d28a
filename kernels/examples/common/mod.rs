//! What the examples share: buffers to and from the device, and whether it has planes.

use cubecl::client::Client;
use cubecl::ir::features::Plane;
use cubecl::prelude::*;
use cubecl::server::{Handle, ServerError};

pub fn upload<T: CubeElement>(client: &Client, values: &[T]) -> Handle {
    client.create_from_slice(T::as_bytes(values))
}

/// The content of a buffer, or the failure of a kernel that should have written it.
pub fn download<T: CubeElement>(client: &Client, handle: Handle) -> Result<Vec<T>, ServerError> {
    Ok(T::from_bytes(&client.read_one(handle)?).to_vec())
}

/// `len` elements of a buffer.
pub fn arg(handle: &Handle, len: usize) -> BufferArg {
    // SAFETY: every caller made the buffer of at least that many elements.
    unsafe { BufferArg::from_raw_parts(handle.clone(), len) }
}

/// A buffer as a contiguous tensor.
pub fn tensor(handle: &Handle, shape: &[usize]) -> TensorBinding {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim];
    }
    TensorBinding {
        handle: handle.clone().binding(),
        strides: strides.as_slice().into(),
        shape: shape.into(),
        tiling: Default::default(),
    }
}

/// `BURN_SCAN_FORCE_PLANE=1`: uses plane operations on software adapters, which run them without advertising them.
pub fn force_plane() -> bool {
    std::env::var("BURN_SCAN_FORCE_PLANE").is_ok_and(|value| value == "1")
}

/// Whether the device advertises plane operations, or is made to use them.
pub fn has_plane_ops(client: &Client) -> bool {
    client.features().plane.contains(Plane::Ops) || force_plane()
}
