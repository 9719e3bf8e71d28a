//! How many launches a scan takes, what it uploads, and what its words may take.

use super::planes::Planes;
use super::scans::Call;
use cubecl::client::Client;
use cubecl::dry_run::DryRun;
use cubecl::prelude::*;
use cubecl_environment::stream::StreamId;
use cubecl_scan::scan::{LaunchOptions, RoutineKind, ScanOptions, Strategy, scan_with};
use cubecl_scan::testing::tile_shape;
use cubecl_scan::{ScanError, ScanOp};
use scan_testing::kernels::{View, flat, start_scan};

pub fn record(client: &Client, planes: Planes) {
    rows_of_one_tile(client, planes);
    words_of_a_stream(client.clone(), planes);
    words_beyond_a_binding(client);
}

/// Rows of at most one tile take one launch, however many they are.
fn rows_of_one_tile(client: &Client, planes: Planes) {
    let (_, units, vectors) = tile_shape(client, &LaunchOptions::default());
    let tile = 4 * units * vectors;
    for shape in [[1, 1], [1, 1000], [1, tile], [9, 1023], [9, tile]] {
        let [before, _] = counts();
        let call = Call {
            client,
            group: format!("scan: one tile{}", planes.suffix()),
            view: View::contiguous(&shape),
            axis: 1,
            launch: LaunchOptions::default(),
        };
        call.record::<i32>(ScanOp::Sum, ScanOptions::default(), |value| value);
        let [launched, _] = counts();
        assert_eq!(launched - before, 1, "launches of {shape:?}");
    }
}

/// The first scan of a stream whose tiles look back clears their words on the device: all that it uploads is its input.
fn words_of_a_stream(mut client: Client, planes: Planes) {
    // SAFETY: the client is used here only.
    unsafe { client.set_stream(StreamId::allocate()) };
    let shape = [3000, 8];
    for launches in [2, 1] {
        let [launched, uploaded] = counts();
        let call = Call {
            client: &client,
            group: format!("scan: new words{}", planes.suffix()),
            view: View::contiguous(&shape),
            axis: 0,
            launch: forced(),
        };
        call.record::<i32>(ScanOp::Sum, ScanOptions::default(), |value| value);
        let input = shape.iter().product::<usize>() * size_of::<i32>();
        assert_eq!(counts(), [launched + launches, uploaded + input]);
    }
    // SAFETY: as above.
    unsafe { client.set_stream(StreamId::allocate()) };
    let [launched, _] = counts();
    let dry_run = DryRun::new();
    let (view, launch) = (View::contiguous(&shape), forced());
    let options = ScanOptions::default();
    start_scan(
        &client,
        &[1i32; 24_000],
        &view,
        0,
        ScanOp::Sum,
        options,
        launch,
    )
    .expect("supported");
    client.flush().expect("nothing to fail");
    drop(dry_run);
    assert_eq!(
        counts()[0] - launched,
        1,
        "only the words are cleared in a dry run"
    );
}

fn forced() -> LaunchOptions {
    LaunchOptions {
        strategy: Strategy::Forced(RoutineKind::ColumnTiles),
        ..Default::default()
    }
}

/// The launches so far, and the bytes uploaded.
fn counts() -> [usize; 2] {
    let record = super::record::record();
    [record.launches(), record.uploaded()]
}

/// Tiles of few columns have words for more. Where the device cannot bind them, the scan is refused.
fn words_beyond_a_binding(client: &Client) {
    let most = client.properties().memory.max_page_size as usize;
    let columns = 2;
    let rows = most / (columns * size_of::<i32>());
    super::record::compiled_only(|| {
        let column = |handle| TensorBinding {
            shape: [rows, columns].into(),
            strides: [columns, 1].into(),
            ..flat(&handle, rows * columns)
        };
        let [input, output] = [0, 1].map(|_| column(client.empty(most)));
        let launch = LaunchOptions {
            batch_invariant: true,
            ..Default::default()
        };
        let (dtype, options) = (i32::elem_type_native(), ScanOptions::default());
        let refused = scan_with(
            client,
            input,
            output,
            0,
            dtype,
            ScanOp::Sum,
            options,
            launch,
        );
        client.flush().expect("nothing to fail");
        let Err(ScanError::Refused { routine, reason }) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(routine, RoutineKind::ColumnTiles);
        assert!(
            reason.ends_with(&format!("the device binds {most} at most")),
            "{reason}"
        );
    });
}
