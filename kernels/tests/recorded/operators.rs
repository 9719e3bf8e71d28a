//! Scans with operators whose state is more than one scalar, on segments and with initial values: every
//! routine.

#[path = "../scan/operators/gradient.rs"]
mod gradient;
#[path = "../scan/operators/oracle.rs"]
mod oracle;
#[path = "../scan/operators/oracles.rs"]
mod oracles;

use super::planes::Planes;
use super::record::{case, close_case, compiled_only};
use super::scans::small_tile;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::Handle;
use cubecl_scan::adjoint::recurrence_adjoint;
use cubecl_scan::monoid::{Operator, Segmented};
use cubecl_scan::scan::{LaunchOptions, RoutineKind, Stall};
use gradient::Gradient;
use oracle::{Case, Oracle, expected, initial, start, starts};
use oracles::Sums;
use scan_testing::kernels::all_options;

/// Fewer elements than lie between two NaN, because a browser need not keep the bits of a NaN.
const FORMS: [(RoutineKind, [usize; 3]); 5] = [
    (RoutineKind::SingleCube, [9, 7, 1]),
    (RoutineKind::SinglePass, [2, 161, 1]),
    (RoutineKind::ReduceThenScan, [2, 161, 1]),
    (RoutineKind::Columns, [1, 97, 3]),
    (RoutineKind::ColumnTiles, [1, 97, 3]),
];

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// What a case writes: its floats, and its positions if it has any.
type Written = (Vec<(Handle, Vec<f32>)>, Vec<(Handle, Vec<i32>)>);

/// Computes a case on the device, and what it must write.
fn computed<O: Oracle>(client: &Client, case_of: Case) -> Written {
    let inputs = O::elements(case_of.shape.iter().product());
    let initial = initial::<O>(case_of);
    let starts = starts(inputs[0].len());
    let (outputs, positions) = expected::<O>(case_of, &inputs, &initial, &starts);
    let op = O::config();
    let (found, found_positions) = if case_of.segmented {
        start::<Segmented<O::Operator>>(client, case_of, op, &inputs, &initial, &starts)
    } else {
        start::<O::Operator>(client, case_of, op, &inputs, &initial, &starts)
    };
    let positions = O::Operator::POSITIONS.then_some((found_positions, positions));
    (
        found.into_iter().zip(outputs).collect(),
        positions.into_iter().collect(),
    )
}

fn record_case<O: Oracle>(client: &Client, group: &str, case_of: Case) {
    case(client, group, &format!("{case_of:?}"), || {
        let (outputs, positions) = computed::<O>(client, case_of);
        let outputs = outputs
            .into_iter()
            .map(|(handle, values)| (handle, bits(&values)));
        let position = |values: Vec<i32>| values.into_iter().map(|at| at as u32).collect();
        let positions = positions
            .into_iter()
            .map(|(handle, values)| (handle, position(values)));
        outputs.chain(positions).collect()
    });
}

/// At the device's own tuning.
#[allow(dead_code, reason = "for CUDA only")]
pub fn recurrence(client: &Client, group: &str, name: &str, shape: [usize; 3]) {
    let case_of = Case {
        shape,
        options: all_options()[0],
        launch: LaunchOptions::default(),
        segmented: false,
        resumes: false,
    };
    case(client, group, name, || {
        let (outputs, _) = computed::<oracles::Recurrences>(client, case_of);
        let outputs = outputs.into_iter();
        outputs
            .map(|(handle, values)| (handle, bits(&values)))
            .collect()
    });
}

/// Every routine. The four options alternate, with and without initial values.
fn record_operator<O: Oracle>(client: &Client, group: &str, segmented: bool) {
    for (turn, (routine, shape)) in FORMS.into_iter().enumerate() {
        let case_of = Case {
            shape,
            options: all_options()[turn % 4],
            launch: small_tile(routine),
            segmented,
            resumes: turn % 2 == 0,
        };
        record_case::<O>(client, group, case_of);
    }
}

