//! Scans.

use half::f16;

use super::*;

fn for_each_variant(mut check: impl FnMut(ScanOp, bool, bool)) {
    for op in OPS {
        for (exclusive, reverse) in WAYS {
            check(op, exclusive, reverse);
        }
    }
}

/// Every operator in every way, and in the largest tensors each in one way.
fn for_variants_of(elements: usize, mut check: impl FnMut(ScanOp, bool, bool)) {
    if elements <= 1 << 18 {
        return for_each_variant(check);
    }
    for (op, (exclusive, reverse)) in OPS.into_iter().zip(WAYS) {
        check(op, exclusive, reverse);
    }
}

fn shapes() -> Vec<[usize; 3]> {
    let mut shapes: Vec<_> = LENGTHS.iter().map(|&len| [1, len, 1]).collect();
    shapes.extend([[3, 0, 2], [0, 5, 1], [2, 3, 0], [300, 1, 1], [1, 1, 300]]);
    shapes.extend([[8, 128, 1], [13, 5, 1], [9001, 7, 1], [1000, 129, 1]]);
    shapes.extend([[37, 3000, 1], [2, 70_001, 1], [1, 140_000, 1]]);
    shapes.extend([[1, 5, 3], [2, 129, 2], [3, 4, 257], [5, 40, 600]]);
    shapes.extend([[2000, 9, 4], [2, 90_001, 3], [1, 65_537, 2]]);
    shapes.extend([[1, 1_100_000, 2], [1, 300, 512], [1, 270, 513]]);
    shapes.extend([[1, 40, 4097], [700, 60, 8]]);
    shapes.retain(|shape| has_time_for(shape.iter().product()));
    shapes
}

/// Scans numbers for which every order is exact in the accumulator: those that `number` makes of random bits, and in
/// products −1 and 1. `from` rounds as the scan does, once, or wraps.
fn check<T: ElementType + PartialEq>(
    number: fn(u64) -> i64,
    from: fn(i64) -> T,
    [lowest, highest]: [T; 2],
) {
    const SIGN: fn(u64) -> i64 = |bits| 1 - (bits & 2) as i64;
    let mut random = Random(0x9E37_79B9);
    for shape in shapes() {
        let bits: Vec<u64> = (0..shape.iter().product()).map(|_| random.next()).collect();
        for_variants_of(bits.len(), |op, exclusive, reverse| {
            let (number, identity, combine): (_, _, fn(i64, i64) -> i64) = match op {
                ScanOp::Sum => (number, from(0), i64::wrapping_add),
                ScanOp::Prod => (SIGN, from(1), i64::wrapping_mul),
                ScanOp::Max => (number, lowest, i64::max),
                ScanOp::Min => (number, highest, i64::min),
                _ => unreachable!("not among OPS"),
            };
            let numbers: Vec<i64> = bits.iter().copied().map(number).collect();
            let input: Vec<T> = numbers.iter().copied().map(from).collect();
            let mut expected = input.clone();
            for places in line_places(shape, reverse) {
                let (mut before, mut carry) = (identity, None);
                for at in places {
                    let now = carry.map_or(numbers[at], |carry| combine(carry, numbers[at]));
                    expected[at] = if exclusive { before } else { from(now) };
                    (before, carry) = (from(now), Some(now));
                }
            }
            let found = scan(&input, shape, op, exclusive, reverse);
            assert!(
                found == expected,
                "{op:?} {shape:?} exclusive {exclusive} reverse {reverse}"
            );
        });
    }
}

#[test]
fn scans() {
    let (narrow, small) = (|bits| i64::from(bits as i32), |bits| (bits % 17) as i64 - 8);
    check(narrow, |x| x as i32, [i32::MIN, i32::MAX]);
    check(|bits| (bits << 16) as i64, |x| x, [i64::MIN, i64::MAX]);
    check(|bits| (bits & 255) as i64, |x| x as u8, [0, 255]);
    let infinities = [f16::NEG_INFINITY, f16::INFINITY];
    check(small, |x| f16::from_f32(x as f32), infinities);
    check(small, |x| x as f64, [f64::NEG_INFINITY, f64::INFINITY]);
}

