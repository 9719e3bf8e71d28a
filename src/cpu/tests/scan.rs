//! Scans.

use half::{bf16, f16};

use super::*;

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
        let first = column / inner * len * inner + column % inner;
        for step in 0..len {
            let line = if reverse { len - 1 - step } else { step };
            let index = first + line * inner;
            let before = carry;
            carry = combine(carry, input[index]);
            output[index] = if exclusive { before } else { carry };
        }
    }
    output
}

const WAYS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

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
    shapes.retain(|shape| has_time_for(shape.iter().product()));
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
                for_variants_of(outer * len * inner, |op, exclusive, reverse| {
                    let (identity, combine): ($ty, fn($ty, $ty) -> $ty) = match op {
                        ScanOp::Sum => (0, <$ty>::wrapping_add),
                        ScanOp::Prod => (1, <$ty>::wrapping_mul),
                        ScanOp::Max => (<$ty>::MIN, <$ty>::max),
                        ScanOp::Min => (<$ty>::MAX, <$ty>::min),
                        _ => unreachable!("not among OPS"),
                    };
                    // A product of odd numbers alone does not end in zeros.
                    let input: Vec<$ty> = if op == ScanOp::Prod { input.iter().map(|x| x | 1).collect() } else { input.clone() };
                    let expected = oracle(&input, shape, identity, combine, exclusive, reverse);
                    let actual = scan(&input, [outer, len, inner], op, exclusive, reverse);
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

/// Compares with a scan in `f64`. The tolerance is what the steps may lose at random, and one rounding to the element
/// type: relative to the result, or absolute where the result is subnormal.
macro_rules! float_scans {
    ($($name:ident: $ty:ty, $from:expr, $to:expr, $step:expr, $stored:expr, $smallest:expr;)*) => {$(
        #[test]
        fn $name() {
            let mut random = Random(0x1234_5678);
            for shape in shapes() {
                let [outer, len, inner] = shape;
                for_variants_of(outer * len * inner, |op, exclusive, reverse| {
                    let input: Vec<$ty> = (0..outer * len * inner)
                        .map(|_| {
                            let unit = (random.next() % 2048) as f64 / 1024.0 - 1.0;
                            $from(if op == ScanOp::Prod { 1.0 + unit / 2048.0 } else { unit })
                        })
                        .collect();
                    let (identity, combine): (f64, fn(f64, f64) -> f64) = match op {
                        ScanOp::Sum => (0.0, |a, b| a + b),
                        ScanOp::Prod => (1.0, |a, b| a * b),
                        ScanOp::Max => (f64::NEG_INFINITY, f64::max),
                        ScanOp::Min => (f64::INFINITY, f64::min),
                        _ => unreachable!("not among OPS"),
                    };
                    let expected = oracle(&input, shape, identity, |a, b: $ty| combine(a, $to(b)), exclusive, reverse);
                    let actual = scan(&input, [outer, len, inner], op, exclusive, reverse);
                    let steps = (len as f64).sqrt();
                    for (index, (&actual, &expected)) in actual.iter().zip(&expected).enumerate() {
                        let actual: f64 = $to(actual);
                        let tolerance = if matches!(op, ScanOp::Sum | ScanOp::Prod) {
                            expected.abs().max(if op == ScanOp::Sum { steps } else { 0.0 }) * steps * $step
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
    let most = (1 << 20) + 4321;
    let elements = if has_time_for(most) { most } else { 150_000 };
    let input: Vec<f32> = (0..elements)
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
                pool.install(|| scan(input, shape, op, exclusive, reverse))
            };
            let bits = |output: Vec<f32>| output.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let one = bits(run(1));
            assert!(
                one == bits(run(2)) && one == bits(run(3)) && one == bits(run(8)),
                "{op:?} {shape:?}"
            );
        });
    }
}

#[test]
fn half_types_round_once() {
    let input = vec![f16::from_f32(0.1); 4096];
    let output = scan(&input, [1, 4096, 1], ScanOp::Sum, false, false);
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
        let rounded = scan(
            &[bf16::from_f32(number)],
            [1, 1, 1],
            ScanOp::Sum,
            false,
            false,
        )[0];
        assert_eq!(
            rounded.to_bits(),
            (bf16::from_f32(number) + bf16::ZERO).to_bits(),
            "{bits:x}"
        );
    }
}
