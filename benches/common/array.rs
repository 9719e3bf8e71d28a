//! The ndarray crate as a contender on the CPU. It scans only in place, by `accumulate_axis_inplace`, so a
//! fresh copy of the input is part of its work. It has no compaction.

use std::ops::AddAssign;

use ndarray::{Array, ArrayView, Axis, Dimension};

/// The inclusive sums of `input` seen as `[outer, len, inner]`.
///
/// Dimensions of size 1 are dropped, as a caller would drop them: ndarray's inner loop runs along the last dimension.
pub fn cumsum<T: Copy + AddAssign>(input: &[T], [outer, len, inner]: [usize; 3]) -> Vec<T> {
    match (outer, inner) {
        (1, 1) => sums(ArrayView::from(input), 0),
        (_, 1) => sums(view(input, (outer, len)), 1),
        (1, _) => sums(view(input, (len, inner)), 0),
        _ => sums(view(input, (outer, len, inner)), 1),
    }
}

fn view<T, D: Dimension>(
    input: &[T],
    shape: impl ndarray::IntoDimension<Dim = D>,
) -> ArrayView<'_, T, D> {
    ArrayView::from_shape(shape.into_dimension(), input)
        .expect("the shape has the size of the input")
}

fn sums<T: Copy + AddAssign, D: Dimension>(input: ArrayView<'_, T, D>, axis: usize) -> Vec<T> {
    let mut output: Array<T, D> = input.to_owned();
    output.accumulate_axis_inplace(Axis(axis), |&before, value| *value += before);
    let (values, first) = output.into_raw_vec_and_offset();
    assert!(
        matches!(first, Some(0) | None),
        "a copy begins at its first element"
    );
    values
}
