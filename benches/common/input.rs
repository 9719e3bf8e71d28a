//! Inputs whose sums are exact in every type, the host loop that checks them, and the contenders that only
//! copy.

use std::cell::LazyCell;
use std::ops::AddAssign;

use burn::tensor::kind::Numeric;
use burn::tensor::{Device, Tensor, f16};
use scan_testing::tensors::element::{Element, hash};
use scan_testing::tensors::{host, tensor};

#[cfg(feature = "flex")]
use super::copy::copy_parallel;
use super::{Case, Place, Traffic};

/// An element type with its values of small integers.
pub trait Number: Element + AddAssign {
    fn rounded(exact: i64) -> Self;
    fn exact(self) -> i64;
}

macro_rules! numbers {
    ($($t:ty, $rounded:expr, $exact:expr;)*) => {$(
        impl Number for $t {
            fn rounded(exact: i64) -> $t {
                $rounded(exact)
            }

            fn exact(self) -> i64 {
                $exact(self)
            }
        }
    )*};
}

numbers! {
    f16, |exact| f16::from_f64(exact as f64), |value: f16| value.to_f64() as i64;
    f32, |exact| exact as f32, |value| value as i64;
    i32, |exact| exact as i32, i64::from;
    i64, |exact| exact, |value| value;
}

/// A tensor with its elements on the host.
pub struct Input<T: Element, const D: usize> {
    pub values: Vec<T>,
    pub tensor: Tensor<D, T::Kind>,
}

impl<T: Element, const D: usize> Input<T, D> {
    pub fn new(values: Vec<T>, shape: [usize; D], device: &Device) -> Self {
        let tensor = tensor(&values, shape, device);
        Self { values, tensor }
    }
}

/// Steps from -2 to 2. The sum of any 2^28 of them stays far below 2^24, so f32 holds it in any order. In f16
/// the only correct answer is the sum rounded once.
pub fn steps<T: Number>(n: usize) -> Vec<T> {
    (0..n)
        .map(|i| T::rounded((hash(i) % 5) as i64 - 2))
        .collect()
}

/// Compares `output` with the inclusive sums of `input`, seen as `[outer, len, inner]`.
pub fn check_sums<T: Number>(
    input: &[T],
    output: &[T],
    [outer, len, inner]: [usize; 3],
) -> Result<(), String> {
    check_length(output, input.len())?;
    for block in 0..outer {
        let mut sums = vec![0; inner];
        for at in block * len * inner..(block + 1) * len * inner {
            let sum = &mut sums[at % inner];
            *sum += input[at].exact();
            if output[at] != T::rounded(*sum) {
                return Err(format!("element {at} is {:?}, not {sum}", output[at]));
            }
        }
    }
    Ok(())
}

/// Checks that `output` is `expected`.
pub fn check_equal<T: Element>(output: &[T], expected: &[T]) -> Result<(), String> {
    check_length(output, expected.len())?;
    let wrong = (0..output.len()).find(|&at| output[at] != expected[at]);
    match wrong {
        Some(at) => Err(format!(
            "element {at} is {:?}, not {:?}",
            output[at], expected[at]
        )),
        None => Ok(()),
    }
}

fn check_length<T>(output: &[T], expected: usize) -> Result<(), String> {
    if output.len() == expected {
        Ok(())
    } else {
        Err(format!("{} elements, not {expected}", output.len()))
    }
}

/// The contenders that read and write the input once: the limit that memory sets.
pub fn copies<T: Element, const D: usize>(
    case: &mut Case<'_>,
    place: &Place,
    input: &LazyCell<Input<T, D>, impl FnOnce() -> Input<T, D>>,
    elements: usize,
) where
    T::Kind: Numeric,
{
    let bytes = elements * size_of::<T>();
    let traffic = Traffic {
        read: bytes,
        written: bytes,
    };
    case.contender(
        "copy-by-add",
        traffic,
        || input.tensor.clone().add_scalar(0),
        |output| check_equal(&host::<T, D>(output), &input.values),
    );
    #[cfg(feature = "flex")]
    if !place.is_cube() {
        case.contender(
            "copy-parallel",
            traffic,
            || copy_parallel(&input.values),
            |output| check_equal(&output, &input.values),
        );
    }
    #[cfg(not(feature = "flex"))]
    let _ = place;
}
