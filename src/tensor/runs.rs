//! [`TensorRuns`].

use super::kind::{Selectable, tensors};
use super::ragged::zero;
use crate::{ScanOp, ScanOptions, TensorScan, check};
use burn::tensor::kind::Basic;
use burn::tensor::{DType, Int, IntDType, Tensor, read_sync};

/// Runs of equal elements, to lengths and back, for one-dimensional float, int and bool tensors.
///
/// Values keep their dtype; lengths and counts have the device's int dtype. NaN equals nothing, not even itself, so
/// each NaN is a run of length 1. −0 equals 0. Float results are differentiable with respect to the values: the
/// gradient of a run goes to its first element, and the gradient of a repeated value is the sum over its repetitions.
///
/// # Panics
///
/// In Burn's message form: values and lengths of different length or on different devices, a quantized tensor, a dtype
/// the device cannot compute with, a result that no buffer of the device holds.
///
/// # Algorithm
///
/// On CubeCL devices a run starts where an element differs from the element before it. The single pass of
/// [`TensorCompact`](crate::TensorCompact) ranks and writes the starts. The length of a run is the distance to the next
/// start. For repetition, each element of the result reads the value of its
/// [segment](crate::RaggedIndices::offsets_to_segment_ids).
pub trait TensorRuns<K: Basic>: Sized {
    /// The value of each run, and its length. Waits for the device to read how many runs there are.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let tensor = Tensor::<1, Int>::from_data([7, 7, 7, 2, 7], &burn::tensor::Device::flex());
    /// let (values, lengths) = tensor.run_length_encode();
    /// assert_eq!(values.into_data().try_to_vec::<i32>().unwrap(), [7, 2, 7]);
    /// assert_eq!(lengths.into_data().try_to_vec::<i32>().unwrap(), [3, 1, 1]);
    /// ```
    fn run_length_encode(self) -> (Tensor<1, K>, Tensor<1, Int>);

    /// [`run_length_encode`](Self::run_length_encode) for hosts that must not block, such as a browser.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let tensor = Tensor::<1, Int>::from_data([7, 7, 2], &burn::tensor::Device::flex());
    /// let (values, _) = burn::tensor::read_sync(tensor.run_length_encode_async()); // any executor will do
    /// assert_eq!(values.into_data().try_to_vec::<i32>().unwrap(), [7, 2]);
    /// ```
    fn run_length_encode_async(self) -> impl Future<Output = (Tensor<1, K>, Tensor<1, Int>)>;

    /// Values and lengths as long as the input, zeros (or false) after the runs, and the number of runs as a `[1]`
    /// tensor. Waits for nothing.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let tensor = Tensor::<1, Int>::from_data([7, 7, 2], &burn::tensor::Device::flex());
    /// let (values, lengths, count) = tensor.run_length_encode_padded();
    /// assert_eq!(values.into_data().try_to_vec::<i32>().unwrap(), [7, 2, 0]);
    /// assert_eq!(lengths.into_data().try_to_vec::<i32>().unwrap(), [2, 1, 0]);
    /// assert_eq!(count.into_scalar::<i64>(), 2);
    /// ```
    fn run_length_encode_padded(self) -> (Tensor<1, K>, Tensor<1, Int>, Tensor<1, Int>);

    /// Each value as often as its length says (torch's `repeat_interleave`, NumPy's `repeat`). Lengths below 0 count as
    /// 0. Waits for the device to read the total.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let values = Tensor::<1>::from_data([0.5, 1.5, 2.5], &device);
    /// let lengths = Tensor::<1, Int>::from_data([2, 0, 1], &device);
    /// assert_eq!(values.repeat_by_lengths(lengths).into_data().try_to_vec::<f32>().unwrap(), [0.5, 0.5, 2.5]);
    /// ```
    fn repeat_by_lengths(self, lengths: Tensor<1, Int>) -> Tensor<1, K>;

    /// [`repeat_by_lengths`](Self::repeat_by_lengths) for hosts that must not block, such as a browser.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let values = Tensor::<1, Int>::from_data([4, 5], &device);
    /// let lengths = Tensor::<1, Int>::from_data([1, 2], &device);
    /// let repeated = burn::tensor::read_sync(values.repeat_by_lengths_async(lengths)); // any executor will do
    /// assert_eq!(repeated.into_data().try_to_vec::<i32>().unwrap(), [4, 5, 5]);
    /// ```
    fn repeat_by_lengths_async(self, lengths: Tensor<1, Int>)
    -> impl Future<Output = Tensor<1, K>>;

    /// The same, shortened to `total` elements or filled up with zeros (or false). Waits for nothing.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Int, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let values = Tensor::<1, Int>::from_data([4, 5], &device);
    /// let lengths = Tensor::<1, Int>::from_data([2, 1], &device);
    /// let repeated = values.repeat_by_lengths_into(lengths, 5);
    /// assert_eq!(repeated.into_data().try_to_vec::<i32>().unwrap(), [4, 4, 5, 0, 0]);
    /// ```
    fn repeat_by_lengths_into(self, lengths: Tensor<1, Int>, total: usize) -> Tensor<1, K>;
}

impl<K: Selectable> TensorRuns<K> for Tensor<1, K> {
    fn run_length_encode(self) -> (Tensor<1, K>, Tensor<1, Int>) {
        let operation = "Run Length Encode";
        check::dtype(operation, &self);
        let int = length_dtype(operation, &self);
        check::waits(operation, &self.device(), "`run_length_encode_async`");
        tensors(K::run_lengths(self.into_dispatch(), int))
    }

