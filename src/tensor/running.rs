//! [`RunningScan`] and [`RunningRecurrence`].

pub(super) mod carry;
mod sums;

use crate::{RecurrenceOptions, ScanOp, ScanOptions, TensorRecurrence, TensorScan, check};
use burn::tensor::kind::Basic;
use burn::tensor::{AsIndex, Bool, Float, Tensor};
use carry::Carry;

/// A scan over a sequence that arrives chunk by chunk along a dimension. The carry stays on the device: nothing waits,
/// and the memory does not grow with the sequence.
///
/// The results are the results of one scan over all chunks; for integers bit for bit. The lengths of the chunks are
/// part of the order of operations. A carry of f16 or bf16 is f32. A float sum keeps what its carry rounds off and adds
/// it with the next chunk (Dekker 1971), so that small chunks are not lost in a large sum.
///
/// Gradients flow through the carry; [`detach`](Self::detach) ends them there. Without it the graph holds on to all
/// chunks so far. Burn 0.22 keeps about 1 KiB for each operation on a device with autodiff until the next `backward`,
/// constants included: where nothing is learned, pass chunks [without
/// autodiff](burn::tensor::Tensor::without_autodiff).
///
/// Keep it on one thread, or give each thread its own. On Flex, the tasks of a rayon pool can hang if they lock a
/// `Mutex<RunningScan>`: [`next`](Self::next) shares its work among that pool, and while it waits, its thread may pick
/// up a task that locks the same mutex. The same holds for any lock that is held across a tensor operation,
/// `backward()` included.
///
/// # Panics
///
/// In Burn's message form: where [`TensorScan`] does, reverse options, a chunk or a state whose other dimensions differ
/// from those of earlier chunks, a mask of another shape.
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
    step: Step,
    carry: Carry<D, K>,
    /// What the carry of a float sum has rounded off.
    rounded_off: Option<Tensor<D>>,
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
            step: Step { dim, op, options },
            carry: Carry::new(),
            rounded_off: None,
        }
    }

    /// Scans the next chunk. A chunk without elements along the dimension changes nothing.
    pub fn next(&mut self, chunk: Tensor<D, K>) -> Tensor<D, K> {
        let (line, state) = self.carry.enter(SCAN, &chunk, self.step.dim);
        let (results, state) = if chunk.dtype().is_float() {
            let (chunk, state) = (carry::float(chunk), state.map(carry::float));
            let (results, state) = self.step.scan_floats(chunk, state, &mut self.rounded_off);
            (carry::of_kind(results), state.map(carry::of_kind))
        } else {
            self.step.scan(chunk, state)
        };
        self.carry.leave(line, state);
        results
    }

    /// The carry after the last element, with size 1 along the dimension; `None` before the first element. The carry of
    /// f16 and bf16 is f32.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let mut sums = RunningScan::new(0, ScanOp::Sum, ScanOptions::default());
    /// sums.next(Tensor::<1, Int>::from_data([1, 2, 3], &device));
    /// assert_eq!(sums.state().unwrap().into_data().try_to_vec::<i32>().unwrap(), [6]);
    /// ```
    pub fn state(&self) -> Option<Tensor<D, K>> {
        self.carry.state.clone()
    }

    /// Goes on from `state`: one value for each line, with size 1 along the dimension, or broadcastable to that. Its
    /// shape is checked at the next chunk.
    pub fn set_state(&mut self, state: Tensor<D, K>) {
        self.carry.state = Some(state);
        self.rounded_off = None;
    }

    /// Forgets all chunks: the next chunk is the first.
    pub fn reset(&mut self) {
        self.carry = Carry::new();
        self.rounded_off = None;
    }

    /// Starts the lines under `true` anew, such as episodes that have ended or slots of a serving batch. The mask has
    /// size 1 along the dimension.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let ones = || Tensor::<2, Int>::ones([2, 1], &device);
    /// let mut sums = RunningScan::new(1, ScanOp::Sum, ScanOptions::default());
    /// sums.next(ones());
    /// sums.reset_where(Tensor::<2, Bool>::from_data([[true], [false]], &device));
    /// assert_eq!(sums.next(ones()).into_data().try_to_vec::<i32>().unwrap(), [1, 2]);
    /// ```
    pub fn reset_where(&mut self, mask: Tensor<D, Bool>) {
        let Step { dim, op, .. } = self.step;
        // The first result of an exclusive scan is the identity.
        let identity =
            |state: Tensor<D, K>| state.scan(dim, op, ScanOptions::default().exclusive());
        if let Some(mask) = self.carry.reset_where(SCAN, mask, dim, identity)
            && let Some(rounded_off) = self.rounded_off.take()
        {
            self.rounded_off = Some(rounded_off.mask_fill(mask, 0));
        }
    }
}

impl<const D: usize> RunningScan<D, Float> {
    /// Goes on with the carry as a constant: `backward` of later chunks ends here (truncated back-propagation), and the
    /// graph of earlier chunks is dropped.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// # #[cfg(feature = "autodiff")] {
    /// let device = burn::tensor::Device::flex().autodiff();
    /// let mut sums = RunningScan::new(0, ScanOp::Sum, ScanOptions::default());
    /// for _ in 0..2 {
    ///     let chunk = Tensor::<1>::from_data([1., 2.], &device).require_grad();
    ///     let gradients = sums.next(chunk.clone()).sum().backward();
    ///     sums.detach();
    ///     let gradient = chunk.grad(&gradients).unwrap();
    ///     assert_eq!(gradient.into_data().try_to_vec::<f32>().unwrap(), [2., 1.]);
    /// }
    /// # }
    /// ```
    pub fn detach(&mut self) {
        self.carry.detach();
    }
}

