//! What an operator reads at a position, and what it writes.

use cubecl::prelude::*;

/// One position of a line.
#[derive(CubeType)]
pub struct Element<A: Numeric> {
    /// An element of each input.
    pub values: Sequence<A>,
    /// Whether another segment begins here, in the order of the scan. False unless the operator has
    /// [`STARTS`](super::Operator::STARTS). Where the scan goes against the direction in which starts are marked, the
    /// first position of a line is not a start.
    pub starts: bool,
    /// Whether a segment ends here, in the order of the scan. Set only where the scan goes against the direction in
    /// which starts are marked.
    pub ends: bool,
    /// The position in memory, counted from the first element of the line.
    pub position: usize,
}

/// What an operator writes of a state.
#[derive(CubeType)]
pub struct Written<A: Numeric> {
    /// An element of each output.
    pub(crate) values: Sequence<A>,
    pub(crate) position: u32,
}

/// No position; written as −1.
pub(crate) const NOWHERE: u32 = u32::MAX;

#[cube]
impl<A: Numeric> Written<A> {
    /// An element of each output.
    pub fn values(values: Sequence<A>) -> Written<A> {
        Written::<A> {
            values,
            position: NOWHERE.runtime(),
        }
    }

    /// The element of the only output.
    pub fn value(value: A) -> Written<A> {
        let mut values = Sequence::<A>::new();
        values.push(value);
        Written::<A>::values(values)
    }

    /// The element of the only output, and its [position](super::Operator::POSITIONS), which is below 2^32 − 1: that
    /// number stands for no position.
    pub fn at(value: A, position: u32) -> Written<A> {
        let mut values = Sequence::<A>::new();
        values.push(value);
        Written::<A> { values, position }
    }
}