/// The gradient of a recurrence, of rows or of columns, and what it must be.
fn adjoint(
    client: &Client,
    (launch, shape): (LaunchOptions, [usize; 3]),
    reverse: bool,
) -> Vec<(Handle, Vec<f32>)> {
    let gradient = Gradient::drawn(shape);
    let expected = gradient.expected(reverse);
    let (tensors, outputs) = gradient.tensors(client, true);
    let float = f32::elem_type_native();
    recurrence_adjoint(client, tensors, 1, float, reverse, launch).expect("supported");
    outputs.into_iter().zip(expected).collect()
}

pub fn record(client: &Client, planes: Planes) {
    let group = |name: &str| format!("operator: {name}{}", planes.suffix());
    record_operator::<Sums>(client, &group("sums"), false);
    record_operator::<Sums>(client, &group("sums of segments"), true);
    record_operator::<oracles::Recurrences>(client, &group("recurrences"), false);
    record_operator::<oracles::Recurrences>(client, &group("recurrences of segments"), true);
    let resets = group("recurrences that reset");
    record_operator::<oracles::ResetRecurrences>(client, &resets, false);
    record_operator::<oracles::Extrema<true>>(client, &group("where maxima are"), false);
    record_operator::<oracles::Extrema<false>>(client, &group("minima of segments"), true);
    for (turn, (routine, shape)) in FORMS.into_iter().enumerate() {
        let reverse = turn % 2 == 0;
        let group = group("gradients of recurrences");
        let name = format!("{routine:?}, {shape:?}, reverse {reverse}");
        case(client, &group, &name, || {
            let outputs = adjoint(client, (small_tile(routine), shape), reverse).into_iter();
            outputs
                .map(|(handle, values)| (handle, bits(&values)))
                .collect()
        });
    }
    // The browser decides their last bits.
    compiled_only(|| record_operator::<oracles::LogSums>(client, &group("log-sum-exp"), false));
}

/// Each operator in the routines that a device chooses, at its own tuning: rows of a tile and of many, and columns.
/// Many tiles are scanned once more with every third one stalled.
#[allow(dead_code, reason = "for NVIDIA, and for gpu_check")]
pub fn at_own_tuning(client: &Client) {
    operator_at_own_tuning::<oracles::Recurrences>(client, "recurrences", false);
    operator_at_own_tuning::<oracles::LogSums>(client, "log-sum-exp", false);
    operator_at_own_tuning::<oracles::Extrema<true>>(client, "where maxima are", false);
    operator_at_own_tuning::<Sums>(client, "sums of segments", true);
    for (turn, shape) in own_shapes().into_iter().enumerate() {
        let reverse = turn % 2 == 0;
        let name = format!("{shape:?}, reverse {reverse}");
        let run = || {
            let form = (LaunchOptions::default(), shape);
            (adjoint(client, form, reverse), Vec::new())
        };
        close_case(
            client,
            "gradients of recurrences",
            &name,
            run,
            Sums::is_close,
        );
    }
}

fn own_shapes() -> [[usize; 3]; 4] {
    [
        [40, 100, 1],
        [3, 30_001, 1],
        [1, 300_000, 1],
        [2, 1500, 130],
    ]
}

fn operator_at_own_tuning<O: Oracle>(client: &Client, group: &str, segmented: bool) {
    for (turn, shape) in own_shapes().into_iter().enumerate() {
        let stalled = LaunchOptions {
            stall: Some(Stall::Every(3)),
            spin_limit: Some(1),
            ..LaunchOptions::default()
        };
        let looks_back = turn >= 2;
        let launches = [LaunchOptions::default(), stalled];
        for launch in &launches[..1 + usize::from(looks_back)] {
            let case_of = Case {
                shape,
                options: all_options()[turn % 4],
                launch: *launch,
                segmented,
                resumes: turn % 2 == 0,
            };
            let name = format!("{shape:?}, {:?}, stall {:?}", case_of.options, launch.stall);
            let run = || computed::<O>(client, case_of);
            close_case(client, group, &name, run, O::is_close);
        }
    }
}
