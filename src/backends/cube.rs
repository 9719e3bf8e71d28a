//! CubeCL runtimes: every operation on the kernels of `cubecl-scan`, without leaving the device.

use crate::check::fail;
use crate::ops::{BoolSelectionOps, FloatSelectionOps, IntSelectionOps, ScanOps, with_dim};
use crate::{ScanOp, ScanOptions};
use burn::backend::TensorMetadata;
use burn::tensor::{BoolDType, DType, IntDType, Shape};
use burn_backend::cubecl::dtype_to_storage_type;
use burn_cubecl::CubeBackend;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use burn_std::Metadata;
use cubecl::client::Client;
use cubecl::prelude::TensorBinding;
use cubecl_scan::ScanError;
use cubecl_scan::adjoint::{RecurrenceGradients, recurrence_adjoint};
use cubecl_scan::compact::{self, Emit, PermutationShape};
use cubecl_scan::monoid::{
    ArgExtremum, Extremum, Fold, LinearRecurrence, LogSumExp, Operator, Segmented,
};
use cubecl_scan::scan::{LaunchOptions, ScanTensors, scan_operator};
use cubecl_scan::segments::{self, segment_sums};

/// Scans along `dim`, each line from `initial` if there is one: one launch for rows of up to a tile and for long rows, two for few long columns.
pub(crate) fn scan(
    input: CubeTensor,
    initial: Option<CubeTensor>,
    dim: usize,
    op: ScanOp,
    options: ScanOptions,
) -> CubeTensor {
    let scan = Scan::new("Scan", vec![input], dim, options).resuming(initial);
    match kernel_op(op) {
        Some(op) => scan.launch::<Fold>(op),
        None => scan.launch::<LogSumExp>(()),
    }
}

/// The operator by the name the kernels give it, if it accumulates elements.
pub(crate) fn kernel_op(op: ScanOp) -> Option<cubecl_scan::ScanOp> {
    match op {
        ScanOp::Sum => Some(cubecl_scan::ScanOp::Sum),
        ScanOp::Prod => Some(cubecl_scan::ScanOp::Prod),
        ScanOp::Max => Some(cubecl_scan::ScanOp::Max),
        ScanOp::Min => Some(cubecl_scan::ScanOp::Min),
        ScanOp::LogSumExp => None,
    }
}

/// A scan of one output along a dimension, in as many launches as the strategy takes.
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

    fn resuming(mut self, initial: Option<CubeTensor>) -> Self {
        if let Some(initial) = initial {
            let initial = into_contiguous(initial).binding();
            self.tensors = self.tensors.resuming(vec![initial]);
        }
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

    fn launch<O: Operator>(self, op: O::Config) -> CubeTensor {
        let options = cubecl_scan::scan::ScanOptions {
            exclusive: self.options.exclusive,
            reverse: self.options.reverse,
        };
        let launch = LaunchOptions::default();
        let launched = scan_operator::<O>(&self.client, self.tensors, op, options, launch);
        accept(self.operation, launched);
        self.output
    }
}

fn segmented_scan(
    input: CubeTensor,
    starts: CubeTensor,
    dim: usize,
    op: ScanOp,
    options: ScanOptions,
) -> CubeTensor {
    let scan = Scan::new("Segmented Scan", vec![input], dim, options).segmented(starts);
    match kernel_op(op) {
        Some(op) => scan.launch::<Segmented<Fold>>(op),
        None => scan.launch::<Segmented<LogSumExp>>(()),
    }
}

fn extremum_with_indices(
    input: CubeTensor,
    dim: usize,
    is_max: bool,
    int_dtype: IntDType,
) -> (CubeTensor, CubeTensor) {
    let (name, op) = match is_max {
        true => ("Cummax With Indices", Extremum::Max),
        false => ("Cummin With Indices", Extremum::Min),
    };
    let positions = empty_like(&input, input.shape(), int_dtype.into());
    let scan = Scan::new(name, vec![input], dim, ScanOptions::default()).positions(&positions);
    (scan.launch::<ArgExtremum>(op), positions)
}

