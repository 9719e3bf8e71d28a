//! The stage of speed: the headline cases, each with its bandwidth and that of a copy of the same bytes.
//!
//! Answers are checked before they are timed. The inputs are small integers, whose sums are exact.

use std::collections::HashMap;

use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::server::Handle;
use cubecl_scan::compact::{Emit, compact, partition, partition_ranks};
use cubecl_scan::monoid::LinearRecurrence;
use cubecl_scan::scan::{LaunchOptions, ScanOptions, ScanTensors, scan_operator, scan_with};
use cubecl_scan::{ScanError, ScanOp};
use half::f16;
use scan_testing::kernels::{View, encoded, flat, grouped, holds, mixed, tensor, upload, values};
use scan_testing::reference;
use serde_json::json;

use crate::record;
use crate::stage::{self, Outcome};
use crate::timed::{Timed, copy_us, too_large};

/// The times of copies, by their bytes.
pub struct Bench<'a> {
    client: &'a Client,
    copies: HashMap<usize, f64>,
}

pub fn run(client: &Client) {
    let mut bench = Bench::new(client);
    for power in [20, 24, 28] {
        bench.sum::<f32>([1, 1 << power], 1, |value| value as f32);
    }
    for shape in [[4096, 4096], [65_536, 256], [84, 50_257], [1 << 20, 16]] {
        bench.sum::<f32>(shape, 1, |value| value as f32);
    }
    for shape in [[4096, 4096], [1 << 20, 8]] {
        bench.sum::<f32>(shape, 0, |value| value as f32);
    }
    for power in [24, 28] {
        bench.compaction(1 << power, 1);
        bench.compaction(1 << power, 50);
    }
    for power in [24, 28] {
        bench.sum::<f16>([1, 1 << power], 1, |value| f16::from_f32(value as f32));
        bench.sum::<i64>([1, 1 << power], 1, i64::from);
    }
    let own = ("", LaunchOptions::default());
    bench.recurrence([64, 1 << 18], 1, own);
    bench.recurrence([1 << 18, 64], 0, own);
    bench.partition(1 << 24, 256, true);
    bench.partition(1 << 24, 256, false);
    bench.run_lengths(1 << 24, Emit::ValuesUnpadded);
    bench.run_lengths(1 << 24, Emit::Values);
}

impl<'a> Bench<'a> {
    pub fn new(client: &'a Client) -> Self {
        Self {
            client,
            copies: HashMap::new(),
        }
    }

    /// Checks and times a case. `prepare` makes buffers, and returns the launch and what it must leave in them.
    pub fn case<T: CubeElement>(
        &mut self,
        name: &str,
        (largest, bytes): (usize, usize),
        peer: &str,
        prepare: impl FnOnce(&Client) -> Prepared<T>,
    ) {
        let client = self.client;
        let copies = &mut self.copies;
        stage::case(name, || {
            if let Some(why) = too_large(client, largest, 2) {
                return Outcome::LeftOut(why);
            }
            let Prepared { launch, expected } = prepare(client);
            if let Err(error) = launch() {
                return Outcome::LeftOut(error.to_string());
            }
            for (handle, expected) in expected {
                if let Some(wrong) = record::exact(client, handle, &expected) {
                    return Outcome::Wrong(wrong);
                }
            }
            let timed = Timed::of(client, || launch().expect("launched before"));
            drop(launch);
            let copy = *copies
                .entry(bytes)
                .or_insert_with(|| copy_us(client, bytes));
            let mut figures = timed.figures(bytes);
            figures.insert("copy_us".into(), json!(copy));
            figures.insert("peer".into(), json!(peer));
            Outcome::Right(figures)
        });
    }

    fn sum<T>(&mut self, shape: [usize; 2], axis: usize, from: fn(i32) -> T)
    where
        T: CubeElement + Numeric + reference::Scalar,
    {
        self.sum_with(shape, axis, from, ("", LaunchOptions::default()));
    }