#[test]
fn threads_do_not_change_a_bit() {
    let mut random = Random(77);
    let most = (1 << 20) + 4321;
    let elements = if has_time_for(most) { most } else { 150_000 };
    let input: Vec<f32> = (0..elements)
        .map(|_| random.next() as f32 / 1e14 - 1.0)
        .collect();
    // The largest elements are zeros of either sign.
    let zeros: Vec<f32> = (input.iter())
        .map(|&x| {
            if x > 0. {
                0f32.copysign(0.5 - (x as u32 % 2) as f32)
            } else {
                x
            }
        })
        .collect();
    let len = input.len();
    for shape in [
        [1, len, 1],
        [3, len / 3, 1],
        [8, len / 8, 1],
        [1, len / 5, 5],
        [1, len / 300, 300],
        [1, len / 700, 700],
    ] {
        for_each_variant(|op, exclusive, reverse| {
            let input = if op == ScanOp::Max { &zeros } else { &input };
            let input = &input[..shape.iter().product()];
            let run = |threads| on_threads(threads, || scan(input, shape, op, exclusive, reverse));
            let bits = |output: Vec<f32>| output.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let one = bits(run(1));
            assert!(
                one == bits(run(2)) && one == bits(run(3)) && one == bits(run(8)),
                "{op:?} {shape:?}"
            );
        });
    }
}

fn on_threads<R: Send>(threads: usize, body: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(body)
}

/// A line that begins with a value gives what a line does that has it as an element in front.
#[test]
fn scans_from_initial_values() {
    let mut random = Random(5);
    for [outer, len, inner] in [
        [3, 0, 2],
        [1, 1000, 1],
        [40, 4, 1],
        [7, 49, 1],
        [2, 140_000, 1],
        [40, 9, 5],
        [2, 3000, 70],
        [1, 50_000, 3],
    ] {
        let lines = outer * inner;
        let input: Vec<i32> = (0..lines * len).map(|_| random.next() as i32 | 1).collect();
        let initial: Vec<i32> = (0..lines).map(|_| random.next() as i32 | 1).collect();
        for_each_variant(|op, exclusive, reverse| {
            let mut all = Vec::with_capacity((len + 1) * lines);
            for plane in 0..outer {
                let lines = &input[plane * len * inner..(plane + 1) * len * inner];
                let first = &initial[plane * inner..(plane + 1) * inner];
                all.extend(
                    if reverse {
                        [lines, first]
                    } else {
                        [first, lines]
                    }
                    .concat(),
                );
            }
            let all = scan(&all, [outer, len + 1, inner], op, false, reverse);
            let skipped = usize::from(exclusive == reverse);
            let planes = all.chunks((len + 1) * inner);
            let expected: Vec<i32> = planes
                .flat_map(|plane| &plane[skipped * inner..(skipped + len) * inner])
                .copied()
                .collect();
            let shape = [outer, len, inner];
            let found = scan_from(&input, &initial, shape, op, exclusive, reverse);
            assert!(found == expected, "{op:?} {shape:?} {exclusive} {reverse}");

            let floats =
                |ints: &[i32]| -> Vec<f32> { ints.iter().map(|&x| 1. + x as f32 / 3e12).collect() };
            let (input, initial) = (floats(&input), floats(&initial));
            let bits = |threads| -> Vec<u32> {
                let scan = || scan_from(&input, &initial, shape, op, exclusive, reverse);
                on_threads(threads, scan)
                    .into_iter()
                    .map(f32::to_bits)
                    .collect()
            };
            assert!(bits(1) == bits(3), "{op:?} {shape:?} {exclusive} {reverse}");
        });
    }
}
