//! Two kernels that fail on purpose, for the test of the supervisor.

use cubecl::client::Client;
use cubecl::prelude::*;
use scan_testing::kernels::upload;

use crate::stage::{self, Outcome};
use crate::{copy, record};

pub const HANGS: &str = "planted: a kernel that hangs";
pub const IS_WRONG: &str = "planted: a kernel that is wrong";
pub const IS_RIGHT: &str = "planted: a kernel that is right";

/// Years of work in many cubes: some drivers end the loops of a cube after 65,535 rounds.
#[cube(launch_unchecked)]
fn endless_kernel(output: &mut [u32], rounds: u32) {
    let mut sum = CUBE_POS as u32;
    for i in 0..rounds {
        sum = sum * 3 + (sum ^ i);
    }
    if sum == rounds {
        output[0] = sum;
    }
}

pub fn run(client: &Client) {
    stage::case(HANGS, || {
        let output = upload(client, &[0u32]);
        // SAFETY: no unit writes but to the one word of the buffer.
        unsafe {
            endless_kernel::launch_unchecked(
                client,
                CubeCount::Static(65_535, 65_535, 1),
                CubeDim::new_single(),
                BufferArg::from_raw_parts(output.clone(), 1),
                65_000,
            );
        }
        match record::exact(client, output, &[0u32]) {
            Some(found) => Outcome::Wrong(format!("it ended: {found}")),
            None => Outcome::Wrong("it did not run".into()),
        }
    });
    for (name, copied) in [(IS_WRONG, 1000), (IS_RIGHT, 1024)] {
        stage::case(name, || {
            let data: Vec<i32> = (0..1024).collect();
            let (input, output) = (upload(client, &data), upload(client, &[-1i32; 1024]));
            copy::copy(client, &input, &output, copied);
            record::exact(client, output, &data)
                .map_or_else(|| Outcome::Right(Default::default()), Outcome::Wrong)
        });
    }
}