fn linear_recurrence(
    values: CubeTensor,
    decay: CubeTensor,
    initial: Option<CubeTensor>,
    dim: usize,
    reverse: bool,
) -> CubeTensor {
    let options = ScanOptions {
        exclusive: false,
        reverse,
    };
    let scan = Scan::new("Linear Recurrence", vec![values, decay], dim, options);
    scan.resuming(initial).launch::<LinearRecurrence>(())
}

/// What flows back to the values, to the decay and, if there is one, to `initial`.
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
    let launched = recurrence_adjoint(&client, gradients, dim, dtype, reverse);
    accept("Linear Recurrence", launched);
    (of_values, of_decay, of_initial)
}

fn empty_like(like: &CubeTensor, shape: Shape, dtype: DType) -> CubeTensor {
    empty_device_contiguous_dtype(like.client.clone(), like.device.clone(), shape, dtype)
}

/// A kernel argument and its element type.
fn typed(tensor: CubeTensor) -> (TensorBinding, cubecl::ir::ElemType) {
    let dtype = dtype_to_storage_type(tensor.dtype);
    (tensor.binding(), dtype)
}

/// The tensor layer has checked all that can be checked without the device; what is left is a type it cannot hold, and tiles that
/// cannot look back. Several operations share a launch, whose name is told.
fn accept(operation: &str, result: Result<(), ScanError>) {
    if let Err(error) = result {
        fail(operation, &error.to_string());
    }
}

/// Compacts `mask` into `output` and returns the count.
fn compact_into(
    values: Option<CubeTensor>,
    mask: CubeTensor,
    output: &CubeTensor,
    int_dtype: IntDType,
    emit: Emit,
) -> CubeTensor {
    let count = empty_like(&mask, [1].into(), int_dtype.into());
    let client = mask.client.clone();
    let launched = compact::compact(
        &client,
        values.map(typed),
        typed(mask),
        output.clone().binding(),
        count.clone().binding(),
        dtype_to_storage_type(int_dtype.into()),
        emit,
        LaunchOptions::default(),
    );
    accept("Compact", launched);
    count
}

fn compact_padded(
    values: CubeTensor,
    mask: CubeTensor,
    fill: bool,
    int_dtype: IntDType,
) -> (CubeTensor, CubeTensor) {
    let output = empty_like(
        &values,
        [values.shape().num_elements()].into(),
        values.dtype,
    );
    let count = compact_into(Some(values), mask, &output, int_dtype, emit(fill));
    (output, count)
}

/// What is behind the values is zero, or unspecified.
fn emit(fill: bool) -> Emit {
    match fill {
        true => Emit::Values,
        false => Emit::ValuesUnpadded,
    }
}

/// The most that a view keeps alive, as a multiple of its own size; as in the CPU engine.
const MOST_KEPT: usize = 8;

/// A view of the first values where they are a fair part of the buffer, which it keeps alive as a whole; else a copy.
///
/// Burn's own slice copies unless the end is aligned. A copy of half of 2^22 values took 10 ms on lavapipe, as long as the
/// compaction itself.
fn front(values: CubeTensor, count: usize) -> CubeTensor {
    let len = values.shape().num_elements();
    if MOST_KEPT * count < len || !values.is_contiguous() {
        return burn_cubecl::kernel::slice(values, std::slice::from_ref(&(0..count)));
    }
    let unused = ((len - count) * values.dtype.size()) as u64;
    let alignment = values.client.properties().memory.alignment;
    let handle = values.handle.offset_end(unused - unused % alignment);
    let metadata = Metadata::new([count], [1usize]);
    CubeTensor::new(values.client, handle, metadata, values.device, values.dtype)
}

