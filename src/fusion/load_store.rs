//! Which operations a scan computes in its load and its store, and the trace that Burn's fusion engine makes of them.
//!
//! ```text
//! x ── · ── + ──▶ scan ──▶ exp ── · ──▶ y        load: reads x, w; store: reads v, writes y
//! w ───┘                          └── v
//! ```
//!
//! A [`LoadStore`] has one scan, the element-wise operations directly before it, and those directly after it. All have
//! one shape. It obeys these rules, because the engine or the kernels cannot serve the other cases, or gain nothing
//! from them:
//!
//! - No operation moves elements (reshapes, gathers, concatenations).
//! - The store reads nothing that the load has read or made. Units write while others still read.
//! - Along any axis but the last, the load reads at most [`MAX_LOADED`] tensors of full size. Split lines are loaded
//!   twice. With `k` tensors that takes 2·k passes over memory. A kernel before the scan would take k, one to write and
//!   two to read again. Along such an axis the load has at most [`MAX_COSTLY`] transcendental operations, which it
//!   computes twice, too. Rows are loaded once, wherever tiles can look back.
//!
//! The engine takes no cast of a mask. [`LoadStore`] traces it as a cast of the integers that store the mask, and then
//! makes the cast a choice between one and zero, since any integer but zero is true.

use std::borrow::Cow;
use std::collections::HashSet;

use burn_cubecl::CubeDevice;
use burn_cubecl_fusion::engine::codegen::ir::{FuseArg, FuseOp};
use burn_cubecl_fusion::engine::fuser::TraceOperationFuser;
use burn_cubecl_fusion::engine::settings::{FuseSettings, RefLayoutSetting, VectorizationSetting};
use burn_fusion::OperationFuser;
use burn_ir::{BaseOperationIr, FloatOperationIr, OperationIr, TensorId};
use burn_std::Shape;

use super::fused::FusedScan;
use super::pattern::{ScanStep, mask_cast};

/// Tensors of full size that the load may read. With three, both ways cost the same passes.
const MAX_LOADED: usize = 2;

/// Transcendental operations of the load, which split lines compute twice. Not measured on a GPU.
const MAX_COSTLY: usize = 2;

/// Bindings that the engine does not know about while it traces the load: the totals of parts, and the output.
const OWN_BINDINGS: u32 = 2;

/// No operation works in place: another unit may still have to read what one writes.
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

/// A scan with the operations of its load and its store so far.
#[derive(Clone)]
pub(super) struct LoadStore {
    fuser: TraceOperationFuser,
    scan: ScanStep,
    input: FuseArg,
    output: FuseArg,
    /// The tensors that the load reads or makes.
    loaded: HashSet<TensorId>,
    /// For each operation of the load, whether it casts a mask.
    load_casts: Vec<bool>,
    /// The same for the store.
    store_casts: Vec<bool>,
}

impl LoadStore {
    /// Made from element-wise operations and then a scan, or from a scan alone.
    pub(super) fn new(device: &CubeDevice, operations: &[OperationIr]) -> Option<Self> {
        let (scan, load) = operations.split_last()?;
        let scan = ScanStep::parse(scan)?;
        let shape = &scan.ir.input.shape;
        let bindings = device.client().properties().hardware.max_bindings;
        let mut fuser = TraceOperationFuser::new(bindings.checked_sub(OWN_BINDINGS)?, LOAD);
        for operation in load {
            let traced = traced(operation);
            if !is_element_wise(operation, shape) || !fuser.can_fuse(&traced) {
                return None;
            }
            fuser.fuse(&traced);
        }

        let made: HashSet<TensorId> = load
            .iter()
            .flat_map(|operation| operation.outputs().map(|tensor| tensor.id))
            .collect();
        let read: HashSet<TensorId> = load
            .iter()
            .flat_map(|operation| operation.inputs())
            .filter(|tensor| &tensor.shape == shape && !made.contains(&tensor.id))
            .map(|tensor| tensor.id)
            .collect();
        let costly = load.iter().filter(|operation| is_costly(operation));
        let is_once = scan.ir.axis + 1 == shape.num_dims();
        let is_worthwhile = is_once || read.len() <= MAX_LOADED && costly.count() <= MAX_COSTLY;
        let is_fed = made.contains(&scan.ir.input.id);
        if !(load.is_empty() || is_fed && !read.is_empty() && is_worthwhile) {
            return None;
        }

        let [input] = fuser.next_block([&scan.ir.input], STORE, false);
        let output = fuser.output_unhandled(&scan.ir.out);
        let inputs = load.iter().flat_map(|operation| operation.inputs());
        let inputs = inputs.map(|tensor| tensor.id);
        let loaded = inputs.chain(made).chain([scan.ir.input.id]).collect();
        Some(Self {
            fuser,
            input,
            output,
            loaded,
            load_casts: load.iter().map(is_mask_cast).collect(),
            store_casts: Vec::new(),
            scan,
        })
    }

    /// The scan that `operations` begin with, with as many operations as fit. `None` if none fits.
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
        let mut load_store = Self::new(device, &operations[..=at])?;
        for operation in &operations[at + 1..] {
            if !load_store.extend(operation) {
                break;
            }
        }
        (load_store.len() > 1).then_some(load_store)
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
            self.store_casts.push(is_mask_cast(operation));
        }
        fits
    }

    pub(super) fn len(&self) -> usize {
        self.load_len() + 1 + self.store_len()
    }

    /// The number of operations of the load.
    pub(super) fn load_len(&self) -> usize {
        self.load_casts.len()
    }

    /// The number of operations of the store.
    pub(super) fn store_len(&self) -> usize {
        self.store_casts.len()
    }

    pub(super) fn finish(mut self) -> FusedScan {
        let mut trace = self.fuser.finish();
        // A load without operations has no shape of its own yet.
        trace.blocks[0].shape_ref = self.scan.ir.input.shape.clone();
        let casts = [&self.load_casts, &self.store_casts];
        for (block, casts) in trace.blocks.iter_mut().zip(casts) {
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

/// Whether each element of the result depends on the operands' elements at its position only, and the result has
/// `shape`. The engine itself refuses operations that it cannot trace.
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

/// The operation in the form that the engine takes.
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
/// If the engine has traced a cast as anything but an assignment.
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
