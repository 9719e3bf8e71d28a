//! The bits of float scans, recorded for each class of device, so that an accidental change of the order of
//! additions is noticed.
//!
//! The order depends on the shape of a tile and, where planes scan, on the driver: these two make a class. The
//! file of a class holds a hash of the bits of each scan. `BURN_SCAN_RECORD_GOLDEN=1` records instead of
//! comparing.

use super::*;
use cubecl::client::Client;
use cubecl_scan::testing::tile_shape;
use scan_testing::digest;
use std::fmt::Write;
use std::path::Path;

/// Shapes that lead to every routine at the device's own tuning, or force one.
const SHAPES: [(&[usize], usize, Strategy); 13] = [
    (&[100_003], 0, Strategy::Inferred),
    (&[3, 20_000], 1, Strategy::Inferred),
    (&[500, 7], 1, Strategy::Inferred),
    (&[40, 900], 1, Strategy::Inferred),
    (&[9, 3001], 1, Strategy::Inferred),
    (&[300, 64], 0, Strategy::Inferred),
    (&[20_000, 3], 0, Strategy::Inferred),
    (&[4, 700, 5], 1, Strategy::Inferred),
    (&[100_003], 0, Strategy::Forced(RoutineKind::ReduceThenScan)),
    (&[100_003], 0, Strategy::Forced(RoutineKind::SinglePass)),
    (&[900, 150], 0, Strategy::Forced(RoutineKind::ColumnTiles)),
    (&[40, 900], 1, Strategy::Forced(RoutineKind::SingleCube)),
    (&[500, 7], 1, Strategy::Forced(RoutineKind::SingleCube)),
];

fn class(client: &Client, launch: &LaunchOptions) -> String {
    let (class, units, vectors) = tile_shape(client, launch);
    let lanes = client.io_optimized_vector_sizes(size_of::<f32>()).max();
    let tile = format!("{units}x{vectors}x{}", lanes.expect("at least 1"));
    if class == "planes" {
        let runtime = client.name().replace(|c: char| !c.is_alphanumeric(), "-");
        let size = client.properties().hardware.plane_size_min;
        format!("{runtime}-planes-of-{size}-{tile}")
    } else {
        format!("{class}-{tile}")
    }
}

/// A line for each scan.
fn record(client: &Client) -> String {
    let mut lines = String::new();
    for (shape, axis, strategy) in SHAPES {
        let view = View::contiguous(shape);
        let sums = all_options().map(|options| (ScanOp::Sum, options));
        for (op, options) in sums.into_iter().chain([(ScanOp::Prod, all_options()[0])]) {
            let mut data = uneven(view.elements());
            if op == ScanOp::Prod {
                // Near 1, so that no product leaves the range of f32.
                data.iter_mut()
                    .for_each(|value| *value = 1.0 + *value / 65_536.0);
            }
            let launch = LaunchOptions {
                strategy,
                ..launch()
            };
            let found = device_scan(client, &data, &view, axis, op, options, launch);
            let hash = digest(&found.expect("supported"));
            writeln!(
                lines,
                "{hash:016x} {op:?} of {shape:?} along {axis}, {strategy:?}, exclusive {}, reverse {}",
                options.exclusive, options.reverse
            )
            .expect("a string");
        }
    }
    lines
}

#[test]
fn bits_are_those_that_were_recorded() {
    let client = client();
    let class = class(&client, &launch());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let file = folder.join(format!("{class}.txt"));
    if std::env::var("BURN_SCAN_RECORD_GOLDEN").is_ok_and(|value| value == "1") {
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        std::fs::write(&file, record(&client)).expect("the file can be written");
        println!("recorded {class}");
        return;
    }
    let Ok(golden) = std::fs::read_to_string(&file) else {
        unsupported(&format!(
            "no golden file for {class}; BURN_SCAN_RECORD_GOLDEN=1 records one"
        ));
        return;
    };
    let found = record(&client);
    let changed: Vec<_> = found
        .lines()
        .zip(golden.lines())
        .filter(|(found, golden)| found != golden)
        .map(|(found, _)| found)
        .collect();
    assert!(
        changed.is_empty() && found.lines().count() == golden.lines().count(),
        "{} of {} scans have other bits than recorded for {class}:\n{}",
        changed.len(),
        golden.lines().count(),
        changed.join("\n")
    );
}
