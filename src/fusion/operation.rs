//! What Burn's fusion runs for a claim.

use std::iter;

use burn_cubecl::fusion::{CubeFusionHandle, FallbackOperation, FusedOperation};
use burn_cubecl::{CubeBackend, CubeDevice};
use burn_fusion::NumOperations;
use burn_fusion::stream::Context;
use burn_ir::TensorIr;
use serde::{Deserialize, Serialize};

use super::pattern::{NumberKind, ScanStep};
use super::plan::{FlipScanFlip, Step};
use crate::backends::cube;
use crate::options::ScanOptions;

/// Claimed operations as one fused operation.
pub(super) struct ScanOperation {
    steps: Vec<Step>,
    num_operations: usize,
}

/// The serialized form of a [`ScanOperation`]: each operation, a scan or one for Burn's fallback.
///
/// What Burn fused around the scans is not kept, so a restored plan has the same results from more kernels. Burn 0.22
/// saves no plans, and the decoders of its fused operations were a tenth of what this crate has the compiler optimize.
#[derive(Serialize, Deserialize)]
pub(super) struct ScanOperationState {
    operations: Vec<Option<ScanStep>>,
}

impl ScanOperation {
    pub(super) fn new(steps: Vec<Step>, num_operations: usize) -> Self {
        Self {
            steps,
            num_operations,
        }
    }
}

impl FusedOperation for ScanOperation {
    const NAME: &'static str = "Scan";
    type State = ScanOperationState;

    fn num_ops_fused(&self) -> usize {
        self.num_operations
    }

    fn max_relative_shape_id(&self) -> Option<usize> {
        max_relative_shape_id(&self.steps)
    }

    fn run(
        &mut self,
        context: &mut Context<CubeFusionHandle>,
        fallback: &dyn Fn(usize) -> Box<dyn FallbackOperation>,
    ) {
        run_steps(&mut self.steps, context, fallback);
    }

    fn to_state(&self) -> Self::State {
        let mut operations = Vec::with_capacity(self.num_operations);
        save(&self.steps, &mut operations);
        ScanOperationState { operations }
    }

    fn from_state(_device: &CubeDevice, state: Self::State) -> Self {
        let num_operations = state.operations.len();
        Self::new(restore(state), num_operations)
    }
}

/// Appends the operations of `steps`.
fn save(steps: &[Step], operations: &mut Vec<Option<ScanStep>>) {
    for step in steps {
        match step {
            Step::Unfused { .. } => operations.push(None),
            Step::Builtin { optimization, .. } => {
                operations.extend(iter::repeat_with(|| None).take(optimization.len()));
            }
            Step::Scan(scan) => operations.push(Some(scan.clone())),
            Step::FlipScanFlip { reverse_scan, .. } => {
                operations.extend([None, Some(reverse_scan.scan.clone()), None]);
            }
            Step::Fused { otherwise, .. } => save(otherwise, operations),
        }
    }
}

fn restore(state: ScanOperationState) -> Vec<Step> {
    let step = |(index, scan)| match scan {
        Some(scan) => Step::Scan(scan),
        None => Step::Unfused { index },
    };
    state.operations.into_iter().enumerate().map(step).collect()
}

fn max_relative_shape_id(steps: &[Step]) -> Option<usize> {
    let of_step = |step: &Step| match step {
        Step::Builtin { optimization, .. } => optimization.max_relative_shape_id(),
        Step::Fused { fused, otherwise } => {
            (fused.trace.max_relative_shape_id()).max(max_relative_shape_id(otherwise))
        }
        Step::Unfused { .. } | Step::Scan(_) | Step::FlipScanFlip { .. } => None,
    };
    steps.iter().filter_map(of_step).max()
}

