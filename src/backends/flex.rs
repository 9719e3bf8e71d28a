//! The CPU backend: tensors as slices for the CPU engine.

mod cached_bytes;
mod slices;

use crate::check::fail;
use crate::cpu;
use crate::ops::{BoolSelectionOps, FloatSelectionOps, IntSelectionOps, ScanOps, with_dim};
use crate::{ScanOp, ScanOptions};
use burn::backend::TensorMetadata;
use burn::tensor::{BoolDType, DType, IntDType, Shape};
use burn_flex::{Flex, FlexTensor};
use half::{bf16, f16};
use slices::{by_int, count_tensor, elements, mask_bytes, mask_tensor, tensor, view};

/// Frees the memory that the CPU backend keeps for its next outputs: that of large outputs which were dropped, 256 MiB
/// at most.
///
/// # Example
///
/// ```
/// burn_scan::backends::free_kept_memory();
/// ```
pub fn free_kept_memory() {
    cpu::buffer_cache::trim();
}

/// Runs `$body` with `$T` the type of `$dtype`.
macro_rules! by_type {
    ($dtype:expr, $T:ident => $body:expr; $($DType:ident $ty:ty),*) => {
        match $dtype {
            $(DType::$DType => {
                type $T = $ty;
                $body
            })*
            dtype => fail("Scan", &format!("The CPU backend cannot scan {dtype:?}.")),
        }
    };
}

macro_rules! by_float {
    ($dtype:expr, $T:ident => $body:expr) => {
        by_type!($dtype, $T => $body; F64 f64, F32 f32, Flex32 f32, F16 f16, BF16 bf16)
    };
}

macro_rules! by_number {
    ($dtype:expr, $T:ident => $body:expr) => {
        by_type!(
            $dtype, $T => $body;
            F64 f64, F32 f32, Flex32 f32, F16 f16, BF16 bf16,
            I64 i64, I32 i32, I16 i16, I8 i8, U64 u64, U32 u32, U16 u16, U8 u8
        )
    };
}

/// The operator by the name that the CPU engine gives it.
fn fold(op: ScanOp) -> cpu::Op {
    match op {
        ScanOp::Sum => cpu::Op::Sum,
        ScanOp::Prod => cpu::Op::Prod,
        ScanOp::Max => cpu::Op::Max,
        ScanOp::Min => cpu::Op::Min,
        ScanOp::LogSumExp => unreachable!("its state is more than an element"),
    }
}

fn scan(input: FlexTensor, dim: usize, op: ScanOp, options: ScanOptions) -> FlexTensor {
    if op == ScanOp::LogSumExp {
        return log_sum_exp(input, dim, options);
    }
    let input = input.to_contiguous();
    let shape = input.shape();
    let (outer, inner) = around(&shape, dim);
    let op = fold(op);
    by_number!(input.dtype(), T => {
        let scanned = cpu::scan::<T>(
            elements(&input), outer, shape[dim], inner, op, options.exclusive, options.reverse,
        );
        tensor(scanned, shape, input.dtype())
    })
}

fn log_sum_exp(input: FlexTensor, dim: usize, options: ScanOptions) -> FlexTensor {
    let shape = input.shape();
    by_float!(input.dtype(), T => {
        let scanned = cpu::log_sum_exp::<T>(
            &view(&input, dim), None, options.exclusive, lines(&shape, dim, options.reverse),
        );
        tensor(scanned, shape, input.dtype())
    })
}

fn linear_recurrence(
    values: FlexTensor,
    decay: FlexTensor,
    initial: Option<FlexTensor>,
    dim: usize,
    reverse: bool,
) -> FlexTensor {
    let shape = values.shape();
    let initial = initial.map(|initial| initial.to_contiguous());
    by_float!(values.dtype(), T => {
        let walked = cpu::recurrence::<T>(
            &view(&values, dim), &view(&decay, dim), initial.as_ref().map(elements), lines(&shape, dim, reverse),
        );
        tensor(walked, shape, values.dtype())
    })
}

