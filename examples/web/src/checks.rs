//! The page's self-check: operations on the visitor's GPU against plain loops.

use std::fmt::Debug;
use std::pin::Pin;

use burn::tensor::{Bool, Device, Int, Tensor};
use burn_scan::prelude::*;
use cubecl_scan::scan::ScanOptions as LoopOptions;
use scan_testing::reference;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{device, elements, mixed};

type Outcome = Result<(), String>;

/// Elements of a line: several tiles, and a bit more.
const N: usize = 100_003;

/// Rows and columns of a matrix, and its number of elements.
const ROWS: usize = 101;
const COLUMNS: usize = 1009;

macro_rules! checks {
    ($($name:literal: $check:ident,)*) => {
        /// Their names, in the order of their numbers.
        #[wasm_bindgen]
        pub fn self_checks() -> Vec<String> {
            [$($name),*].map(str::to_owned).to_vec()
        }

        const CHECKS: &[fn(Device) -> Pin<Box<dyn Future<Output = Outcome>>>] =
            &[$(|device| Box::pin($check(device))),*];
    };
}

checks! {
    "cumulative sum of integers": sums_of_integers,
    "exclusive reverse sum of each row": exclusive_reverse_rows,
    "running maximum of each column": maxima_of_columns,
    "gradient of a cumulative sum": gradient,
    "compaction by a mask": compaction,
    "positions of the trues": positions,
    "expansion by a mask": expansion,
    "grouping by key": grouping,
    "totals of ragged rows": totals,
    "run-length encoding": runs,
    "repetition by lengths": repetition,
    "stable sort with positions": sort,
    "the 100 largest": largest,
}

/// Runs the check of that number.
///
/// # Errors
///
/// The first element that is wrong.
#[wasm_bindgen]
pub async fn self_check(number: usize) -> Outcome {
    CHECKS[number](device()).await
}

fn same<T: PartialEq + Debug>(found: &[T], expected: &[T]) -> Outcome {
    if found.len() != expected.len() {
        let (found, expected) = (found.len(), expected.len());
        return Err(format!("{found} elements instead of {expected}"));
    }
    match (0..found.len()).find(|&i| found[i] != expected[i]) {
        None => Ok(()),
        Some(i) => Err(format!(
            "element {i} is {:?} instead of {:?}",
            found[i], expected[i]
        )),
    }
}

/// Small integers of either sign, whose sums are exact in f32.
fn small(n: usize) -> Vec<i32> {
    (0..n).map(|i| mixed(i) % 17 - 8).collect()
}

