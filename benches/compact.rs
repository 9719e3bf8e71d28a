//! Compaction: `compact_by_mask` and `compact_by_mask_padded` against Burn's own `mask_select` and copies of
//! the values.
//!
//! ```text
//! cargo bench --bench compact
//! cargo bench --bench compact -- compact/flex/f32/1x16777216/density0.5
//! ```
//! `burn-scan` reads back one number, the count, and `burn-scan-padded` nothing. `burn` is `mask_select`, which
//! on Cube takes the whole mask to the host. A hash draws the survivors, so that no branch predictor learns
//! them. The declared bytes take the density as exact.

mod common;

use std::cell::LazyCell;

use burn::tensor::kind::Numeric;
use burn::tensor::{Bool, DType, Int, Tensor, f16};
use burn_scan::prelude::*;
use common::input::{Input, Number, check_equal, copies, steps};
use common::{Place, Traffic, large, places};
use criterion::{Criterion, criterion_group, criterion_main};
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{host, host_indices, mask, oracle};

fn compactions(criterion: &mut Criterion) {
    for place in &places() {
        let longest = match (place.is_cube(), large()) {
            (true, 0) => 22,
            (true, 2..) => 28,
            _ => 24,
        };
        for power in [20, 22, 24, 28].into_iter().filter(|p| *p <= longest) {
            for density in [1.0, 0.5, 0.01] {
                case::<f32>(criterion, place, 1 << power, density);
            }
        }
        for power in [10, 16] {
            case::<f32>(criterion, place, 1 << power, 0.5);
        }
        case::<f16>(criterion, place, 1 << 22, 0.5);
        case::<i64>(criterion, place, 1 << 22, 0.5);
    }
}

fn case<T: Number>(criterion: &mut Criterion, place: &Place, elements: usize, density: f64)
where
    T::Kind: Numeric,
    Tensor<2, T::Kind>: TensorCompact<2, T::Kind>,
{
    if !place.holds(T::dtype()) {
        return;
    }
    let shape = [1, elements];
    let name = common::axes("compact", place, T::dtype(), &shape);
    let mut case = place.case(criterion, &format!("{name}/density{density}"));
    let input = LazyCell::new(|| Input::<T, 2>::new(steps(elements), shape, &place.device));
    let kept = LazyCell::new(|| {
        let kept: Vec<bool> = (0..elements)
            .map(|i| ((hash(i) % 10_000) as f64) < density * 10_000.0)
            .collect();
        let tensor: Tensor<2, Bool> = mask(&kept, shape, &place.device);
        (oracle::compact(&input.values, &kept), tensor)
    });

    let size = size_of::<T>();
    let mask_bytes = elements * DType::from(place.device.settings().bool_dtype).size();
    let exact = Traffic {
        read: elements * size + mask_bytes,
        written: (elements as f64 * density) as usize * size,
    };
    let padded = Traffic {
        written: elements * size,
        ..exact
    };
    let check = |output| check_equal(&host::<T, 1>(output), &kept.0);
    let check_padded = |(values, count): (Tensor<1, T::Kind>, Tensor<1, Int>)| {
        let survivors = kept.0.len();
        let counted = host_indices(count);
        if counted != [survivors] {
            return Err(format!("the count is {counted:?}, not {survivors}"));
        }
        let mut expected = kept.0.clone();
        expected.resize(elements, T::default());
        check_equal(&host::<T, 1>(values), &expected)
    };

    case.contender(
        "burn-scan",
        exact,
        || input.tensor.clone().compact_by_mask(kept.1.clone()),
        check,
    );
    case.contender(
        "burn-scan-padded",
        padded,
        || input.tensor.clone().compact_by_mask_padded(kept.1.clone()),
        check_padded,
    );
    case.contender(
        "burn",
        exact,
        || input.tensor.clone().mask_select(kept.1.clone()),
        check,
    );
    copies(&mut case, place, &input, elements);
}

criterion_group! { name = benches; config = common::criterion(); targets = compactions }
criterion_main!(benches);
