//! Scans of tensors: every routine × operator × option × type, in each vector width, with carries between tiles
//! and without.

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
        // The last element that the view reaches, and all before it.
        let reach = view.shape.iter().zip(&view.strides);
        let reach: usize = reach.map(|(size, stride)| (size - 1) * stride).sum();
        let data: Vec<T> = values(reach + 1, op).into_iter().map(from).collect();
        let name = format!(
            "{op:?}{}{} of {} {:?} by {:?} along {axis}, spin limit {:?}",
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

    /// The type does not change options and operators, except that floats need care for NaN.
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

/// Shapes that lead to each kernel of every routine, and the axis.
fn forms() -> [(&'static str, RoutineKind, &'static [usize], usize); 18] {
    use RoutineKind::*;
    [
        ("short rows", SingleCube, &[9, 7], 1),
        ("short rows", SingleCube, &[40, 6], 1),
        ("a row a cube", SingleCube, &[3, 97], 1),
        ("a row a cube", SingleCube, &[3, 388], 1),
        ("single pass", SinglePass, &[3, 97], 1),
        ("single pass", SinglePass, &[3, 194], 1),
        ("single pass", SinglePass, &[3, 388], 1),
        ("reduce, then scan", ReduceThenScan, &[3, 97], 1),
        ("reduce, then scan", ReduceThenScan, &[3, 388], 1),
        ("per unit", PerUnit, &[3, 97], 1),
        ("per unit", PerUnit, &[3, 388], 1),
        ("short rows per unit", PerUnit, &[40, 3], 1),
        ("columns", Columns, &[2, 20, 5], 1),
        ("columns in parts", Columns, &[2, 97, 5], 1),
        ("columns in parts", Columns, &[2, 97, 8], 1),
        ("columns in many parts", Columns, &[700, 3], 0),
        ("tiles of columns", ColumnTiles, &[2, 97, 5], 1),
        ("tiles of columns", ColumnTiles, &[2, 97, 160], 1),
    ]
}

pub fn record(client: &Client, planes: Planes) {
    let call = |name: &str, view: View, axis: usize, launch: LaunchOptions| Call {
        client,
        group: format!("scan: {name}{}", planes.suffix()),
        view,
        axis,
        launch,
    };
    for (name, routine, shape, axis) in forms() {
        let launch = small_tile(routine);
        call(name, View::contiguous(shape), axis, launch).every_option();
    }
    for (view, axis) in inferred() {
        let call = call("as inferred", view, axis, LaunchOptions::default());
        for (op, options) in ScanOp::ALL.into_iter().zip(all_options()) {
            call.record::<f32>(op, options, |value| value as f32);
        }
    }
    if planes != Planes::Varying {
        let group = format!("scan: one tile{}", planes.suffix());
        one_tile_is_one_launch(client, group);
    }
    for (shape, launch) in fallbacks() {
        let call = call("fallback", View::contiguous(&shape), 1, launch);
        for options in [all_options()[0], all_options()[3]] {
            call.record::<i32>(ScanOp::Sum, options, |value| value);
            call.record::<f32>(ScanOp::Sum, options, |value| value as f32);
        }
    }
}

/// Views for the device's own choice of routine and tuning, and the axis.
fn inferred() -> [(View, usize); 8] {
    let strided = |shape: &[usize], strides: &[usize]| View {
        shape: shape.into(),
        strides: strides.into(),
    };
    [
        (View::contiguous(&[20_000]), 0),
        (View::contiguous(&[3, 5001]), 1),
        (View::contiguous(&[300, 33]), 1),
        (View::contiguous(&[16, 90, 16]), 1),
        (View::contiguous(&[2000, 3]), 0),
        (strided(&[2, 3, 1000], &[9000, 2000, 1]), 2),
        (strided(&[4, 700], &[0, 1]), 1),
        (strided(&[300, 20], &[1, 300]), 1),
    ]
}

/// Rows and columns with low spin limits, with and without stalled tiles. Rows have 50 tiles of 128 elements, so that
/// lookbacks reach beyond one window.
fn fallbacks() -> Vec<(Vec<usize>, LaunchOptions)> {
    let of = |(stall, spin_limit)| {
        let launch = LaunchOptions {
            stall,
            spin_limit,
            ..small_tile(RoutineKind::SinglePass)
        };
        let columns = LaunchOptions {
            strategy: Strategy::Forced(RoutineKind::ColumnTiles),
            ..launch
        };
        [(vec![2, 6_404], launch), (vec![2, 200, 24], columns)]
    };
    let schedules = [
        (None, None),
        (None, Some(1)),
        (Some(Stall::Every(1)), Some(1)),
        (Some(Stall::Every(3)), Some(16)),
        (Some(Stall::Every(37)), Some(4)),
    ];
    schedules.into_iter().flat_map(of).collect()
}

/// Rows of at most one tile take one launch, however many they are.
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

/// Small tiles, as in `tests/scan`: their edges are close together.
pub fn small_tile(routine: RoutineKind) -> LaunchOptions {
    let whole_rows = routine == RoutineKind::SingleCube;
    LaunchOptions {
        strategy: Strategy::Forced(routine),
        units: Some(32),
        vectors: Some(if whole_rows { 4 } else { 1 }),
        ..Default::default()
    }
}
