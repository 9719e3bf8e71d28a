//! What the cases share: shapes, views, element types, masks.

use std::fmt::Debug;

use burn::tensor::kind::Basic;
use burn::tensor::{DType, Device, Slice, Tensor};
use proptest::prelude::*;
use proptest::sample::Index;
use scan_testing::tensors::devices::is_cube;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::unsupported;

/// The most elements of a tensor before it is viewed: several tiles.
const LIMIT: usize = 1 << 14;

/// A contiguous tensor of `shape`, seen through `views`, one after the other.
#[derive(Clone, Debug)]
pub struct Drawn {
    pub shape: Vec<usize>,
    pub views: Vec<View>,
}

/// A step towards a tensor that is not contiguous. Dimensions count modulo the rank. A step that would leave no
/// element, or a tensor without elements, changes nothing.
#[derive(Clone, Copy, Debug)]
pub enum View {
    Swap(usize, usize),
    Flip(usize),
    Step {
        dim: usize,
        from: usize,
        step: isize,
    },
    Broadcast {
        dim: usize,
        size: usize,
    },
}

impl Drawn {
    pub fn shape<const D: usize>(&self) -> [usize; D] {
        self.shape[..].try_into().expect("the rank of the shape")
    }

    /// `base` seen through the views.
    pub fn view<const D: usize, K: Basic>(&self, base: Tensor<D, K>) -> Tensor<D, K> {
        self.views.iter().fold(base, |tensor, view| view.of(tensor))
    }
}

impl View {
    fn of<const D: usize, K: Basic>(self, tensor: Tensor<D, K>) -> Tensor<D, K> {
        let sizes = tensor.dims();
        match self {
            Self::Swap(a, b) => tensor.swap_dims(a % D, b % D),
            // Burn does not expand tensors without elements, and panics in products with flipped ones.
            _ if sizes.contains(&0) => tensor,
            Self::Flip(dim) => tensor.flip([dim % D]),
            Self::Step { dim, from, step } => {
                let from = (from % sizes[dim % D]) as isize;
                tensor.slice_dim(dim % D, Slice::new(from, None, step))
            }
            Self::Broadcast { dim, size } => {
                let mut sizes = sizes;
                sizes[dim % D] = size;
                tensor.slice_dim(dim % D, 0..1).expand(sizes)
            }
        }
    }
}

/// Tensors of rank 1 to `max_rank`, short along all dimensions but one, seen through up to two views.
pub fn tensors(max_rank: usize) -> impl Strategy<Value = Drawn> {
    let short = prop::collection::vec(1..8_usize, 1..=max_rank);
    let long = prop_oneof![
        5 => 0..70_usize,
        2 => 70..2100_usize,
        2 => 4090..4100_usize,
        2 => 2100..LIMIT,
    ];
    let views = prop::collection::vec(view(), 0..=2);
    (short, any::<Index>(), long, views).prop_map(|(mut shape, axis, long, views)| {
        let axis = axis.index(shape.len());
        shape[axis] = 1;
        shape[axis] = long.min(LIMIT / shape.iter().product::<usize>());
        Drawn { shape, views }
    })
}

fn view() -> impl Strategy<Value = View> {
    let dim = || 0..4_usize;
    let step = prop_oneof![1..4_isize, -3..0_isize];
    prop_oneof![
        (dim(), dim()).prop_map(|(a, b)| View::Swap(a, b)),
        dim().prop_map(View::Flip),
        (dim(), 0..5_usize, step).prop_map(|(dim, from, step)| View::Step { dim, from, step }),
        (dim(), 1..4_usize).prop_map(|(dim, size)| View::Broadcast { dim, size }),
    ]
}

/// A dimension for [`dim_of`].
pub fn dims() -> impl Strategy<Value = i64> {
    -4..4_i64
}

/// `dim` modulo the rank: counted from the front, and as the caller writes it, where a negative number counts
/// from the end.
pub fn dim_of(dim: i64, rank: usize) -> (usize, i64) {
    let rank = rank as i64;
    let written = if dim < 0 { !(!dim % rank) } else { dim % rank };
    (written.rem_euclid(rank) as usize, written)
}

/// Which elements of a mask are true.
#[derive(Clone, Copy, Debug)]
pub enum Density {
    /// One element, at this position modulo the length.
    One(usize),
    Permille(usize),
    /// Runs of this length, and gaps of the same length.
    Runs(usize),
}

impl Density {
    pub fn mask(self, n: usize) -> Vec<bool> {
        let kept = |at: usize| match self {
            Self::One(position) => at == position % n,
            Self::Permille(permille) => hash(at + 31) % 1000 < permille,
            Self::Runs(length) => at / length % 2 == 1,
        };
        (0..n).map(kept).collect()
    }
}

pub fn densities() -> impl Strategy<Value = Density> {
    prop_oneof![
        2 => any::<usize>().prop_map(Density::One),
        2 => prop::sample::select(vec![0, 1000]).prop_map(Density::Permille),
        4 => (0..=1000_usize).prop_map(Density::Permille),
        2 => (1..200_usize).prop_map(Density::Runs),
    ]
}

/// The types of `wanted` that the device holds. Every device holds bool in one store or another.
pub fn held(device: &Device, wanted: &[DType]) -> Vec<DType> {
    let is_held = |dtype: &DType| matches!(dtype, DType::Bool(_)) || device.supports_dtype(*dtype);
    let (held, lacking): (Vec<_>, Vec<_>) = wanted.iter().copied().partition(is_held);
    if !lacking.is_empty() {
        unsupported(&format!("{device:?} has no {lacking:?}"));
    }
    held
}

/// Any of `all`. Each needs its own kernels. So on a device that compiles kernels, nine in ten are from the `few`.
pub fn mostly<T: Clone + Debug + 'static>(
    device: &Device,
    all: Vec<T>,
    few: Vec<T>,
) -> impl Strategy<Value = T> + use<T> {
    let often = if is_cube(device) { 9 } else { 0 };
    prop_oneof![1 => prop::sample::select(all), often => prop::sample::select(few)]
}

/// Every number type. The types that every device has come first.
pub const NUMBERS: [DType; 12] = [
    DType::F32,
    DType::I32,
    DType::U32,
    DType::F64,
    DType::F16,
    DType::BF16,
    DType::I64,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U16,
    DType::U8,
];
