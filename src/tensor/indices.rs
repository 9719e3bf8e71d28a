//! [`MaskIndices`].

use super::kind::Selectable;
use super::runs::read_async;
use crate::check;
use crate::ops::{ScanOps, coordinates, range};
use burn::backend::{Dispatch, DispatchTensor};
use burn::tensor::{Bool, Int, IntDType, Tensor};

/// Where the trues of a mask are: device-side replacements of Burn's host-side `argwhere` and `nonzero`.
///
/// Positions and counts have the device's int dtype. Masks have any shape, empty ones too.
///
/// # Panics
///
/// In Burn's message form, if the device's int dtype cannot number all elements; and, except for `count_true` on the CPU,
/// if their positions would not fit a buffer of the device.
///
/// # Algorithm
///
/// On CubeCL devices this is the compaction of [`TensorCompact`](crate::TensorCompact), with positions as values.
pub trait MaskIndices<const D: usize>: Sized {
    /// The row-major flat positions of the trues, in order. Waits for the device to read the count.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let mask = Tensor::<2, Bool>::from_bool([[true, false], [true, true]], &device);
    /// assert_eq!(mask.compact_indices().into_data().try_to_vec::<i32>().unwrap(), [0, 2, 3]);
    /// ```
    fn compact_indices(self) -> Tensor<1, Int>;

    /// The coordinates of the trues as rows `[count, D]`, in row-major order, like Burn's `argwhere`. Waits for the
    /// device to read the count.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let mask = Tensor::<2, Bool>::from_bool([[true, false], [true, true]], &device);
    /// let rows = mask.compact_argwhere();
    /// assert_eq!(rows.into_data().try_to_vec::<i32>().unwrap(), [0, 0, 1, 0, 1, 1]);
    /// ```
    fn compact_argwhere(self) -> Tensor<2, Int>;

    /// [`compact_indices`](Self::compact_indices) for hosts that must not block, such as a browser.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let mask = Tensor::<1, Bool>::from_bool([true, false, true], &burn::tensor::Device::flex());
    /// let positions = burn::tensor::read_sync(mask.compact_indices_async()); // any executor will do
    /// assert_eq!(positions.into_data().try_to_vec::<i32>().unwrap(), [0, 2]);
    /// ```
    fn compact_indices_async(self) -> impl Future<Output = Tensor<1, Int>>;

    /// [`compact_argwhere`](Self::compact_argwhere) for hosts that must not block, such as a browser.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let mask = Tensor::<2, Bool>::from_bool([[true, false], [true, true]], &burn::tensor::Device::flex());
    /// let rows = burn::tensor::read_sync(mask.compact_argwhere_async()); // any executor will do
    /// assert_eq!(rows.into_data().try_to_vec::<i32>().unwrap(), [0, 0, 1, 0, 1, 1]);
    /// ```
    fn compact_argwhere_async(self) -> impl Future<Output = Tensor<2, Int>>;

    /// The first `size` of the row-major flat positions of the trues, `fill` after them where there are fewer; and the
    /// number of all trues as a `[1]` tensor. `size` may be 0, or exceed the number of elements. Waits for nothing,
    /// like torch's `nonzero_static` and JAX's `size=`.
    ///
    /// # Panics
    ///
    /// Also where no buffer of the device holds `size` positions, or the device's int dtype does not hold `fill`.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let mask = Tensor::<2, Bool>::from_bool([[true, false], [true, true]], &device);
    /// let (positions, count) = mask.clone().compact_indices_padded(2, -1);
    /// assert_eq!(positions.into_data().try_to_vec::<i32>().unwrap(), [0, 2]);
    /// assert_eq!(count.into_scalar::<i64>(), 3);
    /// let (positions, _) = mask.compact_indices_padded(5, -1);
    /// assert_eq!(positions.into_data().try_to_vec::<i32>().unwrap(), [0, 2, 3, -1, -1]);
    /// ```
    fn compact_indices_padded(self, size: usize, fill: i64) -> (Tensor<1, Int>, Tensor<1, Int>);

    /// The first `size` rows of [`compact_argwhere`](Self::compact_argwhere), rows of `fill` after them where there are
    /// fewer; and the number of all trues. As [`compact_indices_padded`](Self::compact_indices_padded).
    ///
    /// # Panics
    ///
    /// As [`compact_indices_padded`](Self::compact_indices_padded).
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let mask = Tensor::<2, Bool>::from_bool([[true, false], [true, false]], &device);
    /// let (rows, count) = mask.compact_argwhere_padded(3, -1);
    /// assert_eq!(rows.into_data().try_to_vec::<i32>().unwrap(), [0, 0, 1, 0, -1, -1]);
    /// assert_eq!(count.into_scalar::<i64>(), 2);
    /// ```
    fn compact_argwhere_padded(self, size: usize, fill: i64) -> (Tensor<2, Int>, Tensor<1, Int>);

    /// The number of trues as a `[1]` tensor. Waits for nothing.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::{Bool, Tensor};
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let mask = Tensor::<1, Bool>::from_bool([true, false, true], &device);
    /// assert_eq!(mask.count_true().into_scalar::<i64>(), 2);
    /// ```
    fn count_true(self) -> Tensor<1, Int>;
}

impl<const D: usize> MaskIndices<D> for Tensor<D, Bool> {
    fn compact_indices(self) -> Tensor<1, Int> {
        let operation = "Compact Indices";
        let int = index_dtype(operation, &self);
        check::waits(operation, &self.device(), "`compact_indices_async`");
        Tensor::from_dispatch(<Dispatch as ScanOps>::mask_indices(
            self.into_dispatch(),
            int,
        ))
    }

