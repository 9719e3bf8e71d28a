//! [`TensorScan`] and [`cumsum`].

use super::kind::{Scannable, tensors};
use crate::ops::booleans;
use crate::{ScanOp, ScanOptions, check};
use burn::backend::Dispatch;
use burn::tensor::kind::Basic;
use burn::tensor::{AsIndex, Bool, Int, Tensor};

/// Scans along a dimension, for `Tensor<D, Float>` and `Tensor<D, Int>` of any rank.
///
/// The result has the shape and dtype of the tensor. Integer sums and products wrap; f16 and bf16 are accumulated in
/// f32 and rounded once per stored element. NaN and infinities of the input propagate as in a loop from the first
/// element to the last. If partial results leave the range of the type on the way, the grouping of a parallel scan
/// shows: a result that a loop brings back into range may stay infinite or become NaN, and the other way round. A float
/// result has the same bits in every run on one device.
///
/// Strided, transposed, sliced and broadcast tensors are read in place, as long as neighbouring elements stay
/// neighbours. Nothing waits for the device. Float results are differentiable with respect to the values.
///
/// # Panics
///
/// In Burn's message form: `dim` out of range, a quantized tensor, a dtype the device cannot compute with, `LogSumExp`
/// of integers.
///
/// # Algorithm
///
/// On CubeCL devices a scan is a single pass with decoupled lookback and fallback (Merrill & Garland 2016; Smith,
/// Levien & Owens 2025), or walks columns side by side if dimensions follow `dim`. On the CPU it takes blocks of fixed
/// size on all cores.
pub trait TensorScan: Sized {
    /// Positions along a dimension: `Tensor<D, Int>`, of the tensor's shape.
    type Positions;

    /// The starts of segments: `Tensor<D, Bool>`, of the tensor's shape.
    type Starts;

    /// Scans with any operator, inclusive or exclusive, forward or reverse.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<1, Int>::from_data([3, 1, 4, 1, 5], &device);
    /// let highest_so_far = tensor.scan(0, ScanOp::Max, ScanOptions::default());
    /// assert_eq!(highest_so_far.into_data().try_to_vec::<i32>().unwrap(), [3, 3, 4, 4, 5]);
    /// ```
    fn scan<I: AsIndex>(self, dim: I, op: ScanOp, options: ScanOptions) -> Self;

    /// Scans as [`scan`](Self::scan), but each line starts with `initial` instead of the identity: the first inclusive
    /// result is `initial ⊕ x[0]`, the first exclusive one `initial`. In reverse a line starts at its end. `initial`
    /// has the shape of the tensor with size 1 along `dim`, or a shape that broadcasts to it. The results are
    /// differentiable with respect to both.
    ///
    /// # Panics
    ///
    /// Also where `initial` has another shape, dtype or device.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let before = Tensor::<1, Int>::from_data([10], &device);
    /// let tensor = Tensor::<1, Int>::from_data([3, 1, 4], &device);
    /// let sums = tensor.scan_from(before, 0, ScanOp::Sum, ScanOptions::default());
    /// assert_eq!(sums.into_data().try_to_vec::<i32>().unwrap(), [13, 14, 18]);
    /// ```
    fn scan_from<I: AsIndex>(self, initial: Self, dim: I, op: ScanOp, options: ScanOptions)
    -> Self;

    /// Scans each segment of a line on its own. `starts` is true where a segment starts in the order of memory. The
    /// first element of a line always starts a segment. In reverse a segment is scanned from its last element towards
    /// its first.
    ///
    /// # Panics
    ///
    /// Also where `starts` has another shape or device.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<1, Int>::from_data([1, 2, 3, 4, 5], &device);
    /// let starts = Tensor::<1, Bool>::from_bool([false, false, true, false, true], &device);
    /// let sums = tensor.segmented_scan(starts, 0, ScanOp::Sum, ScanOptions::default());
    /// assert_eq!(sums.into_data().try_to_vec::<i32>().unwrap(), [1, 3, 3, 7, 5]);
    /// ```
    fn segmented_scan<I: AsIndex>(
        self,
        starts: Self::Starts,
        dim: I,
        op: ScanOp,
        options: ScanOptions,
    ) -> Self;

    /// The largest element so far, and its position along `dim` in the device's int dtype. Of equal elements the last
    /// counts. A NaN wins, and so does the last of several NaN: the rule of torch's `cummax`.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<1, Int>::from_data([3, 1, 4, 4, 2], &device);
    /// let (largest, positions) = tensor.cummax_with_indices(0);
    /// assert_eq!(largest.into_data().try_to_vec::<i32>().unwrap(), [3, 3, 4, 4, 4]);
    /// assert_eq!(positions.into_data().try_to_vec::<i32>().unwrap(), [0, 0, 2, 3, 3]);
    /// ```
    fn cummax_with_indices<I: AsIndex>(self, dim: I) -> (Self, Self::Positions);

    /// The smallest element so far, and its position, as [`cummax_with_indices`](Self::cummax_with_indices).
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<1>::from_data([3., 1., 4.], &device);
    /// let (_, positions) = tensor.cummin_with_indices(0);
    /// assert_eq!(positions.into_data().try_to_vec::<i32>().unwrap(), [0, 1, 1]);
    /// ```
    fn cummin_with_indices<I: AsIndex>(self, dim: I) -> (Self, Self::Positions);

    /// The sum up to and including each element. Always this crate's kernel, with and without
    /// [`install`](crate::install).
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<2>::from_data([[1., 2., 3.], [4., 5., 6.]], &device);
    /// let sums = tensor.inclusive_cumsum(-1);
    /// assert_eq!(sums.into_data().try_to_vec::<f32>().unwrap(), [1., 3., 6., 4., 9., 15.]);
    /// ```
    fn inclusive_cumsum<I: AsIndex>(self, dim: I) -> Self;