fn recurrence_adjoint(
    flow: FlexTensor,
    decay: FlexTensor,
    results: FlexTensor,
    initial: Option<FlexTensor>,
    dim: usize,
    reverse: bool,
) -> [FlexTensor; 3] {
    let shape = flow.shape();
    let (results, initial) = (
        results.to_contiguous(),
        initial.map(|initial| initial.to_contiguous()),
    );
    by_float!(flow.dtype(), T => {
        let adjoint = cpu::recurrence_adjoint::<T>(
            &view(&flow, dim), &view(&decay, dim), elements(&results), initial.as_ref().map(elements),
            lines(&shape, dim, !reverse),
        );
        let of_line = with_dim(&shape, dim, 1);
        [(adjoint.of_values, shape.clone()), (adjoint.of_decay, shape), (adjoint.of_initial, of_line)]
            .map(|(elements, shape)| tensor(elements, shape, flow.dtype()))
    })
}

fn segmented_scan(
    input: FlexTensor,
    starts: FlexTensor,
    dim: usize,
    op: ScanOp,
    options: ScanOptions,
) -> FlexTensor {
    let shape = input.shape();
    let starts = starts.to_contiguous();
    let bytes = mask_bytes(&starts);
    let strides = starts.layout().strides();
    let starts = cpu::View::new(&bytes, 0, &shape, strides, dim);
    let (starts, lines) = (Some(&starts), lines(&shape, dim, options.reverse));
    match op {
        ScanOp::LogSumExp => by_float!(input.dtype(), T => {
            let scanned = cpu::log_sum_exp::<T>(&view(&input, dim), starts, options.exclusive, lines);
            tensor(scanned, shape.clone(), input.dtype())
        }),
        op => by_number!(input.dtype(), T => {
            let values = view::<T>(&input, dim);
            let scanned = cpu::segmented_scan(&values, starts, fold(op), options.exclusive, lines);
            tensor(scanned, shape.clone(), input.dtype())
        }),
    }
}

fn extremum_with_indices(
    input: FlexTensor,
    dim: usize,
    is_max: bool,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let shape = input.shape();
    let lines = lines(&shape, dim, false);
    by_number!(input.dtype(), T => by_int!(int.into(), I => {
        let (values, positions) = cpu::extremum::<T, I>(&view(&input, dim), is_max, lines);
        (
            tensor(values, shape.clone(), input.dtype()),
            tensor(positions, shape, int.into()),
        )
    }))
}

/// The shape of a walk along `dim`.
fn lines(shape: &Shape, dim: usize, reverse: bool) -> cpu::Lines {
    let (outer, inner) = around(shape, dim);
    cpu::Lines {
        outer,
        len: shape[dim],
        inner,
        reverse,
    }
}

/// Runs `$body` with `$T` an integer of the size of `$tensor`'s elements: what only moves them need not know their type.
macro_rules! by_size {
    ($tensor:expr, $T:ident => $body:expr) => {
        match $tensor.dtype().size() {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            _ => {
                type $T = u64;
                $body
            }
        }
    };
}

fn compact(values: FlexTensor, mask: FlexTensor) -> FlexTensor {
    let (values, mask) = (values.to_contiguous(), mask.to_contiguous());
    let mask = mask_bytes(&mask);
    if cpu::all_true(&mask) {
        return flat(values);
    }
    by_size!(values, T => {
        let kept = cpu::compact::<T>(elements(&values), &mask);
        let shape = [kept.len()].into();
        tensor(kept, shape, values.dtype())
    })
}

fn compact_padded(values: FlexTensor, mask: FlexTensor, int: IntDType) -> (FlexTensor, FlexTensor) {
    let (values, mask) = (values.to_contiguous(), mask.to_contiguous());
    let mask = mask_bytes(&mask);
    if cpu::all_true(&mask) {
        return (flat(values), count_tensor(mask.len(), int));
    }
    by_size!(values, T => {
        let (kept, count) = cpu::compact_padded::<T>(elements(&values), &mask);
        let shape = [kept.len()].into();
        (tensor(kept, shape, values.dtype()), count_tensor(count, int))
    })
}

