//! The logarithm of a sum of exponentials, stable for any range.
//!
//! The state is the largest element `m` so far and the sum of `exp(x − m)`, which never overflows (Milakov &
//! Gimelshein, "Online normalizer calculation for softmax", 2018):
//!
//! ```text
//! (m, s) ⊕ (m′, s′)  =  (M, s·exp(m − M) + s′·exp(m′ − M))      with M = max(m, m′)
//! ```

use super::{Element, Monoid, Operator, Pair, Written, plane_ladder};
use crate::operator::{ScanOp, combine};
use cubecl::ir::{ElemType, FloatKind};
use cubecl::prelude::*;

/// Writes `log(Σ exp(x))` of floats: −∞ while all elements are −∞, and NaN from the first NaN on.
pub struct LogSumExp;

impl Operator for LogSumExp {
    type Monoid<A: Numeric> = Self;
    type Config = ();

    fn state_size(accumulator: ElemType) -> usize {
        2 * accumulator.size()
    }

    fn seed(_config: (), dtype: ElemType, accumulator: ElemType) -> InputScalar {
        ScanOp::Max.identity(dtype, accumulator)
    }
}

#[cube]
impl<A: Numeric> Monoid<A> for LogSumExp {
    type State = Pair<A, A>;
    type Config = ();

    fn identity(seed: A, #[comptime] _config: ()) -> Pair<A, A> {
        Pair::new(seed, A::from_int(0))
    }

    fn read(element: &Element<A>, #[comptime] _config: ()) -> Pair<A, A> {
        Pair::new(element.values[0], A::from_int(1))
    }

    fn resume(written: &Sequence<A>, #[comptime] _config: ()) -> Pair<A, A> {
        Pair::new(written[0], A::from_int(1))
    }

    fn combine(lhs: &Pair<A, A>, rhs: &Pair<A, A>, #[comptime] _config: ()) -> Pair<A, A> {
        let largest = combine::<A>(lhs.first, rhs.first, ScanOp::Max);
        let left = lhs.second * relative::<A>(lhs.first, largest);
        let right = rhs.second * relative::<A>(rhs.first, largest);
        Pair::new(largest, left + right)
    }

    fn write(state: &Pair<A, A>, #[comptime] _config: ()) -> Written<A> {
        // If the sum is empty, the largest element is −∞, and so is the result.
        let sum = select(state.second == A::from_int(0), A::from_int(1), state.second);
        Written::value(state.first + logarithm::<A>(sum))
    }

    fn plane_inclusive(
        state: &Pair<A, A>,
        #[comptime] plane_size: usize,
        #[comptime] config: (),
    ) -> Pair<A, A> {
        plane_ladder::<A, Self>(state, plane_size, config)
    }
}

/// `exp(x − largest)`; 1 for the largest itself, infinite or not.
#[cube]
fn relative<A: Numeric>(x: A, largest: A) -> A {
    let elem = elem_type_of::<A>();
    let difference = x - largest;
    let factor = if comptime!(elem == ElemType::Float(FloatKind::F64)) {
        A::cast_from(f64::exp(f64::cast_from(difference)))
    } else {
        A::cast_from(f32::exp(f32::cast_from(difference)))
    };
    select(x == largest, A::from_int(1), factor)
}

#[cube]
fn logarithm<A: Numeric>(x: A) -> A {
    let elem = elem_type_of::<A>();
    if comptime!(elem == ElemType::Float(FloatKind::F64)) {
        A::cast_from(f64::ln(f64::cast_from(x)))
    } else {
        A::cast_from(f32::ln(f32::cast_from(x)))
    }
}
