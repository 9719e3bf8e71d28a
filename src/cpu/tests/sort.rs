//! Sorts, and the first elements of lines.

use super::super::sort::{Bits, Order, sort_with_wide_positions};
use super::super::{Floats, Integers, argsort, first, sort};
use super::{LENGTHS, Random, has_time_for, line_places};

/// The positions of each line of `[outer, len, inner]` in order.
fn expected<B: Bits, O: Order<B>>(values: &[B], shape: [usize; 3], order: O) -> Vec<usize> {
    let mut positions = vec![0; values.len()];
    for places in line_places(shape, false) {
        let mut sorted: Vec<usize> = (0..places.len()).collect();
        sorted.sort_by_key(|&at| order.key(values[places[at]]) & order.mask());
        for (at, source) in places.into_iter().zip(sorted) {
            positions[at] = source;
        }
    }
    positions
}

/// The first `k` of each line.
fn front(positions: &[usize], [_, len, inner]: [usize; 3], k: usize) -> Vec<usize> {
    let is_in_front = |&(i, _): &(usize, &usize)| i / inner % len < k;
    let front = positions.iter().enumerate().filter(is_in_front);
    front.map(|(_, &position)| position).collect()
}

fn taken<B: Bits>(values: &[B], positions: &[usize], [outer, len, inner]: [usize; 3]) -> Vec<B> {
    let k = positions.len().checked_div(outer * inner).unwrap_or(0);
    let value = |(i, at): (usize, &usize)| values[(i / (k * inner) * len + at) * inner + i % inner];
    positions.iter().enumerate().map(value).collect()
}

/// The same planes with gaps between them, which hold small keys, and how far planes are apart.
fn spread<B: Bits>(values: &[B], shape: [usize; 3]) -> (Vec<B>, usize) {
    let plane = shape[1] * shape[2];
    let apart = plane + shape[0] % 3;
    let mut spread = vec![B::lowest(0); (shape[0].max(1) - 1) * apart + plane];
    for (at, values) in values.chunks(plane.max(1)).enumerate() {
        spread[at * apart..][..plane].copy_from_slice(values);
    }
    spread.truncate(if values.is_empty() { 0 } else { spread.len() });
    (spread, apart)
}

#[track_caller]
fn check<B: Bits, O: Order<B>>(values: &[B], shape: [usize; 3], order: O) {
    let len = shape[1];
    if !has_time_for(values.len()) {
        return;
    }
    let all = expected(values, shape, order);
    let sorted = taken(values, &all, shape);
    let (spread, apart) = spread(values, shape);
    assert!(sort(&spread, shape, apart, order) == sorted, "{shape:?}");
    assert!(
        argsort::<B, O, usize>(&spread, shape, apart, order) == all,
        "{shape:?}"
    );
    for k in [0, 1, len / 50, len / 3, len] {
        let k = k.min(len);
        let positions = front(&all, shape, k);
        let (found, at) = first::<B, O, usize>(&spread, shape, apart, k, order);
        assert!(at == positions, "the first {k} of {shape:?}");
        assert!(
            found == taken(values, &positions, shape),
            "the first {k} of {shape:?}"
        );
    }
}

/// Numbers, and now and then a zero or a NaN of either sign.
fn floats(random: &mut Random, len: usize) -> Vec<u32> {
    let some = [0.0, -0.0, f32::NAN, -f32::NAN];
    let number = |drawn: u64| match drawn % 5000 {
        at @ 0..4 => some[at as usize],
        number => number as f32 - 2500.0,
    };
    (0..len).map(|_| number(random.next()).to_bits()).collect()
}

/// Few elements, one block, several blocks; rows and columns, on one thread and on all.
#[test]
fn lines_of_every_length() {
    let mut random = Random(9);
    let order = Floats::new(f32::INFINITY.to_bits(), false);
    for len in LENGTHS {
        check(&floats(&mut random, len), [1, len, 1], order);
    }
    let shapes = [
        [300, 700, 1],
        [40, 5000, 1],
        [3, 90, 41],
        [1, 2000, 100],
        [2, 140_000, 1],
        [1, 140_000, 2],
        [50_000, 3, 1],
        [0, 5, 3],
        [5, 0, 3],
    ];
    for shape in shapes {
        check(&floats(&mut random, shape.iter().product()), shape, order);
    }
}

/// A network that sorts all zeros and ones sorts everything.
#[test]
fn all_zeros_and_ones() {
    for len in 1..=13 {
        let lines = 1usize << len;
        let values: Vec<u16> = (0..lines * len)
            .map(|at| ((at / len) >> (at % len) & 1) as u16)
            .collect();
        let order = Integers::unsigned(false);
        assert!(
            sort(&values, [lines, len, 1], len, order)
                .chunks(len)
                .all(<[u16]>::is_sorted),
            "{len}"
        );
    }
}

/// The positions of lines that are too long for 32 bits.
#[test]
fn positions_may_be_wide() {
    let mut random = Random(2);
    let shape = [2, 3000, 1];
    let values = floats(&mut random, 6000);
    let order = Integers::signed(true);
    let positions = expected(&values, shape, order);
    let (sorted, found) = sort_with_wide_positions(&values, shape, order);
    assert!(sorted == taken(&values, &positions, shape));
    assert!(found == positions);
}