/// The rank of each true among the trues, −1 for each false, and the number of trues.
fn mask_destinations(mask: CubeTensor, int_dtype: IntDType) -> (CubeTensor, CubeTensor) {
    emit_indices(mask, int_dtype, Emit::Destinations)
}

fn emit_indices(mask: CubeTensor, int_dtype: IntDType, emit: Emit) -> (CubeTensor, CubeTensor) {
    let output = empty_like(
        &mask,
        [mask.shape().num_elements()].into(),
        int_dtype.into(),
    );
    let count = compact_into(None, mask, &output, int_dtype, emit);
    (output, count)
}

/// Destinations are internal here, and `check::countable` sees to it that they fit.
const SLOT: IntDType = IntDType::I32;

fn permutation_shape(
    shape: &Shape,
    dim: usize,
    slices: usize,
    destinations: usize,
) -> PermutationShape {
    PermutationShape {
        outer: shape[..dim].iter().product(),
        slices,
        destinations,
        inner: shape[dim + 1..].iter().product(),
    }
}

/// `output[o, destinations[s], i] = values[o, s, i]`, zero behind the destinations, of which the last of `taken` is the number.
fn scatter(
    values: CubeTensor,
    destinations: CubeTensor,
    taken: CubeTensor,
    dim: usize,
) -> CubeTensor {
    let values = into_contiguous(values);
    let shape = values.shape();
    let output = empty_like(&values, shape.clone(), values.dtype);
    let client = values.client.clone();
    let (values, dtype) = typed(values);
    let launched = compact::scatter_ranks(
        &client,
        values,
        typed(into_contiguous(destinations)),
        into_contiguous(taken).binding(),
        output.clone().binding(),
        dtype,
        permutation_shape(&shape, dim, shape[dim], shape[dim]),
    );
    accept("Move Slices", launched);
    output
}

/// `output[o, s, i] = values[o, destinations[s], i]`, zero where there is no destination; shaped `shape`.
fn gather(values: CubeTensor, destinations: CubeTensor, dim: usize, shape: Shape) -> CubeTensor {
    let values = into_contiguous(values);
    let from = values.shape();
    let output = empty_like(&values, shape, values.dtype);
    let client = values.client.clone();
    let slices = destinations.shape().num_elements();
    let (values, dtype) = typed(values);
    let launched = compact::gather(
        &client,
        values,
        typed(into_contiguous(destinations)),
        output.clone().binding(),
        dtype,
        permutation_shape(&from, dim, slices, from[dim]),
    );
    accept("Move Slices", launched);
    output
}

fn expand(values: CubeTensor, mask: CubeTensor) -> CubeTensor {
    let values = into_contiguous(values);
    let output = empty_like(&values, mask.shape(), values.dtype);
    let client = values.client.clone();
    let (values, dtype) = typed(values);
    let launched = compact::expand(
        &client,
        values,
        typed(mask),
        output.clone().binding(),
        dtype,
        LaunchOptions::default(),
    );
    accept("Expand By Mask", launched);
    output
}

fn compact_dim_padded(
    values: CubeTensor,
    mask: CubeTensor,
    dim: usize,
    int_dtype: IntDType,
) -> (CubeTensor, CubeTensor) {
    let (destinations, count) = mask_destinations(mask, int_dtype);
    let output = scatter(values, destinations, count.clone(), dim);
    (output, count)
}

fn expand_dim(values: CubeTensor, mask: CubeTensor, dim: usize) -> CubeTensor {
    let shape = with_dim(&values.shape(), dim, mask.shape()[0]);
    let (destinations, _) = mask_destinations(mask, SLOT);
    gather(values, destinations, dim, shape)
}

fn segment_ids(offsets: CubeTensor, len: usize) -> CubeTensor {
    let offsets = into_contiguous(offsets);
    let ids = empty_like(&offsets, [len].into(), offsets.dtype);
    let client = offsets.client.clone();
    let launched = segments::segment_ids(&client, typed(offsets), ids.clone().binding(), len);
    accept("Offsets To Segment Ids", launched);
    ids
}