/// Contiguous values in one dimension, which shares their memory.
fn flat(values: FlexTensor) -> FlexTensor {
    let len = values.shape().num_elements();
    values.reshape([len].into())
}

fn expand(values: FlexTensor, mask: FlexTensor) -> FlexTensor {
    let (values, mask) = (values.to_contiguous(), mask.to_contiguous());
    by_size!(values, T => {
        let expanded = cpu::expand::<T>(elements(&values), &mask_bytes(&mask));
        tensor(expanded, mask.shape(), values.dtype())
    })
}

fn compact_dim(values: FlexTensor, mask: FlexTensor, dim: usize) -> FlexTensor {
    let (values, mask) = (values.to_contiguous(), mask.to_contiguous());
    let shape = values.shape();
    let (outer, inner) = around(&shape, dim);
    let mask = mask_bytes(&mask);
    by_size!(values, T => {
        let kept = cpu::compact_rows::<T>(elements(&values), &mask, outer, inner);
        tensor(kept, with_dim(&shape, dim, cpu::count_true(&mask)), values.dtype())
    })
}

fn compact_dim_padded(
    values: FlexTensor,
    mask: FlexTensor,
    dim: usize,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let (values, mask) = (values.to_contiguous(), mask.to_contiguous());
    let shape = values.shape();
    let (outer, inner) = around(&shape, dim);
    by_size!(values, T => {
        let (kept, count) =
            cpu::compact_rows_padded::<T>(elements(&values), &mask_bytes(&mask), outer, inner);
        (tensor(kept, shape, values.dtype()), count_tensor(count, int))
    })
}

fn expand_dim(values: FlexTensor, mask: FlexTensor, dim: usize) -> FlexTensor {
    let (values, mask) = (values.to_contiguous(), mask.to_contiguous());
    let shape = values.shape();
    let (outer, inner) = around(&shape, dim);
    by_size!(values, T => {
        let expanded = cpu::expand_rows::<T>(elements(&values), &mask_bytes(&mask), outer, inner);
        tensor(expanded, with_dim(&shape, dim, mask.shape()[0]), values.dtype())
    })
}

/// The products of the dimensions before and after `dim`.
fn around(shape: &Shape, dim: usize) -> (usize, usize) {
    (
        shape[..dim].iter().product(),
        shape[dim + 1..].iter().product(),
    )
}

fn scatter(values: FlexTensor, destinations: FlexTensor) -> FlexTensor {
    let (values, destinations) = (values.to_contiguous(), destinations.to_contiguous());
    by_size!(values, T => by_int!(destinations.dtype(), I => {
        let scattered = cpu::scatter::<T, I>(elements(&values), elements(&destinations));
        tensor(scattered, values.shape(), values.dtype())
    }))
}

fn gather(values: FlexTensor, destinations: FlexTensor) -> FlexTensor {
    let (values, destinations) = (values.to_contiguous(), destinations.to_contiguous());
    by_size!(values, T => by_int!(destinations.dtype(), I => {
        let gathered = cpu::gather::<T, I>(elements(&values), elements(&destinations));
        tensor(gathered, values.shape(), values.dtype())
    }))
}

fn segment_sums(values: FlexTensor, heads: FlexTensor, dim: usize, reverse: bool) -> FlexTensor {
    let (values, heads) = (values.to_contiguous(), heads.to_contiguous());
    let shape = values.shape();
    let (outer, inner) = around(&shape, dim);
    let lines = [outer, shape[dim], inner];
    by_float!(values.dtype(), T => {
        let sums = cpu::segment_sums::<T>(elements(&values), &mask_bytes(&heads), lines, reverse);
        tensor(sums, shape, values.dtype())
    })
}

