//! A random scan.

use cubecl::CubeElement;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::Numeric;
use cubecl_scan::ScanOp;
use cubecl_scan::scan::{self, LaunchOptions, RoutineKind, ScanOptions, Stall, scan_with};
use half::{bf16, f16};
use proptest::prelude::*;
use scan_testing::Guarded;
use scan_testing::kernels::*;
use scan_testing::reference;
use std::sync::LazyLock;

/// How the elements of a tensor lie in its buffer.
#[derive(Clone, Copy, Debug)]
pub enum Layout {
    Contiguous,
    /// Two dimensions of a contiguous tensor, exchanged.
    Swapped(usize, usize),
    /// The first elements of a tensor that is larger by this number in every dimension.
    Sliced(usize),
    /// Every n-th element.
    Stepped(usize),
    /// Stride 0 in the dimensions whose bit is set.
    Broadcast(usize),
}

/// The facts that a kernel is compiled for.
#[derive(Clone, Copy, Debug)]
pub struct Compiled {
    pub op: ScanOp,
    pub options: ScanOptions,
    pub dtype: &'static str,
    pub units: usize,
    pub vectors: usize,
    pub stall: Option<Stall>,
}

/// One scan. Its `Debug` form is a literal.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub compiled: Compiled,
    pub rank: usize,
    pub shape: [usize; 4],
    pub axis: usize,
    pub layout: Layout,
    /// The start of the input, in multiples of the smallest offset that the device binds.
    pub offset: usize,
    /// An index into the strategies that can serve the scan.
    pub strategy: usize,
    pub spin_limit: Option<u32>,
    pub seed: u32,
}

/// The name of an element type, and the function for its cases.
pub type Run<'a> = (&'a str, fn(&Case));

impl Case {
    pub fn shape(&self) -> &[usize] {
        &self.shape[..self.rank]
    }

    pub fn len(&self) -> usize {
        self.shape[self.axis]
    }

    /// The view, and the length of its buffer.
    pub fn view(&self) -> (View, usize) {
        let shape = self.shape();
        let mut stored = shape.to_vec();
        let (mut step, mut keep) = (1, 0);
        match self.layout {
            Layout::Contiguous => {}
            Layout::Swapped(a, b) => stored.swap(a % self.rank, b % self.rank),
            Layout::Sliced(gap) => stored.iter_mut().for_each(|size| *size += gap),
            Layout::Stepped(by) => step = by,
            Layout::Broadcast(dims) => keep = dims,
        }
        let spread = |dim: usize| keep >> dim & 1 == 1;
        (0..self.rank)
            .filter(|&dim| spread(dim))
            .for_each(|dim| stored[dim] = 1);
        let mut strides = View::contiguous(&stored).strides;
        for (dim, stride) in strides.iter_mut().enumerate() {
            *stride *= if spread(dim) { 0 } else { step };
        }
        if let Layout::Swapped(a, b) = self.layout {
            strides.swap(a % self.rank, b % self.rank);
        }
        let shape = shape.to_vec();
        let view = View { shape, strides };
        let last: usize = (0..self.rank)
            .map(|dim| view.shape[dim].saturating_sub(1) * view.strides[dim])
            .sum();
        (view, last + 1)
    }

    fn strategy(&self) -> scan::Strategy {
        let columns = self.shape[self.axis + 1..self.rank]
            .iter()
            .product::<usize>()
            != 1;
        let fits = self.len() <= self.compiled.units * self.compiled.vectors;
        use RoutineKind::*;
        let able: &[_] = match (columns, fits) {
            (true, _) => &[Columns, ColumnTiles],
            (false, true) => &[SingleCube, SinglePass, ReduceThenScan],
            (false, false) => &[SinglePass, ReduceThenScan],
        };
        match self.strategy % (able.len() + 1) {
            0 => scan::Strategy::Inferred,
            forced => scan::Strategy::Forced(able[forced - 1]),
        }
    }

    /// Calls the function of the case's element type.
    pub fn each(&self, runs: [Run; 12]) {
        let run = runs.iter().find(|(name, _)| *name == self.compiled.dtype);
        run.expect("the name of an element").1(self);
    }

    /// Scans `data` with other options, between guards, and checks that the input does not change.
    pub fn run<T: Element>(&self, client: &Client, data: &[T], options: ScanOptions) -> Vec<T> {
        let launch = LaunchOptions {
            strategy: self.strategy(),
            units: Some(self.compiled.units),
            vectors: Some(self.compiled.vectors),
            spin_limit: self.spin_limit,
            stall: self.compiled.stall,
            ..launch()
        };
        let view = self.view().0;
        let offset = self.offset * client.properties().memory.alignment as usize;
        let input = Guarded::new(client, data, offset);
        let output = Guarded::empty(client, view.elements() * size_of::<T>(), 0);
        within_20_seconds("a random scan", || {
            scan_with(
                client,
                tensor(input.handle(), &view),
                tensor(output.handle(), &View::contiguous(self.shape())),
                self.axis,
                T::elem_type_native(),
                self.compiled.op,
                options,
                launch,
            )
            .expect("supported");
            assert_eq!(input.read::<T>(client), data, "the input changed");
            output.read(client)
        })
    }
}

