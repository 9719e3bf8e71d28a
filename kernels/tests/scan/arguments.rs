//! Kernels with a caller's arguments: what is scanned is computed from two tensors where it is read, and what is
//! written is computed from the results. Every routine must give the bits that it gives for the same elements in
//! memory.

use super::*;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::Handle;
use cubecl_scan::monoid::Fold;
use cubecl_scan::scan::{
    Access, Load, LoadExpand, Operands, PlannedScan, Reads, ScanArgs, Store, StoreExpand, Writes,
};

/// Scans the sum of two tensors, and writes each result times two.
struct SumsDoubled;

/// Two terms of one input, of which an access has `width` elements.
#[derive(CubeType, CubeLaunch)]
struct Terms<T: Numeric, N: Size> {
    #[cube(comptime)]
    width: usize,
    vectors: Sequence<&'static [Vector<T, N>]>,
    elements: Sequence<&'static [T]>,
}

#[derive(CubeType, CubeLaunch)]
struct Doubled<T: Numeric, N: Size> {
    vectors: Sequence<&'static mut [Vector<T, N>]>,
    elements: Sequence<&'static mut [T]>,
}

#[derive(CubeType, CubeLaunch)]
#[allow(dead_code, reason = "kernels read the fields when they are expanded")]
struct Both<T: Numeric, N: Size> {
    terms: Terms<T, N>,
    doubled: Doubled<T, N>,
}

#[cube]
impl<T: Numeric, N: Size> Load<T, N> for Terms<T, N> {
    fn vector(
        &self,
        #[comptime] _input: usize,
        at: usize,
        #[comptime] _again: bool,
    ) -> Vector<T, N> {
        let lanes = N::value().comptime();
        comptime!(assert_eq!(lanes, self.width));
        self.vectors[0][at] + self.vectors[1][at]
    }

    fn element(&self, #[comptime] _input: usize, at: usize, #[comptime] _again: bool) -> T {
        comptime!(assert_eq!(1, self.width));
        self.elements[0][at] + self.elements[1][at]
    }
}

#[cube]
impl<T: Numeric, N: Size> Store<T, N> for Doubled<T, N> {
    fn vector(&mut self, #[comptime] output: usize, at: usize, value: Vector<T, N>) {
        let tensor = &mut self.vectors[output];
        tensor[at] = value + value;
    }

    fn element(&mut self, #[comptime] output: usize, at: usize, value: T) {
        let tensor = &mut self.elements[output];
        tensor[at] = value + value;
    }
}

#[cube]
impl ScanArgs for SumsDoubled {
    type Tensors<T: Numeric, N: Size, B: Numeric, P: Numeric> = Both<T, N>;

    fn open<T: Numeric, N: Size, B: Numeric, P: Numeric>(
        tensors: &mut Both<T, N>,
    ) -> (Reads<T, N, B>, Writes<T, N, P>) {
        intrinsic!(|scope| {
            let tensors = (*tensors).clone_unchecked();
            (
                Reads::<T, N, B>::__expand_new::<Terms<T, N>>(scope, tensors.terms, 1),
                Writes::<T, N, P>::__expand_new::<Doubled<T, N>>(scope, tensors.doubled, 1),
            )
        })
    }
}

struct Buffers {
    terms: [Handle; 2],
    doubled: Handle,
    len: usize,
    width: usize,
}

impl Operands for Buffers {
    type Args = SumsDoubled;

    fn tensors<T: Numeric, N: Size, B: Numeric, P: Numeric>(
        &self,
        access: Access,
    ) -> BothLaunch<T, N> {
        let buffer = |handle: &Handle| flat(handle, self.len).into_buffer_arg();
        let (mut vectors, mut elements) = (SequenceArg::new(), SequenceArg::new());
        let (mut out_vectors, mut out_elements) = (SequenceArg::new(), SequenceArg::new());
        if access.by_elements {
            self.terms
                .iter()
                .for_each(|term| elements.push(buffer(term)));
            out_elements.push(buffer(&self.doubled));
        } else {
            self.terms
                .iter()
                .for_each(|term| vectors.push(buffer(term)));
            out_vectors.push(buffer(&self.doubled));
        }
        BothLaunch::new(
            TermsLaunch::new(self.width, vectors, elements),
            DoubledLaunch::new(out_vectors, out_elements),
        )
    }
}

