//! Which operations around a scan go into its load and its store, and the trace Burn's fusion engine makes of them.
//!
//! ```text
//! x ── · ── + ──▶ scan ──▶ exp ── · ──▶ y        load: reads x, w; store: reads v, writes y
//! w ───┘                          └── v
//! ```
//!
//! A *chain* is one scan, the element-wise operations right in front of it, and those right behind it, all of one
//! shape. Each of these rules keeps a case out that the engine or the kernels could not serve, or would not gain from:
//!
//! - On GPUs no chain is made of a scan along the last axis, which is served by tiles there.
//! - Operations that move elements (reshapes, gathers, concatenations) are left out.
//! - The store reads nothing the load has read or made. Units write while others still read.
//! - At most [`MAX_LOADED`] tensors of full size are loaded. A line that is cut is loaded twice. With `k` tensors that
//!   makes 2·k passes over memory where a kernel of its own in front would make k, one to write and two to read again.
//! - At most [`MAX_COSTLY`] operations in front are transcendental: these, too, are computed twice.
//!
//! The engine takes no cast of a mask. It is traced as a cast of the integers the mask is stored as, and then made a
//! choice between one and zero, since any integer but zero is true.

use std::borrow::Cow;
use std::collections::HashSet;

use burn_cubecl::CubeDevice;
use burn_cubecl_fusion::engine::codegen::ir::{FuseArg, FuseOp};
use burn_cubecl_fusion::engine::fuser::TraceOperationFuser;
use burn_cubecl_fusion::engine::settings::{FuseSettings, RefLayoutSetting, VectorizationSetting};
use burn_fusion::OperationFuser;
use burn_ir::{BaseOperationIr, FloatOperationIr, OperationIr, TensorId};
use burn_std::Shape;

use super::fused::{FusedScan, scans_tiles};
use super::pattern::{ScanStep, mask_cast};

/// Tensors of full size the load may read. With three the two ways cost the same passes.
const MAX_LOADED: usize = 2;

/// Transcendental operations of the load. On lavapipe, with 2^22 elements, one (`exp`) took 0.4 to 0.8 times as long as in a
/// kernel of its own, two (`tanh`, `exp`) 0.7 to 1.1 times.
const MAX_COSTLY: usize = 2;

/// Bindings the engine does not know of while it traces the load: the totals of runs, and the output.
const OWN_BINDINGS: u32 = 2;

/// Nothing is computed in place: another unit may still have to read what one writes.
const LOAD: FuseSettings = FuseSettings {
    broadcast: false,
    output_shape_updates: true,
    inplace: false,
    vectorization: VectorizationSetting::Activated,
    ref_layout: RefLayoutSetting::OnlyContiguous,
    choose_output_layout: false,
};

const STORE: FuseSettings = FuseSettings {
    output_shape_updates: false,
    vectorization: VectorizationSetting::EqualThanPreviousBlock { block_pos: 0 },
    ..LOAD
};

/// A scan with what goes into its load and its store so far.
#[derive(Clone)]
pub(super) struct Chain {
    fuser: TraceOperationFuser,
    scan: ScanStep,
    input: FuseArg,
    output: FuseArg,
    /// The tensors the load reads or makes, but for the scan's input.
    loaded: HashSet<TensorId>,
    /// For each operation of the load, whether it casts a mask.
    in_front: Vec<bool>,
    /// The same for the store.
    behind: Vec<bool>,
}

impl Chain {
    /// The chain `operations` are: a scan behind element-wise operations, or alone.
    pub(super) fn new(device: &CubeDevice, operations: &[OperationIr]) -> Option<Self> {
        let (scan, in_front) = operations.split_last()?;
        let scan = ScanStep::parse(scan)?;
        let shape = &scan.ir.input.shape;
        let client = device.client();
        if scans_tiles(&client) && scan.ir.axis + 1 == shape.num_dims() {
            return None;
        }
        let bindings = client.properties().hardware.max_bindings;
        let mut fuser = TraceOperationFuser::new(bindings.checked_sub(OWN_BINDINGS)?, LOAD);
        for operation in in_front {
            let traced = traced(operation);
            if !is_element_wise(operation, shape) || !fuser.can_fuse(&traced) {
                return None;
            }
            fuser.fuse(&traced);
        }

        let made: HashSet<TensorId> = in_front
            .iter()
            .flat_map(|operation| operation.outputs().map(|tensor| tensor.id))
            .collect();
        let read: HashSet<TensorId> = in_front
            .iter()
            .flat_map(|operation| operation.inputs())
            .filter(|tensor| &tensor.shape == shape && !made.contains(&tensor.id))
            .map(|tensor| tensor.id)
            .collect();
        let costly = in_front.iter().filter(|operation| is_costly(operation));
        let is_worthwhile = (1..=MAX_LOADED).contains(&read.len()) && costly.count() <= MAX_COSTLY;
        let is_fed = made.contains(&scan.ir.input.id);
        if !(in_front.is_empty() || is_fed && is_worthwhile) {
            return None;
        }

        let [input] = fuser.next_block([&scan.ir.input], STORE, false);
        let output = fuser.output_unhandled(&scan.ir.out);
        let inputs = in_front.iter().flat_map(|operation| operation.inputs());
        let inputs = inputs.map(|tensor| tensor.id);
        let loaded = inputs.chain(made).chain([scan.ir.input.id]).collect();
        Some(Self {
            fuser,
            input,
            output,
            loaded,
            in_front: in_front.iter().map(is_mask_cast).collect(),
            behind: Vec::new(),
            scan,
        })
    }

