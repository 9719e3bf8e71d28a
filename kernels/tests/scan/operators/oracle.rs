//! The meaning of an operator in plain Rust, the expected results of a scan with it, and such a scan on the
//! device.

use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::server::Handle;
use cubecl_scan::monoid::Operator;
use cubecl_scan::scan::{LaunchOptions, ScanOptions, ScanTensors, scan_operator};
use scan_testing::kernels::{View, tensor};

/// The meaning of an operator.
pub trait Oracle {
    type Operator: Operator;
    type State: Clone;
    fn config() -> <Self::Operator as Operator>::Config;
    fn identity() -> Self::State;
    /// The state of one position.
    fn read(values: &[f32], position: usize) -> Self::State;
    /// The state that an earlier part of the line left.
    fn resume(written: &[f32]) -> Self::State;
    fn combine(lhs: &Self::State, rhs: &Self::State) -> Self::State;
    /// The outputs of a state, and its position.
    fn write(state: &Self::State) -> (Vec<f32>, i32);
    /// Elements for `n` positions, one list for each input. They are as exact as the operator needs.
    fn elements(n: usize) -> Vec<Vec<f32>>;

    #[allow(dead_code, reason = "a record for browsers compares bits")]
    fn is_close(found: f32, expected: f32) -> bool {
        found == expected || found.is_nan() && expected.is_nan()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// `[outer, len, inner]`, scanned along `len`.
    pub shape: [usize; 3],
    pub options: ScanOptions,
    pub launch: LaunchOptions,
    pub segmented: bool,
    pub resumes: bool,
}

/// The positions of each line, in the order of the scan.
fn lines(
    [outer, len, inner]: [usize; 3],
    options: ScanOptions,
) -> impl Iterator<Item = Vec<usize>> {
    (0..outer * inner).map(move |line| {
        let line = (0..len).map(|along| (line / inner * len + along) * inner + line % inner);
        if options.reverse {
            line.rev().collect()
        } else {
            line.collect()
        }
    })
}

/// The starts of segments of 1 to 60 elements. A flag is any number but zero.
pub fn starts(n: usize) -> Vec<u32> {
    let marked = |i: usize| match (i as u32).wrapping_mul(2_654_435_761) >> 24 {
        0..16 => i as u32 | 1,
        _ => 0,
    };
    (0..n).map(marked).collect()
}

/// The results of a plain loop: each output, then the positions.
pub fn expected<O: Oracle>(
    case: Case,
    inputs: &[Vec<f32>],
    initial: &[Vec<f32>],
    starts: &[u32],
) -> (Vec<Vec<f32>>, Vec<i32>) {
    let [_, len, inner] = case.shape;
    let elements: usize = case.shape.iter().product();
    let mut outputs = vec![vec![0.; elements]; O::Operator::OUTPUTS];
    let mut positions = vec![0; elements];
    for (line, places) in lines(case.shape, case.options).enumerate() {
        let first: Vec<f32> = initial.iter().map(|values| values[line]).collect();
        let mut running = if case.resumes {
            O::resume(&first)
        } else {
            O::identity()
        };
        for at in places {
            let position = at / inner % len;
            let marked = if case.options.reverse {
                position + 1 < len && starts[at + inner] != 0
            } else {
                starts[at] != 0
            };
            let before = if case.segmented && marked {
                O::identity()
            } else {
                running
            };
            let values: Vec<f32> = inputs.iter().map(|input| input[at]).collect();
            running = O::combine(&before, &O::read(&values, position));
            let (written, found) = if case.options.exclusive {
                O::write(&before)
            } else {
                O::write(&running)
            };
            positions[at] = found;
            for (output, value) in outputs.iter_mut().zip(written) {
                output[at] = value;
            }
        }
    }
    (outputs, positions)
}

/// The initial values of lines: a tensor for each output.
pub fn initial<O: Oracle>(case: Case) -> Vec<Vec<f32>> {
    let [outer, _, inner] = case.shape;
    let lines = outer * inner;
    O::elements(O::Operator::OUTPUTS * lines)
        .swap_remove(0)
        .chunks(lines)
        .map(|values| values.to_vec())
        .collect()
}

/// Computes on the device. Returns outputs and positions.
pub fn start<O: Operator>(
    client: &Client,
    case: Case,
    op: O::Config,
    inputs: &[Vec<f32>],
    initial: &[Vec<f32>],
    starts: &[u32],
) -> (Vec<Handle>, Handle) {
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
    if O::STARTS {
        let flags = client.create_from_slice(u32::as_bytes(starts));
        tensors = tensors.segmented(tensor(flags, &view), u32::elem_type_native(), false);
    }
    let positions = room();
    if O::POSITIONS {
        let int: ElemType = i32::elem_type_native();
        tensors = tensors.positions(tensor(positions.clone(), &view), int);
    }
    scan_operator::<O>(client, tensors, op, case.options, case.launch).expect("supported");
    (outputs, positions)
}