fn floats(values: &[i32]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

fn flags(n: usize) -> Vec<bool> {
    (0..n).map(|i| mixed(i + 7) % 3 == 0).collect()
}

fn ints(values: &[i32], device: &Device) -> Tensor<1, Int> {
    Tensor::from_data(values, device)
}

fn mask(values: &[bool], device: &Device) -> Tensor<1, Bool> {
    Tensor::from_data(values, device)
}

fn matrix(values: &[f32], device: &Device) -> Tensor<2> {
    Tensor::<1>::from_data(values, device).reshape([ROWS, COLUMNS])
}

fn way(exclusive: bool, reverse: bool) -> LoopOptions {
    LoopOptions { exclusive, reverse }
}

async fn sums_of_integers(device: Device) -> Outcome {
    let values: Vec<i32> = (0..N).map(mixed).collect();
    let found = elements::<i32, 1, _>(ints(&values, &device).inclusive_cumsum(0)).await?;
    let sum = cubecl_scan::ScanOp::Sum;
    let expected = reference::scan(&values, &[N], 0, sum, way(false, false));
    same(&found, &expected)
}

async fn exclusive_reverse_rows(device: Device) -> Outcome {
    let values = floats(&small(ROWS * COLUMNS));
    let options = ScanOptions::default().exclusive().reverse();
    let found = matrix(&values, &device).scan(1, ScanOp::Sum, options);
    let sum = cubecl_scan::ScanOp::Sum;
    let expected = reference::scan(&values, &[ROWS, COLUMNS], 1, sum, way(true, true));
    same(&elements::<f32, 2, _>(found).await?, &expected)
}

async fn maxima_of_columns(device: Device) -> Outcome {
    let values: Vec<f32> = (0..ROWS * COLUMNS)
        .map(|i| (mixed(i) % 9999) as f32)
        .collect();
    let found = matrix(&values, &device).scan(0, ScanOp::Max, ScanOptions::default());
    let max = cubecl_scan::ScanOp::Max;
    let expected = reference::scan(&values, &[ROWS, COLUMNS], 0, max, way(false, false));
    same(&elements::<f32, 2, _>(found).await?, &expected)
}

/// The gradient is the sum of the weights from each element on.
async fn gradient(device: Device) -> Outcome {
    let device = device.autodiff();
    let weights = floats(&small(N));
    let x = Tensor::<1>::ones([N], &device).require_grad();
    let weighted = x.clone().inclusive_cumsum(0) * Tensor::from_data(&weights[..], &device);
    let gradient = x.grad(&weighted.sum().backward());
    let gradient = gradient.ok_or("there is no gradient")?;
    let sum = cubecl_scan::ScanOp::Sum;
    let expected = reference::scan(&weights, &[N], 0, sum, way(false, true));
    same(&elements::<f32, 1, _>(gradient).await?, &expected)
}

async fn compaction(device: Device) -> Outcome {
    let (values, flags) = (small(N), flags(N));
    let found = ints(&values, &device)
        .compact_by_mask_async(mask(&flags, &device))
        .await;
    let expected = reference::compact(&values, &flags);
    same(&elements::<i32, 1, _>(found).await?, &expected)
}

async fn positions(device: Device) -> Outcome {
    let flags = flags(N);
    let found = mask(&flags, &device).compact_indices_async().await;
    let expected = reference::indices(&flags).into_iter().map(|at| at as i32);
    let expected: Vec<i32> = expected.collect();
    same(&elements::<i32, 1, _>(found).await?, &expected)
}

async fn expansion(device: Device) -> Outcome {
    let (values, flags) = (small(N / 4), flags(N));
    let found = ints(&values, &device).expand_by_mask(mask(&flags, &device));
    let expected = reference::expand(&values, &flags);
    same(&elements::<i32, 1, _>(found).await?, &expected)
}

/// Some keys belong to no group.
async fn grouping(device: Device) -> Outcome {
    let keys: Vec<i32> = (0..N).map(|i| mixed(i) % 300 - 20).collect();
    let values = Tensor::<1, Int>::arange(0..N as i64, &device);
    let (found, offsets) = values.partition_by_key(ints(&keys, &device), 256);
    let wide: Vec<i64> = keys.iter().map(|&key| key.into()).collect();
    let (sources, expected_offsets) = reference::partition(&wide, 256);
    let mut expected: Vec<i32> = sources.into_iter().map(|source| source as i32).collect();
    expected.resize(N, 0);
    same(&elements::<i32, 1, _>(found).await?, &expected)?;
    let offsets = elements::<i64, 1, _>(offsets).await?;
    let expected: Vec<i64> = expected_offsets.into_iter().map(|at| at as i64).collect();
    same(&offsets, &expected)
}

fn lengths() -> Vec<i32> {
    (0..5000).map(|i| mixed(i) % 41).collect()
}

async fn totals(device: Device) -> Outcome {
    let lengths = lengths();
    let values = floats(&small(lengths.iter().sum::<i32>() as usize));
    let offsets = ints(&lengths, &device).lengths_to_offsets();
    let found = Tensor::<1>::from_data(&values[..], &device).segment_reduce(offsets, ScanOp::Sum);
    let mut rest = &values[..];
    let expected: Vec<f32> = lengths
        .iter()
        .map(|&length| {
            let (row, others) = rest.split_at(length as usize);
            rest = others;
            row.iter().sum()
        })
        .collect();
    same(&elements::<f32, 1, _>(found).await?, &expected)
}

async fn runs(device: Device) -> Outcome {
    let values: Vec<i32> = (0..N).map(|i| mixed(i / 5 + i % 5 / 4) % 4).collect();
    let (found, lengths) = ints(&values, &device).run_length_encode_async().await;
    let runs = || values.chunk_by(|a, b| a == b);
    let expected: Vec<i32> = runs().map(|run| run[0]).collect();
    same(&elements::<i32, 1, _>(found).await?, &expected)?;
    let expected: Vec<i64> = runs().map(|run| run.len() as i64).collect();
    same(&elements::<i64, 1, _>(lengths).await?, &expected)
}

async fn repetition(device: Device) -> Outcome {
    let lengths = lengths();
    let values = small(lengths.len());
    let repeated = ints(&values, &device).repeat_by_lengths_async(ints(&lengths, &device));
    let rows = values.iter().zip(&lengths);
    let expected: Vec<i32> = rows
        .flat_map(|(&value, &length)| vec![value; length as usize])
        .collect();
    same(&elements::<i32, 1, _>(repeated.await).await?, &expected)
}

async fn sort(device: Device) -> Outcome {
    let values: Vec<f32> = (0..N)
        .map(|i| (mixed(i) % 30_011 - 15_000) as f32)
        .collect();
    let x = Tensor::<1>::from_data(&values[..], &device);
    let (found, positions) = x.radix_sort_with_indices(0, SortOrder::Ascending);
    let expected = order(&values, false);
    let sorted: Vec<f32> = expected.iter().map(|&at| values[at as usize]).collect();
    same(&elements::<f32, 1, _>(found).await?, &sorted)?;
    same(&elements::<i64, 1, _>(positions).await?, &expected)
}

async fn largest(device: Device) -> Outcome {
    let values: Vec<f32> = (0..N).map(|i| (mixed(i) % 30_011) as f32).collect();
    let x = Tensor::<1>::from_data(&values[..], &device);
    let (_, positions) = x.radix_topk_with_indices(100, 0);
    same(
        &elements::<i64, 1, _>(positions).await?,
        &order(&values, true)[..100],
    )
}

/// The positions of the values in order. Equal values keep theirs.
fn order(values: &[f32], descending: bool) -> Vec<i64> {
    let mut order: Vec<i64> = (0..values.len() as i64).collect();
    order.sort_by(|&a, &b| {
        let ascending = values[a as usize].total_cmp(&values[b as usize]);
        if descending {
            ascending.reverse()
        } else {
            ascending
        }
    });
    order
}
