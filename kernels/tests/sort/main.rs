//! Sorts of lines against a stable sort on the host: every type of key, data of every kind, every length around tiles,
//! many lines.

mod keys;
mod largest;
mod lines;
mod refusals;

use cubecl::client::Client;
use cubecl_scan::scan::{LaunchOptions, RoutineKind, Strategy};
use cubecl_scan::sort::{SortOptions, SortOrder};
use cubecl_scan::testing::tile_shape;
use scan_testing::kernels::*;

/// A tile of 16 or 32 units × 3 keys.
fn small_tile() -> LaunchOptions {
    LaunchOptions {
        units: Some(16),
        vectors: Some(3),
        ..launch()
    }
}

/// At the device's own tuning, in passes even where each key could be compared with all keys of its line.
fn in_passes() -> LaunchOptions {
    LaunchOptions {
        strategy: Strategy::Forced(RoutineKind::SingleCube),
        ..launch()
    }
}

fn small_tile_keys(client: &Client) -> usize {
    3 * tile_shape(client, &small_tile()).1
}

fn ordered(order: SortOrder) -> SortForm {
    SortForm::Whole(SortOptions { order, bits: None })
}

const ORDERS: [SortOrder; 2] = [SortOrder::Ascending, SortOrder::Descending];
