//! Five programs that a kernel author may know from elsewhere, written with `cubecl-scan`. Each checks what it prints.
//! The process fails if a result is wrong.
//!
//! ```text
//! cargo run --release -p cubecl-scan --features wgpu --example seeds
//! ```
//!
//! `BURN_SCAN_FORCE_PLANE=1` uses plane operations on software adapters, which run them without advertising them.

#[path = "survey/algorithms/mod.rs"]
mod algorithms;
mod common;
#[path = "survey/kernels.rs"]
mod kernels;

use algorithms::{Algorithm, Config, cube_scan, scan_storage};
use common::arg;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::server::Handle;
use cubecl_scan::ScanOp;
use cubecl_scan::cube::*;
use cubecl_scan::scan::{LaunchOptions, RoutineKind, ScanOptions, Strategy, scan_with};
use kernels::tiles_kernel;
use scan_testing::kernels::{View, has_plane_ops, launch, tensor, upload};
use scan_testing::reference;
use std::process::ExitCode;

/// A seed prints what it found and returns whether that is as expected.
type Seed = fn(&Client) -> bool;

fn main() -> ExitCode {
    let client = cubecl::Device::default().client();
    let seeds: [(&str, Seed); 5] = [
        ("block exclusive sum", block_exclusive_sum),
        ("histogram binning", histogram_binning),
        ("Hillis-Steele", hillis_steele),
        ("block scope: algorithm and storage", block_scope),
        ("survey", survey),
    ];
    let mut failed = false;
    for (number, (name, seed)) in seeds.into_iter().enumerate() {
        println!("\n{}. {name}", number + 1);
        let passed = seed(&client);
        println!("   {}", if passed { "as expected" } else { "WRONG" });
        failed |= !passed;
    }
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn download<T: CubeElement>(client: &Client, handle: Handle) -> Vec<T> {
    common::download(client, handle).expect("the buffer can be read")
}

fn one_cube() -> CubeCount {
    CubeCount::Static(1, 1, 1)
}

/// The configuration of programs that leave the algorithm open.
fn default_config(client: &Client, units: usize) -> CubeScanConfig {
    CubeScanConfig::new(
        client,
        CubeScanAlgorithm::default_for(client),
        ScanOp::Sum,
        units,
    )
}

fn head_and_tail(values: &[i32]) -> String {
    format!("{:?} … {:?}", &values[..8], &values[values.len() - 3..])
}

// 1. One value per unit, exclusive sum across the cube.

#[cube(launch)]
fn sum_kernel(input: &[i32], output: &mut [i32], #[comptime] config: CubeScanConfig) {
    let mut storage = Shared::<[i32]>::new_slice(comptime!(cube_scan_storage(config)));
    let value = input[UNIT_POS as usize];
    let scan = cube_exclusive_scan::<i32>(value, 0i32, &mut storage, config);
    output[UNIT_POS as usize] = scan.value;
}

fn block_exclusive_sum(client: &Client) -> bool {
    [256, 1024].into_iter().all(|units| {
        let limit = client.properties().hardware.max_units_per_cube as usize;
        if units > limit {
            println!("   Unsupported: {units} units, this device has {limit} at most");
            return true;
        }
        let values: Vec<i32> = (1..=units as i32).collect();
        let (input, output) = (upload(client, &values), client.empty(4 * units));
        sum_kernel::launch(
            client,
            one_cube(),
            CubeDim::new_1d(units as u32),
            arg(&input, units),
            arg(&output, units),
            default_config(client, units),
        );
        let output: Vec<i32> = download(client, output);
        println!("   {units} units: {}", head_and_tail(&output));
        // The sum of 1 … i.
        output
            .iter()
            .zip(0..)
            .all(|(&found, i)| found == i * (i + 1) / 2)
    })
}

// 2. Values into bins, one kernel for each bin: the scan of the predicate is the destination of each value.

const VALUES: usize = 128;
const BINS: usize = 8;

#[cube(launch)]
fn bin_kernel(
    values: &[f32],
    binned: &mut [f32],
    count: &mut [u32],
    bin: u32,
    #[comptime] config: CubeScanConfig,
) {
    let mut storage = Shared::<[u32]>::new_slice(comptime!(cube_scan_storage(config)));
    let value = values[UNIT_POS as usize];
    let own = min(
        u32::cast_from(value * BINS as f32),
        comptime!(BINS as u32 - 1),
    );
    let belongs = u32::cast_from(own == bin);
    let place = cube_exclusive_scan::<u32>(belongs, 0u32, &mut storage, config);
    if belongs == 1 {
        binned[place.value as usize] = value;
    }
    if UNIT_POS == 0 {
        count[0] = place.aggregate;
    }
}

fn bin_values(client: &Client, values: &[f32]) -> Vec<Vec<f32>> {
    let input = upload(client, values);
    let config = default_config(client, VALUES);
    let bin = |bin: usize| {
        let (binned, count) = (client.empty(4 * VALUES), client.empty(4));
        bin_kernel::launch(
            client,
            one_cube(),
            CubeDim::new_1d(VALUES as u32),
            arg(&input, VALUES),
            arg(&binned, VALUES),
            arg(&count, 1),
            bin as u32,
            config,
        );
        let count = download::<u32>(client, count)[0] as usize;
        download(client, binned)[..count].to_vec()
    };
    (0..BINS).map(bin).collect()
}

fn histogram_binning(client: &Client) -> bool {
    let values: Vec<f32> = (0..VALUES).map(|i| (i % 80) as f32 / 100.0).collect();
    let bins = bin_values(client, &values);
    let counts: Vec<_> = bins.iter().map(Vec::len).collect();
    println!("   counts: {counts:?}");
    for (bin, values) in bins.iter().enumerate() {
        println!(
            "   bin {bin}: {:.2?}{}",
            &values[..values.len().min(6)],
            if values.len() > 6 { " …" } else { "" }
        );
    }
    let expected = |bin: usize| -> Vec<f32> {
        values
            .iter()
            .copied()
            .filter(|value| (value * BINS as f32) as usize == bin)
            .collect()
    };
    // A value of 1.0 lies past the last bin and is clamped into it.
    let ones = bin_values(client, &[1.0; VALUES]);
    println!(
        "   {VALUES} values of 1.0: {} in bin {}",
        ones[BINS - 1].len(),
        BINS - 1
    );
    counts == [26, 24, 26, 22, 13, 12, 5, 0]
        && bins
            .iter()
            .enumerate()
            .all(|(bin, values)| *values == expected(bin))
        && bins[6] == [0.75, 0.76, 0.77, 0.78, 0.79]
        && ones[BINS - 1].len() == VALUES
}

// 3. Hillis-Steele: log2 256 = 8 supersteps of two barriers. The library does not have it; the survey does.

/// Each cube scans as many values as it has units.
fn run_scan(client: &Client, input: &[i32], exclusive: bool, config: Config) -> Vec<i32> {
    let (n, output) = (input.len(), client.empty(size_of_val(input)));
    let units = config.cube.units;
    // SAFETY: the kernel guards by the number of elements, which both buffers hold; the cube is as large as the
    // configuration says.
    unsafe {
        tiles_kernel::launch_unchecked(
            client,
            CubeCount::Static(n.div_ceil(units) as u32, 1, 1),
            CubeDim::new_1d(units as u32),
            arg(&upload(client, input), n),
            arg(&output, n),
            n,
            exclusive,
            config,
        );
    }
    download(client, output)
}

fn hillis_steele(client: &Client) -> bool {
    let config = Config::new(client, Algorithm::HillisSteele, ScanOp::Sum, 256);
    let input: Vec<i32> = (0..256).map(|i| i % 7 - 2).collect();
    let output = run_scan(client, &input, false, config);
    println!("   {}", head_and_tail(&output));
    output == reference::scan(&input, &[256], 0, ScanOp::Sum, ScanOptions::default())
}

// 4. The algorithm is a parameter. The caller owns the storage, and puts a barrier between two uses of it.

#[cube(launch)]
fn two_scans_kernel(
    input: &[i32],
    sums: &mut [i32],
    maxima: &mut [i32],
    #[comptime] sum: Config,
    #[comptime] max: Config,
) {
    let mut storage = Shared::<[i32]>::new_slice(comptime!(scan_storage(sum)));
    let value = input[UNIT_POS as usize];
    let scan = cube_scan::<i32>(value, 0i32, &mut storage, false, sum);
    sums[UNIT_POS as usize] = scan.value;
    sync_cube();
    let scan = cube_scan::<i32>(value, i32::MIN, &mut storage, false, max);
    maxima[UNIT_POS as usize] = scan.value;
}

fn block_scope(client: &Client) -> bool {
    let n = 128;
    let values: Vec<i32> = (0..n as i32).map(|i| i * 37 % 101 - 50).collect();
    let input = upload(client, &values);
    let expected = |op| reference::scan(&values, &[n], 0, op, ScanOptions::default());
    supported(client).into_iter().all(|algorithm| {
        let (sums, maxima) = (client.empty(4 * n), client.empty(4 * n));
        let [sum, max] = [ScanOp::Sum, ScanOp::Max].map(|op| Config::new(client, algorithm, op, n));
        let buffers = (arg(&input, n), arg(&sums, n), arg(&maxima, n));
        let dim = CubeDim::new_1d(n as u32);
        two_scans_kernel::launch(
            client,
            one_cube(),
            dim,
            buffers.0,
            buffers.1,
            buffers.2,
            sum,
            max,
        );
        let (sums, maxima): (Vec<i32>, Vec<i32>) =
            (download(client, sums), download(client, maxima));
        println!(
            "   {:22} {:4} elements of storage, sum {}, maximum {}",
            algorithm.name(),
            scan_storage(sum),
            sums[n - 1],
            maxima[n - 1],
        );
        sums == expected(ScanOp::Sum) && maxima == expected(ScanOp::Max)
    })
}

/// The algorithms of the library and of the survey that the device runs.
fn supported(client: &Client) -> Vec<Algorithm> {
    let has_plane_ops = has_plane_ops(client);
    let (can, cannot): (Vec<_>, Vec<_>) =
        Algorithm::all().partition(|algorithm| has_plane_ops || !algorithm.needs_plane_ops());
    if !cannot.is_empty() {
        let names: Vec<String> = cannot.into_iter().map(Algorithm::name).collect();
        let names = names.join(", ");
        println!("   Unsupported: this device has no plane operations for [{names}]");
    }
    can
}

// 5. Every algorithm and routine, over powers of two and the sizes next to them.

fn survey(client: &Client) -> bool {
    let limit = client.properties().hardware.max_units_per_cube.min(1024) as usize;
    let cubes = supported(client).into_iter().map(|algorithm| {
        let sizes: Vec<usize> = sizes(10)
            .into_iter()
            .filter(|units| *units <= limit)
            .collect();
        let passed = sizes.iter().all(|&units| {
            let config = Config::new(client, algorithm, ScanOp::Sum, units);
            let input = uneven(3 * units);
            [false, true].into_iter().all(|exclusive| {
                let options = ScanOptions {
                    exclusive,
                    ..Default::default()
                };
                run_scan(client, &input, exclusive, config)
                    == reference::scan(&input, &[3, units], 1, ScanOp::Sum, options)
            })
        });
        report(&algorithm.name(), sizes.len(), passed)
    });
    let routines = RoutineKind::ALL.into_iter().map(|routine| {
        let served: Vec<bool> = sizes(20)
            .into_iter()
            .filter_map(|n| run_routine(client, routine, n))
            .collect();
        let passed = !served.is_empty() && served.iter().all(|&passed| passed);
        report(&format!("{routine:?}"), served.len(), passed)
    });
    // Collected first, so that all of them run.
    let results: Vec<bool> = cubes.chain(routines).collect();
    results.into_iter().all(|passed| passed)
}

/// The powers of two up to 2^`log`, and the sizes next to them.
fn sizes(log: u32) -> Vec<usize> {
    let near = (0..=log).flat_map(|log| [(1 << log) - 1, 1 << log, (1 << log) + 1]);
    let mut sizes: Vec<usize> = near.filter(|size| *size > 0).collect();
    sizes.sort();
    sizes.dedup();
    sizes
}

/// No two neighbours are equal, so that a lost or doubled carry shows.
fn uneven(n: usize) -> Vec<i32> {
    (0..n as u32)
        .map(|i| ((i.wrapping_mul(2_654_435_761) >> 20) as i32) - 2_048)
        .collect()
}

fn report(name: &str, sizes: usize, passed: bool) -> bool {
    println!(
        "   {name:22} {sizes:3} sizes {}",
        if passed { "valid" } else { "WRONG" }
    );
    passed
}

/// Whether a device-level scan of `n` elements is right, or `None` if the routine refuses the problem.
fn run_routine(client: &Client, routine: RoutineKind, n: usize) -> Option<bool> {
    // Columns are dimensions after the axis.
    let (shape, axis) = match routine {
        RoutineKind::Columns | RoutineKind::ColumnTiles => (vec![n.div_ceil(3), 3], 0),
        _ => (vec![n], 0),
    };
    let input = uneven(shape.iter().product());
    let output = client.empty(size_of_val(input.as_slice()));
    let launch = LaunchOptions {
        strategy: Strategy::Forced(routine),
        ..launch()
    };
    let view = View::contiguous(&shape);
    let (from, to) = (
        tensor(upload(client, &input), &view),
        tensor(output.clone(), &view),
    );
    let dtype: ElemType = i32::elem_type_native();
    let options = ScanOptions::default();
    scan_with(client, from, to, axis, dtype, ScanOp::Sum, options, launch).ok()?;
    let expected = reference::scan(&input, &shape, axis, ScanOp::Sum, options);
    Some(download::<i32>(client, output)[..input.len()] == expected)
}
