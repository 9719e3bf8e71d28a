//! [`RunningScan`] and [`RunningRecurrence`].

use crate::{RecurrenceOptions, ScanOp, ScanOptions, TensorRecurrence, TensorScan, check};
use burn::tensor::kind::Basic;
use burn::tensor::{AsIndex, Float, Tensor};

/// A scan over a sequence that arrives chunk by chunk along a dimension. The carry stays on the device: nothing waits,
/// and the memory does not grow with the sequence.
///
/// The results are the results of one scan over all chunks; for integers bit for bit. A float carry is rounded to its
/// dtype between chunks, and the lengths of the chunks are part of the order of operations. Gradients flow through the
/// carry.
///
/// # Panics
///
/// In Burn's message form: where [`TensorScan`] does, reverse options, a chunk whose other dimensions differ from the
/// chunks before.
///
/// # Example
///
/// ```
/// use burn::tensor::{Int, Tensor};
/// use burn_scan::prelude::*;
///
/// let device = burn::tensor::Device::flex();
/// let mut sums = RunningScan::new(0, ScanOp::Sum, ScanOptions::default());
/// let first = sums.next(Tensor::<1, Int>::from_data([1, 2, 3], &device));
/// let second = sums.next(Tensor::<1, Int>::from_data([4, 5], &device));
/// assert_eq!(first.into_data().try_to_vec::<i32>().unwrap(), [1, 3, 6]);
/// assert_eq!(second.into_data().try_to_vec::<i32>().unwrap(), [10, 15]);
/// ```
#[derive(Clone, Debug)]
pub struct RunningScan<const D: usize, K: Basic> {
    dim: usize,
    op: ScanOp,
    options: ScanOptions,
    carry: Carry<D, K>,
}

impl<const D: usize, K: Basic> RunningScan<D, K>
where
    Tensor<D, K>: TensorScan,
{
    /// Starts a sequence along `dim`.
    pub fn new<I: AsIndex>(dim: I, op: ScanOp, options: ScanOptions) -> Self {
        let dim = check::dim(SCAN, dim, D);
        if options.reverse {
            check::fail(
                SCAN,
                "A sequence that arrives chunk by chunk has no end to begin at.",
            );
        }
        Self {
            dim,
            op,
            options,
            carry: Carry::new(),
        }
    }

    /// Scans the next chunk. One without elements along the dimension changes nothing.
    pub fn next(&mut self, chunk: Tensor<D, K>) -> Tensor<D, K> {
        let Self {
            dim, op, options, ..
        } = *self;
        self.carry.check(SCAN, &chunk, dim);
        let last = |tensor: Tensor<D, K>| {
            let len = tensor.dims()[dim];
            tensor.narrow(dim, len - 1, 1)
        };
        let is_empty = chunk.dims()[dim] == 0;
        let results = match self.carry.state.clone() {
            None => chunk.clone().scan(dim, op, options),
            Some(carry) => chunk.clone().scan_from(carry, dim, op, options),
        };
        if !is_empty {
            let shown = last(results.clone());
            self.carry.state = Some(match options.exclusive {
                false => shown,
                true => last(chunk).scan_from(shown, dim, op, options.inclusive()),
            });
        }
        results
    }

    /// Forgets all chunks: the next chunk is the first.
    pub fn reset(&mut self) {
        self.carry = Carry::new();
    }
}

/// A linear recurrence over a sequence that arrives chunk by chunk along a dimension, as in decoding. The state stays
/// on the device.
///
/// # Panics
///
/// In Burn's message form: where [`TensorRecurrence`] does, a chunk whose other dimensions differ from the chunks
/// before.
///
/// # Example
///
/// ```
/// use burn::tensor::Tensor;
/// use burn_scan::prelude::*;
///
/// let device = burn::tensor::Device::flex();
/// let half = || Tensor::<1>::from_data([0.5], &device);
/// let mut recurrence = RunningRecurrence::new(0);
/// recurrence.next(Tensor::<1>::from_data([4., 2.], &device), half());
/// let h = recurrence.next(Tensor::<1>::from_data([1., 0.], &device), half());
/// assert_eq!(h.into_data().try_to_vec::<f32>().unwrap(), [3., 1.5]);
/// assert_eq!(recurrence.state().unwrap().into_data().try_to_vec::<f32>().unwrap(), [1.5]);
/// ```
#[derive(Clone, Debug)]
pub struct RunningRecurrence<const D: usize> {
    dim: usize,
    carry: Carry<D, Float>,
}

impl<const D: usize> RunningRecurrence<D> {
    /// Starts a sequence along `dim`, from 0.
    pub fn new<I: AsIndex>(dim: I) -> Self {
        Self {
            dim: check::dim(RECURRENCE, dim, D),
            carry: Carry::new(),
        }
    }

    /// Takes the next chunk in. One without elements along the dimension changes nothing.
    pub fn next(&mut self, values: Tensor<D>, decay: Tensor<D>) -> Tensor<D> {
        self.carry.check(RECURRENCE, &values, self.dim);
        let len = values.dims()[self.dim];
        let options = RecurrenceOptions {
            reverse: false,
            initial: self.carry.state.clone(),
        };
        let results = values.linear_recurrence_with(decay, self.dim, options);
        if len > 0 {
            self.carry.state = Some(results.clone().narrow(self.dim, len - 1, 1));
        }
        results
    }

    /// The last `h`, with size 1 along the dimension; none before the first element.
    pub fn state(&self) -> Option<Tensor<D>> {
        self.carry.state.clone()
    }
}

const SCAN: &str = "Running Scan";
const RECURRENCE: &str = "Running Recurrence";

/// What the chunks so far leave to the next one.
#[derive(Clone, Debug)]
struct Carry<const D: usize, K: Basic> {
    /// The shape of the first chunk, with size 1 along the dimension.
    line: Option<[usize; D]>,
    /// The carry behind the last element.
    state: Option<Tensor<D, K>>,
}

impl<const D: usize, K: Basic> Carry<D, K> {
    fn new() -> Self {
        Self {
            line: None,
            state: None,
        }
    }

    /// A chunk has any length along `dim`, and the shape of the chunks before it otherwise.
    #[track_caller]
    fn check(&mut self, operation: &str, chunk: &Tensor<D, K>, dim: usize) {
        let mut line = chunk.dims();
        line[dim] = 1;
        let expected = *self.line.get_or_insert(line);
        if line != expected {
            let mut before: Vec<String> = expected.iter().map(ToString::to_string).collect();
            before[dim] = "any".to_owned();
            check::fail(
                operation,
                &format!(
                    "A chunk must have the shape of those before it but for dimension {dim}. Before: [{}], chunk: {:?}.",
                    before.join(", "),
                    chunk.dims()
                ),
            );
        }
    }
}
