//! One scan whose load and store compute the operations [around it](super::load_store).
//!
//! A plan does not know the strides and sizes of a call. [`FusedScan::run`] looks at them. It declines calls that the
//! kernels of [`walk`](super::walk) would serve badly, and then leaves every tensor as it was.

use burn_backend::cubecl::dtype_to_storage_type;
use burn_cubecl::fusion::CubeFusionHandle;
use burn_cubecl_fusion::engine::codegen::ir::{
    FuseArg, FuseBlockConfig, FuseOp, GlobalArgsLaunch, UnaryFuseArgs,
};
use burn_cubecl_fusion::engine::codegen::tensor::GlobalTensorArg;
use burn_cubecl_fusion::engine::launch::FuseTraceLauncher;
use burn_cubecl_fusion::engine::launch::runner::{TraceRunner, Vectorization};
use burn_cubecl_fusion::engine::trace::FuseTrace;
use burn_fusion::stream::Context;
use burn_std::Shape;
use burn_std::tensor::is_contiguous;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl_scan::monoid::Fold;
use cubecl_scan::operator::accumulator_of;
use cubecl_scan::scan::parts::Split;
use serde::{Deserialize, Serialize};

use super::lines::{Lines, VectorLines};
use super::pattern::ScanStep;
use super::walk::{LoadLaunch, StoreLaunch, WalkConfig, WalkLaunch, scan_kernel, totals_kernel};
use crate::backends::cube::kernel_op;
use crate::backends::is_batch_invariant;

/// Vectors loaded before the first is combined, as by the scan without a load and a store. Not measured.
const PREFETCH_DEPTH: usize = 8;

/// Units of a cube.
const UNITS: u32 = 64;

/// A scan with the operations of its load and its store.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct FusedScan {
    /// Two blocks: the load and the store.
    pub(super) trace: FuseTrace,
    pub(super) scan: ScanStep,
    /// The input of the scan, which the first block computes.
    pub(super) input: FuseArg,
    /// The output of the scan, from which the second block starts.
    pub(super) output: FuseArg,
}

/// Nothing was launched: the two blocks differ in vector width, or it does not divide a line.
#[derive(Debug)]
struct Declined;

impl FusedScan {
    /// Runs the scan with its load and its store. `false` if it declined the call.
    pub(super) fn run(&self, context: &mut Context<CubeFusionHandle>) -> bool {
        let axis = self.scan.ir.axis;
        let shape = context.tensors[&self.scan.ir.input.id].shape.clone();
        let Some(handle) = self.probe(context, &shape) else {
            return false;
        };
        let (client, device) = (handle.client.clone(), handle.device.clone());
        let lines = Lines::of(&shape, axis);
        if shape.num_elements() == 0 || !lines.suit() || is_batch_invariant() {
            return false;
        }
        let runner = Runner { fused: self, lines };
        FuseTraceLauncher::new(&self.trace, &runner)
            .launch(&client, &device, context)
            .is_ok()
    }

    /// The first input, if the kernels can read all inputs in place: inputs as large as the scan must be contiguous.
    fn probe<'a>(
        &self,
        context: &'a Context<CubeFusionHandle>,
        shape: &Shape,
    ) -> Option<&'a CubeFusionHandle> {
        let mut first = None;
        for input in self.trace.resources.inputs.iter() {
            let (relative, _) = input.as_normal_tensor()?;
            let tensor = &context.tensors[&relative.id];
            let handle = context.handles.get_handle_ref(&tensor.id)?;
            let is_strided =
                &tensor.shape == shape && !is_contiguous(&tensor.shape, &handle.strides);
            if handle.tiles.is_some() || is_strided {
                return None;
            }
            first = first.or(Some(handle));
        }
        first
    }
}

struct Runner<'a> {
    fused: &'a FusedScan,
    lines: Lines,
}

impl Vectorization for Runner<'_> {}

