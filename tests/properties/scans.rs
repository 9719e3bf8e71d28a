//! Scans: the oracle, and three laws.

use burn::tensor::{DType, Device, Tensor, bf16, f16};
use burn_scan::{ScanOp, TensorScan};
use proptest::prelude::*;
use scan_testing::tensors::element::Number;
use scan_testing::tensors::{OPS, WAYS, assert_same, axis, host, options, oracle, tensor};

use crate::drawn::{Drawn, NUMBERS, dim_of, dims, held, mostly, tensors};
use crate::for_all;

on_every_device![scans];

#[derive(Clone, Debug)]
struct Scan {
    input: Drawn,
    dtype: DType,
    dim: i64,
    op: ScanOp,
    /// Exclusive, reverse.
    way: (bool, bool),
    /// Where the line is split into two parts, modulo the length.
    split_at: usize,
}

/// Types and operators.
fn pairs(device: &Device) -> impl Strategy<Value = (DType, ScanOp)> + use<> {
    const FEW: [(DType, ScanOp); 3] = [
        (DType::F32, ScanOp::Sum),
        (DType::I32, ScanOp::Max),
        (DType::I32, ScanOp::Prod),
    ];
    let dtypes = held(device, &NUMBERS).into_iter();
    let all: Vec<_> = dtypes.flat_map(|dtype| OPS.map(|op| (dtype, op))).collect();
    mostly(device, all, FEW.to_vec())
}

fn scans(device: &Device) {
    let way = prop::sample::select(WAYS.to_vec());
    let cases = (tensors(4), pairs(device), dims(), way, any::<usize>());
    let cases = cases.prop_map(|(input, (dtype, op), dim, way, split_at)| Scan {
        input,
        dtype,
        dim,
        op,
        way,
        split_at,
    });
    for_all(device, cases, |case| match case.input.shape.len() {
        1 => check_rank::<1>(&case, device),
        2 => check_rank::<2>(&case, device),
        3 => check_rank::<3>(&case, device),
        _ => check_rank::<4>(&case, device),
    });
}

fn check_rank<const D: usize>(case: &Scan, device: &Device) {
    match case.dtype {
        DType::F64 => check::<f64, D>(case, device),
        DType::F32 => check::<f32, D>(case, device),
        DType::F16 => check::<f16, D>(case, device),
        DType::BF16 => check::<bf16, D>(case, device),
        DType::I64 => check::<i64, D>(case, device),
        DType::I32 => check::<i32, D>(case, device),
        DType::I16 => check::<i16, D>(case, device),
        DType::I8 => check::<i8, D>(case, device),
        DType::U64 => check::<u64, D>(case, device),
        DType::U32 => check::<u32, D>(case, device),
        DType::U16 => check::<u16, D>(case, device),
        DType::U8 => check::<u8, D>(case, device),
        dtype => unreachable!("{dtype:?} is not a number"),
    }
}

/// Values for which any combination in any order is exact in the accumulator, because a view may put any of
/// them on one line.
fn values<T: Number>(op: ScanOp, n: usize) -> Vec<T> {
    let value = |i| match op {
        ScanOp::Prod => T::sample(oracle::known(op), i, 0, 1),
        _ => T::sample(oracle::known(op), 0, i, n),
    };
    (0..n).map(value).collect()
}

fn check<T: Number, const D: usize>(case: &Scan, device: &Device)
where
    Tensor<D, T::Kind>: TensorScan,
{
    let (op, (exclusive, reverse)) = (case.op, case.way);
    let base: Vec<T> = values(op, case.input.shape.iter().product());
    let input = case
        .input
        .view(tensor::<T, D>(&base, case.input.shape(), device));
    let (dim, written_dim) = dim_of(case.dim, D);
    let scan =
        |tensor: Tensor<D, T::Kind>, way| host::<T, D>(tensor.scan(written_dim, op, options(way)));
    let (input_values, lines) = (host::<T, D>(input.clone()), axis(&input.dims(), dim));
    let combine = |left: T, right: T| {
        *oracle::scan(&[left, right], &[2], 0, op, WAYS[0])
            .last()
            .expect("two")
    };

    let found = scan(input.clone(), case.way);
    let expected = oracle::scan(&input_values, &input.dims(), dim, op, case.way);
    assert_same(&found, &expected, || "the oracle".to_string());

    // Flip, scan, flip.
    let flipped = input.clone().flip([dim]);
    let flipped = flipped.scan(written_dim, op, options((exclusive, !reverse)));
    assert_same(&host::<T, D>(flipped.flip([dim])), &found, || {
        "flip, scan, flip".to_string()
    });

    // A half float is rounded when it is stored, so a combination on the host afterwards has lost bits.
    if matches!(T::dtype(), DType::F16 | DType::BF16) {
        return;
    }
    let other = scan(input.clone(), (!exclusive, reverse));
    let (before, with) = if exclusive {
        (&found, &other)
    } else {
        (&other, &found)
    };
    let summed: Vec<T> = before
        .iter()
        .zip(&input_values)
        .map(|(&before, &value)| combine(before, value))
        .collect();
    assert_same(with, &summed, || {
        "inclusive = exclusive combined with the input".to_string()
    });

    let [outer, len, inner] = lines;
    let split_at = case.split_at % (len + 1);
    if split_at == 0 || split_at == len {
        return;
    }
    // The first part of a scan is the scan of the first part. The second part starts from the first one's total.
    let (first, second) = (0..split_at, split_at..len);
    let parts = [first, second].map(|part| input.clone().slice_dim(dim, part));
    let earlier = usize::from(reverse);
    let scanned = parts.clone().map(|part| scan(part, case.way));
    let totals = scan(parts[earlier].clone(), (false, reverse));
    let lengths = [split_at, len - split_at];
    let total_row = if reverse { 0 } else { lengths[earlier] - 1 };
    for (i, &found) in found.iter().enumerate() {
        let (block, row, column) = (i / (len * inner), i / inner % len, i % inner);
        let part = usize::from(row >= split_at);
        let at = |part: usize, row: usize| (block * lengths[part] + row) * inner + column;
        let own = scanned[part][at(part, row - part * split_at)];
        let expected = if part == earlier {
            own
        } else {
            combine(totals[at(earlier, total_row)], own)
        };
        assert!(
            found.same(expected),
            "split at {split_at} of {outer}x{len}x{inner}, {i}: {found:?} instead of {expected:?}"
        );
    }
}
