//! Sorts of lines. The kernels sort rows: a dimension that is not the last one is swapped with it, before and after.

use super::{accept, empty_like, typed};
use crate::SortOrder;
use crate::ops::rows::functions_of;
use crate::ops::sort::sort_operations;
use crate::ops::{SortOps, with_dim};
use burn::backend::TensorMetadata;
use burn::tensor::IntDType;
use burn_backend::cubecl::dtype_to_storage_type;
use burn_cubecl::CubeBackend;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::permute;
use burn_cubecl::tensor::CubeTensor;
use cubecl_scan::scan::LaunchOptions;
use cubecl_scan::sort::{self, SortOptions, SortOutputs};

/// What a sort writes.
#[derive(Clone, Copy)]
struct Wanted {
    keys: bool,
    positions: Option<IntDType>,
}

/// Which elements of a line are wanted, in which order.
#[derive(Clone, Copy)]
enum Sort {
    /// All.
    Whole(SortOptions),
    /// The largest.
    Largest(usize),
}

/// Keys and positions, whichever are wanted.
fn sorted(
    keys: CubeTensor,
    dim: usize,
    sort: Sort,
    wanted: Wanted,
) -> (Option<CubeTensor>, Option<CubeTensor>) {
    let last = keys.shape().num_dims() - 1;
    let rows = into_contiguous(swapped(keys, dim, last));
    let from = rows.shape();
    let len = from[last];
    let lines = from[..last].iter().product();
    let shape = match sort {
        Sort::Whole(_) => from,
        Sort::Largest(k) => with_dim(&from, last, k),
    };
    let output = |dtype| empty_like(&rows, shape.clone(), dtype);
    let keys = wanted.keys.then(|| output(rows.dtype));
    let positions = wanted.positions.map(|int| output(int.into()));
    let outputs = SortOutputs {
        keys: keys.clone().map(CubeTensor::binding),
        positions: positions.clone().map(|positions| {
            let dtype = dtype_to_storage_type(positions.dtype);
            (positions.binding(), dtype)
        }),
    };
    let client = rows.client.clone();
    let (rows, options) = (typed(rows), LaunchOptions::default());
    let launched = match sort {
        Sort::Whole(how) => sort::sort(&client, rows, outputs, [lines, len], how, options),
        Sort::Largest(k) => sort::top_k(&client, rows, outputs, [lines, len], k, options),
    };
    accept("Radix Sort", launched);
    let back = |rows: CubeTensor| {
        if dim == last {
            rows
        } else {
            into_contiguous(swapped(rows, dim, last))
        }
    };
    (keys.map(back), positions.map(back))
}

/// A view with two dimensions swapped.
fn swapped(tensor: CubeTensor, one: usize, other: usize) -> CubeTensor {
    let mut axes: Vec<usize> = (0..tensor.shape().num_dims()).collect();
    axes.swap(one, other);
    permute(tensor, &axes)
}

fn ordered(order: SortOrder) -> SortOptions {
    SortOptions {
        order: match order {
            SortOrder::Ascending => sort::SortOrder::Ascending,
            SortOrder::Descending => sort::SortOrder::Descending,
        },
        bits: None,
    }
}

fn radix_sort(keys: CubeTensor, dim: usize, order: SortOrder) -> CubeTensor {
    let wanted = Wanted {
        keys: true,
        positions: None,
    };
    let (keys, _) = sorted(keys, dim, Sort::Whole(ordered(order)), wanted);
    keys.expect("keys are wanted")
}

fn radix_argsort(keys: CubeTensor, dim: usize, order: SortOrder, int: IntDType) -> CubeTensor {
    let wanted = Wanted {
        keys: false,
        positions: Some(int),
    };
    let (_, positions) = sorted(keys, dim, Sort::Whole(ordered(order)), wanted);
    positions.expect("positions are wanted")
}

fn with_positions(
    keys: CubeTensor,
    dim: usize,
    sort: Sort,
    int: IntDType,
) -> (CubeTensor, CubeTensor) {
    let wanted = Wanted {
        keys: true,
        positions: Some(int),
    };
    let (keys, positions) = sorted(keys, dim, sort, wanted);
    (
        keys.expect("keys are wanted"),
        positions.expect("positions are wanted"),
    )
}

fn radix_sort_with_indices(
    keys: CubeTensor,
    dim: usize,
    order: SortOrder,
    int: IntDType,
) -> (CubeTensor, CubeTensor) {
    with_positions(keys, dim, Sort::Whole(ordered(order)), int)
}

fn radix_topk(keys: CubeTensor, k: usize, dim: usize, int: IntDType) -> (CubeTensor, CubeTensor) {
    with_positions(keys, dim, Sort::Largest(k), int)
}

fn radix_sort_bits(
    keys: CubeTensor,
    bits: usize,
    order: SortOrder,
    int: IntDType,
) -> (CubeTensor, CubeTensor) {
    let options = SortOptions {
        // Without keys there may be no bits.
        bits: Some(bits.max(1) as u32),
        ..ordered(order)
    };
    with_positions(keys, 0, Sort::Whole(options), int)
}

sort_operations! { functions_of(CubeTensor, CubeTensor, CubeTensor) CubeBackend queued }
