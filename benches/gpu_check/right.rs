//! The stage of correctness: each routine, type and option at the device's own tuning, then rows of gigabytes.

use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::ScanOp;
use cubecl_scan::compact::{Emit, compact};
use cubecl_scan::scan::{LaunchOptions, ScanOptions, scan};
use scan_testing::kernels::{flat, holds, upload, values};
use scan_testing::reference;

use crate::stage::{self, Outcome};
use crate::timed::too_large;
use crate::{compaction, operators, record, scans, sorts};

pub fn run(client: &Client) {
    scans::at_own_tuning(client);
    compaction::at_own_tuning(client);
    operators::at_own_tuning(client);
    sorts::at_own_tuning(client);
}

/// Rows whose elements, and whose bytes, pass 2^28, 2^31 and 2^32.
pub fn large(client: &Client) {
    for n in [(1 << 28) + 3, (1 << 29) + 3, (1 << 30) + 3] {
        stage::case(&format!("sum of a row of {n} f32"), || long_row(client, n));
    }
    for n in [(1 << 28) + 3, (1 << 31) + 3] {
        let name = format!("positions of one in 1000 of a mask of {n} bytes");
        stage::case(&name, || long_mask(client, n));
    }
}

fn long_row(client: &Client, n: usize) -> Outcome {
    if let Some(why) = too_large(client, 4 * n, 2) {
        return Outcome::LeftOut(why);
    }
    let data: Vec<f32> = values(n, ScanOp::Sum)
        .into_iter()
        .map(|value| value as f32)
        .collect();
    let (op, options) = (ScanOp::Sum, ScanOptions::default());
    let (input, output) = (upload(client, &data), client.empty(4 * n));
    let float = f32::elem_type_native();
    let (from, to) = (flat(&input, n), flat(&output, n));
    if let Err(error) = scan(client, from, to, 0, float, op, options) {
        return Outcome::Wrong(error.to_string());
    }
    drop(input);
    let expected = reference::scan(&data, &[n], 0, op, options);
    outcome(record::exact(client, output, &expected))
}

fn long_mask(client: &Client, n: usize) -> Outcome {
    if !holds::<u8>(client) {
        return Outcome::LeftOut("no masks of bytes on this device".into());
    }
    // The output has a word for each element of the mask.
    if let Some(why) = too_large(client, 4 * n, 2) {
        return Outcome::LeftOut(why);
    }
    let mask: Vec<u8> = (0..n).map(|at| u8::from(at % 1000 == 999)).collect();
    let int = i32::elem_type_native();
    let (input, output) = (upload(client, &mask), client.empty(4 * n));
    let count = client.empty(4);
    let launched = compact(
        client,
        None,
        (flat(&input, n), u8::elem_type_native()),
        flat(&output, n),
        flat(&count, 1),
        int,
        Emit::IndicesUnpadded,
        LaunchOptions::default(),
    );
    if let Err(error) = launched {
        return Outcome::LeftOut(error.to_string());
    }
    let expected: Vec<i32> = (999..n as i64).step_by(1000).map(|at| at as i32).collect();
    let counted = record::exact(client, count, &[expected.len() as i32]);
    outcome(counted.or_else(|| record::exact(client, output, &expected)))
}

fn outcome(fault: Option<String>) -> Outcome {
    match fault {
        Some(fault) => Outcome::Wrong(fault),
        None => Outcome::Right(Default::default()),
    }
}
