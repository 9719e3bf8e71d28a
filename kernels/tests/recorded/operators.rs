//! Scans with operators whose state is more than one scalar, on segments and with initial values: every
//! routine.

#[path = "../scan/operators/gradient.rs"]
mod gradient;
#[path = "../scan/operators/oracle.rs"]
mod oracle;
#[path = "../scan/operators/oracles.rs"]
mod oracles;

use super::common::all_options;
use super::planes::Planes;
use super::record::{case, record as shared_record};
use super::scans::small_tile;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::adjoint::recurrence_adjoint_with;
use cubecl_scan::monoid::{Operator, Segmented};
use cubecl_scan::scan::RoutineKind;
use gradient::Gradient;
use oracle::{Case, Oracle, expected, initial, start, starts};

/// Fewer elements than lie between two NaN, because a browser need not keep the bits of a NaN.
const FORMS: [(RoutineKind, [usize; 3]); 7] = [
    (RoutineKind::SingleCube, [9, 7, 1]),
    (RoutineKind::SinglePass, [2, 161, 1]),
    (RoutineKind::ReduceThenScan, [2, 161, 1]),
    (RoutineKind::PerUnit, [2, 161, 1]),
    (RoutineKind::PerUnit, [80, 3, 1]),
    (RoutineKind::Columns, [1, 97, 3]),
    (RoutineKind::ColumnTiles, [1, 97, 3]),
];

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn record_case<O: Oracle>(client: &Client, group: &str, case_of: Case) {
    let inputs = O::elements(case_of.shape.iter().product());
    let initial = initial::<O>(case_of);
    let starts = starts(inputs[0].len());
    let (outputs, positions) = expected::<O>(case_of, &inputs, &initial, &starts);
    case(client, group, &format!("{case_of:?}"), || {
        let op = O::config();
        let (found, found_positions) = match case_of.segmented {
            true => {
                start::<Segmented<O::Operator>>(client, case_of, op, &inputs, &initial, &starts)
            }
            false => start::<O::Operator>(client, case_of, op, &inputs, &initial, &starts),
        };
        let outputs = outputs.iter().map(|output| bits(output));
        let mut all: Vec<_> = found.into_iter().zip(outputs).collect();
        if O::Operator::POSITIONS {
            let positions = positions.iter().map(|position| *position as u32).collect();
            all.push((found_positions, positions));
        }
        all
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

/// The gradient of a recurrence, of rows or of columns.
fn record_adjoint(
    client: &Client,
    group: &str,
    (routine, shape): (RoutineKind, [usize; 3]),
    reverse: bool,
) {
    let gradient = Gradient::drawn(shape);
    let expected = gradient.expected(reverse);
    let name = format!("{routine:?}, {shape:?}, reverse {reverse}");
    case(client, group, &name, || {
        let (tensors, outputs) = gradient.tensors(client, true);
        let (float, launch) = (f32::elem_type_native(), small_tile(routine));
        recurrence_adjoint_with(client, tensors, 1, float, reverse, launch).expect("supported");
        let expected = expected.iter().map(|values| bits(values));
        outputs.into_iter().zip(expected).collect()
    });
}

pub fn record(client: &Client, planes: Planes) {
    let group = |name: &str| format!("operator: {name}{}", planes.suffix());
    record_operator::<oracles::Sums>(client, &group("sums"), false);
    record_operator::<oracles::Sums>(client, &group("sums of segments"), true);
    record_operator::<oracles::Recurrences>(client, &group("recurrences"), false);
    record_operator::<oracles::Recurrences>(client, &group("recurrences of segments"), true);
    record_operator::<oracles::Extrema<true>>(client, &group("where maxima are"), false);
    record_operator::<oracles::Extrema<false>>(client, &group("minima of segments"), true);
    for (turn, form) in FORMS.into_iter().enumerate() {
        record_adjoint(
            client,
            &group("gradients of recurrences"),
            form,
            turn % 2 == 0,
        );
    }
    // The browser decides their last bits.
    let compile_only = std::mem::replace(&mut shared_record().compile_only, true);
    record_operator::<oracles::LogSums>(client, &group("log-sum-exp"), false);
    shared_record().compile_only = compile_only;
}
