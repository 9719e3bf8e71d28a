//! Walks along rows that carry more from element to element than a sum does.

use burn::tensor::Int;
use scan_testing::tensors::{host, host_indices, mask};

use super::common::input::check_equal;
use super::lines::{along, check_near, input, of, value};
use super::*;

type Shape = [usize; 2];

pub fn recurrence(criterion: &mut Criterion, place: &Place, shape: Shape) {
    let mut case = case(criterion, place, DType::F32, &shape, "recurrence");
    let x = LazyCell::new(|| input(shape, f32::from, place));
    let decay = |at: usize| (hash(at + 1) % 3) as f32 - 1.0;
    let decays = LazyCell::new(|| of(shape, decay, place));
    let op = || x.clone().linear_recurrence(decays.clone(), 1);
    let check = |found| {
        let next = |before: Option<f32>, at| before.unwrap_or(0.0) * decay(at) + value(at);
        check_equal(&host::<f32, 2>(found), &along(axis(&shape, 1), next))
    };
    case.contender("burn-scan", moved::<f32>(&shape), op, check);
    sums(&mut case, "limit-4-sum", shape, 1, place);
}

pub fn segmented_sum(criterion: &mut Criterion, place: &Place, shape: Shape) {
    let mut case = case(criterion, place, DType::F32, &shape, "segmented-sum");
    let x = LazyCell::new(|| input(shape, f32::from, place));
    let is_start = |at: usize| hash(at + 2).is_multiple_of(8);
    let starts = LazyCell::new(|| {
        let starts: Vec<bool> = (0..shape.iter().product()).map(is_start).collect();
        mask(&starts, shape, &place.device)
    });
    let op = || {
        let options = ScanOptions::default();
        x.clone()
            .segmented_scan(starts.clone(), 1, ScanOp::Sum, options)
    };
    let check = |found| {
        let next = |before: Option<f32>, at| match before {
            Some(sum) if !is_start(at) => sum + value(at),
            _ => value(at),
        };
        check_equal(&host::<f32, 2>(found), &along(axis(&shape, 1), next))
    };
    case.contender("burn-scan", moved::<f32>(&shape), op, check);
    maxima(&mut case, "limit-6-max", shape, place);
}

pub fn max_with_positions(criterion: &mut Criterion, place: &Place, shape: Shape) {
    let mut case = case(criterion, place, DType::F32, &shape, "max-with-positions");
    let x = LazyCell::new(|| input(shape, f32::from, place));
    let op = || x.clone().cummax_with_indices(1);
    let check = |(values, positions): (Tensor<2>, Tensor<2, Int>)| {
        let latest = |before: Option<(f32, usize)>, at: usize| match before {
            Some(most) if most.0 > value(at) => most,
            _ => (value(at), at % shape[1]),
        };
        let all = along(axis(&shape, 1), latest);
        let (most, latest): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        if host_indices(positions) != latest {
            return Err("a position is wrong".to_owned());
        }
        check_equal(&host::<f32, 2>(values), &most)
    };
    case.contender("burn-scan", moved::<f32>(&shape), op, check);
    maxima(&mut case, "limit-6-max", shape, place);
}

pub fn log_sum_exp(criterion: &mut Criterion, place: &Place, shape: Shape) {
    let mut case = case(criterion, place, DType::F32, &shape, "log-sum-exp");
    let x = LazyCell::new(|| input(shape, f32::from, place));
    let op = || x.clone().logcumsumexp(1);
    let check = |found| {
        let sum = |before: Option<f64>, at| before.unwrap_or(0.0) + f64::from(value(at)).exp();
        let sums = along(axis(&shape, 1), sum);
        check_near(&host::<f32, 2>(found), sums.into_iter().map(f64::ln))
    };
    case.contender("burn-scan", moved::<f32>(&shape), op, check);
    maxima(&mut case, "limit-12-max", shape, place);
}

/// Adds the inclusive maxima.
fn maxima(case: &mut Case<'_>, name: &str, shape: Shape, place: &Place) {
    let x = LazyCell::new(|| input(shape, f32::from, place));
    let op = || x.clone().scan(1, ScanOp::Max, ScanOptions::default());
    let most = |before: Option<f32>, at| before.map_or(value(at), |most| most.max(value(at)));
    let check = |found| check_equal(&host::<f32, 2>(found), &along(axis(&shape, 1), most));
    case.contender(name, moved::<f32>(&shape), op, check);
}
