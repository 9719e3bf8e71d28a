//! The loops, with the arithmetic of [`Scalar`].

use super::{Scalar, SortKey};
use cubecl_scan::sort::SortOptions;
use cubecl_scan::{ScanOp, scan::ScanOptions};

/// Visits the elements of each line along `axis` in scan order, with the number of each in its line and its index.
fn walk(shape: &[usize], axis: usize, reverse: bool, mut visit: impl FnMut(usize, usize)) {
    let len = shape[axis];
    let step: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    for line in 0..outer * step {
        let begin = line / step * len * step + line % step;
        for i in 0..len {
            let row = if reverse { len - 1 - i } else { i };
            visit(i, begin + row * step);
        }
    }
}

/// The scan along `axis`.
pub fn scan<T: Scalar>(
    input: &[T],
    shape: &[usize],
    axis: usize,
    op: ScanOp,
    options: ScanOptions,
) -> Vec<T> {
    let mut output = input.to_vec();
    let mut acc = T::identity(op);
    walk(shape, axis, options.reverse, |i, at| {
        let before = if i == 0 { T::identity(op) } else { acc };
        acc = T::accumulate(before, input[at], op);
        output[at] = T::finish(if options.exclusive { before } else { acc });
    });
    output
}

/// The positions of the elements of each line along `axis`, in order. Equal elements keep their order.
pub fn sort<T: SortKey>(
    values: &[T],
    shape: &[usize],
    axis: usize,
    options: SortOptions,
) -> Vec<usize> {
    let mut indices = Vec::with_capacity(values.len());
    walk(shape, axis, false, |_, at| indices.push(at));
    let keys: Vec<T> = indices.iter().map(|&at| values[at]).collect();
    let sorted = T::sort_positions(&keys, shape[axis], options);
    let mut sources = vec![0; values.len()];
    for (at, source) in indices.into_iter().zip(sorted) {
        sources[at] = source;
    }
    sources
}

/// The sums of the segments of lines along `axis`, each at its head, and zero elsewhere. The first element of a line is
/// a head whatever `heads` says.
pub fn segment_sums<T: Scalar>(
    values: &[T],
    heads: &[u32],
    shape: &[usize],
    axis: usize,
    reverse: bool,
) -> Vec<T> {
    let mut sums = vec![T::identity(ScanOp::Sum); values.len()];
    let mut head = 0;
    walk(shape, axis, reverse, |i, at| {
        head = if i == 0 || heads[at] != 0 { at } else { head };
        sums[head] = T::accumulate(sums[head], values[at], ScanOp::Sum);
    });
    sums.into_iter().map(T::finish).collect()
}

/// The gradients of the values, the decays and the initial values of a linear recurrence along `axis`. `flow` is the
/// gradient of its `results`.
pub fn recurrence_adjoint<T: Scalar>(
    [flow, decay, results]: [&[T]; 3],
    initial: &[T],
    shape: &[usize],
    axis: usize,
    reverse: bool,
) -> [Vec<T>; 3] {
    let step: usize = shape[axis + 1..].iter().product();
    let times = |acc, value| T::accumulate(acc, value, ScanOp::Prod);
    let [mut of_values, mut of_decay] = [0; 2].map(|_| flow.to_vec());
    let mut of_initial = initial.to_vec();
    let mut carried = T::identity(ScanOp::Sum);
    let mut line = 0;
    walk(shape, axis, !reverse, |i, at| {
        let next = if i == 0 {
            T::identity(ScanOp::Sum)
        } else {
            carried
        };
        let g = T::accumulate(next, flow[at], ScanOp::Sum);
        carried = times(g, decay[at]);
        of_values[at] = T::finish(g);
        let is_first = i + 1 == shape[axis];
        let before = match (is_first, reverse) {
            (true, _) => initial[line],
            (false, true) => results[at + step],
            (false, false) => results[at - step],
        };
        of_decay[at] = T::finish(times(g, before));
        if is_first {
            of_initial[line] = T::finish(carried);
            line += 1;
        }
    });
    [of_values, of_decay, of_initial]
}

/// The flat positions of the trues.
pub fn indices(mask: &[bool]) -> Vec<usize> {
    (0..mask.len()).filter(|&at| mask[at]).collect()
}

/// The coordinates of the trues, `shape.len()` numbers each.
pub fn argwhere(mask: &[bool], shape: &[usize]) -> Vec<usize> {
    let coordinate = |at, dim| at / shape[dim + 1..].iter().product::<usize>() % shape[dim];
    let coordinates = |at: usize| (0..shape.len()).map(move |dim| coordinate(at, dim));
    indices(mask).into_iter().flat_map(coordinates).collect()
}

/// The values under a true.
pub fn compact<T: Copy>(values: &[T], mask: &[bool]) -> Vec<T> {
    indices(mask).into_iter().map(|at| values[at]).collect()
}

/// The slices along `axis` whose entry of the mask is true.
pub fn compact_dim<T: Copy>(values: &[T], shape: &[usize], axis: usize, mask: &[bool]) -> Vec<T> {
    let inner: usize = shape[axis + 1..].iter().product();
    let kept = (0..values.len()).filter(|at| mask[at / inner % shape[axis]]);
    kept.map(|at| values[at]).collect()
}

/// The i-th value at the i-th true, as long as there are values, and zero elsewhere.
pub fn expand<T: Copy + Default>(values: &[T], mask: &[bool]) -> Vec<T> {
    let mut output = vec![T::default(); mask.len()];
    let filled = indices(mask).into_iter().zip(values);
    filled.for_each(|(at, &value)| output[at] = value);
    output
}

/// A stable grouping by keys: the source of each element, and where each group begins and the last one ends. Keys
/// outside of `0..num_keys` are in no group.
pub fn partition(keys: &[i64], num_keys: usize) -> (Vec<usize>, Vec<usize>) {
    let in_range = |&at: &usize| (0..num_keys as i64).contains(&keys[at]);
    let mut sources: Vec<usize> = (0..keys.len()).filter(in_range).collect();
    sources.sort_by_key(|&at| keys[at]);
    let begin = |key| sources.partition_point(|&at| keys[at] < key);
    let offsets = (0..=num_keys as i64).map(begin).collect();
    (sources, offsets)
}
