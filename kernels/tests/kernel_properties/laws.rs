//! Laws that tie scans to one another.

use super::cases::{Case, Compiled, Element, Layout, cases, drawn};
use super::config;
use cubecl::client::Client;
use cubecl_scan::ScanOp;
use cubecl_scan::scan::ScanOptions;
use proptest::prelude::*;
use scan_testing::kernels::*;

/// Contiguous problems that need few kernels: sums of integers and maxima of floats.
fn simple() -> impl Strategy<Value = Case> {
    (cases(), any::<bool>()).prop_map(|(case, float)| {
        let (op, dtype, vectors) = if float {
            (ScanOp::Max, "f32", 4)
        } else {
            (ScanOp::Sum, "i32", 1)
        };
        Case {
            compiled: Compiled {
                op,
                dtype,
                units: 32,
                vectors,
                stall: None,
                ..case.compiled
            },
            rank: case.rank.min(2),
            axis: case.axis % case.rank.min(2),
            shape: case.shape.map(|size| size.max(1)),
            layout: Layout::Contiguous,
            offset: 0,
            ..case
        }
    })
}

/// Calls `$law` for the case's element type.
macro_rules! law {
    ($law:ident, $case:expr $(, $argument:expr)*) => {
        match $case.compiled.dtype {
            "f32" => $law::<f32>(&client(), $case $(, $argument)*),
            _ => $law::<i32>(&client(), $case $(, $argument)*),
        }
    };
}

fn combine<T: Element>(lhs: T, rhs: T, op: ScanOp) -> T {
    let lhs = T::accumulate(T::identity(op), lhs, op);
    T::finish(T::accumulate(lhs, rhs, op))
}

fn data<T: Element>(case: &Case) -> Vec<T> {
    drawn(case.view().1, case.compiled.op, case.seed)
}

fn with_exclusive(case: &Case, exclusive: bool) -> ScanOptions {
    ScanOptions {
        exclusive,
        ..case.compiled.options
    }
}

/// `inclusive = exclusive ⊕ input`, in the order of the scan.
fn inclusive_is_exclusive_and_input<T: Element>(client: &Client, case: &Case) {
    let (data, op) = (data::<T>(case), case.compiled.op);
    let inclusive = case.run(client, &data, with_exclusive(case, false));
    let exclusive = case.run(client, &data, with_exclusive(case, true));
    for (at, inclusive) in inclusive.iter().enumerate() {
        assert_eq!(*inclusive, combine(exclusive[at], data[at], op), "at {at}");
    }
}

/// `reverse = flip ∘ scan ∘ flip`. Both sides add the same numbers in the same order, so sums that round agree,
/// too. Every dimension is flipped, because a cube that takes several rows also meets the rows in reverse
/// order.
fn reverse_is_flip_scan_flip(client: &Client, case: &Case) {
    let scan = |data: &[f32], reverse| {
        let options = ScanOptions {
            reverse,
            ..case.compiled.options
        };
        case.run(client, data, options)
    };
    let data = uneven(case.view().1);
    let flipped: Vec<f32> = data.iter().rev().copied().collect();
    let (reversed, flipped) = (scan(&data, true), scan(&flipped, false));
    for (at, (reversed, flipped)) in reversed.iter().zip(flipped.iter().rev()).enumerate() {
        assert_eq!(reversed.to_bits(), flipped.to_bits(), "at {at}");
    }
}

/// The scan of two parts is the scan of the first, then the scan of the second with the first one's total in
/// front.
fn parts_carry<T: Element>(client: &Client, case: &Case, split_at: usize) {
    let shape = case.shape();
    let inner: usize = shape[case.axis + 1..].iter().product();
    let split_at = split_at % (case.len() + 1);
    let (data, op) = (data::<T>(case), case.compiled.op);
    let exclusive = case.compiled.options.exclusive;
    let part = |begin: usize, end: usize| {
        let mut part = *case;
        part.shape[case.axis] = end - begin;
        let rows = data
            .chunks_exact((case.len() * inner).max(1))
            .flat_map(|line| &line[begin * inner..end * inner]);
        (part, rows.copied().collect::<Vec<T>>())
    };
    let run = |case: &Case, data: &[T], exclusive| {
        let options = ScanOptions {
            exclusive,
            reverse: false,
        };
        case.run(client, data, options)
    };
    let ((first, first_data), (second, second_data)) =
        (part(0, split_at), part(split_at, case.len()));
    let whole = run(case, &data, exclusive);
    let head = run(&first, &first_data, exclusive);
    let totals = run(&first, &first_data, false);
    let tail = run(&second, &second_data, exclusive);
    for (at, found) in whole.iter().enumerate() {
        let (line, row) = (at / inner / case.len(), at / inner % case.len());
        let expected = if row < split_at {
            head[(line * split_at + row) * inner + at % inner]
        } else {
            let rows = case.len() - split_at;
            let own = tail[(line * rows + row - split_at) * inner + at % inner];
            match split_at {
                0 => own,
                _ => combine(
                    totals[(line * split_at + split_at - 1) * inner + at % inner],
                    own,
                    op,
                ),
            }
        };
        assert_eq!(*found, expected, "at {at}, split at {split_at}");
    }
}

proptest! {
    #![proptest_config(config(50))]

    #[test]
    fn inclusive_scans_are_exclusive_ones_and_the_input(case in simple()) {
        law!(inclusive_is_exclusive_and_input, &case);
    }

    #[test]
    fn reverse_scans_are_flipped_scans_of_flipped_input(case in simple()) {
        let mut case = case;
        case.compiled.op = ScanOp::Sum;
        reverse_is_flip_scan_flip(&client(), &case);
    }

    #[test]
    fn scans_of_two_parts_carry_the_first_ones_total(case in simple(), split_at in any::<usize>()) {
        law!(parts_carry, &case, split_at);
    }
}
