//! Random calls. Most are nearly right, with mistakes small and large.

use burn::tensor::{DType, TensorData};
use burn_ir::{ScalarIr, TensorStatus};
use burn_scan::remote::{OPERATIONS, Operation, PROTOCOL};
use proptest::prelude::*;
use proptest::sample::{Index, select};

#[derive(Clone, Debug)]
pub struct Given {
    pub kind: &'static str,
    /// Selects one of the dtypes of the kind.
    pub width: Index,
    pub shape: Vec<usize>,
    pub values: Vec<i64>,
    pub status: TensorStatus,
    pub exists: bool,
}

impl Given {
    pub fn data(&self) -> TensorData {
        let n = self.shape.iter().product::<usize>();
        let values = self.values.iter().cycle().take(n);
        let data = |dtype| {
            let numbers: Vec<i64> = values.clone().copied().collect();
            TensorData::new(numbers, self.shape.clone()).convert_dtype(dtype)
        };
        match self.kind {
            "Float" => data([DType::F32, DType::F64, DType::F16][self.width.index(3)]),
            "Int" => data([DType::I32, DType::I64, DType::I8, DType::I16][self.width.index(4)]),
            _ => {
                let flags: Vec<bool> = values.map(|value| value & 1 != 0).collect();
                TensorData::new(flags, self.shape.clone())
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct Call {
    pub id: &'static str,
    pub tensors: Vec<Given>,
    pub scalars: Vec<ScalarIr>,
    pub results: Vec<(Vec<usize>, DType)>,
}

/// The mistake that is made in a correct call.
#[derive(Clone, Debug)]
enum Mistake {
    None,
    TensorMissing(Index),
    TensorTwice(Index),
    NotThere(Index),
    Status(Index),
    Kind(Index, &'static str),
    Shape(Index, Vec<usize>),
    ScalarMissing(Index),
    ScalarAdded(ScalarIr),
    Scalar(Index, ScalarIr),
    Protocol(u64),
    ResultMissing(Index),
    ResultShape(Index, Vec<usize>),
}

fn shape() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0usize..5, 0..4)
}

/// Numbers of every kind. Lengths are small, or larger than any memory: a length between them would be
/// allocated.
fn scalar() -> impl Strategy<Value = ScalarIr> {
    prop_oneof![
        (0u64..12).prop_map(ScalarIr::UInt),
        ((1u64 << 50)..=u64::MAX).prop_map(ScalarIr::UInt),
        any::<i64>().prop_map(ScalarIr::Int),
        any::<f64>().prop_map(ScalarIr::Float),
        any::<bool>().prop_map(ScalarIr::Bool),
    ]
}

fn mistake() -> impl Strategy<Value = Mistake> {
    let at = any::<Index>;
    prop_oneof![
        8 => Just(Mistake::None),
        1 => at().prop_map(Mistake::TensorMissing),
        1 => at().prop_map(Mistake::TensorTwice),
        1 => at().prop_map(Mistake::NotThere),
        1 => at().prop_map(Mistake::Status),
        2 => (at(), select(vec!["Float", "Int", "Bool"])).prop_map(|(i, kind)| Mistake::Kind(i, kind)),
        2 => (at(), shape()).prop_map(|(i, shape)| Mistake::Shape(i, shape)),
        1 => at().prop_map(Mistake::ScalarMissing),
        1 => scalar().prop_map(Mistake::ScalarAdded),
        3 => (at(), scalar()).prop_map(|(i, scalar)| Mistake::Scalar(i, scalar)),
        1 => any::<u64>().prop_map(Mistake::Protocol),
        1 => at().prop_map(Mistake::ResultMissing),
        1 => (at(), shape()).prop_map(|(i, shape)| Mistake::ResultShape(i, shape)),
    ]
}

/// The random parts of a call of any operation.
#[derive(Clone, Debug)]
struct Parts {
    shape: Vec<usize>,
    dim: Index,
    numbers: Vec<u64>,
    flags: Vec<bool>,
    values: Vec<Vec<i64>>,
    width: Index,
    owned: Vec<bool>,
}

fn parts() -> impl Strategy<Value = Parts> {
    (
        prop::collection::vec(0usize..5, 1..4),
        any::<Index>(),
        prop::collection::vec(0u64..5, 4),
        prop::collection::vec(any::<bool>(), 4),
        // Offsets, destinations and keys among them: below zero, beyond the end, falling.
        prop::collection::vec(prop::collection::vec(-3i64..9, 1..20), 4),
        any::<Index>(),
        prop::collection::vec(any::<bool>(), 4),
    )
        .prop_map(|(shape, dim, numbers, flags, values, width, owned)| Parts {
            shape,
            dim,
            numbers,
            flags,
            values,
            width,
            owned,
        })
}

/// A call of any operation, with or without a mistake.
pub fn call() -> impl Strategy<Value = Call> {
    (0..OPERATIONS.len(), parts(), mistake()).prop_map(|(i, parts, mistake)| {
        let mut call = right(&OPERATIONS[i], &parts);
        spoil(&mut call, mistake);
        call
    })
}

fn with(shape: &[usize], dim: usize, size: usize) -> Vec<usize> {
    let mut shape = shape.to_vec();
    shape[dim] = size;
    shape
}

/// A call as a client would make it.
fn right(operation: &Operation, parts: &Parts) -> Call {
    let lengths = Lengths::new(operation, parts);
    let (dim, number) = (lengths.dim, lengths.number);
    let n: usize = lengths.shape.iter().product();
    let mut numbers = parts.numbers.iter();
    let mut flags = parts.flags.iter();
    let scalar = |&(name, ty): &(&str, &str)| match (name, ty) {
        ("dim", _) => ScalarIr::UInt(dim as u64),
        ("count", _) => ScalarIr::UInt((number % (n + 1)) as u64),
        ("k", _) => ScalarIr::UInt(lengths.largest() as u64),
        ("bits", _) => ScalarIr::UInt(number as u64 + 1),
        (_, "SortOrder") => ScalarIr::UInt(numbers.next().unwrap_or(&0) % 2),
        (_, "usize") => ScalarIr::UInt(number as u64),
        (_, "bool") => ScalarIr::Bool(*flags.next().unwrap_or(&true)),
        (_, "ScanOptions" | "ScanOp") => ScalarIr::UInt(numbers.next().unwrap_or(&0) % 4),
        (_, "BoolDType") => ScalarIr::UInt(0),
        _ => ScalarIr::UInt(numbers.next().unwrap_or(&0) % 5),
    };
    let arguments: Vec<ScalarIr> = operation.arguments.iter().map(scalar).collect();
    let tensors: Vec<Given> = operation
        .tensors
        .iter()
        .enumerate()
        .map(|(i, kind)| Given {
            kind,
            width: parts.width,
            shape: lengths.argument(operation, parts, i),
            values: parts.values[i].clone(),
            status: if parts.owned[i] {
                TensorStatus::ReadWrite
            } else {
                TensorStatus::ReadOnly
            },
            exists: true,
        })
        .collect();
    let shapes = lengths.results(operation, parts);
    let dtype = |kind: &&str| match *kind {
        "Float" => DType::F32,
        "Int" => DType::I32,
        _ => DType::Bool(burn_std::BoolStore::Native),
    };
    Call {
        id: operation.id,
        tensors,
        scalars: [vec![ScalarIr::UInt(PROTOCOL)], arguments].concat(),
        results: shapes
            .into_iter()
            .zip(operation.results.iter().map(dtype))
            .collect(),
    }
}

/// The shape of the main tensor of a call, the dimension, and a number that fits the operation's other lengths.
struct Lengths {
    shape: Vec<usize>,
    dim: usize,
    number: usize,
}

fn name_of(operation: &Operation) -> &'static str {
    operation.id.rsplit('/').next().unwrap_or_default()
}

impl Lengths {
    fn new(operation: &Operation, parts: &Parts) -> Self {
        let has = |part: &str| name_of(operation).contains(part);
        let is_flat = [
            "front",
            "expand_by_mask",
            "destinations",
            "run_lengths",
            "sort_bits",
            "partition",
        ]
        .iter()
        .any(|part| has(part));
        let shape = if is_flat && !has("mask_indices") {
            vec![parts.shape[0]]
        } else {
            parts.shape.clone()
        };
        Self {
            dim: parts.dim.index(shape.len()),
            shape,
            number: parts.numbers[3] as usize,
        }
    }

    /// How many elements of a line are asked for.
    fn largest(&self) -> usize {
        self.number % (self.shape[self.dim] + 1)
    }

    /// The shape of the `i`-th tensor argument.
    fn argument(&self, operation: &Operation, parts: &Parts, i: usize) -> Vec<usize> {
        let has = |part: &str| name_of(operation).contains(part);
        let Self { shape, dim, number } = self;
        let (dim, number, len) = (*dim, *number, shape[*dim]);
        let is_first = |i: usize| i == 0;
        match () {
            () if has("destinations") && !has("key") && i == 2 => vec![number + 1],
            () if has("repeat_rows") && i == 1 => vec![shape[0] + 1],
            () if has("segment_reduce") && i == 1 => vec![number + 1],
            () if has("segment_ids") || has("segment_starts") => vec![number + 1],
            () if (has("scan_from") || has("recurrence_from"))
                && i == operation.tensors.len() - 1 =>
            {
                with(shape, dim, 1)
            }
            () if has("adjoint_from") && i == 3 => with(shape, dim, 1),
            () if has("compact_dim") && !is_first(i) => vec![len],
            () if has("expand_dim") && !is_first(i) => vec![number],
            () if has("expand_by_mask") && !is_first(i) => parts.shape.clone(),
            () => shape.clone(),
        }
    }

    /// The shapes of the results.
    fn results(&self, operation: &Operation, parts: &Parts) -> Vec<Vec<usize>> {
        let has = |part: &str| name_of(operation).contains(part);
        let Self { shape, dim, number } = self;
        let (dim, number) = (*dim, *number);
        let n: usize = shape.iter().product();
        match () {
            () if has("mask_count") => vec![vec![1]],
            () if has("compact_padded") || has("indices_front") => vec![vec![n], vec![1]],
            () if has("compact_dim") => vec![shape.clone(), vec![1]],
            () if has("compact_along") => vec![shape.clone(), with(shape, dim, 1)],
            () if has("run_lengths") => vec![shape.clone(), shape.clone(), vec![1]],
            () if has("front") => vec![vec![number % (n + 1)]],
            () if has("expand_by_mask") => vec![parts.shape.clone()],
            () if has("expand_dim") => vec![with(shape, dim, number)],
            () if has("repeat_rows") => vec![with(shape, 0, number)],
            () if has("segment_ids") || has("segment_starts") => vec![vec![number]],
            () if has("segment_reduce") => vec![with(shape, 0, number)],
            () if has("partition") => vec![vec![n], vec![number + 1]],
            () if has("topk") => vec![with(shape, dim, self.largest()); 2],
            () if has("adjoint_from") => {
                vec![shape.clone(), shape.clone(), with(shape, dim, 1)]
            }
            () => vec![shape.clone(); operation.results.len()],
        }
    }
}

fn spoil(call: &mut Call, mistake: Mistake) {
    let tensors = call.tensors.len();
    match mistake {
        Mistake::None => {}
        Mistake::TensorMissing(i) => drop(call.tensors.remove(i.index(tensors))),
        Mistake::TensorTwice(i) => call.tensors.push(call.tensors[i.index(tensors)].clone()),
        Mistake::NotThere(i) => call.tensors[i.index(tensors)].exists = false,
        Mistake::Status(i) => call.tensors[i.index(tensors)].status = TensorStatus::NotInit,
        Mistake::Kind(i, kind) => call.tensors[i.index(tensors)].kind = kind,
        Mistake::Shape(i, shape) => call.tensors[i.index(tensors)].shape = shape,
        Mistake::ScalarMissing(i) => drop(call.scalars.remove(i.index(call.scalars.len()))),
        Mistake::ScalarAdded(scalar) => call.scalars.push(scalar),
        Mistake::Scalar(i, scalar) => {
            let i = i.index(call.scalars.len());
            call.scalars[i] = scalar;
        }
        Mistake::Protocol(protocol) => call.scalars[0] = ScalarIr::UInt(protocol),
        Mistake::ResultMissing(i) => drop(call.results.remove(i.index(call.results.len()))),
        Mistake::ResultShape(i, shape) => {
            let i = i.index(call.results.len());
            call.results[i].0 = shape;
        }
    }
}