    /// The sum of all elements before each element; 0 for the first. For lengths of ragged rows, these are the offsets
    /// at which the rows start.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let lengths = Tensor::<1, Int>::from_data([5, 2, 7], &device);
    /// assert_eq!(lengths.exclusive_cumsum(0).into_data().try_to_vec::<i32>().unwrap(), [0, 5, 7]);
    /// ```
    fn exclusive_cumsum<I: AsIndex>(self, dim: I) -> Self;

    /// The sum from each element, itself included, to the last: the gradient of a cumulative sum.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let tensor = Tensor::<1>::from_data([1., 2., 3.], &device);
    /// assert_eq!(tensor.reverse_cumsum(0).into_data().try_to_vec::<f32>().unwrap(), [6., 5., 3.]);
    /// ```
    fn reverse_cumsum<I: AsIndex>(self, dim: I) -> Self;
}

impl<const D: usize, K: Scannable> TensorScan for Tensor<D, K> {
    type Positions = Tensor<D, Int>;
    type Starts = Tensor<D, Bool>;

    fn scan<I: AsIndex>(self, dim: I, op: ScanOp, options: ScanOptions) -> Self {
        checked("Scan", self, dim, op, options)
    }

    fn scan_from<I: AsIndex>(
        self,
        initial: Self,
        dim: I,
        op: ScanOp,
        options: ScanOptions,
    ) -> Self {
        let operation = "Scan From";
        let dim = check::dim(operation, dim, D);
        check::dtype(operation, &self);
        check::operator::<K>(operation, op);
        let initial = check::initial(operation, &self, initial, dim);
        let (tensor, initial) = (self.into_dispatch(), initial.into_dispatch());
        Tensor::from_dispatch(K::scan_from(tensor, initial, dim, op, options))
    }

    fn segmented_scan<I: AsIndex>(
        self,
        starts: Tensor<D, Bool>,
        dim: I,
        op: ScanOp,
        options: ScanOptions,
    ) -> Self {
        let operation = "Segmented Scan";
        let dim = check::dim(operation, dim, D);
        check::dtype(operation, &self);
        check::operator::<K>(operation, op);
        check::starts(operation, &self, &starts);
        let starts = booleans::<Dispatch>(starts.into_dispatch());
        let tensor = self.into_dispatch();
        Tensor::from_dispatch(K::segmented_scan(tensor, starts, dim, op, options))
    }

    fn cummax_with_indices<I: AsIndex>(self, dim: I) -> (Self, Tensor<D, Int>) {
        extremum("Cummax With Indices", self, dim, true)
    }

    fn cummin_with_indices<I: AsIndex>(self, dim: I) -> (Self, Tensor<D, Int>) {
        extremum("Cummin With Indices", self, dim, false)
    }

    fn inclusive_cumsum<I: AsIndex>(self, dim: I) -> Self {
        checked(
            "Inclusive Cumsum",
            self,
            dim,
            ScanOp::Sum,
            ScanOptions::default(),
        )
    }

    fn exclusive_cumsum<I: AsIndex>(self, dim: I) -> Self {
        checked(
            "Exclusive Cumsum",
            self,
            dim,
            ScanOp::Sum,
            ScanOptions::default().exclusive(),
        )
    }

    fn reverse_cumsum<I: AsIndex>(self, dim: I) -> Self {
        checked(
            "Reverse Cumsum",
            self,
            dim,
            ScanOp::Sum,
            ScanOptions::default().reverse(),
        )
    }
}

#[track_caller]
fn checked<const D: usize, K: Scannable, I: AsIndex>(
    operation: &str,
    tensor: Tensor<D, K>,
    dim: I,
    op: ScanOp,
    options: ScanOptions,
) -> Tensor<D, K> {
    let dim = check::dim(operation, dim, D);
    check::dtype(operation, &tensor);
    check::operator::<K>(operation, op);
    Tensor::from_dispatch(K::scan(tensor.into_dispatch(), dim, op, options))
}

#[track_caller]
fn extremum<const D: usize, K: Scannable, I: AsIndex>(
    operation: &str,
    tensor: Tensor<D, K>,
    dim: I,
    is_max: bool,
) -> (Tensor<D, K>, Tensor<D, Int>) {
    let dim = check::dim(operation, dim, D);
    check::dtype(operation, &tensor);
    let device = tensor.device();
    let int = check::position_dtype(operation, &device, tensor.dims()[dim]);
    check::fits(
        operation,
        &device,
        tensor.shape().num_elements(),
        int.into(),
    );
    tensors(K::extremum_with_indices(
        tensor.into_dispatch(),
        dim,
        is_max,
        int,
    ))
}

/// The cumulative sum along `dim`, as a function: [`TensorScan::inclusive_cumsum`] under its usual name. A trait method
/// cannot have that name, because Burn's inherent `Tensor::cumsum` takes precedence over it.
///
/// # Panics
///
/// As [`TensorScan`].
///
/// # Example
///
/// ```
/// use burn::tensor::Tensor;
///
/// let device = burn::tensor::Device::flex();
/// let tensor = Tensor::<1>::from_data([1., 2., 3.], &device);
/// assert_eq!(burn_scan::cumsum(tensor, 0).into_data().try_to_vec::<f32>().unwrap(), [1., 3., 6.]);
/// ```
pub fn cumsum<const D: usize, K: Basic, I: AsIndex>(tensor: Tensor<D, K>, dim: I) -> Tensor<D, K>
where
    Tensor<D, K>: TensorScan,
{
    tensor.inclusive_cumsum(dim)
}
