//! What a claim runs: the operations in front of the scan as Burn would, then the scan on this crate's kernels.

use burn_cubecl::fusion::{CubeFusionHandle, FallbackOperation, FusedOperation};
use burn_cubecl::{CubeBackend, CubeDevice};
use burn_fusion::stream::Context;
use burn_ir::TensorIr;
use serde::{Deserialize, Serialize};

use super::pattern::{Kind, Reversal, ScanStep};
use crate::backends::cube;
use crate::options::ScanOptions;

/// The operations of a claim, in queue order: `prefix` of them, the scan, and the trailing reversal of a sandwich.
/// The leading reversal is the last one of the prefix.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ScanSegment {
    prefix: usize,
    pub(super) scan: ScanStep,
    pub(super) sandwich: Option<Sandwich>,
}

/// The two reversals around a scan whose inner tensors nothing else reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sandwich {
    pub(super) lead: Reversal,
    pub(super) trail: Reversal,
}

impl ScanSegment {
    pub(super) fn new(prefix: usize, scan: ScanStep) -> Self {
        Self {
            prefix,
            scan,
            sandwich: None,
        }
    }

    pub(super) fn num_operations(&self) -> usize {
        self.prefix + 1 + usize::from(self.sandwich.is_some())
    }

    fn run(
        &self,
        context: &mut Context<CubeFusionHandle>,
        fallback: &dyn Fn(usize) -> Box<dyn FallbackOperation>,
    ) {
        let axis = self.scan.ir.axis;
        let run_unfused = |context: &mut Context<CubeFusionHandle>, index: usize| {
            fallback(index).run(context);
        };
        match &self.sandwich {
            Some(Sandwich { lead, trail })
                if lead.reverses(axis, context) && trail.reverses(axis, context) =>
            {
                (0..self.prefix - 1).for_each(|index| run_unfused(context, index));
                let options = ScanOptions::default().reverse();
                self.scan(context, &lead.input, &trail.out, options);
            }
            sandwich => {
                (0..self.prefix).for_each(|index| run_unfused(context, index));
                let ir = &self.scan.ir;
                self.scan(context, &ir.input, &ir.out, ScanOptions::default());
                if sandwich.is_some() {
                    run_unfused(context, self.prefix + 1);
                }
            }
        }
    }

    fn scan(
        &self,
        context: &mut Context<CubeFusionHandle>,
        input: &TensorIr,
        out: &TensorIr,
        options: ScanOptions,
    ) {
        let ScanStep { op, kind, ref ir } = self.scan;
        let input = resolve(context, input);
        let out = resolve(context, out);
        let handles = &mut context.handles;
        match kind {
            Kind::Float => {
                let input = handles.get_float_tensor::<CubeBackend>(&input);
                let output = cube::scan(input, ir.axis, op, options);
                handles.register_float_tensor::<CubeBackend>(&out.id, output);
            }
            Kind::Int => {
                let input = handles.get_int_tensor::<CubeBackend>(&input);
                let output = cube::scan(input, ir.axis, op, options);
                handles.register_int_tensor::<CubeBackend>(&out.id, output);
            }
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

/// A claimed segment as Burn's fusion runs it.
pub(super) struct ScanOperation {
    segment: ScanSegment,
}

impl ScanOperation {
    pub(super) fn new(segment: ScanSegment) -> Self {
        Self { segment }
    }
}

impl FusedOperation for ScanOperation {
    const NAME: &'static str = "Scan";
    type State = ScanSegment;

    fn num_ops_fused(&self) -> usize {
        self.segment.num_operations()
    }

    fn run(
        &mut self,
        context: &mut Context<CubeFusionHandle>,
        fallback: &dyn Fn(usize) -> Box<dyn FallbackOperation>,
    ) {
        self.segment.run(context, fallback);
    }

    fn to_state(&self) -> Self::State {
        self.segment.clone()
    }

    fn from_state(_device: &CubeDevice, segment: Self::State) -> Self {
        Self::new(segment)
    }
}