/// What a running scan does with each chunk.
#[derive(Clone, Copy, Debug)]
struct Step {
    dim: usize,
    op: ScanOp,
    options: ScanOptions,
}

impl Step {
    /// [`scan`](Self::scan) for floats: accumulated in f32 if they are shorter, and sums without loss.
    fn scan_floats<const D: usize>(
        self,
        chunk: Tensor<D>,
        state: Option<Tensor<D>>,
        rounded_off: &mut Option<Tensor<D>>,
    ) -> (Tensor<D>, Option<Tensor<D>>) {
        let dtype = chunk.dtype();
        let wide = carry::accumulated(dtype);
        let chunk = carry::cast(chunk, wide);
        let state = state.map(|state| carry::cast(state, wide));
        let (results, state) = match (self.op, state) {
            (ScanOp::Sum, Some(sum)) if chunk.dims()[self.dim] > 0 => {
                let rest = rounded_off.take().map(|rest| carry::cast(rest, wide));
                let sums = sums::next(chunk, sum, rest, self.dim, self.options);
                *rounded_off = Some(sums.rounded_off);
                (sums.results, Some(sums.sum))
            }
            (_, state) => self.scan(chunk, state),
        };
        (carry::cast(results, dtype), state)
    }

    /// The results of a chunk, and the carry after it.
    fn scan<const D: usize, K: Basic>(
        self,
        chunk: Tensor<D, K>,
        state: Option<Tensor<D, K>>,
    ) -> (Tensor<D, K>, Option<Tensor<D, K>>)
    where
        Tensor<D, K>: TensorScan,
    {
        let Self { dim, op, options } = self;
        let results = match state.clone() {
            None => chunk.clone().scan(dim, op, options),
            Some(state) => chunk.clone().scan_from(state, dim, op, options),
        };
        if chunk.dims()[dim] == 0 {
            return (results, state);
        }
        let shown = carry::last(results.clone(), dim);
        let state = if options.exclusive {
            carry::last(chunk, dim).scan_from(shown, dim, op, options.inclusive())
        } else {
            shown
        };
        (results, Some(state))
    }
}

/// A linear recurrence over a sequence that arrives chunk by chunk along a dimension, as in decoding. The state stays
/// on the device; for f16 and bf16 it is f32.
///
/// Gradients flow through the state; [`detach`](Self::detach) ends them there.
///
/// # Panics
///
/// In Burn's message form: where [`TensorRecurrence`] does, a chunk or a state whose other dimensions differ from those
/// of earlier chunks, a mask of another shape.
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

    /// Takes in the next chunk. A chunk without elements along the dimension changes nothing.
    pub fn next(&mut self, values: Tensor<D>, decay: Tensor<D>) -> Tensor<D> {
        let (line, state) = self.carry.enter(RECURRENCE, &values, self.dim);
        let dtype = values.dtype();
        let wide = carry::accumulated(dtype);
        check::same_dtype(RECURRENCE, &values, &decay, "decay");
        let [values, decay] = [values, decay].map(|tensor| carry::cast(tensor, wide));
        let state = state.map(|state| carry::cast(state, wide));
        let options = RecurrenceOptions {
            initial: state.clone(),
            ..Default::default()
        };
        let len = values.dims()[self.dim];
        let results = values.linear_recurrence_with(decay, self.dim, options);
        let state = match len {
            0 => state,
            _ => Some(carry::last(results.clone(), self.dim)),
        };
        self.carry.leave(line, state);
        carry::cast(results, dtype)
    }

    /// The last `h`, with size 1 along the dimension; `None` before the first element.
    pub fn state(&self) -> Option<Tensor<D>> {
        self.carry.state.clone()
    }

    /// Goes on from `state`: one value for each line, with size 1 along the dimension, or broadcastable to that. Its
    /// shape is checked at the next chunk.
    pub fn set_state(&mut self, state: Tensor<D>) {
        self.carry.state = Some(state);
    }

    /// Forgets all chunks: the next chunk is the first.
    pub fn reset(&mut self) {
        self.carry = Carry::new();
    }

    /// Starts the lines under `true` anew, from 0. The mask has size 1 along the dimension.
    pub fn reset_where(&mut self, mask: Tensor<D, Bool>) {
        let zeros = |state: Tensor<D>| state.zeros_like();
        self.carry.reset_where(RECURRENCE, mask, self.dim, zeros);
    }

    /// Goes on with the state as a constant: `backward` of later chunks ends here (truncated back-propagation), and the
    /// graph of earlier chunks is dropped.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// # #[cfg(feature = "autodiff")] {
    /// let device = burn::tensor::Device::flex().autodiff();
    /// let half = || Tensor::<1>::from_data([0.5], &device);
    /// let mut recurrence = RunningRecurrence::new(0);
    /// for _ in 0..2 {
    ///     let chunk = Tensor::<1>::from_data([1., 1.], &device).require_grad();
    ///     let gradients = recurrence.next(chunk.clone(), half()).sum().backward();
    ///     recurrence.detach();
    ///     let gradient = chunk.grad(&gradients).unwrap();
    ///     assert_eq!(gradient.into_data().try_to_vec::<f32>().unwrap(), [1.5, 1.]);
    /// }
    /// # }
    /// ```
    pub fn detach(&mut self) {
        self.carry.detach();
    }
}

const SCAN: &str = "Running Scan";
const RECURRENCE: &str = "Running Recurrence";
