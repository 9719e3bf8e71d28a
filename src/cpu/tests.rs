//! The engine against oracles of a few lines each.

use half::{bf16, f16};

use super::element::TILE;
use super::*;

/// Around every size at which the engine takes another path.
const LENGTHS: [usize; 17] = [
    0,
    1,
    2,
    7,
    127,
    128,
    129,
    TILE - 1,
    TILE,
    TILE + 1,
    3 * TILE + 133,
    (1 << 15) - 1,
    1 << 15,
    (1 << 16) + 129,
    (1 << 17) + 1,
    (1 << 20) - 1,
    (1 << 20) + TILE + 9,
];

const OPS: [Op; 4] = [Op::Sum, Op::Prod, Op::Max, Op::Min];

/// A small generator, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }

    fn mask(&mut self, len: usize, percent: u64) -> Vec<u8> {
        (0..len)
            .map(|_| {
                if self.next() % 100 < percent {
                    1 + (self.next() % 255) as u8
                } else {
                    0
                }
            })
            .collect()
    }
}

/// The scan in order, in the type `A`.
fn oracle<T: Copy, A: Copy>(
    input: &[T],
    [outer, len, inner]: [usize; 3],
    identity: A,
    combine: impl Fn(A, T) -> A,
    exclusive: bool,
    reverse: bool,
) -> Vec<A> {
    let mut output = vec![identity; input.len()];
    for column in 0..outer * inner {
        let mut carry = identity;
        for step in 0..len {
            let line = if reverse { len - 1 - step } else { step };
            let index = (column / inner * len + line) * inner + column % inner;
            let before = carry;
            carry = combine(carry, input[index]);
            output[index] = if exclusive { before } else { carry };
        }
    }
    output
}

fn for_each_variant(mut check: impl FnMut(Op, bool, bool)) {
    for op in OPS {
        for exclusive in [false, true] {
            for reverse in [false, true] {
                check(op, exclusive, reverse);
            }
        }
    }
}

fn shapes() -> Vec<[usize; 3]> {
    let mut shapes: Vec<_> = LENGTHS.iter().map(|&len| [1, len, 1]).collect();
    shapes.extend([[3, 0, 2], [0, 5, 1], [2, 3, 0], [300, 1, 1], [1, 1, 300]]);
    shapes.extend([
        [8, 128, 1],
        [13, 5, 1],
        [9001, 7, 1],
        [1000, 129, 1],
        [37, 3000, 1],
        [2, 70_001, 1],
    ]);
    shapes.extend([
        [1, 5, 3],
        [2, 129, 2],
        [3, 4, 257],
        [5, 40, 600],
        [2000, 9, 4],
        [2, 90_001, 3],
        [1, 65_537, 2],
    ]);
    shapes.extend([
        [1, 140_000, 1],
        [1, 1_100_000, 2],
        [1, 300, 512],
        [1, 270, 513],
        [1, 40, 4097],
        [700, 60, 8],
    ]);
    shapes
}

macro_rules! integer_scans {
    ($($name:ident: $ty:ty;)*) => {$(
        #[test]
        fn $name() {
            let mut random = Random(0x9E37_79B9);
            for shape in shapes() {
                let [outer, len, inner] = shape;
                let input: Vec<$ty> = (0..outer * len * inner).map(|_| random.next() as $ty).collect();
                for_each_variant(|op, exclusive, reverse| {
                    let (identity, combine): ($ty, fn($ty, $ty) -> $ty) = match op {
                        Op::Sum => (0, <$ty>::wrapping_add),
                        Op::Prod => (1, <$ty>::wrapping_mul),
                        Op::Max => (<$ty>::MIN, <$ty>::max),
                        Op::Min => (<$ty>::MAX, <$ty>::min),
                    };
                    // A product of odd numbers alone does not end in zeros.
                    let input: Vec<$ty> = if op == Op::Prod { input.iter().map(|x| x | 1).collect() } else { input.clone() };
                    let expected = oracle(&input, shape, identity, combine, exclusive, reverse);
                    let actual = scan(&input, outer, len, inner, op, exclusive, reverse);
                    assert!(actual == expected, "{op:?} {shape:?} exclusive {exclusive} reverse {reverse}");
                });
            }
        }
    )*};
}

