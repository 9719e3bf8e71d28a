//! Selections along columns, and counts of masks.

use std::thread;

use burn::tensor::{Bool, Int};
use scan_testing::tensors::{host, host_indices, mask};

use super::common::input::check_equal;
use super::lines::{input, value};
use super::*;

/// Columns beside rows.
pub fn columns(criterion: &mut Criterion, place: &Place, shape: [usize; 2]) {
    let mut case = case(criterion, place, DType::F32, &shape, "compacted-columns");
    let x = LazyCell::new(|| input(shape, f32::from, place));
    let is_kept = |at: usize| hash(at).is_multiple_of(2);
    let kept = LazyCell::new(|| {
        let kept: Vec<bool> = (0..shape.iter().product()).map(is_kept).collect();
        mask(&kept, shape, &place.device)
    });
    let expected = |dim: usize| {
        let [outer, len, inner] = axis(&shape, dim);
        let mut all = vec![0.0; outer * len * inner];
        for line in 0..outer * inner {
            let at = |i: usize| (line / inner * len + i) * inner + line % inner;
            let survivors = (0..len).map(at).filter(|&at| is_kept(at));
            survivors
                .enumerate()
                .for_each(|(i, from)| all[at(i)] = value(from));
        }
        all
    };
    for (name, dim) in [("burn-scan", 0), ("limit-2-rows", 1)] {
        let op = || x.clone().compact_along_by_mask(kept.clone(), dim);
        let check = |(found, _): (Tensor<2>, Tensor<2, Int>)| {
            check_equal(&host::<f32, 2>(found), &expected(dim))
        };
        case.contender(name, moved::<f32>(&shape), op, check);
    }
}

/// What a mask keeps of a slice, beside what it keeps of a whole tensor.
pub fn slice(criterion: &mut Criterion, place: &Place) {
    const N: usize = 1 << 24;
    let mut case = case(criterion, place, DType::F32, &[N], "compacted-slice");
    let is_kept = |at: usize| hash(at).is_multiple_of(2);
    let kept = LazyCell::new(|| {
        let kept: Vec<bool> = (0..N).map(is_kept).collect();
        mask::<1>(&kept, [N], &place.device)
    });
    for (name, before) in [("burn-scan", 1), ("limit-1.3-whole", 0)] {
        let x = LazyCell::new(|| input([N + before], f32::from, place).narrow(0, before, N));
        let op = || x.clone().compact_by_mask(kept.clone());
        let check = |found: Tensor<1>| {
            let survivors = (0..N)
                .filter(|&at| is_kept(at))
                .map(|at| value(at + before));
            check_equal(&host::<f32, 1>(found), &survivors.collect::<Vec<_>>())
        };
        case.contender(name, moved::<f32>(&[N]), op, check);
    }
}

/// The true elements of a mask beside a read of it on all threads.
pub fn count(criterion: &mut Criterion, place: &Place) {
    const N: usize = 1 << 28;
    let mut case = case(
        criterion,
        place,
        DType::Bool(burn::tensor::BoolStore::Native),
        &[N],
        "count",
    );
    let thirds = LazyCell::new(|| (0..N).map(|at| at % 3 == 0).collect::<Vec<bool>>());
    let kept = LazyCell::new(|| -> Tensor<1, Bool> { mask(&thirds, [N], &place.device) });
    let read = Traffic {
        read: N,
        written: 8,
    };
    case.contender(
        "burn-scan",
        read,
        || kept.clone().count_true(),
        |count| match host_indices(count)[..] {
            [found] if found == N.div_ceil(3) => Ok(()),
            ref found => Err(format!("{found:?} are true")),
        },
    );
    case.contender(
        "limit-1.3-read",
        read,
        || any(&thirds),
        |any| {
            if any {
                Ok(())
            } else {
                Err("none is true".to_owned())
            }
        },
    );
}

/// Reads all of a mask.
fn any(mask: &[bool]) -> bool {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let any = |part: &[bool]| part.iter().fold(false, |any, &element| any | element);
    thread::scope(|scope| {
        let parts = mask.chunks(mask.len().div_ceil(threads));
        let parts: Vec<_> = parts.map(|part| scope.spawn(move || any(part))).collect();
        parts
            .into_iter()
            .fold(false, |all, part| all | part.join().expect("it ends"))
    })
}
