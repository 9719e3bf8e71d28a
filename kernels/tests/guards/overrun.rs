//! The guards themselves: they see a kernel that writes one element too far.

use cubecl::prelude::*;
use scan_testing::Guarded;
use scan_testing::kernels::client;

/// Writes one element, in the output or past it.
#[cube(launch_unchecked)]
fn overrun_kernel(output: &mut [u32], at: usize) {
    output[at] = 0;
}

fn overrun(at: usize) {
    let client = client();
    let output = Guarded::empty(&client, 40, 0);
    // SAFETY: the buffer continues after the ten elements.
    unsafe {
        let binding = BufferArg::from_raw_parts(output.handle(), 10);
        let (one, units) = (CubeCount::new_single(), CubeDim::new_single());
        overrun_kernel::launch_unchecked(&client, one, units, binding, at);
    }
    output.read::<u32>(&client);
}

#[test]
fn the_last_element_may_be_written() {
    overrun(9);
}

#[test]
#[should_panic(expected = "written 0 bytes past the data")]
fn an_overrun_is_seen() {
    overrun(10);
}
