//! Sorts of lines and their largest keys.

use crate::{offsets, with_guarded_scratch};
use cubecl_scan::scan::{LaunchOptions, RoutineKind, Strategy};
use cubecl_scan::sort::{SortOptions, SortOrder};
use scan_testing::kernels::*;

/// In a cube and in passes, with tiles that look back and without.
#[test]
fn write_nothing_but_keys_and_positions() {
    let client = client();
    let small = |routine| LaunchOptions {
        strategy: Strategy::Forced(routine),
        units: Some(16),
        vectors: Some(3),
        ..launch()
    };
    let in_passes = LaunchOptions {
        strategy: Strategy::Forced(RoutineKind::SingleCube),
        ..launch()
    };
    let bytes = SortForm::Whole(SortOptions {
        order: SortOrder::Descending,
        bits: Some(8),
    });
    let whole = SortForm::Whole(SortOptions::default());
    for offset in offsets(&client, size_of::<i32>()) {
        for (lines, len, form, launch) in [
            (1, 1, whole, launch()),
            (3, 17, whole, launch()),
            (1, 257, whole, launch()),
            (5, 7, whole, small(RoutineKind::SinglePass)),
            (50, 7, whole, in_passes),
            (2, 193, bytes, small(RoutineKind::SinglePass)),
            (2, 193, bytes, small(RoutineKind::ReduceThenScan)),
            (2, 100, SortForm::Largest(60), launch()),
            (3, 300, SortForm::Largest(5), small(RoutineKind::SinglePass)),
            (
                1,
                300,
                SortForm::Largest(299),
                small(RoutineKind::SinglePass),
            ),
        ] {
            let keys: Vec<i32> = (0..lines * len).map(|i| mixed(i) as i32 % 300).collect();
            let found = with_guarded_scratch(&client, || {
                device_sort(&client, &keys, len, form, launch, offset)
            });
            let context = || format!("[{lines}, {len}], {form:?}, {offset} bytes in");
            assert!(found == sorted(&keys, len, form), "{}", context());
        }
    }
}
