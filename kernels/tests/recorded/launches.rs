//! How many launches a scan takes, what it uploads, and what its words may take.

use super::compaction::record_lines;
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
    words_of_lines(client.clone(), planes);
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

/// Lines of one tile have no words: the first launch clears a ticket, and more lines need nothing else.
fn words_of_lines(mut client: Client, planes: Planes) {
    // SAFETY: the client is used here only.
    unsafe { client.set_stream(StreamId::allocate()) };
    let group = format!("compact: lines of one tile{}", planes.suffix());
    for (lines, launches) in [(9, 2), (700, 1)] {
        let [launched, _] = counts();
        let launch = LaunchOptions::default();
        record_lines(&client, &group, "own tuning", [lines, 40, 1], launch);
        assert_eq!(counts()[0] - launched, launches, "{lines} lines");
    }
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

/// Tiles of few columns have words for no more. Where the device cannot bind the words, here of tiles of one row, the scan
/// is refused. Columns of one tile need none.
fn words_beyond_a_binding(client: &Client) {
    let most = client.properties().memory.max_page_size as usize;
    let columns = 2;
    let rows = most / (columns * size_of::<i32>());
    let scanned = |shape: [usize; 3], [units, vectors]: [Option<usize>; 2]| {
        let [_, rows, columns] = shape;
        let elements = shape.iter().product::<usize>();
        let bytes = elements * size_of::<i32>();
        let tensor = |handle| TensorBinding {
            shape: shape.into(),
            strides: [rows * columns, columns, 1].into(),
            ..flat(&handle, elements)
        };
        let [input, output] = [0, 1].map(|_| tensor(client.empty(bytes)));
        let launch = LaunchOptions {
            batch_invariant: true,
            units,
            vectors,
            ..Default::default()
        };
        let (dtype, options) = (i32::elem_type_native(), ScanOptions::default());
        let answer = scan_with(
            client,
            input,
            output,
            1,
            dtype,
            ScanOp::Sum,
            options,
            launch,
        );
        client.flush().expect("nothing to fail");
        answer
    };
    super::record::compiled_only(|| {
        // A strip of 32 columns would have 768 bytes of words for 24 of elements.
        assert_eq!(scanned([most / 100, 2, 3], [None; 2]), Ok(()));
        assert_eq!(scanned([1, rows, columns], [None; 2]), Ok(()));
        let refused = scanned([1, rows, columns], [Some(32), Some(1)]);
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
