//! Compaction, expansion and the positions of a mask: against the oracle and against one another.

use burn::tensor::{Bool, BoolStore, DType, Device, Int, Tensor};
use burn_scan::{MaskIndices, TensorCompact, TensorExpand};
use proptest::prelude::*;
use scan_testing::tensors::element::{Element, numbered};
use scan_testing::tensors::{assert_same, host, host_indices, mask, oracle, tensor};

use crate::drawn::{Density, Drawn, densities, dim_of, dims, held, mostly, tensors};
use crate::for_all;

on_every_device![selections];

#[derive(Clone, Debug)]
struct Selection {
    input: Drawn,
    dtype: DType,
    density: Density,
    /// The mask is a base tensor seen through the views of the input, or contiguous.
    mask_is_view: bool,
    dim: i64,
}

/// One type of each width, and bool: values are moved, and nothing is computed. The first two are drawn often.
const DTYPES: [DType; 6] = [
    DType::I32,
    DType::Bool(BoolStore::Native),
    DType::F32,
    DType::F64,
    DType::F16,
    DType::U8,
];

fn selections(device: &Device) {
    let all = held(device, &DTYPES);
    let few = all[..2].to_vec();
    let dtypes = mostly(device, all, few);
    let cases = (tensors(4), dtypes, densities(), any::<bool>(), dims());
    let cases = cases.prop_map(|(input, dtype, density, mask_is_view, dim)| Selection {
        input,
        dtype,
        density,
        mask_is_view,
        dim,
    });
    for_all(device, cases, |case| match case.input.shape.len() {
        1 => check_rank::<1>(&case, device),
        2 => check_rank::<2>(&case, device),
        3 => check_rank::<3>(&case, device),
        _ => check_rank::<4>(&case, device),
    });
}

fn check_rank<const D: usize>(case: &Selection, device: &Device) {
    let shape: [usize; D] = case.input.shape();
    let n = shape.iter().product();
    let kept = if case.mask_is_view {
        case.input.view(mask(&case.density.mask(n), shape, device))
    } else {
        let shape = case.input.view(mask(&vec![true; n], shape, device)).dims();
        mask(&case.density.mask(shape.iter().product()), shape, device)
    };
    check_positions(&kept);
    match case.dtype {
        DType::I32 => check_values::<i32, D>(case, &kept, device),
        DType::F64 => check_values::<f64, D>(case, &kept, device),
        DType::F16 => check_values::<burn::tensor::f16, D>(case, &kept, device),
        DType::U8 => check_values::<u8, D>(case, &kept, device),
        DType::Bool(_) => check_values::<bool, D>(case, &kept, device),
        _ => check_values::<f32, D>(case, &kept, device),
    }
}

/// Count, flat positions and coordinates.
fn check_positions<const D: usize>(kept: &Tensor<D, Bool>) {
    let (shape, device) = (kept.dims(), kept.device());
    let flags = host::<bool, D>(kept.clone());
    let expected = oracle::indices(&flags);

    let sum: usize = flags.iter().map(|&flag| usize::from(flag)).sum();
    assert_eq!(host_indices(kept.clone().count_true()), [sum], "count_true");
    let flat = host_indices(kept.clone().compact_indices());
    assert!(flat == expected, "compact_indices");
    let rows = host_indices(kept.clone().compact_argwhere());
    assert!(rows == oracle::argwhere(&flags, &shape), "compact_argwhere");

    let n = shape.iter().product::<usize>();
    if n > 0 {
        let positions = Tensor::<1, Int>::arange(0..n as i64, &device).reshape(shape);
        let compacted = host_indices(positions.compact_by_mask(kept.clone()));
        assert!(compacted == flat, "compact_indices = compact(arange)");
    }
}

fn check_values<T: Element, const D: usize>(
    case: &Selection,
    kept: &Tensor<D, Bool>,
    device: &Device,
) where
    Tensor<D, T::Kind>: TensorCompact<D, T::Kind>,
    Tensor<1, T::Kind>: TensorExpand<T::Kind>,
{
    let shape: [usize; D] = case.input.shape();
    let base = tensor::<T, D>(&numbered(shape.iter().product()), shape, device);
    let input = case.input.view(base);
    let (values, flags) = (host::<T, D>(input.clone()), host::<bool, D>(kept.clone()));
    let mut expected = oracle::compact(&values, &flags);
    let count = expected.len();

    let exact = input.clone().compact_by_mask(kept.clone());
    assert_same(&host::<T, 1>(exact.clone()), &expected, || {
        "compact_by_mask".to_string()
    });
    let (padded, found_count) = input.clone().compact_by_mask_padded(kept.clone());
    expected.resize(values.len(), T::default());
    assert_same(&host::<T, 1>(padded.clone()), &expected, || {
        "compact_by_mask_padded".to_string()
    });
    assert_eq!(host_indices(found_count), [count], "the count");

    // expand(compact(x, m), m) = x · m
    let masked = |(&value, &flag): (&T, &bool)| if flag { value } else { T::default() };
    let product: Vec<T> = values.iter().zip(&flags).map(masked).collect();
    for packed in [exact, padded] {
        let expanded = host::<T, D>(packed.expand_by_mask(kept.clone()));
        assert_same(&expanded, &product, || "expand(compact(x))".to_string());
    }
    check_slices::<T, D>(case, input, &values);
}

/// The same mask, broadcast over the tensor, keeps the same slices along a dimension.
fn check_slices<T: Element, const D: usize>(
    case: &Selection,
    input: Tensor<D, T::Kind>,
    values: &[T],
) where
    Tensor<D, T::Kind>: TensorCompact<D, T::Kind>,
{
    let (shape, device) = (input.dims(), input.device());
    let (dim, written_dim) = dim_of(case.dim, D);
    let flags = case.density.mask(shape[dim]);
    let row = mask(&flags, [flags.len()], &device);
    let expected = oracle::compact_dim(values, &shape, dim, &flags);

    let kept = input.clone().compact_dim_by_mask(row.clone(), written_dim);
    assert_same(&host::<T, D>(kept), &expected, || {
        "compact_dim_by_mask".to_string()
    });
    let (padded, count) = input
        .clone()
        .compact_dim_by_mask_padded(row.clone(), written_dim);
    assert_eq!(padded.dims(), shape, "compact_dim_by_mask_padded");
    let count = host_indices(count)[0];
    assert_eq!(count, oracle::indices(&flags).len(), "the count of slices");
    if !expected.is_empty() {
        let front = host::<T, D>(padded.slice_dim(dim, 0..count));
        assert_same(&front, &expected, || {
            "the front of the padded slices".to_string()
        });
    }

    let mut broadcast = [1; D];
    broadcast[dim] = flags.len();
    if !values.is_empty() {
        let everywhere = row.reshape(broadcast).expand(shape);
        let flat = host::<T, 1>(input.compact_by_mask(everywhere));
        assert_same(&flat, &expected, || {
            "the mask of slices, broadcast".to_string()
        });
    }
}