    pub fn sum_with<T>(
        &mut self,
        shape: [usize; 2],
        axis: usize,
        from: fn(i32) -> T,
        (tuned, tuning): (&str, LaunchOptions),
    ) where
        T: CubeElement + Numeric + reference::Scalar,
    {
        if !holds::<T>(self.client) {
            return;
        }
        let n = shape[0] * shape[1];
        let dtype = std::any::type_name::<T>().rsplit("::").next().unwrap_or("");
        let name = format!("cumsum {dtype} {}x{} dim{axis}{tuned}", shape[0], shape[1]);
        let bytes = n * size_of::<T>();
        let peer = format!("cumsum/{dtype}/{}x{}/dim{axis}", shape[0], shape[1]);
        self.case::<T>(&name, (bytes, 2 * bytes), &peer, |client| {
            let data: Vec<T> = values(n, ScanOp::Sum).into_iter().map(from).collect();
            let options = ScanOptions::default();
            let expected = reference::scan(&data, &shape, axis, ScanOp::Sum, options);
            let (input, output) = (upload(client, &data), client.empty(bytes));
            let (view, result) = (View::contiguous(&shape), output.clone());
            let launch = move |client: &Client| {
                let (from, to) = (tensor(input.clone(), &view), tensor(result.clone(), &view));
                scan_with(
                    client,
                    from,
                    to,
                    axis,
                    T::elem_type_native(),
                    ScanOp::Sum,
                    options,
                    tuning,
                )
            };
            Prepared::new(client, launch, vec![(output, expected)])
        });
    }

    /// Of f32, with a mask of bytes where the device has them.
    fn compaction(&mut self, n: usize, percent: usize) {
        let has_bytes = self
            .client
            .properties()
            .supports_type(u8::elem_type_native());
        let (flag, flag_bytes) = if has_bytes {
            (u8::elem_type_native(), 1)
        } else {
            (u32::elem_type_native(), 4)
        };
        let name = format!("compact f32 1x{n} {percent} % kept, mask of {flag:?}");
        let keep = move |at: usize| mixed(at) as usize % 100 < percent;
        let kept = n * percent / 100;
        let bytes = n * (4 + flag_bytes) + 4 * kept;
        let peer = format!("compact/f32/1x{n}/density{}", percent as f64 / 100.);
        self.case::<i32>(&name, (4 * n, bytes), &peer, |client| {
            let data = values(n, ScanOp::Sum);
            let mask: Vec<bool> = (0..n).map(keep).collect();
            let expected = reference::compact(&data, &mask);
            let count = vec![expected.len() as i32];
            let mask = upload_mask(client, &mask, has_bytes);
            let (input, output) = (upload(client, &data), client.empty(4 * n));
            let counted = client.empty(4);
            let buffers = (output.clone(), counted.clone());
            let float = f32::elem_type_native();
            let launch = move |client: &Client| {
                compact(
                    client,
                    Some((flat(&input, n), float)),
                    (flat(&mask, n), flag),
                    flat(&buffers.0, n),
                    flat(&buffers.1, 1),
                    i32::elem_type_native(),
                    Emit::ValuesUnpadded,
                    LaunchOptions::default(),
                )
            };
            Prepared::new(client, launch, vec![(output, expected), (counted, count)])
        });
    }

    /// Of f32, decays 0 and ±1.
    pub fn recurrence(
        &mut self,
        shape: [usize; 2],
        axis: usize,
        (tuned, launch): (&str, LaunchOptions),
    ) {
        let n = shape[0] * shape[1];
        let [rows, columns] = shape;
        let name = format!("linear recurrence f32 {rows}x{columns} dim{axis}{tuned}");
        self.case::<f32>(&name, (4 * n, 12 * n), "", |client| {
            let all = values(2 * n, ScanOp::Sum);
            let (data, decay) = all.split_at(n);
            let data: Vec<f32> = data.iter().map(|&value| value as f32).collect();
            let decay: Vec<f32> = decay.iter().map(|&value| (value % 2) as f32).collect();
            let expected = recurrence(&data, &decay, shape, axis);
            let inputs = [upload(client, &data), upload(client, &decay)];
            let output = client.empty(4 * n);
            let (view, result) = (View::contiguous(&shape), output.clone());
            let launch = move |client: &Client| {
                let inputs = inputs.iter().map(|it| tensor(it.clone(), &view)).collect();
                let outputs = vec![tensor(result.clone(), &view)];
                let tensors = ScanTensors::new(inputs, outputs, axis, f32::elem_type_native());
                let options = ScanOptions::default();
                scan_operator::<LinearRecurrence>(client, tensors, (), options, launch)
            };
            Prepared::new(client, launch, vec![(output, expected)])
        });
    }