fn run_steps(
    steps: &mut [Step],
    context: &mut Context<CubeFusionHandle>,
    fallback: &dyn Fn(usize) -> Box<dyn FallbackOperation>,
) {
    for step in steps {
        match step {
            Step::Unfused { index } => fallback(*index).run(context),
            Step::Builtin {
                start,
                optimization,
            } => optimization.run(context, &|index| fallback(*start + index)),
            Step::Scan(scan) => run_scan(scan, context),
            Step::FlipScanFlip {
                start,
                reverse_scan,
            } => {
                run_flip_scan_flip(reverse_scan, context, &|index| fallback(*start + index));
            }
            Step::Fused { fused, otherwise } => {
                if fused.run(context).is_none() {
                    run_steps(otherwise, context, fallback);
                }
            }
        }
    }
}

fn run_flip_scan_flip(
    FlipScanFlip {
        prologue,
        scan,
        epilogue,
    }: &FlipScanFlip,
    context: &mut Context<CubeFusionHandle>,
    fallback: &dyn Fn(usize) -> Box<dyn FallbackOperation>,
) {
    let axis = scan.ir.axis;
    if prologue.reverses(axis, context) && epilogue.reverses(axis, context) {
        let reverse = ScanOptions::default().reverse();
        scan_into(scan, &prologue.input, &epilogue.out, reverse, context);
    } else {
        fallback(0).run(context);
        run_scan(scan, context);
        fallback(2).run(context);
    }
}

fn run_scan(scan: &ScanStep, context: &mut Context<CubeFusionHandle>) {
    scan_into(
        scan,
        &scan.ir.input,
        &scan.ir.out,
        ScanOptions::default(),
        context,
    );
}

fn scan_into(
    scan: &ScanStep,
    input: &TensorIr,
    out: &TensorIr,
    options: ScanOptions,
    context: &mut Context<CubeFusionHandle>,
) {
    let input = resolve(context, input);
    let out = resolve(context, out);
    let handles = &mut context.handles;
    match scan.kind {
        NumberKind::Float => {
            let input = handles.get_float_tensor::<CubeBackend>(&input);
            let output = cube::scan(input, scan.ir.axis, scan.op, options);
            handles.register_float_tensor::<CubeBackend>(&out.id, output);
        }
        NumberKind::Int => {
            let input = handles.get_int_tensor::<CubeBackend>(&input);
            let output = cube::scan(input, scan.ir.axis, scan.op, options);
            handles.register_int_tensor::<CubeBackend>(&out.id, output);
        }
    }
}

/// The tensor of this call that `relative` stands for. Its status stays that of the planned operation: whether that
/// was the last use belongs to the use, not to the tensor.
fn resolve(context: &Context<CubeFusionHandle>, relative: &TensorIr) -> TensorIr {
    TensorIr {
        status: relative.status,
        ..context.tensors[&relative.id].clone()
    }
}

#[cfg(test)]
mod tests {
    use burn_cubecl::fusion::CubeOptimizationState;
    use burn_ir::OperationIr;

    use super::super::sample::{cumsum, flip};
    use super::*;

    fn scan(operation: &OperationIr) -> ScanStep {
        ScanStep::parse(operation).expect("a scan")
    }

    #[test]
    fn a_restored_plan_has_each_operation() {
        let reverse = [flip(1, 2, &[1]), cumsum(2, 3, 1), flip(3, 4, &[1])];
        let steps = vec![
            Step::Scan(scan(&cumsum(0, 1, 0))),
            Step::FlipScanFlip {
                start: 1,
                reverse_scan: Box::new(FlipScanFlip::parse(&reverse).expect("a reverse scan")),
            },
            Step::Unfused { index: 4 },
        ];
        let saved = CubeOptimizationState::new("Scan", &ScanOperation::new(steps, 5).to_state());
        let restored = restore(saved.decode());
        let axes = restored.iter().enumerate().map(|(at, step)| match step {
            Step::Scan(scan) => Some(scan.ir.axis),
            Step::Unfused { index } if *index == at => None,
            _ => panic!("step {at} is neither a scan nor its own operation"),
        });
        assert_eq!(
            axes.collect::<Vec<_>>(),
            [Some(0), None, Some(1), None, None]
        );
    }
}
