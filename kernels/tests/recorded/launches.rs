//! How many launches a scan takes.

use super::planes::Planes;
use super::scans::Call;
use cubecl::client::Client;
use cubecl_scan::ScanOp;
use cubecl_scan::scan::{LaunchOptions, ScanOptions};
use cubecl_scan::testing::tile_shape;
use scan_testing::kernels::View;

/// Rows of at most one tile take one launch, however many they are.
pub fn record(client: &Client, planes: Planes) {
    let (_, units, vectors) = tile_shape(client, &LaunchOptions::default());
    let tile = 4 * units * vectors;
    for shape in [[1, 1], [1, 1000], [1, tile], [9, 1023], [9, tile]] {
        let before = super::record::record().launches();
        let call = Call {
            client,
            group: format!("scan: one tile{}", planes.suffix()),
            view: View::contiguous(&shape),
            axis: 1,
            launch: LaunchOptions::default(),
        };
        call.record::<i32>(ScanOp::Sum, ScanOptions::default(), |value| value);
        let launches = super::record::record().launches() - before;
        assert_eq!(launches, 1, "launches of {shape:?}");
    }
}
