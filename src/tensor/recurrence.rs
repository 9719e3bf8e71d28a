//! [`TensorRecurrence`].

use super::running::carry::{accumulated, alone, cast};
use crate::ops::shift::zeros;
use crate::ops::{ScanOps, with_dim};
use crate::options::RecurrenceOptions;
use crate::{ScanOp, ScanOptions, TensorScan, check};
use burn::backend::Dispatch;
use burn::tensor::{AsIndex, DType, Tensor};

/// Recurrences along a dimension, for float tensors of any rank.
///
/// The result has the shape and dtype of the tensor. f16 and bf16 are accumulated in f32 and rounded once per stored
/// element. A float result has the same bits in every run on one device. Nothing waits for the device. All arguments
/// are differentiable. The gradient of a recurrence is one recurrence in the other direction; the graph saves the
/// decays and the results for it.
///
/// # Panics
///
/// In Burn's message form: `dim` out of range, a quantized tensor, a dtype the device cannot compute with; a decay or
/// an initial value of another dtype, on another device, or of a shape that does not broadcast.
///
/// # Algorithm
///
/// An element stands for the map `h ↦ a·h + x`. Two such maps compose to one, so the algorithms of [`TensorScan`] apply
/// (Kogge & Stone 1973; Martin & Cundy 2018). On the CPU products of decays that underflow are right where they matter;
/// elsewhere they count as zero.
pub trait TensorRecurrence<const D: usize>: Sized {
    /// `h[t] = decay[t]·h[t−1] + x[t]` along `dim`, from 0. The decay has the tensor's shape, or a shape that
    /// broadcasts to it; it is read in place.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let x = Tensor::<1>::from_data([4., 2., 1.], &device);
    /// let half = Tensor::<1>::from_data([0.5], &device);
    /// assert_eq!(x.linear_recurrence(half, 0).into_data().try_to_vec::<f32>().unwrap(), [4., 4., 3.]);
    /// ```
    fn linear_recurrence<I: AsIndex>(self, decay: Tensor<D>, dim: I) -> Self;

    /// The same in either direction, from any state.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let rewards = Tensor::<1>::from_data([1., 0., 2.], &device);
    /// let discount = Tensor::<1>::from_data([0.5], &device);
    /// let value_after = Tensor::<1>::from_data([8.], &device);
    /// let options = RecurrenceOptions::default().reverse().initial(value_after);
    /// let returns = rewards.linear_recurrence_with(discount, 0, options);
    /// assert_eq!(returns.into_data().try_to_vec::<f32>().unwrap(), [2.5, 3., 6.]);
    /// ```
    fn linear_recurrence_with<I: AsIndex>(
        self,
        decay: Tensor<D>,
        dim: I,
        options: RecurrenceOptions<D>,
    ) -> Self;

    /// The same, and the state after the last step, with size 1 along `dim`: what the next chunk of a sequence starts
    /// from. Without steps it is the initial state, or 0.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let x = Tensor::<1>::from_data([4., 2.], &device);
    /// let half = Tensor::<1>::from_data([0.5], &device);
    /// let options = RecurrenceOptions::default().exclusive();
    /// let (entering, state) = x.linear_recurrence_with_state(half, 0, options);
    /// assert_eq!(entering.into_data().try_to_vec::<f32>().unwrap(), [0., 4.]);
    /// assert_eq!(state.into_data().try_to_vec::<f32>().unwrap(), [4.]);
    /// ```
    fn linear_recurrence_with_state<I: AsIndex>(
        self,
        decay: Tensor<D>,
        dim: I,
        options: RecurrenceOptions<D>,
    ) -> (Self, Tensor<D>);

    /// The logarithm of the sum of the exponentials up to and including each element. Stable for any range; −∞ where
    /// all elements so far are −∞. [`TensorScan::scan`] with [`ScanOp::LogSumExp`] runs it in other ways.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let x = Tensor::<1>::from_data([1000., 1000.], &device);
    /// let sums: Vec<f32> = x.logcumsumexp(0).into_data().try_to_vec().unwrap();
    /// assert!((sums[1] - (1000. + 2f32.ln())).abs() < 1e-4);
    /// ```
    fn logcumsumexp<I: AsIndex>(self, dim: I) -> Self;
}

