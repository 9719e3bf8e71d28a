//! What the examples share: buffers as arguments and on the host, and whether the device has planes.

use cubecl::client::Client;
use cubecl::ir::features::Plane;
use cubecl::prelude::*;
use cubecl::server::{Handle, ServerError};
use scan_testing::kernels::launch;

/// The content of a buffer, or the failure of a kernel that should have written it.
pub fn download<T: CubeElement>(client: &Client, handle: Handle) -> Result<Vec<T>, ServerError> {
    Ok(T::from_bytes(&client.read_one(handle)?).to_vec())
}

/// `len` elements of a buffer.
pub fn arg(handle: &Handle, len: usize) -> BufferArg {
    // SAFETY: every caller made the buffer of at least that many elements.
    unsafe { BufferArg::from_raw_parts(handle.clone(), len) }
}

/// Whether the device advertises plane operations, or is made to use them.
pub fn has_plane_ops(client: &Client) -> bool {
    client.features().plane.contains(Plane::Ops) || launch().plane == Some(true)
}
