//! Sorts of lines against a stable sort on the host: every type of key, data of every kind, every length around tiles,
//! many lines.

#[path = "../common/mod.rs"]
mod common;

mod keys;

use common::*;
use cubecl_scan::scan::LaunchOptions;
use cubecl_scan::sort::{SortOptions, SortOrder};

/// A tile of 16 or 32 units × 3 keys.
fn small_tile() -> LaunchOptions {
    LaunchOptions {
        units: Some(16),
        vectors: Some(3),
        ..launch()
    }
}

fn ordered(order: SortOrder) -> SortForm {
    SortForm::Whole(SortOptions { order, bits: None })
}

const ORDERS: [SortOrder; 2] = [SortOrder::Ascending, SortOrder::Descending];
