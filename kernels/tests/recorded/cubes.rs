//! Scans across a cube and across a plane, as a user's own kernel calls them: every algorithm × operator, with
//! a cube that is a power of two and one that is not.

use super::planes::Planes;
use super::record::case;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::ScanOp;
use cubecl_scan::cube::*;
use cubecl_scan::scan::ScanOptions;
use scan_testing::kernels::values;
use scan_testing::reference;

/// Both scans through the same storage, with a barrier between them.
#[cube(launch)]
fn cube_kernel(
    input: &[i32],
    inclusive: &mut [i32],
    exclusive: &mut [i32],
    aggregates: &mut [i32],
    identity: i32,
    #[comptime] config: CubeScanConfig,
) {
    let mut storage = Shared::<[i32]>::new_slice(comptime!(cube_scan_storage(config)));
    let value = input[ABSOLUTE_POS];
    let first = cube_inclusive_scan::<i32>(value, identity, &mut storage, config);
    sync_cube();
    let second = cube_exclusive_scan::<i32>(value, identity, &mut storage, config);
    inclusive[ABSOLUTE_POS] = first.value;
    exclusive[ABSOLUTE_POS] = second.value;
    aggregates[ABSOLUTE_POS] = second.aggregate;
}

#[cube(launch)]
fn plane_kernel(
    input: &[i32],
    inclusive: &mut [i32],
    exclusive: &mut [i32],
    identity: i32,
    #[comptime] op: ScanOp,
) {
    let value = input[ABSOLUTE_POS];
    inclusive[ABSOLUTE_POS] = plane_inclusive_scan::<i32>(value, op);
    exclusive[ABSOLUTE_POS] = plane_exclusive_scan::<i32>(value, identity, op);
}

pub fn record(client: &Client, planes: Planes) {
    for algorithm in CubeScanAlgorithm::ALL {
        if planes == Planes::None && algorithm.needs_plane_ops() {
            continue;
        }
        for units in [64, 100, 256] {
            for op in ScanOp::ALL {
                let config = CubeScanConfig::new(client, algorithm, op, units);
                record_cube(
                    client,
                    &format!("cube: {algorithm:?}{}", planes.suffix()),
                    config,
                );
            }
        }
    }
    if planes != Planes::None {
        for op in ScanOp::ALL {
            record_plane(client, op);
        }
    }
}

fn identity(op: ScanOp) -> i32 {
    match op {
        ScanOp::Sum => 0,
        ScanOp::Prod => 1,
        ScanOp::Max => i32::MIN,
        _ => i32::MAX,
    }
}

/// The scans of rows of `len`, inclusive and exclusive.
fn expected(data: &[i32], len: usize, op: ScanOp) -> [Vec<i32>; 2] {
    [false, true].map(|exclusive| {
        let options = ScanOptions {
            exclusive,
            reverse: false,
        };
        reference::scan(data, &[data.len() / len, len], 1, op, options)
    })
}

fn record_cube(client: &Client, group: &str, config: CubeScanConfig) {
    let cubes = 3;
    let data = values(cubes * config.units, config.op);
    let name = format!("{:?}, {} units", config.op, config.units);
    case(client, group, &name, || {
        let input = client.create_from_slice(i32::as_bytes(&data));
        let outputs = [(); 3].map(|()| client.empty(size_of_val(&data[..])));
        // SAFETY: all buffers were made for the number of elements in the data.
        let arg = |handle: &cubecl::server::Handle| unsafe {
            BufferArg::from_raw_parts(handle.clone(), data.len())
        };
        cube_kernel::launch(
            client,
            CubeCount::Static(cubes as u32, 1, 1),
            CubeDim::new_1d(config.units as u32),
            arg(&input),
            arg(&outputs[0]),
            arg(&outputs[1]),
            arg(&outputs[2]),
            identity(config.op),
            config,
        );
        let [inclusive, exclusive] = expected(&data, config.units, config.op);
        let total = |i: usize| inclusive[(i / config.units + 1) * config.units - 1];
        let totals = (0..data.len()).map(total).collect();
        outputs
            .into_iter()
            .zip([inclusive, exclusive, totals])
            .collect()
    });
}

fn record_plane(client: &Client, op: ScanOp) {
    let data = values(64, op);
    case(client, "plane", &format!("{op:?}"), || {
        let input = client.create_from_slice(i32::as_bytes(&data));
        let outputs = [(); 2].map(|()| client.empty(size_of_val(&data[..])));
        // SAFETY: all buffers were made for the number of elements in the data.
        let arg = |handle: &cubecl::server::Handle| unsafe {
            BufferArg::from_raw_parts(handle.clone(), data.len())
        };
        plane_kernel::launch(
            client,
            CubeCount::Static(1, 1, 1),
            CubeDim::new_1d(64),
            arg(&input),
            arg(&outputs[0]),
            arg(&outputs[1]),
            identity(op),
            op,
        );
        let plane = client.properties().hardware.plane_size_min as usize;
        outputs
            .into_iter()
            .zip(expected(&data, plane, op))
            .collect()
    });
}
