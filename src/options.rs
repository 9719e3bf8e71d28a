//! What a scan accumulates, and how; the direction of a sort.

mod scan_op;

use burn::tensor::Tensor;

pub use scan_op::ScanOp;

/// The direction of a sort. Both keep the order of equal elements, and 0.0 equals −0.0.
///
/// ```
/// use burn::tensor::Tensor;
/// use burn_scan::prelude::*;
///
/// let device = burn::tensor::Device::flex();
/// let tensor = Tensor::<1>::from_data([2., f32::NAN, 3.], &device);
/// let sorted = tensor.radix_argsort(0, SortOrder::Descending);
/// assert_eq!(sorted.into_data().try_to_vec::<i32>().unwrap(), [1, 2, 0]);
/// assert_eq!(SortOrder::default(), SortOrder::Ascending);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SortOrder {
    /// Smallest first, NaN last.
    #[default]
    Ascending,
    /// NaN first, then largest first.
    Descending,
}

/// How a scan runs along its dimension. The default is inclusive and forward.
///
/// ```
/// use burn_scan::ScanOptions;
///
/// let options = ScanOptions::default().exclusive().reverse();
/// assert_ne!(options, ScanOptions::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScanOptions {
    pub(crate) exclusive: bool,
    pub(crate) reverse: bool,
}

impl ScanOptions {
    /// `output[i]` leaves element `i` out. The first output is the identity of the operator: 0 for sums, 1 for
    /// products, the lowest value (−∞ for floats) for maxima, the highest (+∞) for minima, −∞ for log-sum-exp.
    pub fn exclusive(self) -> Self {
        Self {
            exclusive: true,
            ..self
        }
    }

    /// From the last element towards the first.
    pub fn reverse(self) -> Self {
        Self {
            reverse: true,
            ..self
        }
    }

    /// The same scan, inclusive.
    pub(crate) fn inclusive(self) -> Self {
        Self {
            exclusive: false,
            ..self
        }
    }

    /// The same scan in the other direction. For sums this is the adjoint.
    #[cfg(feature = "autodiff")]
    pub(crate) fn reversed(self) -> Self {
        Self {
            reverse: !self.reverse,
            ..self
        }
    }
}

/// How a [`linear_recurrence`](crate::TensorRecurrence) runs along its dimension. The default is forward, from 0.
///
/// ```
/// use burn::tensor::Tensor;
/// use burn_scan::RecurrenceOptions;
///
/// let device = burn::tensor::Device::flex();
/// let state = Tensor::<1>::from_data([8.], &device);
/// let options = RecurrenceOptions::default().initial(state).reverse();
/// ```
#[derive(Clone, Debug, Default)]
pub struct RecurrenceOptions<const D: usize> {
    pub(crate) scan: ScanOptions,
    pub(crate) initial: Option<Tensor<D>>,
}

impl<const D: usize> RecurrenceOptions<D> {
    /// From the last element towards the first: `h[t] = decay[t]·h[t+1] + x[t]`.
    pub fn reverse(self) -> Self {
        Self {
            scan: self.scan.reverse(),
            ..self
        }
    }

    /// The state that enters each step: `y[t] = h[t-1]` (`h[t+1]` in reverse). The first is the initial state, or 0.
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let x = Tensor::<1>::from_data([4., 2., 1.], &device);
    /// let half = Tensor::<1>::from_data([0.5], &device);
    /// let options = RecurrenceOptions::default().exclusive();
    /// let entering = x.linear_recurrence_with(half, 0, options);
    /// assert_eq!(entering.into_data().try_to_vec::<f32>().unwrap(), [0., 4., 4.]);
    /// ```
    pub fn exclusive(self) -> Self {
        Self {
            scan: self.scan.exclusive(),
            ..self
        }
    }

    /// The state before the first element of a line: `h[-1]`, or `h[len]` in reverse. It has the shape of the tensor
    /// with size 1 along the dimension, or a shape that broadcasts to it.
    pub fn initial(self, state: Tensor<D>) -> Self {
        Self {
            initial: Some(state),
            ..self
        }
    }
}
