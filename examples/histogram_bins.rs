//! Sorts numbers into the bins of a histogram: 128 of them bin by bin, then 4,194,304 in one call.
//!
//! A thread that knows its number's bin does not know where in that bin to write it. The exclusive prefix sum
//! of a flag "in this bin", 0 or 1 for each number, counts the numbers before it: that is the destination. The
//! first part does so for each bin on its own, with the numbers of a well-known exercise for GPU programmers (a
//! block-wide prefix sum in Mojo): number i is (i mod 80) / 100, and 8 bins divide 0 .. 1. `compact_by_mask` is
//! that prefix sum and the write.
//!
//! One pass per bin is too much when there are many bins. `partition_by_key` takes one pass over the numbers for every
//! four bits of the bin. Its offsets are the scan of the histogram:
//!
//! ```text
//! values            0.9  0.1  0.6  0.2        offsets      0  2  2  3  4
//! bins (of 4)         3    0    2    0        counts         2  0  1  1
//! grouped           0.1  0.2  0.6  0.9
//! ```
//!
//! ```text
//! cargo run --release --example histogram_bins [-- [--device flex|wgpu|vulkan|cuda|..] [--svg PATH]]
//! ```
//!
//! It checks each bin's numbers and their order against a loop on the host, and draws the large histogram, by
//! default as `target/plots/histogram_bins.svg`. The exit code is 0 if all results are right, 1 if any is not,
//! 2 if the run could not start.

use std::process::ExitCode;

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;
use common::Checks;
use common::arguments::Arguments;
use common::plot::{self, Marks, Plot, Series};
use common::random::Random;

const USAGE: &str = "histogram_bins [--device NAME] [--svg PATH]";

const SEED_VALUES: usize = 128;
const SEED_BINS: usize = 8;
const SEED_COUNTS: [usize; SEED_BINS] = [26, 24, 26, 22, 13, 12, 5, 0];

const VALUES: usize = 1 << 22;
const BINS: usize = 256;

fn main() -> ExitCode {
    common::run(USAGE, run)
}

/// Returns whether all results are right, or the reason why there are none.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let (device, description) = common::device::choose(arguments.device())?;
    println!("device: {description}");
    let mut checks = Checks::default();
    bin_by_bin(&device, &mut checks);
    let counts = all_at_once(&device, &mut checks);
    draw(&counts).save(&arguments.svg())?;
    if checks.passed() {
        println!(
            "{VALUES} numbers are in {BINS} bins, each in the bin and in the order that a loop on the host puts it."
        );
    }
    Ok(checks.passed())
}

/// The bins of values in 0 .. 1. A value of 1 lies past the last bin and belongs to it.
fn bins_of(values: Tensor<1>, bins: usize) -> Tensor<1, Int> {
    (values * bins as f32).int().clamp(0, bins as i64 - 1)
}

/// The same by a loop: the values of each bin, in order.
fn on_host(values: &[f32], bins: usize) -> Vec<Vec<f32>> {
    let mut groups = vec![Vec::new(); bins];
    for &value in values {
        let bin = (value * bins as f32) as usize;
        groups[bin.min(bins - 1)].push(value);
    }
    groups
}

fn bin_by_bin(device: &Device, checks: &mut Checks) {
    let host: Vec<f32> = (0..SEED_VALUES).map(|i| (i % 80) as f32 / 100.0).collect();
    let expected = on_host(&host, SEED_BINS);
    let extract = |host: &[f32], bin: usize| {
        let values = Tensor::<1>::from_data(host, device);
        let in_bin = bins_of(values.clone(), SEED_BINS).equal_elem(bin as i64);
        read(values.compact_by_mask(in_bin))
    };
    println!("{SEED_VALUES} values in {SEED_BINS} bins, bin by bin:");
    for (bin, expected) in expected.iter().enumerate() {
        let found = extract(&host, bin);
        let edges = [bin, bin + 1].map(|edge| edge as f32 / SEED_BINS as f32);
        let first: String = found
            .iter()
            .take(8)
            .map(|value| format!(" {value:.2}"))
            .collect();
        println!(
            "bin {bin} [{:.3}, {:.3}): {:2} elements:{first}{}",
            edges[0],
            edges[1],
            found.len(),
            if found.len() > 8 { " ..." } else { "" },
        );
        checks.check(
            &format!("the count of bin {bin}"),
            found.len() == SEED_COUNTS[bin],
        );
        checks.check(&format!("bin {bin}"), found == *expected);
    }
    let ones = extract(&[1.0; SEED_VALUES], SEED_BINS - 1);
    checks.check("values of 1 in the last bin", ones.len() == SEED_VALUES);
}

/// Groups all values in one call. Returns the counts of the bins.
fn all_at_once(device: &Device, checks: &mut Checks) -> Vec<i32> {
    let host = two_bells();
    let expected = on_host(&host, BINS);
    let values = Tensor::<1>::from_data(host.as_slice(), device);
    let bins = bins_of(values.clone(), BINS);

    let partition = || values.clone().partition_by_key(bins.clone(), BINS);
    let (grouped, offsets) = partition();
    let counts = offsets.clone().slice(1..) - offsets.slice(..BINS);
    let counts: Vec<i32> = counts.try_into_vec_as().expect("the device is read");
    let fullest = (0..BINS).max_by_key(|&bin| counts[bin]).unwrap_or_default();
    println!(
        "{VALUES} values in {BINS} bins, all at once: the fullest is bin {fullest} with {} values",
        counts[fullest]
    );
    let sizes = expected.iter().map(|group| group.len() as i32);
    checks.check("the counts", sizes.eq(counts.iter().copied()));
    checks.check("the groups", read(grouped) == expected.concat());

    let by_burn = || {
        let order = bins.clone().argsort(0);
        values.clone().select(0, order)
    };
    let way = "argsort of the bins, select; unstable, and without counts";
    common::timing::compare(device, "partition_by_key", partition, way, by_burn);
    counts
}

/// Values in 0 .. 1, most of them near 0.3 and 0.7.
fn two_bells() -> Vec<f32> {
    let mut random = Random::new(1);
    let mut value = || {
        let (center, width) = if random.uniform() < 0.6 {
            (0.3, 0.09)
        } else {
            (0.7, 0.06)
        };
        let value: f32 = center + width * random.normal();
        value.clamp(0.0, 1.0)
    };
    (0..VALUES).map(|_| value()).collect()
}

fn draw(counts: &[i32]) -> Plot {
    Plot {
        title: format!("{VALUES} values in {BINS} bins, by partition_by_key"),
        x: "value",
        y: "values in the bin",
        log_x: false,
        series: vec![Series {
            label: String::new(),
            color: plot::BLUE,
            marks: Marks::Bars(counts.iter().copied().map(f64::from).collect()),
        }],
    }
}

fn read(tensor: Tensor<1>) -> Vec<f32> {
    tensor.try_into_vec_as().expect("the device is read")
}
