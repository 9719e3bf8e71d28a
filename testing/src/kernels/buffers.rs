//! Tensors of one dimension on the device.

use super::View;
use cubecl::CubeElement;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::Handle;

/// `view` of a buffer.
pub fn tensor(handle: Handle, view: &View) -> TensorBinding {
    TensorBinding {
        handle: handle.binding(),
        strides: view.strides.as_slice().into(),
        shape: view.shape.as_slice().into(),
        tiling: Default::default(),
    }
}

/// The first `len` elements of a buffer.
pub fn flat(handle: &Handle, len: usize) -> TensorBinding {
    tensor(handle.clone(), &View::contiguous(&[len]))
}

/// A buffer cannot have zero bytes: empty data is uploaded as one zero.
pub fn upload<T: CubeElement>(client: &Client, data: &[T]) -> Handle {
    let bytes = T::as_bytes(data);
    client.create_from_slice(if bytes.is_empty() { &[0; 8] } else { bytes })
}

/// A buffer full of a value that no result contains.
pub fn sentinel(client: &Client, len: usize) -> Handle {
    upload(client, &vec![i32::MIN + 7; len.max(1)])
}

/// The first `len` elements of a buffer, on the host.
pub fn read<T: CubeElement>(client: &Client, handle: Handle, len: usize) -> Vec<T> {
    T::from_bytes(&client.read_one(handle).expect("readable"))[..len].to_vec()
}
