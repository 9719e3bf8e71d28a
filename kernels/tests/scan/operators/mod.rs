//! The operators that are no folds of one accumulator, and what every operator may have beside its elements: segments, and lines that resume.
//!
//! An [`Oracle`] says in plain Rust what an operator means; one loop over it says what every routine must return. Elements are chosen such
//! that results are exact in whatever order they are combined, but for [`log_sum_exp`].

mod bits;
mod log_sum_exp;
mod oracles;
mod refusals;
mod rotations;
mod segment_totals;

use super::*;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl_scan::monoid::{Operator, Segmented};
use cubecl_scan::scan::{Mute, ScanTensors, scan_operator};

/// What an operator means.
trait Oracle {
    type Operator: Operator;
    type State: Clone;
    fn config() -> <Self::Operator as Operator>::Config;
    fn identity() -> Self::State;
    /// The state of one position.
    fn read(values: &[f32], position: usize) -> Self::State;
    /// The state that an earlier part of the line left.
    fn resume(written: &[f32]) -> Self::State;
    fn combine(lhs: &Self::State, rhs: &Self::State) -> Self::State;
    /// What is written of a state, and where it was found.
    fn write(state: &Self::State) -> (Vec<f32>, i32);
    /// Elements for `n` positions, as exact as the operator needs them: those of each input.
    fn elements(n: usize) -> Vec<Vec<f32>>;

    fn is_close(found: f32, expected: f32) -> bool {
        found == expected || found.is_nan() && expected.is_nan()
    }
}

#[derive(Clone, Copy, Debug)]
struct Case {
    /// `[outer, len, inner]`, scanned along the middle.
    shape: [usize; 3],
    options: ScanOptions,
    launch: LaunchOptions,
    segmented: bool,
    resumes: bool,
}

/// The positions of each line, in the order of the scan.
fn lines(
    [outer, len, inner]: [usize; 3],
    options: ScanOptions,
) -> impl Iterator<Item = Vec<usize>> {
    (0..outer * inner).map(move |line| {
        let line = (0..len).map(|along| (line / inner * len + along) * inner + line % inner);
        match options.reverse {
            true => line.rev().collect(),
            false => line.collect(),
        }
    })
}

/// Segments of 1 to 60 elements; a flag is any number but zero.
fn begins(n: usize) -> Vec<u32> {
    let marked = |i: usize| match (i as u32).wrapping_mul(2_654_435_761) >> 24 {
        0..16 => i as u32 | 1,
        _ => 0,
    };
    (0..n).map(marked).collect()
}

/// The results of a plain loop: each output, then where they were found.
fn expected<O: Oracle>(
    case: Case,
    inputs: &[Vec<f32>],
    initial: &[Vec<f32>],
    begins: &[u32],
) -> (Vec<Vec<f32>>, Vec<i32>) {
    let [_, len, inner] = case.shape;
    let elements: usize = case.shape.iter().product();
    let mut outputs = vec![vec![0.; elements]; O::Operator::OUTPUTS];
    let mut positions = vec![0; elements];
    for (line, places) in lines(case.shape, case.options).enumerate() {
        let first: Vec<f32> = initial.iter().map(|values| values[line]).collect();
        let mut running = match case.resumes {
            true => O::resume(&first),
            false => O::identity(),
        };
        for at in places {
            let position = at / inner % len;
            let marked = match case.options.reverse {
                true => position + 1 < len && begins[at + inner] != 0,
                false => begins[at] != 0,
            };
            let before = match case.segmented && marked {
                true => O::identity(),
                false => running,
            };
            let values: Vec<f32> = inputs.iter().map(|input| input[at]).collect();
            running = O::combine(&before, &O::read(&values, position));
            let (written, found) = match case.options.exclusive {
                true => O::write(&before),
                false => O::write(&running),
            };
            positions[at] = found;
            for (output, value) in outputs.iter_mut().zip(written) {
                output[at] = value;
            }
        }
    }
    (outputs, positions)
}

/// The same by the device.
fn found<O: Operator>(
    client: &Client,
    case: Case,
    op: O::Config,
    inputs: &[Vec<f32>],
    initial: &[Vec<f32>],
    begins: &[u32],
) -> (Vec<Vec<f32>>, Vec<i32>) {
    let view = View::contiguous(&case.shape);
    let elements = view.elements();
    let [outer, _, inner] = case.shape;
    let ends = View::contiguous(&[outer, 1, inner]);
    let floats =
        |data: &Vec<f32>, view| tensor(client.create_from_slice(f32::as_bytes(data)), view);
    let room = || client.empty(elements * size_of::<f32>());
    let outputs: Vec<_> = (0..O::OUTPUTS).map(|_| room()).collect();
    let mut tensors = ScanTensors::new(
        inputs.iter().map(|data| floats(data, &view)).collect(),
        outputs.iter().map(|it| tensor(it.clone(), &view)).collect(),
        1,
        f32::elem_type_native(),
    );
    if case.resumes {
        tensors = tensors.resuming(initial.iter().map(|data| floats(data, &ends)).collect());
    }
    if O::BEGINS {
        let flags = client.create_from_slice(u32::as_bytes(begins));
        tensors = tensors.segmented(tensor(flags, &view), u32::elem_type_native(), false);
    }
    let positions = room();
    if O::POSITIONS {
        let int: ElemType = i32::elem_type_native();
        tensors = tensors.positions(tensor(positions.clone(), &view), int);
    }
    scan_operator::<O>(client, tensors, op, case.options, case.launch).expect("supported");
    let outputs = outputs.into_iter();
    let outputs = outputs
        .map(|it| read::<f32>(client, it, elements))
        .collect();
    let positions = match O::POSITIONS {
        true => read::<i32>(client, positions, elements),
        false => vec![],
    };
    (outputs, positions)
}