impl TraceRunner for Runner<'_> {
    type Error = Declined;

    fn run<'a>(
        &'a self,
        client: &'a Client,
        inputs: GlobalArgsLaunch,
        outputs: GlobalArgsLaunch,
        configs: &'a [FuseBlockConfig],
    ) -> Result<(), Declined> {
        let [load, store] = configs else {
            unreachable!("the trace has a load and a store");
        };
        let lanes = load.width;
        let lines = self.lines.in_vectors(lanes).ok_or(Declined)?;
        if store.width != lanes {
            return Err(Declined);
        }
        let step = &self.fused.scan;
        let op = kernel_op(step.op).expect("Burn's cumulative operations fold elements");
        let dtype = dtype_to_storage_type(step.ir.input.dtype);
        let accumulator = accumulator_of(dtype);
        let split = lines.split(client);
        let parts = lines.parts(split, lanes);
        let launch = Launch {
            client,
            address_type: inputs
                .required_address_type()
                .max(outputs.required_address_type()),
            lanes,
            config: WalkConfig {
                op,
                carry_in: parts.carry_in(),
                prefetch_depth: PREFETCH_DEPTH.min(split.len.next_power_of_two()),
            },
            dtype,
            accumulator,
            lines,
            split,
        };
        let store = |outputs| StoreLaunch::new(outputs, store.clone(), self.fused.output.clone());
        let loaded =
            |inputs, operations| LoadLaunch::new(inputs, operations, self.fused.input.clone());
        let again = (split.parts > 1).then(|| (duplicate(&inputs), duplicate(&outputs)));
        let totals = |states| {
            if let Some((inputs, outputs)) = again {
                launch.totals(loaded(inputs, without_writes(load)), store(outputs), states);
            }
        };
        let scan = |states| launch.scan(loaded(inputs, load.clone()), store(outputs), states);
        parts.launch::<Fold>(client, [dtype, accumulator], op, totals, scan);
        Ok(())
    }
}

/// What both kernels are launched with.
struct Launch<'a> {
    client: &'a Client,
    address_type: AddressType,
    lanes: usize,
    config: WalkConfig,
    dtype: ElemType,
    accumulator: ElemType,
    lines: VectorLines,
    split: Split,
}

impl Launch<'_> {
    fn units(&self) -> usize {
        self.lines.outer * self.lines.width * self.split.parts
    }

    fn grid(&self) -> (CubeCount, CubeDim) {
        let cube_dim = CubeDim::new_1d(UNITS);
        let cubes = cubecl::calculate_cube_count_elemwise(self.client, self.units(), cube_dim);
        (cubes, cube_dim)
    }

    fn walk(&self) -> WalkLaunch {
        let VectorLines { width, steps, .. } = self.lines;
        WalkLaunch::new(steps, width, self.split.len, self.split.parts, self.units())
    }

    fn identity(&self) -> InputScalar {
        self.config.op.identity(self.dtype, self.accumulator)
    }

    fn totals(&self, load: LoadLaunch, store: StoreLaunch, states: BufferArg) {
        let (cubes, cube_dim) = self.grid();
        // SAFETY: units beyond the parts do nothing, a part ends with its line, and there is a state for each of its
        // lines.
        unsafe {
            totals_kernel::launch_unchecked(
                self.client,
                cubes,
                cube_dim,
                self.address_type,
                self.lanes,
                load,
                store,
                states,
                self.walk(),
                self.identity(),
                self.config,
                self.dtype,
                self.accumulator,
            );
        }
    }

    fn scan(&self, load: LoadLaunch, store: StoreLaunch, states: BufferArg) {
        let (cubes, cube_dim) = self.grid();
        // SAFETY: as above.
        unsafe {
            scan_kernel::launch_unchecked(
                self.client,
                cubes,
                cube_dim,
                self.address_type,
                self.lanes,
                load,
                store,
                states,
                self.walk(),
                self.identity(),
                self.config,
                self.dtype,
                self.accumulator,
            );
        }
    }
}

/// The arguments once more, for a launch of its own.
fn duplicate(arguments: &GlobalArgsLaunch) -> GlobalArgsLaunch {
    let mut copy = GlobalArgsLaunch::default();
    for tensor in &arguments.tensors.values {
        let binding = match &tensor.tensor {
            TensorArg::Handle { handle } => TensorArg::Handle {
                handle: handle.clone(),
            },
            TensorArg::Alias { .. } => unreachable!("nothing is computed in place"),
        };
        let GlobalTensorArg {
            ty,
            broadcasted,
            address_type,
            ..
        } = *tensor;
        let tensor = GlobalTensorArg::new(binding, ty, broadcasted, address_type);
        copy.tensors.push(tensor);
    }
    copy.scalars
        .values
        .extend(arguments.scalars.values.iter().copied());
    copy.reshapes
        .values
        .extend(arguments.reshapes.values.iter().copied());
    copy.runtime_layouts
        .values
        .extend(arguments.runtime_layouts.values.iter().copied());
    copy
}

/// The load of a launch that writes totals only.
fn without_writes(load: &FuseBlockConfig) -> FuseBlockConfig {
    let writes = |operation: &FuseOp| {
        matches!(
            operation,
            FuseOp::Assign(UnaryFuseArgs {
                out: FuseArg::Output(..),
                ..
            })
        )
    };
    let mut load = load.clone();
    load.ops.retain(|operation| !writes(operation));
    load
}
