//! One scan whose load and store compute the operations [around it](super::load_store).
//!
//! The kernels and the routine are those of the scan alone, and so are the bits of its results. The routine decides how
//! many elements an access has, and Burn's engine is made to access all tensors in the same way. A plan does not know
//! the strides and sizes of a call. [`FusedScan::run`] reads them. It declines calls that do not suit the routine, and
//! then leaves every tensor as it was.

use std::cell::Cell;
use std::collections::BTreeMap;

use burn_backend::cubecl::dtype_to_storage_type;
use burn_cubecl::fusion::CubeFusionHandle;
use burn_cubecl_fusion::engine::codegen::ir::{FuseArg, FuseBlockConfig, GlobalArgsLaunch};
use burn_cubecl_fusion::engine::launch::FuseTraceLauncher;
use burn_cubecl_fusion::engine::launch::runner::{
    TraceRunner, Vectorization, VectorizationAxis, VectorizationHandle,
};
use burn_cubecl_fusion::engine::launch::vectorization::Vect;
use burn_cubecl_fusion::engine::trace::{FuseTrace, RegisterTensor};
use burn_fusion::stream::Context;
use burn_ir::{TensorId, TensorIr};
use burn_std::Shape;
use burn_std::tensor::is_contiguous;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::monoid::Fold;
use cubecl_scan::scan::{PlannedScan, ScanOptions};

use super::args::{FusedOperands, Operations};
use super::pattern::ScanStep;
use crate::backends::cube::launch_options;

/// A scan with the operations of its load and its store.
pub(super) struct FusedScan {
    /// Two blocks: the load and the store.
    pub(super) trace: FuseTrace,
    pub(super) scan: ScanStep,
    /// The input of the scan, which the first block computes.
    pub(super) input: FuseArg,
    /// The output of the scan, from which the second block starts.
    pub(super) output: FuseArg,
}

/// Nothing was launched: the engine does not access all tensors as the routine does.
#[derive(Debug)]
struct Declined;

impl FusedScan {
    /// Runs the scan with its load and its store. `None` if it declined the call.
    pub(super) fn run(&self, context: &mut Context<CubeFusionHandle>) -> Option<()> {
        let step = &self.scan;
        let shape = context.tensors[&step.ir.input.id].shape.clone();
        let last = shape[shape.num_dims() - 1];
        // The engine reads no vectors from tensors whose last dimension has one element.
        if shape.num_elements() == 0 || last == 1 {
            return None;
        }
        let first = tensor_of(context, self.trace.resources.inputs.iter().next()?)?;
        let handle = context.handles.get_handle_ref(&first.id)?;
        let (client, device) = (handle.client.clone(), handle.device.clone());
        let planned = PlannedScan::<Fold>::new(
            &client,
            shape.as_slice(),
            step.ir.axis,
            dtype_to_storage_type(step.ir.input.dtype),
            step.op
                .of_kernels()
                .expect("Burn's cumulative operations fold elements"),
            ScanOptions::default(),
            launch_options(),
        );
        let planned = planned.ok()?;
        let runner = Runner {
            fused: self,
            width: planned.width(),
            is_flat: last % planned.width() > 0,
            planned: Cell::new(Some(planned)),
        };
        if !runner.suits(&client, context, &shape) {
            return None;
        }
        let launcher = FuseTraceLauncher::new(&self.trace, &runner);
        launcher.launch(&client, &device, context).ok().map(|_| ())
    }
}

/// The tensor of this call that a tensor of the trace stands for, unless it is quantized.
fn tensor_of<'a>(
    context: &'a Context<CubeFusionHandle>,
    registered: &RegisterTensor,
) -> Option<&'a TensorIr> {
    let (relative, _) = registered.as_normal_tensor()?;
    context.tensors.get(&relative.id)
}

struct Runner<'a> {
    fused: &'a FusedScan,
    planned: Cell<Option<PlannedScan<'a, Fold>>>,
    /// Elements of an access.
    width: usize,
    /// An access may cover the end of a row and the beginning of the next. Then all tensors are as large as the scan,
    /// and rows do not matter.
    is_flat: bool,
}

