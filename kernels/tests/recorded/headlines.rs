//! The kernels whose cycles the simulator counts: at their own tuning, on as much data as it runs in a minute.

use super::common::{View, flat, start_scan, upload};
use super::record::case;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::compact::{Emit, compact};
use cubecl_scan::scan::{LaunchOptions, ScanOptions};
use cubecl_scan::sort::{SortOptions, SortOutputs, sort};
use cubecl_scan::{ScanOp, reference};

/// The group of these cases; the command asks for them by it.
const GROUP: &str = "headline";

/// Zeros and ones, whose sums are exact.
fn bits(n: usize) -> Vec<u32> {
    (0..n as u64)
        .map(|i| ((i * 2_654_435_761) >> 13) as u32 & 1)
        .collect()
}

pub fn record(client: &Client) {
    scan(client, "sum of 2^18 f32", &[1 << 18]);
    scan(client, "sum of 2^20 f32", &[1 << 20]);
    scan(client, "columns of 2^10 x 2^10 f32", &[1 << 10, 1 << 10]);
    scan(client, "narrow columns of 2^17 x 8 f32", &[1 << 17, 8]);
    scan(client, "sum of 2^18 - 1 f32", &[(1 << 18) - 1]);
    for exponent in [18, 20] {
        let name = format!("compaction of 2^{exponent} f32 at 50 %");
        compaction(
            client,
            &format!("{name}, mask of u8"),
            1 << exponent,
            |bit| bit as u8,
        );
        compaction(
            client,
            &format!("{name}, mask of u32"),
            1 << exponent,
            |bit| bit,
        );
    }
    sort_keys(client, "sort of 2^18 u32", 1 << 18);
}

/// Keys alone.
fn sort_keys(client: &Client, name: &str, n: usize) {
    let keys: Vec<u32> = (0..n as u32)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect();
    let mut expected = keys.clone();
    expected.sort_unstable();
    case(client, GROUP, name, || {
        let (input, output) = (upload(client, &keys), client.empty(4 * n));
        let outputs = SortOutputs {
            keys: Some(flat(&output, n)),
            positions: None,
        };
        sort(
            client,
            (flat(&input, n), u32::elem_type_native()),
            outputs,
            [1, n],
            SortOptions::default(),
            LaunchOptions::default(),
        )
        .expect("supported");
        vec![(output, expected)]
    });
}

/// Along the first axis.
fn scan(client: &Client, name: &str, shape: &[usize]) {
    let view = View::contiguous(shape);
    let data: Vec<f32> = bits(view.elements())
        .iter()
        .map(|bit| *bit as f32)
        .collect();
    let (op, options) = (ScanOp::Sum, ScanOptions::default());
    case(client, GROUP, name, || {
        let launch = LaunchOptions::default();
        let output = start_scan(client, &data, &view, 0, op, options, launch);
        let expected = reference::scan(&data, shape, 0, op, options);
        vec![(output.expect("supported"), expected)]
    });
}

/// Burn has a mask of bytes on CUDA, and a mask of words through wgpu. CUB's `DeviceSelect::Flagged` takes a
/// mask of bytes.
fn compaction<M: CubeElement + Numeric>(
    client: &Client,
    name: &str,
    n: usize,
    element: impl Fn(u32) -> M,
) {
    let (mask, int) = (bits(n), i32::elem_type_native());
    let data: Vec<i32> = (1..=n as i32).collect();
    let kept = data.iter().zip(&mask).filter(|(_, bit)| **bit != 0);
    let mut expected: Vec<i32> = kept.map(|(value, _)| *value).collect();
    let count = expected.len() as i32;
    expected.resize(n, 0);
    let mask: Vec<M> = mask.into_iter().map(element).collect();
    case(client, GROUP, name, || {
        let (values, mask) = (upload(client, &data), upload(client, &mask));
        let (output, counted) = (client.empty(4 * n), client.empty(4));
        compact(
            client,
            Some((flat(&values, n), int)),
            (flat(&mask, n), M::elem_type_native()),
            flat(&output, n),
            flat(&counted, 1),
            int,
            Emit::Values,
            LaunchOptions::default(),
        )
        .expect("supported");
        vec![(output, expected), (counted, vec![count])]
    });
}