fn check_case<O: Oracle>(client: &Client, case: Case) {
    let elements: usize = case.shape.iter().product();
    let inputs = O::elements(elements);
    let lines = elements / case.shape[1];
    let initial: Vec<Vec<f32>> = O::elements(O::Operator::OUTPUTS * lines)
        .swap_remove(0)
        .chunks(lines)
        .map(|values| values.to_vec())
        .collect();
    let begins = begins(elements);
    let (outputs, positions) = expected::<O>(case, &inputs, &initial, &begins);
    let op = O::config();
    let buffers = O::Operator::INPUTS + O::Operator::OUTPUTS * (1 + usize::from(case.resumes)) + 1;
    let most = client.properties().hardware.max_bindings as usize;
    if buffers > most {
        unsupported(&format!(
            "{buffers} buffers in one kernel, where the device binds {most}"
        ));
        return;
    }
    let (got, got_positions) = match case.segmented {
        true => found::<Segmented<O::Operator>>(client, case, op, &inputs, &initial, &begins),
        false => found::<O::Operator>(client, case, op, &inputs, &initial, &begins),
    };
    for (part, (got, expected)) in got.iter().zip(&outputs).enumerate() {
        let wrong = (0..elements).find(|&i| !O::is_close(got[i], expected[i]));
        if let Some(i) = wrong {
            let (got, expected) = (got[i], expected[i]);
            panic!("output {part} at {i} is {got} instead of {expected}: {case:?}");
        }
    }
    if O::Operator::POSITIONS {
        let wrong = (0..elements).find(|&i| got_positions[i] != positions[i]);
        if let Some(i) = wrong {
            let (got, expected) = (got_positions[i], positions[i]);
            panic!("position {i} is {got} instead of {expected}: {case:?}");
        }
    }
}

/// Launches of every routine, each with a shape that leads to another of its kernels: rows shorter than a tile, of one and of several; runs of
/// parts of a row, few and many, and of several rows; columns whole and cut; vectors, and single elements.
fn forms() -> [(LaunchOptions, [usize; 3]); 9] {
    let with = |routine, vectors| LaunchOptions {
        vectors: Some(vectors),
        ..small_tile(routine)
    };
    use RoutineKind::*;
    [
        (with(SingleCube, 4), [3, 36, 1]),
        (with(SingleCube, 1), [3, 128, 1]),
        (with(SinglePass, 1), [2, 3004, 1]),
        (with(ReduceThenScan, 1), [2, 3004, 1]),
        (with(UnitRuns, 1), [2, 388, 1]),
        (with(UnitRuns, 40), [2, 388, 1]),
        (with(UnitRuns, 40), [37, 12, 1]),
        (with(Columns, 4), [2, 97, 4]),
        (with(Columns, 1), [1, 1500, 3]),
    ]
}

/// Every routine and option, with and without initial values.
fn every_form<O: Oracle>(segmented: bool) {
    let client = client();
    for (launch, shape) in forms() {
        for options in all_options() {
            for resumes in [false, true] {
                let case = Case {
                    shape,
                    options,
                    launch,
                    segmented,
                    resumes,
                };
                check_case::<O>(&client, case);
            }
        }
    }
}

/// What is folded in another order, put together of two values, or counted twice, is wrong. Rows are of so many tiles that a lookback keeps the
/// totals of several blocks, and of an odd length, so that a tile of 32 units is one of 32 elements.
fn mute_tiles<O: Oracle>(segmented: bool) {
    let client = client();
    for (mute, polls) in [
        (Mute::Every(1), Some(1)),
        (Mute::Every(3), Some(4)),
        (Mute::Every(67), Some(1)),
        (Mute::Random { seed: 3, one_in: 7 }, None),
    ] {
        let launch = LaunchOptions {
            mute: Some(mute),
            polls,
            ..small_tile(RoutineKind::SinglePass)
        };
        let case = Case {
            shape: [2, 100 * 32 + 5, 1],
            options: ScanOptions::default(),
            launch,
            segmented,
            resumes: true,
        };
        within_20_seconds("mute tiles", || check_case::<O>(&client, case));
    }
}

/// Shapes as they come, with the routine and the tuning of the device.
fn as_inferred<O: Oracle>(segmented: bool) {
    let client = client();
    for shape in [
        [3, 1000, 1],
        [1, 70_000, 1],
        [2, 30_001, 1],
        [2, 5000, 6],
        [9, 1, 5],
    ] {
        let case = Case {
            shape,
            options: ScanOptions::default(),
            launch: launch(),
            segmented,
            resumes: false,
        };
        check_case::<O>(&client, case);
    }
}

macro_rules! stamp {
    ($name:ident, $oracle:ty, $segmented:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn every_routine_and_option() {
                every_form::<$oracle>($segmented);
            }

            #[test]
            fn tiles_that_never_publish() {
                mute_tiles::<$oracle>($segmented);
            }

            #[test]
            fn as_inferred() {
                super::as_inferred::<$oracle>($segmented);
            }
        }
    };
}

stamp!(sums, oracles::Sums, false);
stamp!(segmented_sums, oracles::Sums, true);
stamp!(recurrences, oracles::Recurrences, false);
stamp!(segmented_recurrences, oracles::Recurrences, true);
stamp!(where_maxima_are, oracles::Extrema<true>, false);
stamp!(where_minima_of_segments_are, oracles::Extrema<false>, true);
stamp!(log_sums, log_sum_exp::LogSums, false);
stamp!(products_of_rotations, rotations::Products, false);
