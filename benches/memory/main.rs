//! What operations of Flex allocate at most in addition to their inputs and outputs, as a share of their input.
//!
//! ```text
//! cargo bench --bench memory                 prints the tables
//! cargo bench --bench memory -- --write      puts them into docs/results/memory.md
//! ```
//! An allocator counts, so the figures are exact. Each result is compared with that of a copy of the input in which one
//! row follows the other, before the share is printed.

#[path = "../../tests/memory/counted.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod counted;
mod operations;

use std::fmt::Write;

use burn::tensor::{Bool, Device, Slice, Tensor, TensorData, Tolerance};
use operations::{Flat, Lines, OF_ALL, OF_LINES, Operation};

/// Rows and columns. Odd, so that every block has a tail.
const SIDE: usize = 3071;

/// A larger share is bold.
const MOST: f64 = 1. / 16.;

const HEAD: &str = "\
# Memory on Flex

`cargo bench --bench memory -- --write` writes this page: the bytes that an operation allocates in addition to its inputs
and outputs, at most at one time, as a share of the bytes of its first input. What takes more than 1/16 is bold: a stable
sort of a sequence moves between two buffers, of keys or of keys with their positions; offsets begin with a 0 that is put
before sums; and initial values that lie apart are copied.

";

/// A name, the shape of the whole tensors, their views as floats and as bools, and the dimension of lines.
type Layout = (
    &'static str,
    [usize; 2],
    fn(Tensor<2>) -> Tensor<2>,
    fn(Tensor<2, Bool>) -> Tensor<2, Bool>,
    usize,
);

macro_rules! layouts {
    ($($name:literal, $shape:expr, |$x:ident| $view:expr, $dim:literal;)*) => {
        [$(($name, $shape, |$x| $view, |$x| $view, $dim)),*]
    };
}

const LAYOUTS: [Layout; 6] = layouts! {
    "rows", [SIDE, SIDE], |x| x, 1;
    "columns", [SIDE, SIDE], |x| x, 0;
    "rows of four", [SIDE * SIDE / 4, 4], |x| x, 1;
    "swapped dimensions", [SIDE, SIDE], |x| x.swap_dims(0, 1), 1;
    "rows with gaps", [SIDE, SIDE + 1], |x| x.narrow(1, 1, SIDE), 1;
    "every second row, backwards", [2 * SIDE, SIDE], |x| x.slice(Slice::new(0, None, -2)), 1;
};

fn values(shape: [usize; 2]) -> Tensor<2> {
    let data: Vec<f32> = (0..shape[0] * shape[1])
        .map(|i| (i * 7 % 13) as f32)
        .collect();
    Tensor::from_data(TensorData::new(data, shape), &Device::flex())
}

/// What a call allocates as a share of `bytes`, while somebody else holds its input. Its results must be those of
/// `laid_out`.
fn share<I: Clone>((name, call): Operation<I>, input: &I, laid_out: I, bytes: usize) -> f64 {
    let mut results = None;
    let used = counted::measured(|| results = Some(call(input.clone())));
    let found = results.expect("measured")();
    let wanted = call(laid_out)();
    assert_eq!(found.len(), wanted.len(), "{name}");
    for (found, wanted) in found.iter().zip(&wanted) {
        if found.dtype().is_float() {
            found.assert_approx_eq::<f32>(wanted, Tolerance::relative(1e-5));
        } else {
            found.assert_eq(wanted, true);
        }
    }
    used.temporary as f64 / bytes as f64
}

/// A row of a table.
fn row(name: &str, shares: impl Iterator<Item = f64>) -> String {
    let mut row = format!("| `{name}` |");
    for share in shares {
        let bold = if share > MOST { "**" } else { "" };
        write!(row, " {bold}{share:.3}{bold} |").expect("a string takes everything");
    }
    row + "\n"
}

fn tables() -> String {
    let layouts = LAYOUTS.map(|(name, ..)| name);
    let mut text = format!("| of a matrix | {} |\n", layouts.join(" | "));
    text += &format!("|---{}|\n", "|---".repeat(layouts.len()));
    for operation in OF_LINES {
        let shares = LAYOUTS.iter().map(|&(_, shape, view, view_of_mask, dim)| {
            let whole = values(shape);
            let lines = Lines {
                decay: view(whole.clone() / 16),
                mask: view_of_mask(whole.clone().lower_elem(2)),
                x: view(whole),
                dim,
            };
            let bytes = lines.x.shape().num_elements() * size_of::<f32>();
            share(operation, &lines, lines.laid_out(), bytes)
        });
        text += &row(operation.0, shares);
    }
    text += "\n| of a sequence | share |\n|---|---|\n";
    for operation in OF_ALL {
        let slice = values([1, SIDE * SIDE + 1])
            .flatten(0, 1)
            .narrow(0, 1, SIDE * SIDE);
        let copied = Tensor::from_data(slice.to_data(), &Device::flex());
        let bytes = SIDE * SIDE * size_of::<f32>();
        let share = share(operation, &Flat::of(slice), Flat::of(copied), bytes);
        text += &row(operation.0, std::iter::once(share));
    }
    text
}

fn main() {
    let tables = tables();
    println!("{tables}");
    if std::env::args().any(|argument| argument == "--write") {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/results/memory.md");
        std::fs::write(page, format!("{HEAD}{tables}")).expect("the page can be written");
    }
}