fn segment_reduce(values: CubeTensor, offsets: CubeTensor, op: ScanOp) -> CubeTensor {
    let (values, offsets) = (into_contiguous(values), into_contiguous(offsets));
    let shape = values.shape();
    let sizes = [shape[0], shape[1..].iter().product()];
    let reduced = with_dim(&shape, 0, offsets.shape()[0] - 1);
    let output = empty_like(&values, reduced, values.dtype);
    let client = values.client.clone();
    let (values, dtype) = typed(values);
    let (offsets, totals) = (typed(offsets), output.clone().binding());
    let launched = match kernel_op(op) {
        Some(op) => {
            segments::segment_reduce::<Fold>(&client, values, offsets, totals, sizes, dtype, op)
        }
        None => {
            let op = ();
            segments::segment_reduce::<LogSumExp>(
                &client, values, offsets, totals, sizes, dtype, op,
            )
        }
    };
    accept("Segment Reduce", launched);
    output
}

fn compact_along(
    values: CubeTensor,
    mask: CubeTensor,
    dim: usize,
    int_dtype: IntDType,
) -> (CubeTensor, CubeTensor) {
    let shape = values.shape();
    let output = empty_like(&values, shape.clone(), values.dtype);
    let counts = empty_like(&values, with_dim(&shape, dim, 1), int_dtype.into());
    let client = values.client.clone();
    let launched = compact::compact_lines(
        &client,
        typed(values),
        typed(mask),
        output.clone().binding(),
        counts.clone().binding(),
        dim,
        dtype_to_storage_type(int_dtype.into()),
        LaunchOptions::default(),
    );
    accept("Compact Along By Mask", launched);
    (output, counts)
}

fn repeat_rows(values: CubeTensor, offsets: CubeTensor, total: usize) -> CubeTensor {
    let (values, offsets) = (into_contiguous(values), into_contiguous(offsets));
    let shape = values.shape();
    let sizes = [total, shape[1..].iter().product()];
    let output = empty_like(&values, with_dim(&shape, 0, total), values.dtype);
    let client = values.client.clone();
    let (values, dtype) = typed(values);
    let room = output.clone().binding();
    let launched = segments::repeat(&client, values, typed(offsets), room, sizes, dtype);
    accept("Repeat By Lengths", launched);
    output
}

fn run_lengths(
    values: CubeTensor,
    fill: bool,
    int_dtype: IntDType,
) -> (CubeTensor, CubeTensor, CubeTensor) {
    let shape = values.shape();
    let output = empty_like(&values, shape.clone(), values.dtype);
    let lengths = empty_like(&values, shape, int_dtype.into());
    let count = empty_like(&values, [1].into(), int_dtype.into());
    let client = values.client.clone();
    let launched = compact::run_lengths(
        &client,
        typed(values),
        output.clone().binding(),
        lengths.clone().binding(),
        count.clone().binding(),
        dtype_to_storage_type(int_dtype.into()),
        emit(fill),
        LaunchOptions::default(),
    );
    accept("Run Length Encode", launched);
    (output, lengths, count)
}

impl ScanOps for CubeBackend {
    fn float_scan(tensor: CubeTensor, dim: usize, op: ScanOp, options: ScanOptions) -> CubeTensor {
        scan(tensor, None, dim, op, options)
    }

    fn int_scan(tensor: CubeTensor, dim: usize, op: ScanOp, options: ScanOptions) -> CubeTensor {
        scan(tensor, None, dim, op, options)
    }

