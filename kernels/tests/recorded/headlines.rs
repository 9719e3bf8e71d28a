//! The kernels whose cycles the simulator counts: at their own tuning, on as much data as it runs in a minute.

use super::operators::recurrence;
use super::record::case;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::ScanOp;
use cubecl_scan::compact::{Emit, compact};
use cubecl_scan::monoid::LogSumExp;
use cubecl_scan::scan::{LaunchOptions, ScanOptions, ScanTensors, scan_operator};
use cubecl_scan::sort::{SortOptions, SortOutputs, sort};
use scan_testing::kernels::{View, flat, start_scan, tensor, upload};
use scan_testing::reference;

/// The group of these cases; the command asks for them by it.
const GROUP: &str = "headline";

/// Zeros and ones, whose sums are exact.
fn one_in_two(i: usize) -> u32 {
    spread(i) & 1
}

fn one_in_a_hundred(i: usize) -> u32 {
    u32::from(spread(i) % 100 == 0)
}

fn spread(i: usize) -> u32 {
    ((i as u64 * 2_654_435_761) >> 13) as u32
}

pub fn record(client: &Client) {
    let own = LaunchOptions::default();
    let planeless = LaunchOptions {
        plane: Some(false),
        ..own
    };
    let batch_invariant = LaunchOptions {
        batch_invariant: true,
        ..own
    };
    for (exponent, n) in [(18, 1 << 18), (20, 1 << 20)] {
        scan(client, &format!("sum of 2^{exponent} f32"), &[n], own);
    }
    scan(client, "sum of 2^18 - 1 f32", &[(1 << 18) - 1], own);
    let name = "sum of 2^18 f32 without plane operations";
    scan(client, name, &[1 << 18], planeless);
    for shape in [
        [64, 4096],
        [1024, 256],
        [16_384, 16],
        [32, 8191],
        [2_731, 96],
    ] {
        rows(client, &format!("rows of {shape:?} f32"), shape, own);
    }
    let name = "rows of [2731, 96] f32, batch-invariant";
    rows(client, name, [2_731, 96], batch_invariant);
    for shape in [[1 << 10, 1 << 10], [1 << 17, 8]] {
        let name = format!("columns of {shape:?} f32");
        scan(client, &name, &shape, own);
        scan(
            client,
            &format!("{name}, batch-invariant"),
            &shape,
            batch_invariant,
        );
    }
    for shape in [[1, 1 << 18, 1], [64, 4096, 1]] {
        recurrence(
            client,
            GROUP,
            &format!("recurrences of {shape:?} f32"),
            shape,
        );
    }
    log_sum_exp(client, "log-sum-exp of 2^18 f32", 1 << 18);
    for exponent in [18, 20] {
        for (percent, kept) in [(1, one_in_a_hundred as fn(usize) -> u32), (50, one_in_two)] {
            let name = format!("compaction of 2^{exponent} f32 at {percent} %");
            let mask: Vec<u32> = (0..1 << exponent).map(kept).collect();
            compaction(client, &format!("{name}, mask of u8"), &mask, |bit| {
                bit as u8
            });
            compaction(client, &format!("{name}, mask of u32"), &mask, |bit| bit);
        }
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
fn scan(client: &Client, name: &str, shape: &[usize], launch: LaunchOptions) {
    sum(client, name, shape, 0, launch);
}

fn rows(client: &Client, name: &str, shape: [usize; 2], launch: LaunchOptions) {
    sum(client, name, &shape, 1, launch);
}

fn sum(client: &Client, name: &str, shape: &[usize], axis: usize, launch: LaunchOptions) {
    let view = View::contiguous(shape);
    let elements = 0..view.elements();
    let data: Vec<f32> = elements.map(|i| one_in_two(i) as f32).collect();
    let (op, options) = (ScanOp::Sum, ScanOptions::default());
    case(client, GROUP, name, || {
        let output = start_scan(client, &data, &view, axis, op, options, launch);
        let expected = reference::scan(&data, shape, axis, op, options);
        vec![(output.expect("supported"), expected)]
    });
}

/// One element counts, so that every result is exact. What the elements are does not change the time.
fn log_sum_exp(client: &Client, name: &str, n: usize) {
    let view = View::contiguous(&[n]);
    let mut data = vec![f32::NEG_INFINITY; n];
    data[0] = 5.;
    case(client, GROUP, name, || {
        let (input, output) = (upload(client, &data), client.empty(4 * n));
        let tensors = ScanTensors::new(
            vec![tensor(input, &view)],
            vec![tensor(output.clone(), &view)],
            0,
            f32::elem_type_native(),
        );
        let (options, launch) = (ScanOptions::default(), LaunchOptions::default());
        scan_operator::<LogSumExp>(client, tensors, (), options, launch).expect("supported");
        vec![(output, vec![5f32; n])]
    });
}

/// Burn has a mask of bytes on CUDA, and a mask of words through wgpu. CUB's `DeviceSelect::Flagged` takes a
/// mask of bytes.
fn compaction<M: CubeElement + Numeric>(
    client: &Client,
    name: &str,
    mask: &[u32],
    element: impl Fn(u32) -> M,
) {
    let (n, int) = (mask.len(), i32::elem_type_native());
    let data: Vec<i32> = (1..=n as i32).collect();
    let kept = data.iter().zip(mask).filter(|(_, bit)| **bit != 0);
    let mut expected: Vec<i32> = kept.map(|(value, _)| *value).collect();
    let count = expected.len() as i32;
    expected.resize(n, 0);
    let mask: Vec<M> = mask.iter().copied().map(element).collect();
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
