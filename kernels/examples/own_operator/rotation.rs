//! Rotations one after the other: an operator that reads four tensors, writes four, and does not commute.

#![allow(
    missing_docs,
    reason = "the `cube` macro generates modules without documentation"
)]

use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl_scan::monoid::{Element, Monoid, Operator, Pair, Written, plane_ladder};

/// The product of quaternions `w + x·i + y·j + z·k`. Each of the four parts has its own tensor.
pub struct Rotations;

/// `((w, x), (y, z))`.
pub type Quaternion<A> = Pair<Pair<A, A>, Pair<A, A>>;

#[cube]
fn of_parts<A: Numeric>(parts: &Sequence<A>) -> Quaternion<A> {
    Pair::new(Pair::new(parts[0], parts[1]), Pair::new(parts[2], parts[3]))
}

impl Operator for Rotations {
    type Monoid<A: Numeric> = Self;
    type Config = ();
    const INPUTS: usize = 4;
    const OUTPUTS: usize = 4;

    fn state_size(accumulator: ElemType) -> usize {
        4 * accumulator.size()
    }
}

#[cube]
impl<A: Numeric> Monoid<A> for Rotations {
    type State = Quaternion<A>;
    type Config = ();

    fn identity(_seed: A, #[comptime] _config: ()) -> Quaternion<A> {
        let (one, zero) = (A::from_int(1), A::from_int(0));
        Pair::new(Pair::new(one, zero), Pair::new(zero, zero))
    }

    fn read(element: &Element<A>, #[comptime] _config: ()) -> Quaternion<A> {
        of_parts(&element.values)
    }

    fn resume(parts: &Sequence<A>, #[comptime] _config: ()) -> Quaternion<A> {
        of_parts(parts)
    }

    fn combine(p: &Quaternion<A>, q: &Quaternion<A>, #[comptime] _config: ()) -> Quaternion<A> {
        let (pw, px, py, pz) = (
            p.first.first,
            p.first.second,
            p.second.first,
            p.second.second,
        );
        let (qw, qx, qy, qz) = (
            q.first.first,
            q.first.second,
            q.second.first,
            q.second.second,
        );
        Pair::new(
            Pair::new(
                pw * qw - px * qx - py * qy - pz * qz,
                pw * qx + px * qw + py * qz - pz * qy,
            ),
            Pair::new(
                pw * qy - px * qz + py * qw + pz * qx,
                pw * qz + px * qy - py * qx + pz * qw,
            ),
        )
    }

    fn write(q: &Quaternion<A>, #[comptime] _config: ()) -> Written<A> {
        let mut parts = Sequence::<A>::new();
        parts.push(q.first.first);
        parts.push(q.first.second);
        parts.push(q.second.first);
        parts.push(q.second.second);
        Written::values(parts)
    }

    fn plane_inclusive(
        q: &Quaternion<A>,
        #[comptime] plane_size: usize,
        #[comptime] config: (),
    ) -> Quaternion<A> {
        plane_ladder::<A, Self>(q, plane_size, config)
    }
}
