//! Limits: operations of Flex beside the work that bounds them, in the same run.
//!
//! ```text
//! cargo bench --bench limits
//! cargo bench --bench limits -- 1048576x4
//! ```
//! An operation reads and writes little more than a plain scan, a copy or a read of its input, so it may take a small
//! multiple of their time. The contender `limit-4-sum` is the inclusive sum of the same input, and says that ours may
//! take four times as long. The report has a table of them. Each of these cases was once far above its limit.

#[path = "../common/mod.rs"]
mod common;
mod lines;
mod segments;
mod selections;
mod views;
mod walks;

use std::cell::LazyCell;

use burn::tensor::{DType, Tensor};
use burn_scan::prelude::*;
use common::{Case, Place, Traffic, places};
use criterion::{Criterion, criterion_group, criterion_main};
use scan_testing::tensors::axis;
use scan_testing::tensors::element::hash;

fn limits(criterion: &mut Criterion) {
    for place in places().iter().filter(|place| !place.is_cube()) {
        walks::recurrence(criterion, place, [1 << 20, 4]);
        for shape in [[1 << 20, 4], [1, 1 << 24]] {
            walks::segmented_sum(criterion, place, shape);
            walks::max_with_positions(criterion, place, shape);
            walks::log_sum_exp(criterion, place, shape);
        }
        for columns in [1, 8] {
            segments::short(criterion, place, columns);
        }
        segments::of_columns(criterion, place);
        views::of_a_row(criterion, place);
        views::of_a_matrix(criterion, place);
        for shape in [[1 << 20, 4, 2], [1 << 16, 6, 2]] {
            views::middle(criterion, place, shape);
        }
        for shape in [[1 << 12, 1 << 10], [1 << 18, 16]] {
            selections::columns(criterion, place, shape);
        }
        selections::slice(criterion, place);
        selections::count(criterion, place);
    }
}

/// A case named after the elements that ours reads.
fn case<'a>(
    criterion: &'a mut Criterion,
    place: &Place,
    dtype: DType,
    shape: &[usize],
    what: &str,
) -> Case<'a> {
    let name = common::axes("limit", place, dtype, shape);
    place.case(criterion, &format!("{name}/{what}"))
}

/// Adds the inclusive sums of [`lines::value`] along `dim`.
fn sums<const D: usize>(
    case: &mut Case<'_>,
    name: &str,
    shape: [usize; D],
    dim: usize,
    place: &Place,
) {
    let x = LazyCell::new(|| lines::input(shape, f32::from, place));
    let op = || x.clone().inclusive_cumsum(dim);
    let check = |sums| lines::check_sums(sums, dim, lines::value);
    case.contender(name, moved::<f32>(&shape), op, check);
}

/// As many bytes in as out.
fn moved<T>(shape: &[usize]) -> Traffic {
    let bytes = shape.iter().product::<usize>() * size_of::<T>();
    Traffic {
        read: bytes,
        written: bytes,
    }
}

criterion_group! { name = benches; config = common::criterion(); targets = limits }
criterion_main!(benches);
