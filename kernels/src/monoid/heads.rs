//! How many segments have begun, and where the last one begins.
//!
//! ```text
//! starts   1 0 1 0 0 1
//! state    (1, 0) (1, 0) (2, 2) (2, 2) (2, 2) (3, 5)
//! ```

use super::{Element, Monoid, Operator, Pair, Written, plane_ladder};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Counts segments in 32 bits, and keeps the position of the last start, or 0 before the first.
pub(crate) struct Heads;

impl Operator for Heads {
    type Monoid<A: Numeric> = Self;
    type Config = ();
    const STARTS: bool = true;
    const POSITIONS: bool = true;

    fn state_size(_accumulator: ElemType) -> usize {
        2 * size_of::<u32>()
    }
}

#[cube]
impl<A: Numeric> Monoid<A> for Heads {
    /// The number of segments, and where the last begins.
    type State = Pair<u32, u32>;
    type Config = ();

    fn identity(_seed: A, #[comptime] _config: ()) -> Pair<u32, u32> {
        Pair::new(0u32.runtime(), 0u32.runtime())
    }

    fn read(element: &Element<A>, #[comptime] _config: ()) -> Pair<u32, u32> {
        let position = u32::cast_from(element.position);
        Pair::new(
            u32::cast_from(element.starts),
            select(element.starts, position, 0u32),
        )
    }

    fn resume(written: &Sequence<A>, #[comptime] _config: ()) -> Pair<u32, u32> {
        Pair::new(u32::cast_from(written[0]), 0u32.runtime())
    }

    fn combine(
        lhs: &Pair<u32, u32>,
        rhs: &Pair<u32, u32>,
        #[comptime] _config: (),
    ) -> Pair<u32, u32> {
        let head = select(rhs.first > 0, rhs.second, lhs.second);
        Pair::new(lhs.first + rhs.first, head)
    }

    fn write(state: &Pair<u32, u32>, #[comptime] _config: ()) -> Written<A> {
        Written::at(A::cast_from(state.first), state.second)
    }

    fn plane_inclusive(
        state: &Pair<u32, u32>,
        #[comptime] plane_size: usize,
        #[comptime] config: (),
    ) -> Pair<u32, u32> {
        plane_ladder::<A, Self>(state, plane_size, config)
    }
}