    fn compact_argwhere(self) -> Tensor<2, Int> {
        let operation = "Compact Argwhere";
        let int = index_dtype(operation, &self);
        check::waits(operation, &self.device(), "`compact_argwhere_async`");
        Tensor::from_dispatch(<Dispatch as ScanOps>::mask_argwhere(
            self.into_dispatch(),
            int,
        ))
    }

    async fn compact_indices_async(self) -> Tensor<1, Int> {
        if check::is_cpu(self.device().as_dispatch()) {
            return self.compact_indices();
        }
        let int = index_dtype("Compact Indices", &self);
        let indices = indices_front(self.into_dispatch(), int).await;
        Tensor::from_dispatch(indices)
    }

    async fn compact_argwhere_async(self) -> Tensor<2, Int> {
        if check::is_cpu(self.device().as_dispatch()) {
            return self.compact_argwhere();
        }
        let int = index_dtype("Compact Argwhere", &self);
        let shape = self.shape();
        let indices = indices_front(self.into_dispatch(), int).await;
        Tensor::from_dispatch(coordinates::<Dispatch>(indices, &shape, int))
    }

    fn compact_indices_padded(self, size: usize, fill: i64) -> (Tensor<1, Int>, Tensor<1, Int>) {
        let (positions, is_padding, count) =
            first_indices("Compact Indices Padded", self, size, 1, fill);
        let positions = match size {
            0 => positions,
            _ => positions.mask_fill(is_padding, fill),
        };
        (positions, count)
    }

    fn compact_argwhere_padded(self, size: usize, fill: i64) -> (Tensor<2, Int>, Tensor<1, Int>) {
        let shape = self.shape();
        let (positions, is_padding, count) =
            first_indices("Compact Argwhere Padded", self, size, D, fill);
        let int = positions.device().settings().int_dtype;
        if size == 0 {
            let rows = coordinates::<Dispatch>(positions.into_dispatch(), &shape, int);
            return (Tensor::from_dispatch(rows), count);
        }
        // A size beside one of 0 may be larger than the dtype can hold.
        if shape.num_elements() == 0 {
            let rows = Tensor::full([size, D], fill, (&positions.device(), int.into()));
            return (rows, count);
        }
        // What follows the positions is arbitrary.
        let positions = positions.mask_fill(is_padding.clone(), 0);
        let rows = coordinates::<Dispatch>(positions.into_dispatch(), &shape, int);
        let rows = Tensor::<2, Int>::from_dispatch(rows);
        let is_padding = is_padding.reshape([size, 1]).expand([size, D]);
        (rows.mask_fill(is_padding, fill), count)
    }

    fn count_true(self) -> Tensor<1, Int> {
        let operation = "Count True";
        let (device, elements) = (self.device(), self.shape().num_elements());
        let int = check::position_dtype(operation, &device, elements);
        // Elsewhere Burn sums the mask as integers.
        if !check::is_cpu(device.as_dispatch()) {
            check::fits(operation, &device, elements, int.into());
        }
        Tensor::from_dispatch(<Dispatch as ScanOps>::mask_count(self.into_dispatch(), int))
    }
}

/// The first `size` positions, followed by arbitrary values if there are fewer; which entries are such values; and the
/// number of trues. Each position will become `columns` numbers.
#[track_caller]
fn first_indices<const D: usize>(
    operation: &str,
    mask: Tensor<D, Bool>,
    size: usize,
    columns: usize,
    fill: i64,
) -> (Tensor<1, Int>, Tensor<1, Bool>, Tensor<1, Int>) {
    let (device, elements) = (mask.device(), mask.shape().num_elements());
    let int = index_dtype(operation, &mask);
    check::position_dtype(operation, &device, size);
    check::fits(operation, &device, size.saturating_mul(columns), int.into());
    check::filler(operation, int, fill);
    let (positions, count) =
        <Dispatch as ScanOps>::mask_indices_unpadded(mask.into_dispatch(), int);
    let count = Tensor::<1, Int>::from_dispatch(count);
    let positions = <Int as Selectable>::front(positions, size.min(elements));
    let positions = Tensor::<1, Int>::from_dispatch(positions);
    let positions = if size > elements {
        let rest = Tensor::zeros([size - elements], (&device, positions.dtype()));
        match elements {
            0 => rest,
            _ => Tensor::cat(vec![positions, rest], 0),
        }
    } else {
        positions
    };
    let is_padding = match size {
        0 => Tensor::<1, Bool>::empty([0], &device),
        _ => {
            let places = range::<Dispatch>(size, device.as_dispatch(), int);
            Tensor::<1, Int>::from_dispatch(places).greater_equal(count.clone().expand([size]))
        }
    };
    (positions, is_padding, count)
}

/// The positions of the trues, as many as there are.
async fn indices_front(mask: DispatchTensor, int: IntDType) -> DispatchTensor {
    let (indices, count) = <Dispatch as ScanOps>::mask_indices_unpadded(mask, int);
    let count = read_async(Tensor::from_dispatch(count)).await;
    <Int as Selectable>::front(indices, count)
}

/// The device's int dtype, in which the positions of all elements of the mask fit a buffer.
#[track_caller]
fn index_dtype<const D: usize>(operation: &str, mask: &Tensor<D, Bool>) -> IntDType {
    let device = mask.device();
    let elements = mask.shape().num_elements();
    let int = check::position_dtype(operation, &device, elements);
    check::fits(operation, &device, elements, int.into());
    int
}
