//! Scans of tensors: every routine × operator × option × type, in each width of vector, with carries between tiles and without.

use super::common::{View, all_options, start_scan, values};
use super::planes::Planes;
use super::record::case;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::scan::{LaunchOptions, RoutineKind, ScanOptions, Stall, Strategy};
use cubecl_scan::testing::tile_shape;
use cubecl_scan::{ScanOp, reference};

/// One call of a scan.
struct Call<'a> {
    client: &'a Client,
    group: String,
    view: View,
    axis: usize,
    launch: LaunchOptions,
}

impl Call<'_> {
    fn record<T>(&self, op: ScanOp, options: ScanOptions, from: fn(i32) -> T)
    where
        T: CubeElement + Numeric + reference::Scalar,
    {
        let Self {
            client,
            group,
            view,
            axis,
            launch,
        } = self;
        // The last element that the view reaches, and those before it.
        let reach = view.shape.iter().zip(&view.strides);
        let reach: usize = reach.map(|(size, stride)| (size - 1) * stride).sum();
        let data: Vec<T> = values(reach + 1, op).into_iter().map(from).collect();
        let name = format!(
            "{op:?}{}{} of {} {:?} by {:?} along {axis}, {:?} spin_limit",
            if options.exclusive { " exclusive" } else { "" },
            if options.reverse { " reverse" } else { "" },
            std::any::type_name::<T>(),
            view.shape,
            view.strides,
            launch.spin_limit,
        );
        case(client, group, &name, || {
            let output = start_scan(client, &data, view, *axis, op, options, *launch);
            let expected = reference::scan(&view.gather(&data), &view.shape, *axis, op, options);
            vec![(output.expect("supported"), expected)]
        });
    }

    /// Options and operators do not depend on the type, beyond the care that floats need for NaN.
    fn every_option(&self) {
        for (op, paired) in ScanOp::ALL.into_iter().zip(all_options()) {
            for options in all_options() {
                self.record::<i32>(op, options, |value| value);
            }
            self.record::<f32>(op, paired, |value| value as f32);
        }
        self.record::<u32>(ScanOp::Max, all_options()[1], |value| value as u32);
    }
}

pub fn record(client: &Client, planes: Planes) {
    let group = |name: &str| format!("scan: {name}{}", planes.suffix());
    let call = |name: &str, view: View, axis: usize, launch: LaunchOptions| Call {
        client,
        group: group(name),
        view,
        axis,
        launch,
    };
    for (name, routine, shape, axis) in [
        ("short rows", RoutineKind::SingleCube, vec![9, 7], 1),
        ("short rows", RoutineKind::SingleCube, vec![40, 6], 1),
        ("a row a cube", RoutineKind::SingleCube, vec![3, 97], 1),
        ("a row a cube", RoutineKind::SingleCube, vec![3, 388], 1),
        ("single pass", RoutineKind::SinglePass, vec![3, 97], 1),
        ("single pass", RoutineKind::SinglePass, vec![3, 194], 1),
        ("single pass", RoutineKind::SinglePass, vec![3, 388], 1),
        (
            "reduce, then scan",
            RoutineKind::ReduceThenScan,
            vec![3, 97],
            1,
        ),
        (
            "reduce, then scan",
            RoutineKind::ReduceThenScan,
            vec![3, 388],
            1,
        ),
        ("runs of units", RoutineKind::PerUnit, vec![3, 97], 1),
        ("runs of units", RoutineKind::PerUnit, vec![3, 388], 1),
        ("runs of short rows", RoutineKind::PerUnit, vec![40, 3], 1),
        ("columns", RoutineKind::Columns, vec![2, 20, 5], 1),
        ("columns in chunks", RoutineKind::Columns, vec![2, 97, 5], 1),
        ("columns in chunks", RoutineKind::Columns, vec![2, 97, 8], 1),
        (
            "columns in many chunks",
            RoutineKind::Columns,
            vec![700, 3],
            0,
        ),
        (
            "tiles of columns",
            RoutineKind::ColumnTiles,
            vec![2, 97, 5],
            1,
        ),
        (
            "tiles of columns",
            RoutineKind::ColumnTiles,
            vec![2, 97, 160],
            1,
        ),
    ] {
        let launch = small_tile(routine);
        call(name, View::contiguous(&shape), axis, launch).every_option();
    }
    let strided = |shape: &[usize], strides: &[usize]| View {
        shape: shape.into(),
        strides: strides.into(),
    };
    for (view, axis) in [
        (View::contiguous(&[20_000]), 0),
        (View::contiguous(&[3, 5001]), 1),
        (View::contiguous(&[300, 33]), 1),
        (View::contiguous(&[16, 90, 16]), 1),
        (View::contiguous(&[2000, 3]), 0),
        (strided(&[2, 3, 1000], &[9000, 2000, 1]), 2),
        (strided(&[4, 700], &[0, 1]), 1),
        (strided(&[300, 20], &[1, 300]), 1),
    ] {
        let call = call("as inferred", view, axis, LaunchOptions::default());
        for (op, options) in ScanOp::ALL.into_iter().zip(all_options()) {
            call.record::<f32>(op, options, |value| value as f32);
        }
    }
    if planes != Planes::Varying {
        one_tile_is_one_launch(client, group("one tile"));
    }
    // 50 tiles of 128 elements, so that walks reach beyond one window.
    for (stall, spin_limit) in [
        (None, None),
        (None, Some(1)),
        (Some(Stall::Every(1)), Some(1)),
        (Some(Stall::Every(3)), Some(16)),
        (Some(Stall::Every(37)), Some(4)),
    ] {
        let launch = LaunchOptions {
            stall,
            spin_limit,
            ..small_tile(RoutineKind::SinglePass)
        };
        let columns = LaunchOptions {
            strategy: Strategy::Forced(RoutineKind::ColumnTiles),
            ..launch
        };
        for call in [
            call("fallback", View::contiguous(&[2, 6_404]), 1, launch),
            call("fallback", View::contiguous(&[2, 200, 24]), 1, columns),
        ] {
            for options in [all_options()[0], all_options()[3]] {
                call.record::<i32>(ScanOp::Sum, options, |value| value);
                call.record::<f32>(ScanOp::Sum, options, |value| value as f32);
            }
        }
    }
}

/// Rows of at most a tile are one launch, however many they are.
fn one_tile_is_one_launch(client: &Client, group: String) {
    let (_, units, vectors) = tile_shape(client, &LaunchOptions::default());
    let tile = 4 * units * vectors;
    for shape in [[1, 1], [1, 1000], [1, tile], [9, 1023], [9, tile]] {
        let before = super::record::record().launches();
        let call = Call {
            client,
            group: group.clone(),
            view: View::contiguous(&shape),
            axis: 1,
            launch: LaunchOptions::default(),
        };
        call.record::<i32>(ScanOp::Sum, ScanOptions::default(), |value| value);
        let launches = super::record::record().launches() - before;
        assert_eq!(launches, 1, "launches of {shape:?}");
    }
}

/// As in `tests/scan`: the edges of tiles close together.
pub fn small_tile(routine: RoutineKind) -> LaunchOptions {
    let whole_rows = routine == RoutineKind::SingleCube;
    LaunchOptions {
        strategy: Strategy::Forced(routine),
        units: Some(32),
        vectors: Some(if whole_rows { 4 } else { 1 }),
        ..Default::default()
    }
}
