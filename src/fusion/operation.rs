//! What Burn's fusion runs for a claim.

use burn_cubecl::fusion::{
    CubeFusionHandle, CubeOptimization, CubeOptimizationState, FallbackOperation, FusedOperation,
};
use burn_cubecl::{CubeBackend, CubeDevice};
use burn_fusion::NumOperations;
use burn_fusion::stream::Context;
use burn_ir::TensorIr;
use serde::{Deserialize, Serialize};

use super::mirror;
use super::pattern::{NumberKind, ScanStep};
use super::plan::{FlipScanFlip, Step};
use crate::backends::cube;
use crate::options::ScanOptions;

/// Claimed operations as one fused operation.
pub(super) struct ScanOperation {
    steps: Vec<Step<CubeOptimization>>,
    num_operations: usize,
}

/// The serialized form of a [`ScanOperation`].
#[derive(Serialize, Deserialize)]
pub(super) struct ScanOperationState {
    steps: Vec<Step<CubeOptimizationState>>,
    num_operations: usize,
}

impl ScanOperation {
    pub(super) fn new(steps: Vec<Step<CubeOptimization>>, num_operations: usize) -> Self {
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
        ScanOperationState {
            steps: convert(&self.steps, &|optimization| optimization.to_state()),
            num_operations: self.num_operations,
        }
    }

    fn from_state(device: &CubeDevice, state: Self::State) -> Self {
        let restore = |optimization: &_| mirror::restore(device, optimization);
        Self::new(convert(&state.steps, &restore), state.num_operations)
    }
}

/// The steps with their built-in optimizations converted.
fn convert<B, C>(steps: &[Step<B>], builtin: &dyn Fn(&B) -> C) -> Vec<Step<C>> {
    let convert = |step: &Step<B>| match step {
        Step::Unfused { index } => Step::Unfused { index: *index },
        Step::Builtin {
            start,
            optimization,
        } => Step::Builtin {
            start: *start,
            optimization: builtin(optimization),
        },
        Step::Scan(scan) => Step::Scan(scan.clone()),
        Step::FlipScanFlip {
            start,
            reverse_scan,
        } => Step::FlipScanFlip {
            start: *start,
            reverse_scan: reverse_scan.clone(),
        },
        Step::Fused { fused, otherwise } => Step::Fused {
            fused: fused.clone(),
            otherwise: convert(otherwise, builtin),
        },
    };
    steps.iter().map(convert).collect()
}

fn max_relative_shape_id(steps: &[Step<CubeOptimization>]) -> Option<usize> {
    let of_step = |step: &Step<CubeOptimization>| match step {
        Step::Builtin { optimization, .. } => optimization.max_relative_shape_id(),
        Step::Fused { fused, otherwise } => {
            (fused.trace.max_relative_shape_id()).max(max_relative_shape_id(otherwise))
        }
        Step::Unfused { .. } | Step::Scan(_) | Step::FlipScanFlip { .. } => None,
    };
    steps.iter().filter_map(of_step).max()
}

fn run_steps(
    steps: &mut [Step<CubeOptimization>],
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
