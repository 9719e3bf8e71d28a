//! What the examples share: buffers as arguments of kernels, and on the host.

use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::{Handle, ServerError};

/// The content of a buffer, or the failure of a kernel that should have written it.
pub fn download<T: CubeElement>(client: &Client, handle: Handle) -> Result<Vec<T>, ServerError> {
    Ok(T::from_bytes(&client.read_one(handle)?).to_vec())
}

/// `len` elements of a buffer.
pub fn arg(handle: &Handle, len: usize) -> BufferArg {
    // SAFETY: every caller made the buffer of at least that many elements.
    unsafe { BufferArg::from_raw_parts(handle.clone(), len) }
}
