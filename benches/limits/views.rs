//! Sums of views beside those of tensors that lie in memory one row after the other.

use super::common::copy::copy_parallel;
use super::common::input::check_equal;
use super::lines::{check_sums, input, value};
use super::*;

/// A view that is as large as `whole`, and the position in its tensor of each of its elements.
type View<const D: usize> = (
    &'static str,
    [usize; D],
    fn(Tensor<D>) -> Tensor<D>,
    fn(usize) -> usize,
);

const N: usize = 1 << 24;
const SIDE: usize = 1 << 12;

pub fn of_a_row(criterion: &mut Criterion, place: &Place) {
    let views: [View<1>; 3] = [
        ("slice", [N + 1], |x| x.narrow(0, 1, N), |at| at + 1),
        ("prefix", [N + 1], |x| x.narrow(0, 0, N), |at| at),
        ("flipped", [N], |x| x.flip([0]), |at| N - 1 - at),
    ];
    compared(criterion, place, &views, [N], 0);
}

pub fn of_a_matrix(criterion: &mut Criterion, place: &Place) {
    let views: [View<2>; 3] = [
        (
            "rows-from-1",
            [SIDE + 1, SIDE],
            |x| x.narrow(0, 1, SIDE),
            |at| at + SIDE,
        ),
        (
            "columns-from-1",
            [SIDE, SIDE + 1],
            |x| x.narrow(1, 1, SIDE),
            |at| at + at / SIDE + 1,
        ),
        (
            "transposed",
            [SIDE, SIDE],
            |x| x.swap_dims(0, 1),
            |at| at % SIDE * SIDE + at / SIDE,
        ),
    ];
    compared(criterion, place, &views, [SIDE, SIDE], 1);
}

fn compared<const D: usize>(
    criterion: &mut Criterion,
    place: &Place,
    views: &[View<D>],
    whole: [usize; D],
    dim: usize,
) {
    for &(name, shape, view, position) in views {
        let mut case = case(criterion, place, DType::F32, &whole, name);
        let x = LazyCell::new(|| view(input(shape, f32::from, place)));
        let op = || x.clone().inclusive_cumsum(dim);
        let check = |sums| check_sums(sums, dim, |at| value(position(at)));
        case.contender("burn-scan", moved::<f32>(&whole), op, check);
        sums(&mut case, "limit-1.3-whole", whole, dim, place);
    }
}

/// Short lines that lie side by side.
pub fn middle(criterion: &mut Criterion, place: &Place, shape: [usize; 3]) {
    let rows = [shape[0] * shape[2], shape[1]];
    let mut case = case(criterion, place, DType::F32, &shape, "middle");
    sums(&mut case, "burn-scan", shape, 1, place);
    let values = LazyCell::new(|| (0..shape.iter().product()).map(value).collect::<Vec<f32>>());
    let check = |output: Vec<f32>| check_equal(&output, &values);
    case.contender(
        "limit-3-copy",
        moved::<f32>(&shape),
        || copy_parallel(&values),
        check,
    );
    sums(&mut case, "limit-2-rows", rows, 1, place);
}
