//! Sorts and the largest elements: `radix_sort`, `radix_argsort`, `radix_topk_with_indices` and `radix_sort_by_key`
//! against Burn's own sorts and, on Flex, rayon's.
//!
//! ```text
//! cargo bench --bench sort
//! cargo bench --bench sort -- sort/flex/f32
//! ```
//! f32 and u32 keys without a pattern. Rows of a matrix, one row of 2^20 or 2^22 keys, and the 64 largest of the
//! vocabulary of a language model. Rayon sorts in place, so it sorts a copy.

mod common;

use std::cell::LazyCell;

use burn::tensor::kind::Ordered;
use burn::tensor::{DType, Tensor};
use burn_scan::prelude::*;
use common::input::{Input, check_equal};
use common::{Case, Place, Traffic, places};
use criterion::{Criterion, criterion_group, criterion_main};
use scan_testing::tensors::element::{Element, hash, numbered};
use scan_testing::tensors::{host, host_indices, oracle};

#[cfg(feature = "flex")]
use rayon::prelude::*;

const ASCENDING: SortOrder = SortOrder::Ascending;

/// A key that the host sorts as the device does; there is no NaN.
trait Key: Element + PartialOrd + Send + Sync {
    const DTYPE: DType;

    fn at(i: usize) -> Self;
    fn order(a: &Self, b: &Self) -> std::cmp::Ordering;
}

macro_rules! keys {
    ($($t:ty: $dtype:expr, $at:expr, $order:expr;)*) => {$(
        impl Key for $t {
            const DTYPE: DType = $dtype;

            fn at(i: usize) -> Self {
                $at(hash(i))
            }

            fn order(a: &Self, b: &Self) -> std::cmp::Ordering {
                $order(a, b)
            }
        }
    )*};
}

keys! {
    f32: DType::F32, |bits: usize| bits as f32 - 2_147_483_648.0, f32::total_cmp;
    u32: DType::U32, |bits: usize| bits as u32, u32::cmp;
}

fn sorts(criterion: &mut Criterion) {
    for place in &places() {
        for shape in [[1, 1 << 22], [1 << 16, 64], [4096, 4096]] {
            rows::<f32>(criterion, place, shape);
        }
        positions(criterion, place, [1, 1 << 22]);
        largest(criterion, place, [8, 151_936], 64);
        for power in [20, 22] {
            rows::<u32>(criterion, place, [1, 1 << power]);
            pairs(criterion, place, 1 << power);
        }
    }
}

/// The case of an operation on keys of this shape.
fn case<'a, T: Key>(
    criterion: &'a mut Criterion,
    place: &Place,
    op: &str,
    shape: [usize; 2],
    rest: &str,
) -> Case<'a> {
    let name = common::axes(op, place, T::DTYPE, &shape);
    place.case(criterion, &format!("{name}/{rest}"))
}

fn drawn<T: Key, const D: usize>(shape: [usize; D], place: &Place) -> Input<T, D> {
    let elements = shape.iter().product();
    Input::new((0..elements).map(T::at).collect(), shape, &place.device)
}

/// Each row in order.
fn rows<T: Key>(criterion: &mut Criterion, place: &Place, shape: [usize; 2])
where
    T::Kind: Ordered,
    Tensor<2, T::Kind>: TensorSort<2>,
{
    let mut case = case::<T>(criterion, place, "sort", shape, "dim1");
    let input = LazyCell::new(|| drawn::<T, 2>(shape, place));
    let expected = LazyCell::new(|| {
        let mut rows = input.values.clone();
        for row in rows.chunks_mut(shape[1]) {
            row.sort_by(T::order);
        }
        rows
    });
    let bytes = shape.iter().product::<usize>() * size_of::<T>();
    let traffic = Traffic {
        read: bytes,
        written: bytes,
    };
    case.contender(
        "burn-scan",
        traffic,
        || input.tensor.clone().radix_sort(1, ASCENDING),
        |sorted| check_equal(&host::<T, 2>(sorted), &expected),
    );
    case.contender(
        "burn",
        traffic,
        || input.tensor.clone().sort(1),
        |sorted| check_equal(&host::<T, 2>(sorted), &expected),
    );
    #[cfg(feature = "flex")]
    if !place.is_cube() {
        let sort = |row: &mut [T]| row.par_sort_unstable_by(T::order);
        case.contender(
            "rayon",
            traffic,
            || {
                let mut rows = input.values.clone();
                match shape[0] {
                    1 => sort(&mut rows),
                    _ => rows.par_chunks_mut(shape[1]).for_each(sort),
                }
                rows
            },
            |sorted| check_equal(&sorted, &expected),
        );
    }
}