const OPERATION: &str = "Linear Recurrence";

/// A call whose arguments are checked.
#[derive(Clone)]
struct Call<const D: usize> {
    values: Tensor<D>,
    /// It has the shape of the values.
    decay: Tensor<D>,
    /// One value for each line.
    initial: Option<Tensor<D>>,
    dim: usize,
    options: ScanOptions,
}

impl<const D: usize> Call<D> {
    #[track_caller]
    fn new(
        values: Tensor<D>,
        decay: Tensor<D>,
        dim: impl AsIndex,
        options: RecurrenceOptions<D>,
    ) -> Self {
        let dim = check::dim(OPERATION, dim, D);
        check::dtype(OPERATION, &values);
        let decay = check::broadcast(OPERATION, &values, decay, "decay", values.dims());
        let initial = options.initial;
        let initial = initial.map(|initial| check::initial(OPERATION, &values, initial, dim));
        Self {
            values,
            decay,
            initial,
            dim,
            options: options.scan,
        }
    }

    fn cast(self, dtype: DType) -> Self {
        Self {
            values: cast(self.values, dtype),
            decay: cast(self.decay, dtype),
            initial: self.initial.map(|initial| cast(initial, dtype)),
            ..self
        }
    }

    fn run(self) -> Tensor<D> {
        let (values, decay) = (self.values.into_dispatch(), self.decay.into_dispatch());
        let (dim, options) = (self.dim, self.options);
        Tensor::from_dispatch(match self.initial {
            None => <Dispatch as ScanOps>::float_linear_recurrence(values, decay, dim, options),
            Some(initial) => <Dispatch as ScanOps>::float_linear_recurrence_from(
                values,
                decay,
                initial.into_dispatch(),
                dim,
                options,
            ),
        })
    }

    /// The state after the last step, from the results.
    #[track_caller]
    fn last_state(self, results: Tensor<D>) -> Tensor<D> {
        let (dim, dtype) = (self.dim, results.dtype());
        let len = results.dims()[dim];
        if len == 0 {
            let no_state = || {
                let (lines, device) = (with_dim(&results.shape(), dim, 1), results.device());
                check::fits(OPERATION, &device, lines.num_elements(), dtype);
                let zeros = zeros::<Dispatch>(lines, device.as_dispatch(), dtype);
                Tensor::from_dispatch(zeros)
            };
            return self.initial.unwrap_or_else(no_state);
        }
        let at = if self.options.reverse { 0 } else { len - 1 };
        if !self.options.exclusive {
            return alone(results, dim, at);
        }
        let last = |tensor: Tensor<D>| tensor.narrow(dim, at, 1);
        last(self.decay) * last(results) + last(self.values)
    }
}

impl<const D: usize> TensorRecurrence<D> for Tensor<D> {
    fn linear_recurrence<I: AsIndex>(self, decay: Tensor<D>, dim: I) -> Self {
        self.linear_recurrence_with(decay, dim, RecurrenceOptions::default())
    }

    fn linear_recurrence_with<I: AsIndex>(
        self,
        decay: Tensor<D>,
        dim: I,
        options: RecurrenceOptions<D>,
    ) -> Self {
        Call::new(self, decay, dim, options).run()
    }

    fn linear_recurrence_with_state<I: AsIndex>(
        self,
        decay: Tensor<D>,
        dim: I,
        options: RecurrenceOptions<D>,
    ) -> (Self, Tensor<D>) {
        let mut call = Call::new(self, decay, dim, options);
        let dtype = call.values.dtype();
        if call.options.exclusive {
            // The last state comes from the state before it, which results of f16 and bf16 round.
            call = call.cast(accumulated(dtype));
        }
        let results = call.clone().run();
        let state = call.last_state(results.clone());
        (cast(results, dtype), cast(state, dtype))
    }

    fn logcumsumexp<I: AsIndex>(self, dim: I) -> Self {
        self.scan(dim, ScanOp::LogSumExp, ScanOptions::default())
    }
}
