//! A copy by whole vectors: the bandwidth that every other kernel is measured against.

use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::Handle;

/// Vectors that a unit copies. Not tuned.
const COPY_VECTORS: usize = 4;

/// Not tuned.
const UNITS: usize = 256;

#[cube(launch_unchecked)]
fn copy_kernel<N: Size>(input: &[Vector<i32, N>], output: &mut [Vector<i32, N>], vectors: usize) {
    let first = CUBE_POS * CUBE_DIM as usize * COPY_VECTORS + UNIT_POS as usize;
    #[unroll]
    for k in 0..COPY_VECTORS {
        let at = first + k * CUBE_DIM as usize;
        if at < vectors {
            output[at] = input[at];
        }
    }
}

/// The widest vector of the device, in words of 32 bits.
pub fn width(client: &Client) -> usize {
    client
        .io_optimized_vector_sizes(size_of::<i32>())
        .max()
        .unwrap_or(1)
}

/// Copies `words` words of 32 bits, except those after the last whole vector. Both buffers hold this many.
pub fn copy(client: &Client, input: &Handle, output: &Handle, words: usize) {
    let width = width(client);
    let vectors = words / width;
    let most = client.properties().hardware.max_units_per_cube as usize;
    let units = UNITS.min(most);
    // SAFETY: both buffers hold the words, and the kernel guards by the number of vectors.
    unsafe {
        copy_kernel::launch_unchecked(
            client,
            grid(client, vectors.div_ceil(units * COPY_VECTORS)),
            CubeDim::new_1d(units as u32),
            width,
            BufferArg::from_raw_parts(input.clone(), words),
            BufferArg::from_raw_parts(output.clone(), words),
            vectors,
        );
    }
}

/// A grid of at least `cubes` cubes, within the device's limit per axis.
pub fn grid(client: &Client, cubes: usize) -> CubeCount {
    let limit = client.properties().hardware.max_cube_count.0 as usize;
    let x = cubes.min(limit);
    CubeCount::Static(x as u32, cubes.div_ceil(x) as u32, 1)
}