    /// Destinations and offsets, and the move of f32 values.
    fn partition(&mut self, n: usize, num_keys: usize, moves: bool) {
        let what = if moves { "" } else { ", destinations alone" };
        let name = format!("partition f32 1x{n} by {num_keys} keys{what}");
        let (peer, bytes) = if moves {
            (format!("partition/u32/{n}/keys{num_keys}"), 12 * n)
        } else {
            (String::new(), 8 * n)
        };
        self.case::<i32>(&name, (4 * n, bytes), &peer, |client| {
            let keys: Vec<i32> = (0..n)
                .map(|at| (mixed(at) as usize % num_keys) as i32)
                .collect();
            let data: Vec<i32> = (0..n as i32).collect();
            let (places, offsets) = grouped(&keys, num_keys);
            let mut expected = vec![0; n];
            for (value, &place) in data.iter().zip(&places) {
                expected[place as usize] = *value;
            }
            let int: ElemType = i32::elem_type_native();
            let (keys, input) = (upload(client, &keys), upload(client, &data));
            let output = client.empty(4 * n);
            let starts = client.empty(4 * (num_keys + 1));
            let written = if moves { expected } else { places };
            let expected = vec![(output.clone(), written), (starts.clone(), offsets)];
            let launch = move |client: &Client| {
                let (all, launch) = ((flat(&keys, n), int), LaunchOptions::default());
                let (to, ends) = (flat(&output, n), flat(&starts, num_keys + 1));
                if moves {
                    let values = (flat(&input, n), int);
                    partition(client, all, values, to, (ends, int), num_keys, launch)
                } else {
                    partition_ranks(client, all, to, ends, num_keys, int, launch)
                }
            };
            Prepared::new(client, launch, expected)
        });
    }

    /// With zeros after the runs, or without, as CUB leaves them.
    fn run_lengths(&mut self, n: usize, emit: Emit) {
        let (padded, peer, bytes) = match emit {
            Emit::Values => (", padded", String::new(), 12 * n),
            _ => ("", format!("run_lengths/i32/{n}"), 4 * n),
        };
        let name = format!("run lengths i32 1x{n}{padded}");
        self.case::<i32>(&name, (4 * n, bytes), &peer, |client| {
            let data: Vec<i32> = (0..n).map(|at| (mixed(at / 5) % 3) as i32).collect();
            let (mut values, mut lengths, count) = encoded(&data);
            let input = upload(client, &data);
            let [output, counts] = [client.empty(4 * n), client.empty(4 * n)];
            let counted = client.empty(4);
            let buffers = [output.clone(), counts.clone(), counted.clone()];
            let int = i32::elem_type_native();
            let launch = move |client: &Client| {
                cubecl_scan::compact::run_lengths(
                    client,
                    (flat(&input, n), int),
                    flat(&buffers[0], n),
                    flat(&buffers[1], n),
                    flat(&buffers[2], 1),
                    int,
                    emit,
                    LaunchOptions::default(),
                )
            };
            if emit == Emit::ValuesUnpadded {
                values.truncate(count as usize);
                lengths.truncate(count as usize);
            }
            let expected = vec![(output, values), (counts, lengths), (counted, vec![count])];
            Prepared::new(client, launch, expected)
        });
    }
}

/// A launch, and the buffers that it must leave.
pub struct Prepared<'a, T> {
    launch: Box<dyn Fn() -> Result<(), ScanError> + Sync + 'a>,
    expected: Vec<(Handle, Vec<T>)>,
}

impl<'a, T> Prepared<'a, T> {
    pub fn new(
        client: &'a Client,
        launch: impl Fn(&Client) -> Result<(), ScanError> + Sync + 'a,
        expected: Vec<(Handle, Vec<T>)>,
    ) -> Self {
        Self {
            launch: Box::new(move || launch(client)),
            expected,
        }
    }
}

/// `h[t] = decay[t]·h[t−1] + x[t]` along an axis.
fn recurrence(data: &[f32], decay: &[f32], shape: [usize; 2], axis: usize) -> Vec<f32> {
    let step = if axis == 0 { shape[1] } else { 1 };
    let mut output = data.to_vec();
    for at in 0..data.len() {
        if at / step % shape[axis] > 0 {
            output[at] = decay[at] * output[at - step] + data[at];
        }
    }
    output
}

fn upload_mask(client: &Client, mask: &[bool], as_bytes: bool) -> Handle {
    if as_bytes {
        upload(
            client,
            &mask.iter().map(|&flag| u8::from(flag)).collect::<Vec<_>>(),
        )
    } else {
        upload(
            client,
            &mask.iter().map(|&flag| u32::from(flag)).collect::<Vec<_>>(),
        )
    }
}