integer_scans! {
    scans_i64: i64;
    scans_i32: i32;
    scans_u8: u8;
    scans_i16: i16;
    scans_u64: u64;
}

/// The same in `f64`, to within what the steps may lose at random, and one rounding to the element type: relative to
/// the result, or absolute where it is subnormal.
macro_rules! float_scans {
    ($($name:ident: $ty:ty, $from:expr, $to:expr, $step:expr, $stored:expr, $smallest:expr;)*) => {$(
        #[test]
        fn $name() {
            let mut random = Random(0x1234_5678);
            for shape in shapes() {
                let [outer, len, inner] = shape;
                for_each_variant(|op, exclusive, reverse| {
                    let input: Vec<$ty> = (0..outer * len * inner)
                        .map(|_| {
                            let unit = (random.next() % 2048) as f64 / 1024.0 - 1.0;
                            $from(if op == Op::Prod { 1.0 + unit / 2048.0 } else { unit })
                        })
                        .collect();
                    let (identity, combine): (f64, fn(f64, f64) -> f64) = match op {
                        Op::Sum => (0.0, |a, b| a + b),
                        Op::Prod => (1.0, |a, b| a * b),
                        Op::Max => (f64::NEG_INFINITY, f64::max),
                        Op::Min => (f64::INFINITY, f64::min),
                    };
                    let expected = oracle(&input, shape, identity, |a, b: $ty| combine(a, $to(b)), exclusive, reverse);
                    let actual = scan(&input, outer, len, inner, op, exclusive, reverse);
                    let steps = (len as f64).sqrt();
                    for (index, (&actual, &expected)) in actual.iter().zip(&expected).enumerate() {
                        let actual: f64 = $to(actual);
                        let tolerance = if matches!(op, Op::Sum | Op::Prod) {
                            expected.abs().max(if op == Op::Sum { steps } else { 0.0 }) * steps * $step
                                + expected.abs() * $stored
                                + $smallest
                        } else {
                            0.0
                        };
                        assert!(
                            actual == expected || (actual - expected).abs() <= tolerance,
                            "{op:?} {shape:?} exclusive {exclusive} reverse {reverse} at {index}: {actual} {expected}"
                        );
                    }
                });
            }
        }
    )*};
}

float_scans! {
    scans_f32: f32, |x: f64| x as f32, f64::from, 1e-6, 0.0, 0.0;
    scans_f64: f64, |x: f64| x, |x: f64| x, 2e-15, 0.0, 0.0;
    scans_f16: f16, f16::from_f64, f16::to_f64, 1e-6, 0.5 / 1024.0, 3e-8;
    scans_bf16: bf16, bf16::from_f64, bf16::to_f64, 1e-6, 0.5 / 128.0, 0.0;
}

#[test]
fn threads_do_not_change_a_bit() {
    let mut random = Random(77);
    let input: Vec<f32> = (0..(1 << 21) + 4321)
        .map(|_| random.next() as f32 / 1e14 - 1.0)
        .collect();
    let len = input.len();
    for shape in [
        [1, len, 1],
        [3, len / 3, 1],
        [1, len / 5, 5],
        [1, len / 300, 300],
        [1, len / 700, 700],
    ] {
        let input = &input[..shape.iter().product()];
        for_each_variant(|op, exclusive, reverse| {
            let run = |threads| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                pool.install(|| scan(input, shape[0], shape[1], shape[2], op, exclusive, reverse))
            };
            let bits = |output: Vec<f32>| output.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let one = bits(run(1));
            assert!(
                one == bits(run(2)) && one == bits(run(3)),
                "{op:?} {shape:?}"
            );
        });
    }
}

#[test]
fn nan_stays() {
    for (len, inner) in [(100, 1), (5000, 1), (200_000, 1), (100_000, 2), (300, 300)] {
        for at in [0, len / 3, len - 1] {
            let mut input = vec![0.5f32; len * inner];
            input[at * inner] = f32::NAN;
            for op in OPS {
                let output = scan(&input, 1, len, inner, op, false, false);
                for (line, output) in output.chunks(inner).enumerate() {
                    assert_eq!(output[0].is_nan(), line >= at, "{op:?} {len} {at} {line}");
                    assert!(inner == 1 || !output[1].is_nan());
                }
            }
        }
    }
}

