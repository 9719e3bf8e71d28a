//! Sorts, and the first elements of lines.

use super::super::sort::{Bits, Order, sort_with_wide_positions};
use super::super::{Floats, Integers, argsort, first, sort};
use super::{LENGTHS, Random, has_time_for};

/// The positions of each line of `[outer, len, inner]` in order.
fn expected<B: Bits, O: Order<B>>(
    values: &[B],
    [outer, len, inner]: [usize; 3],
    order: O,
) -> Vec<usize> {
    let mut positions = vec![0; outer * len * inner];
    for line in 0..outer * inner {
        let place = |at: usize| (line / inner * len + at) * inner + line % inner;
        let mut sorted: Vec<usize> = (0..len).collect();
        sorted.sort_by_key(|&at| order.key(values[place(at)]).and(order.mask()));
        for (at, source) in sorted.into_iter().enumerate() {
            positions[place(at)] = source;
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

#[track_caller]
fn check<B: Bits, O: Order<B>>(values: &[B], shape: [usize; 3], order: O) {
    let len = shape[1];
    if !has_time_for(values.len()) {
        return;
    }
    let all = expected(values, shape, order);
    let sorted = taken(values, &all, shape);
    assert!(sort(values, shape, order) == sorted, "{shape:?}");
    assert!(
        argsort::<B, O, usize>(values, shape, order) == all,
        "{shape:?}"
    );
    for k in [0, 1, len / 50, len / 3, len] {
        let k = k.min(len);
        let positions = front(&all, shape, k);
        let (found, at) = first::<B, O, usize>(values, shape, k, order);
        assert!(at == positions, "the first {k} of {shape:?}");
        assert!(
            found == taken(values, &positions, shape),
            "the first {k} of {shape:?}"
        );
    }
}

fn floats(random: &mut Random, len: usize) -> Vec<u32> {
    let number = |random: &mut Random| ((random.next() % 5000) as f32 - 2500.0).to_bits();
    (0..len).map(|_| number(random)).collect()
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
        [70_000, 3, 1],
        [0, 5, 3],
        [5, 0, 3],
    ];
    for shape in shapes {
        check(&floats(&mut random, shape.iter().product()), shape, order);
    }
}

/// Rows and columns that are sorted side by side: in full groups and in the last ones of their plane, and the longest.
#[test]
fn short_lines_side_by_side() {
    let mut random = Random(6);
    let order = Floats::new(f32::INFINITY.to_bits(), true);
    for len in (1..=67).chain([128, 129, 511, 1024, 1025]) {
        for shape in [[37, len, 1], [2, len, 28]] {
            let elements = shape.iter().product();
            check(&floats(&mut random, elements), shape, order);
            let bytes: Vec<u8> = (0..elements).map(|_| random.next() as u8 % 9).collect();
            check(&bytes, shape, Integers::signed(false));
            let wide: Vec<u64> = (0..elements).map(|_| random.next() << 40).collect();
            check(&wide, shape, Integers::unsigned(false));
            check(&wide, shape, Integers::lowest(43, true));
        }
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
            sort(&values, [lines, len, 1], order)
                .chunks(len)
                .all(<[u16]>::is_sorted),
            "{len}"
        );
    }
}

/// Zeros and NaN share their keys with others, in some lines of a group and not in others.
#[test]
fn shared_keys_side_by_side() {
    let mut random = Random(8);
    let some = [0.0, -0.0, f32::NAN, -f32::NAN, 1.0, -1.0, f32::INFINITY];
    for len in [2, 5, 64] {
        let shape = [48, len, 1];
        let values: Vec<u32> = (0..48 * len)
            .map(|at| match at / len % 3 {
                0 => random.next() as u32 >> 8,
                _ => some[random.next() as usize % some.len()].to_bits(),
            })
            .collect();
        check(&values, shape, Floats::new(f32::INFINITY.to_bits(), false));
        check(
            &values,
            [1, len, 48],
            Floats::new(f32::INFINITY.to_bits(), true),
        );
    }
}

#[test]
fn every_width_and_order() {
    let mut random = Random(4);
    let len = 140_000;
    for len in [len, 3000, 100] {
        let bytes: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
        check(&bytes, [1, len, 1], Integers::signed(true));
        check(&bytes, [1, len, 1], Integers::unsigned(false));
        let halves: Vec<u16> = (0..len).map(|_| random.next() as u16).collect();
        check(
            &halves,
            [1, len, 1],
            Floats::new(half::f16::INFINITY.to_bits(), true),
        );
        check(
            &halves,
            [1, len, 1],
            Floats::new(half::bf16::INFINITY.to_bits(), false),
        );
        check(&halves, [1, len, 1], Integers::lowest(9, true));
        let wide: Vec<u64> = (0..len)
            .map(|_| random.next() << 20 ^ random.next())
            .collect();
        check(
            &wide,
            [1, len, 1],
            Floats::new(f64::INFINITY.to_bits(), true),
        );
        check(&wide, [1, len, 1], Integers::signed(false));
        // Some passes are skipped, and the number of the others is odd.
        check(&wide, [1, len, 1], Integers::lowest(24, false));
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

/// The order of keys is that of `f32`, with NaN last and equal zeros.
#[test]
fn keys_are_in_the_order_of_floats() {
    let values = [
        f32::NEG_INFINITY,
        f32::MIN,
        -1.0,
        -f32::MIN_POSITIVE,
        -f32::from_bits(1),
        0.0,
        f32::from_bits(1),
        f32::MIN_POSITIVE,
        1.0,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    let infinity = f32::INFINITY.to_bits();
    let (up, down) = (Floats::new(infinity, false), Floats::new(infinity, true));
    for pair in values.windows(2) {
        let [a, b] = [pair[0].to_bits(), pair[1].to_bits()];
        assert!(
            up.key(a) < up.key(b) && down.key(a) > down.key(b),
            "{pair:?}"
        );
    }
    for order in [up, down] {
        assert_eq!(order.key((-0.0_f32).to_bits()), order.key(0));
        for nan in [0x7f80_0001, 0xff80_0001, 0xffff_ffff, 0x7fff_ffff] {
            assert_eq!(order.key(nan), order.key(f32::NAN.to_bits()));
        }
    }
}
