//! Scans of tensors: every routine × operator × option × type, in each vector width, with carries between tiles
//! and without.

use super::planes::Planes;
use super::record::case;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::ScanOp;
use cubecl_scan::scan::{LaunchOptions, RoutineKind, ScanOptions, Stall, Strategy};
use cubecl_scan::testing::tile_shape;
use half::f16;
use scan_testing::kernels::{View, all_options, holds, start_scan, values};
use scan_testing::reference;

/// One call of a scan.
pub struct Call<'a> {
    pub client: &'a Client,
    pub group: String,
    pub view: View,
    pub axis: usize,
    pub launch: LaunchOptions,
}

impl Call<'_> {
    pub fn record<T>(&self, op: ScanOp, options: ScanOptions, from: fn(i32) -> T)
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
            "{:?} {op:?}{}{} of {} {:?} by {:?} along {axis}, stall {:?}, spin limit {:?}",
            launch.strategy,
            if options.exclusive { " exclusive" } else { "" },
            if options.reverse { " reverse" } else { "" },
            std::any::type_name::<T>(),
            view.shape,
            view.strides,
            launch.stall,
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
fn forms() -> [(&'static str, RoutineKind, &'static [usize], usize); 15] {
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

/// Each routine at the device's own tuning × type × option, around its tile. Those that look back scan many tiles once
/// more with every third one stalled.
#[allow(dead_code, reason = "for NVIDIA, and for gpu_check")]
pub fn at_own_tuning(client: &Client) {
    of_type::<f32>(client, |value| value as f32);
    of_type::<i32>(client, |value| value);
    of_type::<f16>(client, |value| f16::from_f32(value as f32));
    of_type::<i64>(client, i64::from);
}

fn of_type<T>(client: &Client, from: fn(i32) -> T)
where
    T: CubeElement + Numeric + reference::Scalar,
{
    if !holds::<T>(client) {
        return;
    }
    let (_, units, vectors) = tile_shape(client, &LaunchOptions::default());
    let lanes = client.io_optimized_vector_sizes(size_of::<T>()).max();
    let tile = units * vectors * lanes.unwrap_or(1);
    for (routine, shapes, axis) in own_forms(tile) {
        let call = |shape: &[usize], launch| Call {
            client,
            group: "scan".into(),
            view: View::contiguous(shape),
            axis,
            launch,
        };
        let launch = LaunchOptions {
            strategy: Strategy::Forced(routine),
            ..Default::default()
        };
        for shape in &shapes {
            for options in all_options() {
                call(shape, launch).record(ScanOp::Sum, options, from);
            }
        }
        if matches!(routine, RoutineKind::SinglePass | RoutineKind::ColumnTiles) {
            let stalled = LaunchOptions {
                stall: Some(Stall::Every(3)),
                spin_limit: Some(1),
                ..launch
            };
            let [shape, _, _] = &shapes;
            call(shape, stalled).record(ScanOp::Sum, ScanOptions::default(), from);
        }
    }
}

/// The routines, each with three shapes around its tile, the one of most tiles first, and the axis.
fn own_forms(tile: usize) -> [(RoutineKind, [Vec<usize>; 3], usize); 7] {
    use RoutineKind::*;
    let rows = |shapes: [[usize; 2]; 3]| shapes.map(|shape| shape.to_vec());
    [
        (
            SingleCube,
            rows([[67, 33], [9, tile / 8], [5, tile / 2 - 1]]),
            1,
        ),
        (
            SingleCube,
            rows([[3, tile], [2, tile - 1], [3, 3 * tile / 4]]),
            1,
        ),
        (
            SinglePass,
            rows([[1, 40 * tile], [1, tile], [2, 2 * tile + 1]]),
            1,
        ),
        (
            ReduceThenScan,
            rows([[1, 40 * tile], [1, tile], [2, 2 * tile + 1]]),
            1,
        ),
        (Columns, rows([[300, 512], [1000, 33], [5000, 4]]), 0),
        (
            ColumnTiles,
            rows([[128 * 40, 64], [128, 256], [257, 131]]),
            0,
        ),
        (ColumnTiles, rows([[128 * 400, 8], [1025, 8], [5000, 3]]), 0),
    ]
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
