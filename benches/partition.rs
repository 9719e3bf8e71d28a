//! Stable grouping by key: `partition_by_key` against Burn's own way, `argsort` of the keys and `select`.
//!
//! ```text
//! cargo bench --bench partition
//! cargo bench --bench partition -- partition/cube
//! ```
//! f32 values, i32 keys drawn by a hash from 8, 256 and 4,096 groups. Burn's way gives no offsets. Its sort
//! need not keep the order inside a group, so that order is not checked.

mod common;

use std::cell::LazyCell;

use burn::tensor::{DType, Int, Tensor};
use burn_scan::prelude::*;
use common::input::{Input, check_equal, copies};
use common::{Place, Traffic, places};
use criterion::{Criterion, criterion_group, criterion_main};
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{host, host_indices, oracle, tensor};

/// The keys, and the source of each element of the grouped output.
struct Keys {
    host: Vec<i64>,
    tensor: Tensor<1, Int>,
    sources: Vec<usize>,
    offsets: Vec<usize>,
}

fn partitions(criterion: &mut Criterion) {
    for place in &places() {
        for elements in [1 << 20, 1 << 22] {
            for num_keys in [8, 256, 4096] {
                case(criterion, place, elements, num_keys);
            }
        }
    }
}

fn case(criterion: &mut Criterion, place: &Place, elements: usize, num_keys: usize) {
    let name = common::axes("partition", place, DType::F32, &[elements]);
    let mut case = place.case(criterion, &format!("{name}/keys{num_keys}"));
    // Each value is its own position, which f32 holds exactly.
    let input = LazyCell::new(|| {
        let values = (0..elements).map(|i| i as f32).collect();
        Input::<f32, 1>::new(values, [elements], &place.device)
    });
    let keys = LazyCell::new(|| {
        let host: Vec<i64> = (0..elements).map(|i| (hash(i) % num_keys) as i64).collect();
        let narrow: Vec<i32> = host.iter().map(|&key| key as i32).collect();
        let (sources, offsets) = oracle::partition(&host, num_keys);
        Keys {
            tensor: tensor(&narrow, [elements], &place.device),
            host,
            sources,
            offsets,
        }
    });
    let values_bytes = elements * size_of::<f32>();
    let traffic = Traffic {
        read: values_bytes + elements * size_of::<i32>(),
        written: values_bytes,
    };

    case.contender(
        "burn-scan",
        traffic,
        || {
            input
                .tensor
                .clone()
                .partition_by_key(keys.tensor.clone(), num_keys)
        },
        |(values, offsets)| {
            if host_indices(offsets) != keys.offsets {
                return Err("the offsets are wrong".to_string());
            }
            let expected: Vec<f32> = keys.sources.iter().map(|&source| source as f32).collect();
            check_equal(&host::<f32, 1>(values), &expected)
        },
    );
    case.contender(
        "burn",
        traffic,
        || {
            input
                .tensor
                .clone()
                .select(0, keys.tensor.clone().argsort(0))
        },
        |values| {
            let key_of = |source: usize| keys.host[source];
            let values = host::<f32, 1>(values);
            let found: Vec<i64> = values
                .into_iter()
                .map(|value| key_of(value as usize))
                .collect();
            let expected: Vec<i64> = keys.sources.iter().map(|&source| key_of(source)).collect();
            check_equal(&found, &expected)
        },
    );
    copies(&mut case, place, &input, elements);
}

criterion_group! { name = benches; config = common::criterion(); targets = partitions }
criterion_main!(benches);