/// An element type with random values.
pub trait Element: CubeElement + Numeric + reference::Scalar + PartialEq {
    /// A value for which all partial results of `op` are exact, in any order.
    fn draw(bits: u64, op: ScanOp) -> Self;
}

macro_rules! draw {
    ($($int:ty),*; $($float:ty: $from:expr),*) => {
        $(impl Element for $int {
            fn draw(bits: u64, _: ScanOp) -> Self {
                bits as $int
            }
        })*
        $(impl Element for $float {
            fn draw(bits: u64, op: ScanOp) -> Self {
                $from(match op {
                    ScanOp::Prod => (bits % 2) as f32 * 2.0 - 1.0,
                    ScanOp::Sum => (bits % 17) as f32 - 8.0,
                    _ => (bits % 255) as f32 - 127.0,
                })
            }
        })*
    };
}
draw!(i8, i16, i32, i64, u8, u16, u32, u64; f32: |x| x, f64: f64::from, f16: f16::from_f32, bf16: bf16::from_f32);

/// A generic function for each element type by name. The common types come first.
macro_rules! per_element {
    ($run:ident: $signature:ty) => {
        per_element!($run: $signature; i32 u32 f32 i64 u64 f64 f16 bf16 i8 i16 u8 u16)
    };
    ($run:ident: $signature:ty; $($element:ident)*) => {
        [$((stringify!($element), $run::<$element> as $signature)),*]
    };
}
pub(crate) use per_element;

/// `len` random values.
pub fn drawn<T: Element>(len: usize, op: ScanOp, seed: u32) -> Vec<T> {
    let mut state = u64::from(seed);
    let mut next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    (0..len).map(|_| T::draw(next(), op)).collect()
}

const TILES: [(usize, usize); 3] = [(32, 1), (32, 4), (64, 2)];

const SCHEDULES: [Option<Stall>; 4] = [
    None,
    Some(Stall::Every(3)),
    Some(Stall::Random { seed: 7, one_in: 2 }),
    Some(Stall::Chosen(0x8000_0f01)),
];

/// The combinations that kernels are compiled for: operators × options for the common types, and each further
/// type in its turn.
static COMPILED: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
    fn elem_type<T: Element>() -> ElemType {
        T::elem_type_native()
    }
    let client = client();
    let (held, lacking): (Vec<_>, Vec<_>) = per_element!(elem_type: fn() -> ElemType)
        .into_iter()
        .partition(|(_, dtype)| client.properties().supports_type(dtype()));
    for (name, _) in lacking {
        unsupported(&format!("{name} on this device"));
    }
    let (common, further) = held.split_at(3);
    let turns = if cfg!(feature = "heavy") { 4 } else { 1 };
    let names = (0..12 * turns)
        .map(|i| common[i % 3].0)
        .chain((0..further.len() * turns).map(|i| further[i % further.len()].0));
    names
        .enumerate()
        .map(|(i, dtype)| {
            let (units, vectors) = TILES[i / 3 % 3];
            Compiled {
                op: ScanOp::ALL[i % 4],
                options: all_options()[(i + i / 4) % 4],
                dtype,
                units,
                vectors,
                stall: SCHEDULES[(i / 4 + i % 2 * 3) % 4],
            }
        })
        .collect()
});

/// Lengths of a scan: a few elements, about a tile, several tiles. Every second length is a multiple of four.
fn long() -> impl Strategy<Value = usize> {
    prop_oneof![
        0..6usize,
        0..140usize,
        (0..70usize).prop_map(|n| 4 * n),
        140..2000usize,
        (35..1500usize).prop_map(|n| 4 * n),
    ]
}

/// Lengths of the other dimensions.
fn short() -> impl Strategy<Value = usize> {
    prop_oneof![1 => Just(0usize), 20 => 1..8usize, 5 => Just(8usize)]
}

fn layouts() -> impl Strategy<Value = Layout> {
    prop_oneof![
        3 => Just(Layout::Contiguous),
        1 => (0..4usize, 0..4usize).prop_map(|(a, b)| Layout::Swapped(a, b)),
        1 => prop_oneof![Just(1usize), Just(4usize)].prop_map(Layout::Sliced),
        1 => (2..4usize).prop_map(Layout::Stepped),
        1 => (1..16usize).prop_map(Layout::Broadcast),
    ]
}

pub fn spin_limit() -> impl Strategy<Value = Option<u32>> {
    prop_oneof![Just(None), Just(Some(1)), Just(Some(4))]
}

/// Any scan.
pub fn cases() -> impl Strategy<Value = Case> {
    let what = (0..COMPILED.len()).prop_map(|i| COMPILED[i]);
    let sizes = [short(), short(), short(), short()];
    let place = (layouts(), 0..3usize);
    let rest = (0..4usize, spin_limit(), any::<u32>());
    (what, 1..=4usize, 0..4usize, long(), sizes, place, rest).prop_map(
        |(compiled, rank, axis, len, mut shape, (layout, offset), (strategy, spin_limit, seed))| {
            let axis = axis % rank;
            shape[axis] = 1;
            let lines: usize = shape[..rank].iter().product();
            shape[axis] = len.min((1 << 15) / lines.max(1));
            Case {
                compiled,
                rank,
                shape,
                axis,
                layout,
                offset,
                strategy,
                spin_limit,
                seed,
            }
        },
    )
}
