//! Tensors that do not fit an operator.

use super::rotations::Rotations;
use crate::{LaunchOptions, RoutineKind, ScanOp, ScanOptions, Strategy, View, client, tensor};
use cubecl::prelude::*;
use cubecl_scan::ScanError;
use cubecl_scan::monoid::{ArgExtremum, Extremum, Fold, Operator};
use cubecl_scan::scan::{ScanTensors, scan_operator};

/// `n` tensors of a shape.
fn tensors(n: usize, shape: &[usize]) -> Vec<TensorBinding> {
    let client = client();
    let view = View::contiguous(shape);
    (0..n).map(|_| tensor(client.empty(64), &view)).collect()
}

fn scan<O: Operator>(
    tensors: ScanTensors,
    op: O::Config,
    strategy: Strategy,
) -> Result<(), ScanError> {
    let launch = LaunchOptions {
        strategy,
        ..crate::launch()
    };
    scan_operator::<O>(&client(), tensors, op, ScanOptions::default(), launch)
}

fn floats(inputs: Vec<TensorBinding>, outputs: Vec<TensorBinding>) -> ScanTensors {
    ScanTensors::new(inputs, outputs, 0, f32::elem_type_native())
}

fn count(operand: &'static str, expected: usize, found: usize) -> Result<(), ScanError> {
    Err(ScanError::TensorCount {
        operand,
        expected,
        found,
    })
}

#[test]
fn tensors_that_the_operator_does_not_have() {
    let inferred = Strategy::Inferred;
    let call = floats(tensors(3, &[4]), tensors(4, &[4]));
    let found = scan::<Rotations>(call, (), inferred);
    assert_eq!(found, count("inputs", 4, 3));

    let one = || floats(tensors(1, &[4]), tensors(1, &[4]));
    let int = i32::elem_type_native();
    let call = one().resuming(tensors(2, &[1]));
    let found = scan::<Fold>(call, ScanOp::Sum, inferred);
    assert_eq!(found, count("initial values", 1, 2));
    let call = one().segmented(tensors(1, &[4]).remove(0), int, false);
    let found = scan::<Fold>(call, ScanOp::Sum, inferred);
    assert_eq!(found, count("starts", 0, 1));
    let found = scan::<ArgExtremum>(one(), Extremum::Max, inferred);
    assert_eq!(found, count("positions", 1, 0));
}

#[test]
fn tensors_of_other_shapes() {
    let call = floats(tensors(4, &[4]), tensors(4, &[5]));
    let found = scan::<Rotations>(call, (), Strategy::Inferred);
    let mismatch = |found: &_| matches!(found, Err(ScanError::ShapeMismatch { .. }));
    assert!(mismatch(&found), "{found:?}");
    let call = floats(tensors(1, &[4]), tensors(1, &[4])).resuming(tensors(1, &[4]));
    let found = scan::<Fold>(call, ScanOp::Sum, Strategy::Inferred);
    assert!(mismatch(&found), "{found:?}");
}

#[test]
fn outputs_with_gaps_and_columns_of_rows() {
    let gaps = View {
        shape: vec![4],
        strides: vec![2],
    };
    let gaps: Vec<_> = (0..4).map(|_| tensor(client().empty(64), &gaps)).collect();
    let found = scan::<Rotations>(floats(tensors(4, &[4]), gaps), (), Strategy::Inferred);
    assert_eq!(found, Err(ScanError::InvalidOutput));
    let columns = Strategy::Forced(RoutineKind::Columns);
    let call = floats(tensors(4, &[4]), tensors(4, &[4]));
    let found = scan::<Rotations>(call, (), columns);
    assert!(matches!(found, Err(ScanError::Refused { .. })), "{found:?}");
}