impl Runner<'_> {
    /// Whether the kernels can read all inputs in place, and access all tensors in the same way. Inputs as large as the
    /// scan must be contiguous.
    fn suits(&self, client: &Client, context: &Context<CubeFusionHandle>, shape: &Shape) -> bool {
        let is_accessed = |tensor: &TensorIr| {
            let size = dtype_to_storage_type(tensor.dtype).size();
            let mut widths = client.io_optimized_vector_sizes(size);
            self.width == 1 || widths.any(|width| width == self.width)
        };
        let is_read = |tensor: &TensorIr| {
            let Some(handle) = context.handles.get_handle_ref(&tensor.id) else {
                return false;
            };
            let bytes = (self.width * dtype_to_storage_type(tensor.dtype).size()) as u64;
            let begins = handle.handle.offset_start.unwrap_or(0);
            let suits = if &tensor.shape == shape {
                is_contiguous(&tensor.shape, &handle.strides)
            } else {
                !self.is_flat
            };
            handle.tiles.is_none() && begins.is_multiple_of(bytes) && suits
        };
        let of_call = |registered| tensor_of(context, registered);
        let (inputs, outputs) = (
            &self.fused.trace.resources.inputs,
            &self.fused.trace.resources.outputs,
        );
        (inputs.iter().map(of_call)).all(|it| it.is_some_and(|it| is_read(it) && is_accessed(it)))
            && outputs
                .iter()
                .map(of_call)
                .all(|it| it.is_some_and(is_accessed))
    }

    /// How the kernel accesses an input.
    fn access(&self, tensor: &TensorIr, strides: &[usize]) -> Vect {
        match tensor.shape[tensor.shape.num_dims() - 1] {
            1 => Vect::Broadcasted,
            last if self.is_flat
                || last % self.width == 0 && is_contiguous(&tensor.shape, strides) =>
            {
                Vect::Aligned(self.width)
            }
            _ => Vect::Aligned(1),
        }
    }
}

impl Vectorization for Runner<'_> {
    fn vectorization<'a>(
        &self,
        _context: &Context<CubeFusionHandle>,
        vectorizations: &mut BTreeMap<TensorId, Vect>,
        inputs: impl Iterator<Item = VectorizationHandle<'a>>,
        outputs: impl Iterator<Item = &'a TensorIr>,
        _reshaped: impl Iterator<Item = (&'a TensorIr, &'a TensorIr, bool)>,
        _swapped: impl Iterator<Item = (&'a TensorIr, &'a TensorIr, bool, &'a (usize, usize))>,
        _vector_sizes: &[VectorSize],
        _max: VectorSize,
        _axis: VectorizationAxis,
    ) {
        for input in inputs {
            if let VectorizationHandle::NormalInput(handle, tensor) = input {
                vectorizations.insert(tensor.id, self.access(tensor, &handle.strides));
            }
        }
        vectorizations.extend(outputs.map(|tensor| (tensor.id, Vect::Aligned(self.width))));
    }
}

impl TraceRunner for Runner<'_> {
    type Error = Declined;

    fn run<'a>(
        &'a self,
        _client: &'a Client,
        inputs: GlobalArgsLaunch,
        outputs: GlobalArgsLaunch,
        configs: &'a [FuseBlockConfig],
    ) -> Result<(), Declined> {
        let [load, store] = configs else {
            unreachable!("the trace has a load and a store");
        };
        if [load.width, store.width] != [self.width; 2] {
            return Err(Declined);
        }
        let planned = self.planned.take().ok_or(Declined)?;
        let address_type = inputs
            .required_address_type()
            .max(outputs.required_address_type());
        let operations = Operations {
            load: load.clone(),
            input: self.fused.input.clone(),
            store: store.clone(),
            output: self.fused.output.clone(),
        };
        let operands = FusedOperands {
            inputs,
            outputs,
            operations,
        };
        planned
            .launch(&operands, address_type)
            .map_err(|_| Declined)
    }
}