    async fn run_length_encode_async(self) -> (Tensor<1, K>, Tensor<1, Int>) {
        if check::is_cpu(self.device().as_dispatch()) {
            return self.run_length_encode();
        }
        let (values, lengths, count) = encode_padded("Run Length Encode", self, false);
        let count = read_async(count).await;
        let front = Int::front(lengths.into_dispatch(), count);
        (
            Tensor::from_dispatch(K::front(values.into_dispatch(), count)),
            Tensor::from_dispatch(front),
        )
    }

    fn run_length_encode_padded(self) -> (Tensor<1, K>, Tensor<1, Int>, Tensor<1, Int>) {
        encode_padded("Run Length Encode Padded", self, true)
    }

    fn repeat_by_lengths(self, lengths: Tensor<1, Int>) -> Tensor<1, K> {
        let operation = "Repeat By Lengths";
        let (offsets, last) = offsets_of(operation, &self, lengths);
        check::waits(operation, &self.device(), "`repeat_by_lengths_async`");
        let dtype = offsets.dtype();
        let total = read_sync(read_async(last)) as u64;
        repeat(operation, self, offsets, counted(operation, total, dtype))
    }

    async fn repeat_by_lengths_async(self, lengths: Tensor<1, Int>) -> Tensor<1, K> {
        let operation = "Repeat By Lengths";
        let (offsets, last) = offsets_of(operation, &self, lengths);
        let dtype = offsets.dtype();
        let total = read_async(last).await as u64;
        repeat(operation, self, offsets, counted(operation, total, dtype))
    }

    fn repeat_by_lengths_into(self, lengths: Tensor<1, Int>, total: usize) -> Tensor<1, K> {
        let operation = "Repeat By Lengths Into";
        let (offsets, _) = offsets_of(operation, &self, lengths);
        check::holds(operation, offsets.dtype(), total);
        repeat(operation, self, offsets, total)
    }
}

#[track_caller]
fn encode_padded<K: Selectable>(
    operation: &str,
    tensor: Tensor<1, K>,
    fill: bool,
) -> (Tensor<1, K>, Tensor<1, Int>, Tensor<1, Int>) {
    check::dtype(operation, &tensor);
    let int = length_dtype(operation, &tensor);
    let (values, lengths, count) = K::run_lengths_padded(tensor.into_dispatch(), fill, int);
    (
        Tensor::from_dispatch(values),
        Tensor::from_dispatch(lengths),
        Tensor::from_dispatch(count),
    )
}

/// The device's int dtype, in which the lengths of all runs fit a buffer.
#[track_caller]
fn length_dtype<K: Basic>(operation: &str, tensor: &Tensor<1, K>) -> IntDType {
    let (device, elements) = (tensor.device(), tensor.dims()[0]);
    let int = check::position_dtype(operation, &device, elements);
    check::fits(operation, &device, elements, int.into());
    int
}

/// The offset of each value's repetitions, and the total.
#[track_caller]
fn offsets_of<K: Basic>(
    operation: &str,
    values: &Tensor<1, K>,
    lengths: Tensor<1, Int>,
) -> (Tensor<1, Int>, Tensor<1, Int>) {
    check::dtype(operation, values);
    check::dtype(operation, &lengths);
    check::same_device(operation, values, &lengths, "lengths");
    let rule = "There must be one length per value.";
    check::shapes(
        operation,
        rule,
        &values.shape(),
        "lengths",
        &lengths.shape(),
    );
    let rows = lengths.dims()[0];
    let int = values.device().settings().int_dtype;
    let zero = zero(&values.device(), int.into());
    if rows == 0 {
        return (zero.clone(), zero);
    }
    let most = check::largest_int(int.into());
    // Half of the numbers of u64 are larger than any position.
    let exceeds = lengths.dtype() == DType::U64 || check::largest_int(lengths.dtype()) > most;
    let clamped = if exceeds {
        lengths.clamp(0u64, most)
    } else {
        lengths.clamp_min(0)
    };
    let offsets = Tensor::cat(vec![zero, saturating_cumsum(clamped.cast(int), most)], 0);
    let last = offsets.clone().slice(rows..rows + 1);
    (offsets, last)
}

/// The running sums of lengths of at least 0. From the first sum above `most` on, the largest number that the dtype
/// holds, they are `most`: there the wrapped sum is below the length that was added.
fn saturating_cumsum(lengths: Tensor<1, Int>, most: u64) -> Tensor<1, Int> {
    let sums = lengths.clone().inclusive_cumsum(0);
    let is_beyond = sums.clone().lower(lengths);
    let sums = sums.mask_fill(is_beyond, most);
    sums.scan(0, ScanOp::Max, ScanOptions::default())
}

/// The total, which the dtype of the offsets holds.
#[track_caller]
fn counted(operation: &str, total: u64, dtype: DType) -> usize {
    let most = check::largest_int(dtype);
    if total >= most {
        check::fail(
            operation,
            &format!(
                "The lengths add up to {most} or more; their dtype on the device is {dtype:?}."
            ),
        );
    }
    total as usize
}

#[track_caller]
fn repeat<K: Selectable>(
    operation: &str,
    values: Tensor<1, K>,
    offsets: Tensor<1, Int>,
    total: usize,
) -> Tensor<1, K> {
    check::fits(operation, &values.device(), total, values.dtype());
    check::countable(operation, &values.device(), total);
    let (values, offsets) = (values.into_dispatch(), offsets.into_dispatch());
    Tensor::from_dispatch(K::repeat_rows(values, offsets, total))
}

/// The number in a `[1]` tensor. The panic names the device: a remote one may be gone.
pub(super) async fn read_async(number: Tensor<1, Int>) -> usize {
    let device = number.device();
    let data = number.into_data_async().await.unwrap_or_else(|error| {
        panic!("a number cannot be read back from {device:?}: {error}");
    });
    data.iter::<u64>().next().expect("it is one number") as usize
}