    fn float_scan_from(
        tensor: CubeTensor,
        initial: CubeTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> CubeTensor {
        scan(tensor, Some(initial), dim, op, options)
    }

    fn int_scan_from(
        tensor: CubeTensor,
        initial: CubeTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> CubeTensor {
        scan(tensor, Some(initial), dim, op, options)
    }

    fn float_linear_recurrence(
        values: CubeTensor,
        decay: CubeTensor,
        dim: usize,
        reverse: bool,
    ) -> CubeTensor {
        linear_recurrence(values, decay, None, dim, reverse)
    }

    fn float_linear_recurrence_from(
        values: CubeTensor,
        decay: CubeTensor,
        initial: CubeTensor,
        dim: usize,
        reverse: bool,
    ) -> CubeTensor {
        linear_recurrence(values, decay, Some(initial), dim, reverse)
    }

    fn float_recurrence_adjoint(
        flow: CubeTensor,
        decay: CubeTensor,
        results: CubeTensor,
        dim: usize,
        reverse: bool,
    ) -> (CubeTensor, CubeTensor) {
        let (of_values, of_decay, _) = adjoint(flow, decay, results, None, dim, reverse);
        (of_values, of_decay)
    }

    fn float_recurrence_adjoint_from(
        flow: CubeTensor,
        decay: CubeTensor,
        results: CubeTensor,
        initial: CubeTensor,
        dim: usize,
        reverse: bool,
    ) -> (CubeTensor, CubeTensor, CubeTensor) {
        let initial = Some(initial);
        let (of_values, of_decay, of_initial) =
            adjoint(flow, decay, results, initial, dim, reverse);
        (
            of_values,
            of_decay,
            of_initial.expect("there is an initial value"),
        )
    }

    fn float_segmented_scan(
        tensor: CubeTensor,
        starts: CubeTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> CubeTensor {
        segmented_scan(tensor, starts, dim, op, options)
    }

    fn int_segmented_scan(
        tensor: CubeTensor,
        starts: CubeTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> CubeTensor {
        segmented_scan(tensor, starts, dim, op, options)
    }

    fn float_extremum_with_indices(
        tensor: CubeTensor,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (CubeTensor, CubeTensor) {
        extremum_with_indices(tensor, dim, is_max, int_dtype)
    }

    fn int_extremum_with_indices(
        tensor: CubeTensor,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (CubeTensor, CubeTensor) {
        extremum_with_indices(tensor, dim, is_max, int_dtype)
    }

    fn float_segment_sums(
        values: CubeTensor,
        heads: CubeTensor,
        dim: usize,
        reverse: bool,
    ) -> CubeTensor {
        let (values, heads) = (into_contiguous(values), into_contiguous(heads));
        let output = empty_like(&values, values.shape(), values.dtype);
        let client = values.client.clone();
        let (values, dtype) = typed(values);
        let launched = segment_sums(
            &client,
            values,
            typed(heads),
            output.clone().binding(),
            dim,
            dtype,
            reverse,
        );
        accept("Scan", launched);
        output
    }

    fn mask_indices_unpadded(mask: CubeTensor, int_dtype: IntDType) -> (CubeTensor, CubeTensor) {
        emit_indices(mask, int_dtype, Emit::IndicesUnpadded)
    }

    fn segment_ids(offsets: CubeTensor, len: usize) -> CubeTensor {
        segment_ids(offsets, len)
    }

    fn segment_starts(offsets: CubeTensor, len: usize, bool_dtype: BoolDType) -> CubeTensor {
        let offsets = into_contiguous(offsets);
        let starts = empty_like(&offsets, [len].into(), bool_dtype.into());
        let client = offsets.client.clone();
        let launched =
            segments::segment_starts(&client, typed(offsets), typed(starts.clone()), len);
        accept("Offsets To Starts", launched);
        starts
    }

    fn float_segment_reduce(values: CubeTensor, offsets: CubeTensor, op: ScanOp) -> CubeTensor {
        segment_reduce(values, offsets, op)
    }

    fn int_segment_reduce(values: CubeTensor, offsets: CubeTensor, op: ScanOp) -> CubeTensor {
        segment_reduce(values, offsets, op)
    }

    fn partition_ranks(
        keys: CubeTensor,
        num_keys: usize,
        int_dtype: IntDType,
    ) -> (CubeTensor, CubeTensor) {
        let keys = into_contiguous(keys);
        let destinations = empty_like(&keys, keys.shape(), int_dtype.into());
        let offsets = empty_like(&keys, [num_keys + 1].into(), int_dtype.into());
        let client = keys.client.clone();
        let launched = compact::partition_ranks(
            &client,
            typed(keys),
            destinations.clone().binding(),
            offsets.clone().binding(),
            num_keys,
            dtype_to_storage_type(int_dtype.into()),
            LaunchOptions::default(),
        );
        accept("Partition By Key", launched);
        (destinations, offsets)
    }
}

macro_rules! cube_selections {
    (
        $Trait:ident, $compact_padded:ident, $expand:ident, $compact_dim_padded:ident, $expand_dim:ident,
        $scatter:ident, $gather:ident, $front:ident, $compact_along:ident, $repeat_rows:ident,
        $run_lengths_padded:ident
    ) => {
        impl $Trait for CubeBackend {
            fn $compact_padded(
                values: CubeTensor,
                mask: CubeTensor,
                fill: bool,
                int_dtype: IntDType,
            ) -> (CubeTensor, CubeTensor) {
                compact_padded(values, mask, fill, int_dtype)
            }

            fn $expand(values: CubeTensor, mask: CubeTensor) -> CubeTensor {
                expand(values, mask)
            }

            fn $compact_dim_padded(
                values: CubeTensor,
                mask: CubeTensor,
                dim: usize,
                int_dtype: IntDType,
            ) -> (CubeTensor, CubeTensor) {
                compact_dim_padded(values, mask, dim, int_dtype)
            }

            fn $expand_dim(values: CubeTensor, mask: CubeTensor, dim: usize) -> CubeTensor {
                expand_dim(values, mask, dim)
            }

            fn $scatter(
                values: CubeTensor,
                destinations: CubeTensor,
                offsets: CubeTensor,
            ) -> CubeTensor {
                scatter(values, destinations, offsets, 0)
            }

            fn $gather(
                values: CubeTensor,
                destinations: CubeTensor,
                _offsets: CubeTensor,
            ) -> CubeTensor {
                let shape = values.shape();
                gather(values, destinations, 0, shape)
            }

            fn $front(values: CubeTensor, count: usize) -> CubeTensor {
                front(values, count)
            }

            fn $compact_along(
                values: CubeTensor,
                mask: CubeTensor,
                dim: usize,
                int_dtype: IntDType,
            ) -> (CubeTensor, CubeTensor) {
                compact_along(values, mask, dim, int_dtype)
            }

            fn $repeat_rows(values: CubeTensor, offsets: CubeTensor, total: usize) -> CubeTensor {
                repeat_rows(values, offsets, total)
            }

            fn $run_lengths_padded(
                values: CubeTensor,
                fill: bool,
                int_dtype: IntDType,
            ) -> (CubeTensor, CubeTensor, CubeTensor) {
                run_lengths(values, fill, int_dtype)
            }
        }
    };
}

cube_selections!(
    FloatSelectionOps,
    float_compact_padded,
    float_expand_by_mask,
    float_compact_dim_padded,
    float_expand_dim,
    float_scatter_to,
    float_gather_from,
    float_front,
    float_compact_along,
    float_repeat_rows,
    float_run_lengths_padded
);
cube_selections!(
    IntSelectionOps,
    int_compact_padded,
    int_expand_by_mask,
    int_compact_dim_padded,
    int_expand_dim,
    int_scatter_to,
    int_gather_from,
    int_front,
    int_compact_along,
    int_repeat_rows,
    int_run_lengths_padded
);
cube_selections!(
    BoolSelectionOps,
    bool_compact_padded,
    bool_expand_by_mask,
    bool_compact_dim_padded,
    bool_expand_dim,
    bool_scatter_to,
    bool_gather_from,
    bool_front,
    bool_compact_along,
    bool_repeat_rows,
    bool_run_lengths_padded
);
