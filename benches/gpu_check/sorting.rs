//! The stage of sorts: keys, keys with positions, rows of all lengths, a few bits, and the largest keys.
//!
//! The bytes of a line longer than a tile are those of its passes of eight bits: each reads and writes the keys, and all
//! but the first one read positions. Another read counts the digits. A shorter line, and the largest keys of a line, are
//! read and written once.

use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::scan::{LaunchOptions, RoutineKind, Strategy};
use cubecl_scan::sort::{SortOptions, SortOutputs, sort, top_k};
use scan_testing::kernels::{flat, upload};
use scan_testing::tensors::element::hash;

use crate::fast::{Bench, Prepared};

/// Lines up to this length fit a cube of any GPU that has planes.
const SHORT: usize = 4096;

pub fn run(client: &Client) {
    let mut bench = Bench::new(client);
    let own = ("", LaunchOptions::default());
    for power in [16, 20, 24] {
        bench.sort([1, 1 << power], 32, false, own);
        bench.sort([1, 1 << power], 32, true, own);
    }
    bench.sort([1, 1 << 24], 8, true, own);
    for shape in [[8, 151_936], [1 << 16, 64], [4096, 4096], [1 << 20, 4]] {
        bench.sort(shape, 32, true, own);
    }
    for shape in [[8, 151_936], [1, 1 << 24], [4096, 4096]] {
        bench.top_k(shape, 64);
    }
}

/// The ways to sort a long line.
pub fn tuning(client: &Client) {
    let mut bench = Bench::new(client);
    for (tuned, routine, keys) in [
        (", looking back", RoutineKind::SinglePass, None),
        (", looking back, 8 keys", RoutineKind::SinglePass, Some(8)),
        (", counted", RoutineKind::ReduceThenScan, None),
    ] {
        let launch = LaunchOptions {
            strategy: Strategy::Forced(routine),
            vectors: keys,
            ..LaunchOptions::default()
        };
        for power in [18, 20, 22, 24] {
            bench.sort([1, 1 << power], 32, false, (tuned, launch));
        }
        bench.sort([1, 1 << 24], 32, true, (tuned, launch));
        bench.sort([8, 151_936], 32, true, (tuned, launch));
    }
}

/// Keys without a pattern of a number of bits.
fn keys(n: usize, bits: u32) -> Vec<i32> {
    (0..n)
        .map(|at| (hash(at) as u32 >> (32 - bits)) as i32)
        .collect()
}

/// The keys of each line in order with their positions, and the first `kept` of each. The oracle of the tests takes seven
/// times as long for 2^24 keys, and a leased GPU would wait for it.
fn in_order(keys: &[i32], len: usize, kept: usize, is_descending: bool) -> [Vec<i32>; 2] {
    let mut sorted = Vec::new();
    let mut positions = Vec::new();
    for line in keys.chunks(len) {
        let rank = |key: i32| if is_descending { !key } else { key };
        let ranked = line.iter().enumerate();
        let mut order: Vec<(i32, u32)> = ranked.map(|(at, &key)| (rank(key), at as u32)).collect();
        order.sort_unstable();
        sorted.extend(order[..kept].iter().map(|(key, _)| rank(*key)));
        positions.extend(order[..kept].iter().map(|(_, at)| *at as i32));
    }
    [sorted, positions]
}

impl Bench<'_> {
    fn sort(
        &mut self,
        shape: [usize; 2],
        bits: u32,
        has_positions: bool,
        (tuned, launch): (&str, LaunchOptions),
    ) {
        let [lines, len] = shape;
        let n = lines * len;
        let what = if has_positions { "pairs" } else { "keys" };
        let name = format!("sort {what} i32 {lines}x{len} of {bits} bits{tuned}");
        let peer = match bits {
            8 => format!("partition/u32/{n}/keys256"),
            _ => format!("sort_{what}/i32/{lines}x{len}"),
        };
        let (passes, is_short) = ((bits / 8) as usize, len <= SHORT);
        let streams = match (is_short, has_positions) {
            (true, _) => 2 + usize::from(has_positions),
            (false, false) => 2 * passes + 1,
            (false, true) => 4 * passes,
        };
        self.case::<i32>(&name, (4 * n, 4 * n * streams), &peer, |client| {
            let keys = keys(n, bits);
            let [sorted, positions] = in_order(&keys, len, len, false);
            let input = upload(client, &keys);
            let [output, places] = [client.empty(4 * n), client.empty(4 * n)];
            let mut expected = vec![(output.clone(), sorted)];
            if has_positions {
                expected.push((places.clone(), positions));
            }
            let int = i32::elem_type_native();
            let options = SortOptions {
                bits: (bits < 32).then_some(bits),
                ..SortOptions::default()
            };
            let run = move |client: &Client| {
                let outputs = SortOutputs {
                    keys: Some(flat(&output, n)),
                    positions: has_positions.then(|| (flat(&places, n), int)),
                };
                let keys = (flat(&input, n), int);
                sort(client, keys, outputs, shape, options, launch)
            };
            Prepared::new(client, run, expected)
        });
    }

    /// The `k` largest of each line with their positions.
    fn top_k(&mut self, shape: [usize; 2], k: usize) {
        let [lines, len] = shape;
        let (n, kept) = (lines * len, lines * k);
        let name = format!("top {k} of i32 {lines}x{len}");
        let peer = format!("top_k/i32/{lines}x{len}/{k}");
        self.case::<i32>(&name, (4 * n, 4 * n), &peer, |client| {
            let keys = keys(n, 32);
            let [largest, positions] = in_order(&keys, len, k, true);
            let input = upload(client, &keys);
            let [output, places] = [client.empty(4 * kept), client.empty(4 * kept)];
            let expected = vec![(output.clone(), largest), (places.clone(), positions)];
            let int = i32::elem_type_native();
            let launch = move |client: &Client| {
                let outputs = SortOutputs {
                    keys: Some(flat(&output, kept)),
                    positions: Some((flat(&places, kept), int)),
                };
                let keys = (flat(&input, n), int);
                top_k(client, keys, outputs, shape, k, LaunchOptions::default())
            };
            Prepared::new(client, launch, expected)
        });
    }
}