    /// The longest chain `operations` begin with, if anything goes into its load or its store.
    pub(super) fn longest(
        device: &CubeDevice,
        operations: &[OperationIr],
        with_load: bool,
    ) -> Option<Self> {
        let is_scan = |operation: &OperationIr| ScanStep::parse(operation).is_some();
        let at = operations.iter().position(is_scan)?;
        if at > 0 && !with_load {
            return None;
        }
        let mut chain = Self::new(device, &operations[..=at])?;
        for operation in &operations[at + 1..] {
            if !chain.extend(operation) {
                break;
            }
        }
        (chain.len() > 1).then_some(chain)
    }

    /// Takes `operation` into the store, if it fits.
    pub(super) fn extend(&mut self, operation: &OperationIr) -> bool {
        let traced = traced(operation);
        let reads_loaded = operation
            .inputs()
            .any(|tensor| self.loaded.contains(&tensor.id));
        let fits = !reads_loaded
            && is_element_wise(operation, &self.scan.ir.out.shape)
            && self.fuser.can_fuse(&traced);
        if fits {
            self.fuser.fuse(&traced);
            self.behind.push(is_mask_cast(operation));
        }
        fits
    }

    pub(super) fn len(&self) -> usize {
        self.in_front() + 1 + self.behind()
    }

    /// How many operations go into the load.
    pub(super) fn in_front(&self) -> usize {
        self.in_front.len()
    }

    /// How many operations go into the store.
    pub(super) fn behind(&self) -> usize {
        self.behind.len()
    }

    pub(super) fn finish(mut self) -> FusedScan {
        let mut trace = self.fuser.finish();
        // A load without operations has no shape of its own yet.
        trace.blocks[0].shape_ref = self.scan.ir.input.shape.clone();
        for (block, casts) in trace.blocks.iter_mut().zip([&self.in_front, &self.behind]) {
            // The engine makes one operation of each.
            for (operation, is_mask_cast) in block.ops.iter_mut().zip(casts) {
                if *is_mask_cast {
                    *operation = one_or_zero(operation);
                }
            }
        }
        FusedScan {
            trace,
            scan: self.scan,
            input: self.input,
            output: self.output,
        }
    }
}

/// Whether every element of the result depends on the operands' elements at the same position, and the result is of
/// `shape`. What Burn's fusion engine cannot trace it refuses itself.
fn is_element_wise(operation: &OperationIr, shape: &Shape) -> bool {
    let moves = match operation {
        OperationIr::BaseFloat(base) | OperationIr::BaseInt(base) | OperationIr::BaseBool(base) => {
            matches!(
                base,
                BaseOperationIr::Reshape(_)
                    | BaseOperationIr::SwapDims(_)
                    | BaseOperationIr::Gather(_)
                    | BaseOperationIr::Select(_)
                    | BaseOperationIr::Cat(_)
            )
        }
        OperationIr::Float(_, FloatOperationIr::Dequantize(_)) | OperationIr::Drop(_) => true,
        _ => false,
    };
    let mut outputs = operation.outputs().peekable();
    !moves && outputs.peek().is_some() && outputs.all(|tensor| &tensor.shape == shape)
}

fn is_mask_cast(operation: &OperationIr) -> bool {
    mask_cast(operation).is_some()
}

/// The operation as the engine takes it.
fn traced(operation: &OperationIr) -> Cow<'_, OperationIr> {
    match mask_cast(operation) {
        Some(cast) => {
            let cast = BaseOperationIr::Cast(cast.clone());
            Cow::Owned(OperationIr::BaseFloat(cast))
        }
        None => Cow::Borrowed(operation),
    }
}

/// A traced cast as a choice.
///
/// # Panics
///
/// When the engine has traced a cast as anything but an assignment.
fn one_or_zero(cast: &FuseOp) -> FuseOp {
    let FuseOp::Assign(cast) = cast else {
        unreachable!("a cast is traced as an assignment, not as {cast}");
    };
    let number = cast.out.precision();
    FuseOp::ConditionalAssign {
        cond: cast.input.clone(),
        lhs: FuseArg::Literal(1, number),
        rhs: FuseArg::Literal(0, number),
        out: cast.out.clone(),
    }
}

/// Whether an element takes many times the arithmetic of an addition.
fn is_costly(operation: &OperationIr) -> bool {
    use FloatOperationIr::{Cos, Erf, Exp, Log, Log1p, Powf, PowfScalar, Sin, Tanh};
    matches!(
        operation,
        OperationIr::Float(
            _,
            Cos(_)
                | Erf(_)
                | Exp(_)
                | Log(_)
                | Log1p(_)
                | Powf(_)
                | PowfScalar(_)
                | Sin(_)
                | Tanh(_)
        )
    )
}