/// Totals of single runs leave the range of the type here, and the sequential result does not.
#[test]
fn a_product_leaves_the_range_where_a_loop_does() {
    for (len, inner) in [(5000, 1), (200_000, 1), (100_000, 2)] {
        let scan = |line: &dyn Fn(usize) -> f32| {
            let input: Vec<f32> = (0..len * inner).map(|index| line(index / inner)).collect();
            let output = scan(&input, 1, len, inner, Op::Prod, false, false);
            output.chunks(inner).map(|line| line[0]).collect::<Vec<_>>()
        };
        let zero_first = scan(&|line| if line == 0 { 0.0 } else { 3.0 });
        assert!(zero_first.iter().all(|&product| product == 0.0));
        let zero_late = scan(&|line| {
            if line == 4000 {
                0.0
            } else {
                1.0 + (line / 4001) as f32
            }
        });
        assert!(
            zero_late
                .iter()
                .enumerate()
                .all(|(line, &product)| product == if line < 4000 { 1.0 } else { 0.0 })
        );
        let grows = scan(&|_| 3.0);
        assert!(grows[81..].iter().all(|&product| product == f32::INFINITY));
        // Up by 2^120, then down by 2^200.
        let up_and_down = scan(&|line| match line {
            0..40 => 8.0,
            300..500 => 0.5,
            _ => 1.0,
        });
        assert_eq!(up_and_down[250], 2f32.powi(120));
        assert!(
            up_and_down[500..]
                .iter()
                .all(|&product| product == 2f32.powi(-80))
        );
    }
    let mut input = vec![0.0f32; 3000];
    (input[0], input[1100], input[1101]) = (-f32::MAX, f32::MAX, f32::MAX);
    assert_eq!(
        super::scan(&input, 1, 3000, 1, Op::Sum, false, false)[2999],
        f32::MAX
    );
}

#[test]
fn half_types_round_once() {
    let input = vec![f16::from_f32(0.1); 4096];
    let output = scan(&input, 1, 4096, 1, Op::Sum, false, false);
    // Accumulated in f16, the sum would stop growing at 256.
    assert_eq!(
        output[4095],
        f16::from_f32(f16::from_f32(0.1).to_f32() * 4096.0)
    );
    for bits in (0..=u32::MAX)
        .step_by(65_521)
        .chain([0x7F80_0001, 0xFFFF_FFFF, 0x7F7F_FFFF])
    {
        let number = f32::from_bits(bits);
        let rounded = scan(&[bf16::from_f32(number)], 1, 1, 1, Op::Sum, false, false)[0];
        assert_eq!(
            rounded.to_bits(),
            (bf16::from_f32(number) + bf16::ZERO).to_bits(),
            "{bits:x}"
        );
    }
}

/// Some masks of each length.
fn for_each_mask(mut check: impl FnMut(&mut Random, &[u8])) {
    let mut random = Random(4242);
    for len in LENGTHS
        .into_iter()
        .filter(|&len| len < 1 << 20)
        .chain([(1 << 14) - 1, (1 << 14) + 1])
    {
        for percent in [0, 1, 50, 99, 100] {
            let mask = random.mask(len, percent);
            check(&mut random, &mask);
        }
    }
}

fn positions(mask: &[u8]) -> Vec<usize> {
    (0..mask.len()).filter(|&index| mask[index] != 0).collect()
}