fn segment_reduce(values: FlexTensor, offsets: FlexTensor, op: ScanOp) -> FlexTensor {
    let (values, offsets) = (values.to_contiguous(), offsets.to_contiguous());
    let shape = values.shape();
    let sizes = [shape[0], shape[1..].iter().product()];
    let reduced = with_dim(&shape, 0, offsets.shape()[0] - 1);
    by_int!(offsets.dtype(), I => match op {
        ScanOp::LogSumExp => by_float!(values.dtype(), T => {
            let totals = cpu::segment_log_sum_exp::<T, I>(elements(&values), elements(&offsets), sizes);
            tensor(totals, reduced, values.dtype())
        }),
        op => by_number!(values.dtype(), T => {
            let totals = cpu::segment_reduce::<T, I>(elements(&values), elements(&offsets), sizes, fold(op));
            tensor(totals, reduced, values.dtype())
        }),
    })
}

fn compact_along(
    values: FlexTensor,
    mask: FlexTensor,
    dim: usize,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let (values, mask) = (values.to_contiguous(), mask.to_contiguous());
    let shape = values.shape();
    let (outer, inner) = around(&shape, dim);
    let lines = [outer, shape[dim], inner];
    by_size!(values, T => by_int!(int.into(), I => {
        let (kept, counts) = cpu::compact_lines::<T, I>(elements(&values), &mask_bytes(&mask), lines);
        let counts = tensor(counts, with_dim(&shape, dim, 1), int.into());
        (tensor(kept, shape, values.dtype()), counts)
    }))
}

fn repeat_rows(values: FlexTensor, offsets: FlexTensor, total: usize) -> FlexTensor {
    let (values, offsets) = (values.to_contiguous(), offsets.to_contiguous());
    let shape = values.shape();
    let width = shape[1..].iter().product();
    by_size!(values, T => by_int!(offsets.dtype(), I => {
        let rows = cpu::repeat_rows::<T, I>(elements(&values), elements(&offsets), total, width);
        tensor(rows, with_dim(&shape, 0, total), values.dtype())
    }))
}

/// The runs of equal elements, and how many they are.
fn run_lengths(
    values: FlexTensor,
    int: IntDType,
    padded: bool,
) -> (FlexTensor, FlexTensor, FlexTensor) {
    let values = values.to_contiguous();
    macro_rules! runs {
        ($T:ty) => {
            by_int!(int.into(), I => {
                let runs = cpu::run_lengths::<$T, I>(elements(&values), padded);
                let len = [runs.values.len()];
                (
                    tensor(runs.values, len.into(), values.dtype()),
                    tensor(runs.lengths, len.into(), int.into()),
                    count_tensor(runs.count, int),
                )
            })
        };
    }
    // Integers and booleans are equal where their bits are.
    match values.dtype() {
        DType::F64 => runs!(f64),
        DType::F32 | DType::Flex32 => runs!(f32),
        DType::F16 => runs!(f16),
        DType::BF16 => runs!(bf16),
        _ => by_size!(values, T => runs!(T)),
    }
}

impl ScanOps for Flex {
    fn float_scan(tensor: FlexTensor, dim: usize, op: ScanOp, options: ScanOptions) -> FlexTensor {
        scan(tensor, dim, op, options)
    }

    fn int_scan(tensor: FlexTensor, dim: usize, op: ScanOp, options: ScanOptions) -> FlexTensor {
        scan(tensor, dim, op, options)
    }

    fn float_linear_recurrence(
        values: FlexTensor,
        decay: FlexTensor,
        dim: usize,
        reverse: bool,
    ) -> FlexTensor {
        linear_recurrence(values, decay, None, dim, reverse)
    }

    fn float_linear_recurrence_from(
        values: FlexTensor,
        decay: FlexTensor,
        initial: FlexTensor,
        dim: usize,
        reverse: bool,
    ) -> FlexTensor {
        linear_recurrence(values, decay, Some(initial), dim, reverse)
    }

    fn float_recurrence_adjoint(
        flow: FlexTensor,
        decay: FlexTensor,
        results: FlexTensor,
        dim: usize,
        reverse: bool,
    ) -> (FlexTensor, FlexTensor) {
        let [of_values, of_decay, _] = recurrence_adjoint(flow, decay, results, None, dim, reverse);
        (of_values, of_decay)
    }