/// The positions of the elements of each row in order.
fn positions(criterion: &mut Criterion, place: &Place, shape: [usize; 2]) {
    let mut case = case::<f32>(criterion, place, "argsort", shape, "dim1");
    let input = LazyCell::new(|| drawn::<f32, 2>(shape, place));
    let expected = LazyCell::new(|| oracle::sort(&input.values, &shape, 1, false));
    let elements = shape.iter().product::<usize>();
    let traffic = Traffic {
        read: elements * size_of::<f32>(),
        written: elements * size_of::<i32>(),
    };
    let check = |found: Vec<usize>| {
        if found == *expected {
            Ok(())
        } else {
            Err("the positions are not those of a stable sort".to_string())
        }
    };
    case.contender(
        "burn-scan",
        traffic,
        || input.tensor.clone().radix_argsort(1, ASCENDING),
        |positions| check(host_indices(positions)),
    );
    case.contender(
        "burn",
        traffic,
        || input.tensor.clone().argsort(1),
        |positions| check(host_indices(positions)),
    );
    #[cfg(feature = "flex")]
    if !place.is_cube() && shape[0] == 1 {
        let keys = || &input.values;
        case.contender(
            "rayon",
            traffic,
            || {
                let keys = keys();
                let mut positions: Vec<u32> = (0..elements as u32).collect();
                positions.par_sort_by(|&a, &b| keys[a as usize].total_cmp(&keys[b as usize]));
                positions
            },
            |positions| check(positions.into_iter().map(|at| at as usize).collect()),
        );
    }
}

/// The `k` largest elements of each row, and their positions.
fn largest(criterion: &mut Criterion, place: &Place, shape: [usize; 2], k: usize) {
    let mut case = case::<f32>(criterion, place, "topk", shape, &format!("k{k}"));
    let input = LazyCell::new(|| drawn::<f32, 2>(shape, place));
    let expected: LazyCell<(Vec<f32>, Vec<usize>), _> = LazyCell::new(|| {
        let sources = oracle::sort(&input.values, &shape, 1, true);
        let rows = input.values.chunks(shape[1]).zip(sources.chunks(shape[1]));
        rows.flat_map(|(row, sources)| sources[..k].iter().map(|&at| (row[at], at)))
            .unzip()
    });
    let kept = shape[0] * k;
    let traffic = Traffic {
        read: shape.iter().product::<usize>() * size_of::<f32>(),
        written: kept * (size_of::<f32>() + size_of::<i32>()),
    };
    case.contender(
        "burn-scan",
        traffic,
        || input.tensor.clone().radix_topk_with_indices(k, 1),
        |(values, positions)| {
            check_equal(&host::<f32, 2>(values), &expected.0)?;
            if host_indices(positions) == expected.1 {
                Ok(())
            } else {
                Err("the positions are wrong".to_string())
            }
        },
    );
    // It does not say which of equal elements it takes.
    case.contender(
        "burn",
        traffic,
        || input.tensor.clone().topk_with_indices(k, 1),
        |(values, _)| check_equal(&host::<f32, 2>(values), &expected.0),
    );
}

/// Keys, and the payload that follows them.
fn pairs(criterion: &mut Criterion, place: &Place, elements: usize) {
    let mut case = case::<u32>(criterion, place, "sort-pairs", [1, elements], "dim1");
    let keys = LazyCell::new(|| drawn::<u32, 1>([elements], place));
    let payload = LazyCell::new(|| {
        let values: Vec<i32> = numbered(elements);
        Input::<i32, 1>::new(values, [elements], &place.device)
    });
    let expected: LazyCell<(Vec<u32>, Vec<i32>), _> = LazyCell::new(|| {
        let sources = oracle::sort(&keys.values, &[elements], 0, false);
        let pair = |at: usize| (keys.values[at], payload.values[at]);
        sources.into_iter().map(pair).unzip()
    });
    let bytes = elements * (size_of::<u32>() + size_of::<i32>());
    let traffic = Traffic {
        read: bytes,
        written: bytes,
    };
    case.contender(
        "burn-scan",
        traffic,
        || {
            let payload = payload.tensor.clone();
            payload.radix_sort_by_key(keys.tensor.clone(), ASCENDING)
        },
        |(payload, keys)| {
            check_equal(&host::<u32, 1>(keys), &expected.0)?;
            check_equal(&host::<i32, 1>(payload), &expected.1)
        },
    );
    // Its sort need not be stable, so only keys are compared.
    case.contender(
        "burn",
        traffic,
        || {
            let (keys, order) = keys.tensor.clone().sort_with_indices(0);
            (payload.tensor.clone().select(0, order), keys)
        },
        |(_, keys)| check_equal(&host::<u32, 1>(keys), &expected.0),
    );
    #[cfg(feature = "flex")]
    if !place.is_cube() {
        let all = LazyCell::new(|| -> Vec<(u32, i32)> {
            let pairs = keys.values.iter().zip(&payload.values);
            pairs.map(|(&key, &value)| (key, value)).collect()
        });
        case.contender(
            "rayon",
            traffic,
            || {
                let mut pairs = all.clone();
                pairs.par_sort_by_key(|&(key, _)| key);
                pairs
            },
            |pairs| {
                let (keys, payload): (Vec<u32>, Vec<i32>) = pairs.into_iter().unzip();
                check_equal(&keys, &expected.0)?;
                check_equal(&payload, &expected.1)
            },
        );
    }
}

criterion_group! { name = benches; config = common::criterion(); targets = sorts }
criterion_main!(benches);