#[test]
fn compacts() {
    fn check<T: Copy + Default + Send + Sync + PartialEq>(
        mask: &[u8],
        value: impl Fn(u64) -> T,
        random: &mut Random,
    ) {
        let values: Vec<T> = mask.iter().map(|_| value(random.next())).collect();
        let mut expected: Vec<T> = positions(mask)
            .into_iter()
            .map(|index| values[index])
            .collect();
        assert!(compact(&values, mask) == expected);
        let count = expected.len();
        expected.resize(mask.len(), T::default());
        assert!(compact_padded(&values, mask) == (expected, count));
    }
    for_each_mask(|random, mask| {
        assert_eq!(count_true(mask), positions(mask).len());
        assert!(compact_indices::<usize>(mask) == positions(mask));
        check(mask, |bits| bits as u8, random);
        check(mask, |bits| f16::from_bits(bits as u16 & 0x7BFF), random);
        check(mask, |bits| bits as u32, random);
        check(mask, |bits| bits as i64, random);
    });
}

#[test]
fn expands() {
    for_each_mask(|random, mask| {
        let count = count_true(mask);
        for given in [count, count / 2, count + 3, 0] {
            let values: Vec<i32> = (0..given).map(|_| random.next() as i32).collect();
            let mut expected = vec![0; mask.len()];
            for (&value, index) in values.iter().zip(positions(mask)) {
                expected[index] = value;
            }
            assert!(expand(&values, mask) == expected);
        }
    });
}

#[test]
fn finds_coordinates() {
    let mut random = Random(99);
    for shape in [
        &[5usize][..],
        &[0, 3],
        &[3, 1],
        &[1, 7],
        &[70, 90],
        &[20, 3, 1, 41],
        &[2, 30_000, 2],
        &[1],
    ] {
        for percent in [0, 5, 50, 100] {
            let mask = random.mask(shape.iter().product(), percent);
            let mut expected = Vec::new();
            for index in positions(&mask) {
                let mut stride = mask.len();
                for &size in shape {
                    stride /= size;
                    expected.push((index / stride % size) as i64);
                }
            }
            assert_eq!(argwhere::<i64>(&mask, shape), expected);
        }
    }
}

#[test]
fn keeps_and_restores_rows() {
    let mut random = Random(7);
    for [outer, len, inner] in [
        [1, 1, 1],
        [0, 4, 2],
        [2, 0, 3],
        [3, 5, 0],
        [4, 7, 1],
        [1, 50_000, 1],
        [3, 129, 5],
        [70, 31, 64],
    ] {
        for percent in [0, 30, 100] {
            let mask = random.mask(len, percent);
            let values: Vec<i16> = (0..outer * len * inner)
                .map(|_| random.next() as i16)
                .collect();
            let kept = positions(&mask);
            let row = |plane: usize, line: usize| &values[(plane * len + line) * inner..][..inner];
            let (mut compacted, mut padded, mut restored) =
                (Vec::<i16>::new(), Vec::new(), Vec::<i16>::new());
            for plane in 0..outer {
                for &line in &kept {
                    compacted.extend(row(plane, line));
                    padded.extend(row(plane, line));
                }
                padded.extend(vec![0; (len - kept.len()) * inner]);
                for (line, &byte) in mask.iter().enumerate() {
                    restored.extend(
                        row(plane, line)
                            .iter()
                            .map(|&x| if byte != 0 { x } else { 0 }),
                    );
                }
            }
            assert_eq!(compact_rows(&values, &mask, outer, inner), compacted);
            assert_eq!(
                compact_rows_padded(&values, &mask, outer, inner),
                (padded, kept.len())
            );
            assert_eq!(expand_rows(&compacted, &mask, outer, inner), restored);
        }
    }
}

#[test]
fn partitions() {
    let mut random = Random(31);
    for len in [0, 1, 5, 1000, (1 << 15) - 1, 100_003] {
        for num_keys in [0, 1, 2, 7, 300, 9000] {
            let keys: Vec<i64> = (0..len)
                .map(|_| (random.next() % (num_keys as u64 + 2)) as i64 - 1)
                .collect();
            let mut order: Vec<usize> = (0..len)
                .filter(|&index| (0..num_keys as i64).contains(&keys[index]))
                .collect();
            order.sort_by_key(|&index| keys[index]);
            let offsets: Vec<usize> = (0..=num_keys)
                .map(|key| order.partition_point(|&index| keys[index] < key as i64))
                .collect();
            assert!(partition_permutation(&keys, num_keys) == (order, offsets));
        }
    }
}