    fn float_recurrence_adjoint_from(
        flow: FlexTensor,
        decay: FlexTensor,
        results: FlexTensor,
        initial: FlexTensor,
        dim: usize,
        reverse: bool,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        recurrence_adjoint(flow, decay, results, Some(initial), dim, reverse).into()
    }

    fn float_segmented_scan(
        tensor: FlexTensor,
        starts: FlexTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FlexTensor {
        segmented_scan(tensor, starts, dim, op, options)
    }

    fn int_segmented_scan(
        tensor: FlexTensor,
        starts: FlexTensor,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FlexTensor {
        segmented_scan(tensor, starts, dim, op, options)
    }

    fn float_extremum_with_indices(
        tensor: FlexTensor,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (FlexTensor, FlexTensor) {
        extremum_with_indices(tensor, dim, is_max, int_dtype)
    }

    fn int_extremum_with_indices(
        tensor: FlexTensor,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (FlexTensor, FlexTensor) {
        extremum_with_indices(tensor, dim, is_max, int_dtype)
    }

    fn float_segment_sums(
        values: FlexTensor,
        heads: FlexTensor,
        dim: usize,
        reverse: bool,
    ) -> FlexTensor {
        segment_sums(values, heads, dim, reverse)
    }

    fn mask_indices_unpadded(mask: FlexTensor, int: IntDType) -> (FlexTensor, FlexTensor) {
        let mask = mask.to_contiguous();
        by_int!(int.into(), I => {
            let mut indices = cpu::compact_indices::<I>(&mask_bytes(&mask));
            let count = indices.len();
            let len = mask.shape().num_elements();
            indices.resize(len, 0);
            (tensor(indices, [len].into(), int.into()), count_tensor(count, int))
        })
    }

    fn mask_indices(mask: FlexTensor, int: IntDType) -> FlexTensor {
        let mask = mask.to_contiguous();
        by_int!(int.into(), I => {
            let indices = cpu::compact_indices::<I>(&mask_bytes(&mask));
            let count = indices.len();
            tensor(indices, [count].into(), int.into())
        })
    }

    fn mask_argwhere(mask: FlexTensor, int: IntDType) -> FlexTensor {
        let mask = mask.to_contiguous();
        let shape = mask.shape();
        by_int!(int.into(), I => {
            let rows = cpu::argwhere::<I>(&mask_bytes(&mask), &shape);
            let count = rows.len() / shape.num_dims();
            tensor(rows, [count, shape.num_dims()].into(), int.into())
        })
    }

    fn segment_ids(offsets: FlexTensor, len: usize) -> FlexTensor {
        let offsets = offsets.to_contiguous();
        by_int!(offsets.dtype(), I => {
            let ids = cpu::segment_ids::<I>(elements(&offsets), len);
            tensor(ids, [len].into(), offsets.dtype())
        })
    }

    fn segment_starts(offsets: FlexTensor, len: usize, bool_dtype: BoolDType) -> FlexTensor {
        let offsets = offsets.to_contiguous();
        let starts = by_int!(offsets.dtype(), I => {
            cpu::segment_starts::<I>(elements(&offsets), len)
        });
        mask_tensor(starts, bool_dtype)
    }

    fn float_segment_reduce(values: FlexTensor, offsets: FlexTensor, op: ScanOp) -> FlexTensor {
        segment_reduce(values, offsets, op)
    }

    fn int_segment_reduce(values: FlexTensor, offsets: FlexTensor, op: ScanOp) -> FlexTensor {
        segment_reduce(values, offsets, op)
    }

    fn partition_ranks(
        keys: FlexTensor,
        num_keys: usize,
        int: IntDType,
    ) -> (FlexTensor, FlexTensor) {
        let keys = keys.to_contiguous();
        by_int!(keys.dtype(), K => by_int!(int.into(), I => {
            let (destinations, offsets) = cpu::partition_ranks::<K, I>(elements(&keys), num_keys);
            (
                tensor(destinations, keys.shape(), int.into()),
                tensor(offsets, [num_keys + 1].into(), int.into()),
            )
        }))
    }
}

macro_rules! flex_selections {
    (
        $Trait:ident, $compact_padded:ident, $compact:ident, $expand:ident, $compact_dim_padded:ident,
        $compact_dim:ident, $expand_dim:ident, $scatter:ident, $gather:ident, $compact_along:ident,
        $repeat_rows:ident, $run_lengths_padded:ident, $run_lengths:ident
    ) => {
        impl $Trait for Flex {
            fn $compact_padded(
                values: FlexTensor,
                mask: FlexTensor,
                _fill: bool,
                int: IntDType,
            ) -> (FlexTensor, FlexTensor) {
                compact_padded(values, mask, int)
            }

            fn $compact(values: FlexTensor, mask: FlexTensor, _int: IntDType) -> FlexTensor {
                compact(values, mask)
            }

            fn $expand(values: FlexTensor, mask: FlexTensor) -> FlexTensor {
                expand(values, mask)
            }

            fn $compact_dim_padded(
                values: FlexTensor,
                mask: FlexTensor,
                dim: usize,
                int: IntDType,
            ) -> (FlexTensor, FlexTensor) {
                compact_dim_padded(values, mask, dim, int)
            }

            fn $compact_dim(
                values: FlexTensor,
                mask: FlexTensor,
                dim: usize,
                _int: IntDType,
            ) -> FlexTensor {
                compact_dim(values, mask, dim)
            }

            fn $expand_dim(values: FlexTensor, mask: FlexTensor, dim: usize) -> FlexTensor {
                expand_dim(values, mask, dim)
            }

            fn $compact_along(
                values: FlexTensor,
                mask: FlexTensor,
                dim: usize,
                int: IntDType,
            ) -> (FlexTensor, FlexTensor) {
                compact_along(values, mask, dim, int)
            }

            fn $repeat_rows(values: FlexTensor, offsets: FlexTensor, total: usize) -> FlexTensor {
                repeat_rows(values, offsets, total)
            }

            fn $run_lengths_padded(
                values: FlexTensor,
                _fill: bool,
                int: IntDType,
            ) -> (FlexTensor, FlexTensor, FlexTensor) {
                run_lengths(values, int, true)
            }

            fn $run_lengths(values: FlexTensor, int: IntDType) -> (FlexTensor, FlexTensor) {
                let (values, lengths, _) = run_lengths(values, int, false);
                (values, lengths)
            }

            fn $scatter(
                values: FlexTensor,
                destinations: FlexTensor,
                _offsets: FlexTensor,
            ) -> FlexTensor {
                scatter(values, destinations)
            }

            fn $gather(
                values: FlexTensor,
                destinations: FlexTensor,
                _offsets: FlexTensor,
            ) -> FlexTensor {
                gather(values, destinations)
            }
        }
    };
}

flex_selections!(
    FloatSelectionOps,
    float_compact_padded,
    float_compact,
    float_expand_by_mask,
    float_compact_dim_padded,
    float_compact_dim,
    float_expand_dim,
    float_scatter_to,
    float_gather_from,
    float_compact_along,
    float_repeat_rows,
    float_run_lengths_padded,
    float_run_lengths
);
flex_selections!(
    IntSelectionOps,
    int_compact_padded,
    int_compact,
    int_expand_by_mask,
    int_compact_dim_padded,
    int_compact_dim,
    int_expand_dim,
    int_scatter_to,
    int_gather_from,
    int_compact_along,
    int_repeat_rows,
    int_run_lengths_padded,
    int_run_lengths
);
flex_selections!(
    BoolSelectionOps,
    bool_compact_padded,
    bool_compact,
    bool_expand_by_mask,
    bool_compact_dim_padded,
    bool_compact_dim,
    bool_expand_dim,
    bool_scatter_to,
    bool_gather_from,
    bool_compact_along,
    bool_repeat_rows,
    bool_run_lengths_padded,
    bool_run_lengths
);
