//! A user's own operator that does not commute, of four tensors and a state of four scalars: the operator of
//! the example `own_operator`.
//!
//! The elements are units of the quaternion group, ±1, ±i, ±j and ±k. Their products are exact and depend on
//! their order.

#[path = "../../../examples/own_operator/rotation.rs"]
mod rotation;

use super::oracle::Oracle;
pub use rotation::Rotations;

pub struct Products;

impl Oracle for Products {
    type Operator = Rotations;
    type State = [f32; 4];

    fn config() {}

    fn identity() -> [f32; 4] {
        [1., 0., 0., 0.]
    }

    fn read(values: &[f32], _position: usize) -> [f32; 4] {
        values.try_into().expect("four parts")
    }

    fn resume(written: &[f32]) -> [f32; 4] {
        written.try_into().expect("four parts")
    }

    fn combine(&[a, b, c, d]: &[f32; 4], &[e, f, g, h]: &[f32; 4]) -> [f32; 4] {
        [
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ]
    }

    fn write(state: &[f32; 4]) -> (Vec<f32>, i32) {
        (state.to_vec(), -1)
    }

    fn elements(n: usize) -> Vec<Vec<f32>> {
        let unit = |i: usize| (i as u32).wrapping_mul(2_654_435_761) >> 20;
        let part = |i: usize, part: u32| match unit(i) {
            unit if unit % 4 != part => 0.,
            unit if unit & 4 == 0 => 1.,
            _ => -1.,
        };
        (0..4)
            .map(|at| (0..n).map(|i| part(i, at)).collect())
            .collect()
    }
}
