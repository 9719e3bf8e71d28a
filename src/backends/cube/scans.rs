//! Scans, recurrences and their adjoints.

use super::{accept, empty_like, typed};
use crate::backends::is_batch_invariant;
use crate::{ScanOp, ScanOptions};
use burn::backend::TensorMetadata;
use burn::tensor::IntDType;
use burn_backend::cubecl::dtype_to_storage_type;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use cubecl::client::Client;
use cubecl_scan::adjoint::{RecurrenceGradients, recurrence_adjoint as launch_adjoint};
use cubecl_scan::monoid::Extremum;
use cubecl_scan::scan::{BuiltIn, LaunchOptions, ScanTensors, scan_built_in};

/// Rows take one launch; a few long columns take two.
pub(crate) fn scan(input: CubeTensor, dim: usize, op: ScanOp, options: ScanOptions) -> CubeTensor {
    Scan::new("Scan", vec![input], dim, options).fold(op)
}

pub(super) fn scan_from(
    input: CubeTensor,
    initial: CubeTensor,
    dim: usize,
    op: ScanOp,
    options: ScanOptions,
) -> CubeTensor {
    let scan = Scan::new("Scan", vec![input], dim, options);
    scan.resuming(initial).fold(op)
}

/// A scan with one output along a dimension.
struct Scan {
    operation: &'static str,
    client: Client,
    output: CubeTensor,
    tensors: ScanTensors,
    options: ScanOptions,
}

impl Scan {
    fn new(
        operation: &'static str,
        inputs: Vec<CubeTensor>,
        dim: usize,
        options: ScanOptions,
    ) -> Self {
        let output = empty_like(&inputs[0], inputs[0].shape(), inputs[0].dtype);
        let dtype = dtype_to_storage_type(output.dtype);
        let inputs = inputs.into_iter().map(CubeTensor::binding).collect();
        Self {
            operation,
            client: output.client.clone(),
            tensors: ScanTensors::new(inputs, vec![output.clone().binding()], dim, dtype),
            output,
            options,
        }
    }

    fn resuming(mut self, initial: CubeTensor) -> Self {
        let initial = into_contiguous(initial).binding();
        self.tensors = self.tensors.resuming(vec![initial]);
        self
    }

    fn segmented(mut self, starts: CubeTensor) -> Self {
        let (starts, dtype) = typed(into_contiguous(starts));
        self.tensors = self.tensors.segmented(starts, dtype, false);
        self
    }

    fn positions(mut self, positions: &CubeTensor) -> Self {
        let (positions, dtype) = typed(positions.clone());
        self.tensors = self.tensors.positions(positions, dtype);
        self
    }

    fn fold(self, op: ScanOp) -> CubeTensor {
        self.launch(built_in(op))
    }

    fn launch(self, op: BuiltIn) -> CubeTensor {
        let options = cubecl_scan::scan::ScanOptions {
            exclusive: self.options.exclusive,
            reverse: self.options.reverse,
        };
        let launched = scan_built_in(&self.client, self.tensors, op, options, launch_options());
        accept(self.operation, launched);
        self.output
    }
}

/// The operator as the kernels name it.
pub(super) fn built_in(op: ScanOp) -> BuiltIn {
    op.of_kernels().map_or(BuiltIn::LogSumExp, BuiltIn::Fold)
}

pub(crate) fn launch_options() -> LaunchOptions {
    LaunchOptions {
        batch_invariant: is_batch_invariant(),
        ..LaunchOptions::default()
    }
}

pub(super) fn segmented_scan(
    input: CubeTensor,
    starts: CubeTensor,
    dim: usize,
    op: ScanOp,
    options: ScanOptions,
) -> CubeTensor {
    let scan = Scan::new("Segmented Scan", vec![input], dim, options).segmented(starts);
    scan.fold(op)
}

pub(super) fn extremum_with_indices(
    input: CubeTensor,
    dim: usize,
    is_max: bool,
    int_dtype: IntDType,
) -> (CubeTensor, CubeTensor) {
    let (name, op) = if is_max {
        ("Cummax With Indices", Extremum::Max)
    } else {
        ("Cummin With Indices", Extremum::Min)
    };
    let positions = empty_like(&input, input.shape(), int_dtype.into());
    let scan = Scan::new(name, vec![input], dim, ScanOptions::default()).positions(&positions);
    (scan.launch(BuiltIn::ArgExtremum(op)), positions)
}

pub(super) fn linear_recurrence(
    values: CubeTensor,
    decay: CubeTensor,
    dim: usize,
    options: ScanOptions,
) -> CubeTensor {
    let scan = Scan::new("Linear Recurrence", vec![values, decay], dim, options);
    scan.launch(BuiltIn::LinearRecurrence)
}

pub(super) fn linear_recurrence_from(
    values: CubeTensor,
    decay: CubeTensor,
    initial: CubeTensor,
    dim: usize,
    options: ScanOptions,
) -> CubeTensor {
    let scan = Scan::new("Linear Recurrence", vec![values, decay], dim, options);
    scan.resuming(initial).launch(BuiltIn::LinearRecurrence)
}

pub(super) fn reset_recurrence(
    values: CubeTensor,
    decay: CubeTensor,
    dim: usize,
    options: ScanOptions,
) -> CubeTensor {
    let scan = Scan::new("Reset Recurrence", vec![values, decay], dim, options);
    scan.launch(BuiltIn::ResetRecurrence)
}

pub(super) fn recurrence_adjoint(
    flow: CubeTensor,
    decay: CubeTensor,
    results: CubeTensor,
    dim: usize,
    reverse: bool,
) -> (CubeTensor, CubeTensor) {
    let (of_values, of_decay, _) = adjoint(flow, decay, results, None, dim, reverse);
    (of_values, of_decay)
}

pub(super) fn recurrence_adjoint_from(
    flow: CubeTensor,
    decay: CubeTensor,
    results: CubeTensor,
    initial: CubeTensor,
    dim: usize,
    reverse: bool,
) -> (CubeTensor, CubeTensor, CubeTensor) {
    let (of_values, of_decay, of_initial) =
        adjoint(flow, decay, results, Some(initial), dim, reverse);
    let of_initial = of_initial.expect("there is an initial value");
    (of_values, of_decay, of_initial)
}

/// The gradients of the values, of the decay, and of `initial` if there is one.
fn adjoint(
    flow: CubeTensor,
    decay: CubeTensor,
    results: CubeTensor,
    initial: Option<CubeTensor>,
    dim: usize,
    reverse: bool,
) -> (CubeTensor, CubeTensor, Option<CubeTensor>) {
    let room = |like: &CubeTensor| empty_like(like, like.shape(), like.dtype);
    let (of_values, of_decay) = (room(&flow), room(&flow));
    let initial = initial.map(|initial| (room(&initial), into_contiguous(initial)));
    let of_initial = initial.as_ref().map(|(of_initial, _)| of_initial.clone());
    let (client, dtype) = (flow.client.clone(), dtype_to_storage_type(flow.dtype));
    let gradients = RecurrenceGradients {
        flow: flow.binding(),
        decay: decay.binding(),
        results: into_contiguous(results).binding(),
        of_values: of_values.clone().binding(),
        of_decay: of_decay.clone().binding(),
        initial: initial.map(|(of_initial, initial)| [initial.binding(), of_initial.binding()]),
    };
    let launch = launch_options();
    let launched = launch_adjoint(&client, gradients, dim, dtype, reverse, launch);
    accept("Linear Recurrence", launched);
    (of_values, of_decay, of_initial)
}