/// Compares the scan of the sums with that of sums in memory, bit for bit.
#[track_caller]
fn compare<T>(
    client: &Client,
    terms: [Vec<T>; 2],
    shape: &[usize],
    axis: usize,
    options: ScanOptions,
    launch: LaunchOptions,
) where
    T: CubeElement + Numeric,
{
    let [a, b] = &terms;
    let sums: Vec<T> = a.iter().zip(b).map(|(a, b)| *a + *b).collect();
    let (view, op) = (View::contiguous(shape), ScanOp::Sum);
    let expected = device_scan(client, &sums, &view, axis, op, options, launch).expect("supported");
    let dtype = T::elem_type_native();
    let planned = PlannedScan::<Fold>::new(client, shape, axis, dtype, op, options, launch);
    let planned = planned.expect("supported");
    let buffers = Buffers {
        terms: [upload(client, a), upload(client, b)],
        doubled: client.empty(sums.len() * size_of::<T>()),
        len: sums.len(),
        width: planned.width(),
    };
    planned
        .launch(&buffers, AddressType::default())
        .expect("not refused");
    let found: Vec<T> = read(client, buffers.doubled, sums.len());
    let wrong = (0..sums.len()).find(|&at| found[at] != expected[at] + expected[at]);
    assert_eq!(
        wrong, None,
        "{shape:?} along {axis}, {options:?}, {launch:?}"
    );
}

fn floats_that_round(len: usize) -> [Vec<f32>; 2] {
    [uneven(len), uneven(len + 1)[1..].to_vec()]
}

fn integers(len: usize) -> [Vec<i32>; 2] {
    let mut terms = [values(len, ScanOp::Sum), values(len, ScanOp::Sum)];
    terms[1].rotate_left(len / 3);
    terms
}

/// With the options whose turn it is; in the long form of the tests with all.
fn compare_options<T>(
    client: &Client,
    terms: impl Fn(usize) -> [Vec<T>; 2],
    shape: &[usize],
    axis: usize,
    turn: usize,
    launch: LaunchOptions,
) where
    T: CubeElement + Numeric,
{
    let terms = terms(shape.iter().product());
    for (nth, options) in all_options().into_iter().enumerate() {
        if nth == turn % 4 || cfg!(feature = "heavy") {
            compare(client, terms.clone(), shape, axis, options, launch);
        }
    }
}

/// Floats with the options whose turn it is, and integers with others.
fn compare_both_types(
    client: &Client,
    shape: &[usize],
    axis: usize,
    turn: usize,
    launch: LaunchOptions,
) {
    compare_options(client, floats_that_round, shape, axis, turn, launch);
    compare_options(client, integers, shape, axis, turn + 2, launch);
}

/// Whole and partial tiles, in vectors and element by element.
const LENGTHS: [usize; 9] = [1, 4, 31, 126, 127, 128, 129, 256, 261];

#[test]
fn every_routine_and_option() {
    let client = client();
    for routine in RoutineKind::ALL {
        for (turn, len) in LENGTHS.into_iter().enumerate() {
            let (shape, axis) = match (routine, turn % 2) {
                (RoutineKind::Columns | RoutineKind::ColumnTiles, 0) => (vec![2, len, 5], 1),
                (RoutineKind::Columns | RoutineKind::ColumnTiles, _) => (vec![len, 8], 0),
                _ => (vec![3, len], 1),
            };
            compare_both_types(&client, &shape, axis, turn, small_tile(routine));
        }
    }
}

/// Fallbacks read a tile again, while its owner has it as well.
#[test]
fn tiles_that_never_publish() {
    let client = client();
    let launch = LaunchOptions {
        stall: Some(cubecl_scan::scan::Stall::Every(1)),
        ..small_tile(RoutineKind::SinglePass)
    };
    for (turn, len) in [1000, 1003, 1001, 1004].into_iter().enumerate() {
        compare_both_types(&client, &[2, len], 1, turn, launch);
    }
}

/// The device's own tiles and rules: short rows, rows of a tile, and rows that look back. Floats and integers take turns:
/// they have the same kernels but for the type.
#[test]
fn rows_around_the_edges_of_tiles() {
    let client = client();
    for (turn, shape) in [
        [70, 7],
        [33, 256],
        [9, 1000],
        [3, 4095],
        [3, 4096],
        [2, 4097],
        [2, 8191],
        [2, 8192],
        [2, 8193],
        [1, 16_386],
        [1, 40_000],
        [3, 20_001],
    ]
    .into_iter()
    .enumerate()
    {
        if turn % 2 == 0 || cfg!(feature = "heavy") {
            compare_options(&client, floats_that_round, &shape, 1, turn / 2, launch());
        }
        if turn % 2 == 1 || cfg!(feature = "heavy") {
            compare_options(&client, integers, &shape, 1, turn / 2, launch());
        }
    }
}
