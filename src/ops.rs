//! The backend operations behind the tensor methods, for backend authors.
//!
//! Users call the traits of the [prelude](crate::prelude). A backend that implements [`ScanOps`] and the three move traits serves them
//! all; `Dispatch` and the fused backends follow from the extension macro.
//!
//! Masks and keys have been checked against the values by then; dimensions are in range. Counts and offsets have the integer type asked for.

#![cfg_attr(
    not(any(feature = "flex", feature = "cubecl-backend", feature = "remote")),
    allow(
        unused_variables,
        reason = "without a backend the extension macro has nowhere to pass arguments on"
    )
)]

mod composed;
pub(crate) mod shift;

pub(crate) use composed::float_scan_behind;

use crate::{ScanOp, ScanOptions};
#[cfg(feature = "fusion")]
use burn::backend::fusion::custom::TensorSpec;
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::backend::{Backend, TensorMetadata, backend_extension};
use burn::tensor::{BoolDType, IntDType, Shape, Slice};
use composed::{adjoint_by_scan, adjoint_from_by_scan, scan_behind, segment_sums_by_index};

/// Everything a backend offers to this crate.
pub trait ScanBackend: ScanOps + FloatSelectionOps + IntSelectionOps + BoolSelectionOps {}
impl<B: ScanOps + FloatSelectionOps + IntSelectionOps + BoolSelectionOps> ScanBackend for B {}

/// Scans, and the positions of masks and keys.
#[backend_extension(
    Fusion: cfg(feature = "fusion"),
    Flex: cfg(feature = "flex"),
    Cube: cfg(feature = "cubecl-backend"),
    Autodiff: cfg(feature = "autodiff"),
    Remote: cfg(feature = "remote"),
)]
pub trait ScanOps: Backend {
    /// Scans along `dim`.
    #[fusion(dtype = tensor, shape = tensor)]
    fn float_scan(
        tensor: FloatTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self>;

    /// Scans along `dim`.
    #[fusion(dtype = tensor, shape = tensor)]
    fn int_scan(
        tensor: IntTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> IntTensor<Self>;

    /// As [`float_scan`](Self::float_scan), each line beginning with `initial`, which has size 1 along `dim`, instead of the identity.
    #[fusion(dtype = tensor, shape = tensor)]
    fn float_scan_from(
        tensor: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self> {
        float_scan_behind::<Self>(tensor, initial, dim, op, options)
    }

    /// As [`int_scan`](Self::int_scan), each line beginning with `initial`, which has size 1 along `dim`, instead of the identity.
    #[fusion(dtype = tensor, shape = tensor)]
    fn int_scan_from(
        tensor: IntTensor<Self>,
        initial: IntTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> IntTensor<Self> {
        let scan = |tensor| Self::int_scan(tensor, dim, op, options.inclusive());
        scan_behind(
            tensor,
            initial,
            dim,
            options,
            Self::int_slice,
            Self::int_cat,
            scan,
        )
    }

    /// `h[t] = decay[t]·h[t−1] + values[t]` along `dim` from 0, or in `reverse` with `h[t+1]` from the end. The decay has the shape of the values.
    #[fusion(dtype = values, shape = values)]
    fn float_linear_recurrence(
        values: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        dim: usize,
        reverse: bool,
    ) -> FloatTensor<Self>;

    /// The same from `initial`, which has size 1 along `dim`.
    #[fusion(dtype = values, shape = values)]
    fn float_linear_recurrence_from(
        values: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        dim: usize,
        reverse: bool,
    ) -> FloatTensor<Self>;

    /// What flows back to the values and to the decay of a [linear recurrence](Self::float_linear_recurrence), where `flow` flows back to its
    /// `results`. No tensor is empty.
    #[fusion(meta = adjoint_spec)]
    fn float_recurrence_adjoint(
        flow: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        results: FloatTensor<Self>,
        dim: usize,
        reverse: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        adjoint_by_scan::<Self>(flow, decay, results, None, dim, reverse)
    }

    /// The same of one [from `initial`](Self::float_linear_recurrence_from), to which the last result flows back.
    #[fusion(meta = adjoint_from_spec)]
    fn float_recurrence_adjoint_from(
        flow: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        results: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        dim: usize,
        reverse: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        adjoint_from_by_scan::<Self>(flow, decay, results, initial, dim, reverse)
    }

    /// As [`float_scan`](Self::float_scan), each segment of a line on its own: one begins at a line's first element, and in the order of memory wherever
    /// `starts` says so.
    #[fusion(dtype = tensor, shape = tensor)]
    fn float_segmented_scan(
        tensor: FloatTensor<Self>,
        starts: BoolTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self>;

    /// The same of integers.
    #[fusion(dtype = tensor, shape = tensor)]
    fn int_segmented_scan(
        tensor: IntTensor<Self>,
        starts: BoolTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> IntTensor<Self>;

    /// The running maxima along `dim`, or minima, and their positions along it: of equal elements the last, of several NaN the last.
    #[fusion(meta = extremum_spec)]
    fn float_extremum_with_indices(
        tensor: FloatTensor<Self>,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>);

    /// The same of integers.
    #[fusion(meta = extremum_spec)]
    fn int_extremum_with_indices(
        tensor: IntTensor<Self>,
        dim: usize,
        is_max: bool,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>);

    /// At each head the sum of the values from it up to the next one, along `dim` and, in `reverse`, from its end; zero
    /// elsewhere. The first of a line is a head whatever `heads` says. The adjoint of a running maximum.
    #[fusion(dtype = values, shape = values)]
    fn float_segment_sums(
        values: FloatTensor<Self>,
        heads: BoolTensor<Self>,
        dim: usize,
        reverse: bool,
    ) -> FloatTensor<Self> {
        segment_sums_by_index::<Self>(values, heads, dim, reverse)
    }

    /// The row-major positions of the trues at the front of a tensor as long as the mask, what is behind them being unspecified; and
    /// their number.
    #[fusion(meta = indices_spec)]
    fn mask_indices_unpadded(
        mask: BoolTensor<Self>,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>);

    /// The row-major positions of the trues. Reads their number back.
    #[fusion(default)]
    fn mask_indices(mask: BoolTensor<Self>, int_dtype: IntDType) -> IntTensor<Self> {
        let (indices, count) = Self::mask_indices_unpadded(mask, int_dtype);
        Self::int_slice(indices, &[first(read_count::<Self>(count))])
    }

    /// The coordinates of the trues, one row each, in row-major order. Reads their number back.
    #[fusion(default)]
    fn mask_argwhere(mask: BoolTensor<Self>, int_dtype: IntDType) -> IntTensor<Self> {
        let shape = mask.shape();
        coordinates::<Self>(Self::mask_indices(mask, int_dtype), &shape, int_dtype)
    }

    /// The segment of each of `len` elements, given where segments begin and the last one ends; the number of segments behind it. Nothing
    /// depends on the offsets but the result: bad ones lead to a bad one.
    #[fusion(meta = segment_ids_spec)]
    fn segment_ids(offsets: IntTensor<Self>, len: usize) -> IntTensor<Self>;

    /// Whether a segment begins at each of `len` elements, or the last one ends before it.
    #[fusion(meta = segment_starts_spec)]
    fn segment_starts(
        offsets: IntTensor<Self>,
        len: usize,
        bool_dtype: BoolDType,
    ) -> BoolTensor<Self>;

    /// The total of each segment along the first dimension, given where segments begin and the last one ends; of an empty one the identity.
    #[fusion(meta = segment_reduce_spec)]
    fn float_segment_reduce(
        values: FloatTensor<Self>,
        offsets: IntTensor<Self>,
        op: ScanOp,
    ) -> FloatTensor<Self>;

    /// The same of integers.
    #[fusion(meta = segment_reduce_spec)]
    fn int_segment_reduce(
        values: IntTensor<Self>,
        offsets: IntTensor<Self>,
        op: ScanOp,
    ) -> IntTensor<Self>;

    /// For each key its destination in a stable grouping by `0..num_keys`, −1 for a key out of range; and where each group begins, the
    /// number of keys in range last.
    #[fusion(meta = partition_ranks_spec)]
    fn partition_ranks(
        keys: IntTensor<Self>,
        num_keys: usize,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>);
}

/// The trait of one kind of values; the kinds differ in nothing but their tensor type.
macro_rules! selection_ops {
    (
        $(#[$doc:meta])*
        $Trait:ident: $($Super:ident)+, $Tensor:ident, $slice:ident, $reshape:ident,
        $compact_padded:ident, $compact:ident, $expand:ident,
        $compact_dim_padded:ident, $compact_dim:ident, $expand_dim:ident,
        $scatter:ident, $gather:ident, $front:ident,
        $compact_along:ident, $repeat_rows:ident, $run_lengths_padded:ident, $run_lengths:ident
    ) => {
        $(#[$doc])*
        #[backend_extension(
            Fusion: cfg(feature = "fusion"),
            Flex: cfg(feature = "flex"),
            Cube: cfg(feature = "cubecl-backend"),
            Autodiff: cfg(feature = "autodiff"),
            Remote: cfg(feature = "remote"),
        )]
        pub trait $Trait: $($Super +)+ {
            /// The values under `true`, row-major and in order, at the front of a tensor as long as the values; and how many they are. Behind
            /// them are zeros if `fill`, else nothing that may be relied on.
            #[fusion(meta = compact_spec)]
            fn $compact_padded(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                fill: bool,
                int_dtype: IntDType,
            ) -> ($Tensor<Self>, IntTensor<Self>);

            /// The values under `true`, row-major and in order. Reads their number back.
            #[fusion(default)]
            fn $compact(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                int_dtype: IntDType,
            ) -> $Tensor<Self> {
                let (padded, count) = Self::$compact_padded(values, mask, false, int_dtype);
                Self::$front(padded, read_count::<Self>(count))
            }

            /// The first `count` of the values of a one-dimensional tensor.
            #[fusion(meta = front_spec)]
            fn $front(values: $Tensor<Self>, count: usize) -> $Tensor<Self> {
                Self::$slice(values, &[first(count)])
            }

            /// The `i`-th true of `mask` receives `values[i]`; zero elsewhere and where values are missing.
            #[fusion(meta = expand_spec)]
            fn $expand(values: $Tensor<Self>, mask: BoolTensor<Self>) -> $Tensor<Self>;

            /// The slices along `dim` under `true`, in order, zeros behind them; and how many they are.
            #[fusion(meta = compact_dim_spec)]
            fn $compact_dim_padded(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                dim: usize,
                int_dtype: IntDType,
            ) -> ($Tensor<Self>, IntTensor<Self>);

            /// The slices along `dim` under `true`, in order. Reads their number back.
            #[fusion(default)]
            fn $compact_dim(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                dim: usize,
                int_dtype: IntDType,
            ) -> $Tensor<Self> {
                let (padded, count) = Self::$compact_dim_padded(values, mask, dim, int_dtype);
                let count = read_count::<Self>(count);
                first_slices(padded, dim, count, Self::$slice, Self::$reshape)
            }

            /// The inverse along one dimension: the `i`-th true of `mask` receives slice `i` of `values`; zero elsewhere.
            #[fusion(meta = expand_dim_spec)]
            fn $expand_dim(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                dim: usize,
            ) -> $Tensor<Self>;

            /// Each line along `dim` on its own: its values under `true` in order, zeros behind them; and how many they are.
            #[fusion(meta = compact_along_spec)]
            fn $compact_along(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                dim: usize,
                int_dtype: IntDType,
            ) -> ($Tensor<Self>, IntTensor<Self>);

            /// Row `j` of the first dimension from `offsets[j]` up to the next offset, in `total` rows; zeros behind the last offset. There is
            /// one offset more than rows.
            #[fusion(meta = repeat_rows_spec)]
            fn $repeat_rows(
                values: $Tensor<Self>,
                offsets: IntTensor<Self>,
                total: usize,
            ) -> $Tensor<Self>;

            /// The runs of equal elements of a one-dimensional tensor: the value of each and its length; and how many they are. Behind them are
            /// zeros if `fill`, else nothing that may be relied on. NaN equals nothing.
            #[fusion(meta = run_lengths_spec)]
            fn $run_lengths_padded(
                values: $Tensor<Self>,
                fill: bool,
                int_dtype: IntDType,
            ) -> ($Tensor<Self>, IntTensor<Self>, IntTensor<Self>);

            /// The same without what is behind them. Reads their number back.
            #[fusion(default)]
            fn $run_lengths(
                values: $Tensor<Self>,
                int_dtype: IntDType,
            ) -> ($Tensor<Self>, IntTensor<Self>) {
                let (values, lengths, count) = Self::$run_lengths_padded(values, false, int_dtype);
                let count = read_count::<Self>(count);
                let lengths = <Self as IntSelectionOps>::int_front(lengths, count);
                (Self::$front(values, count), lengths)
            }

            /// `output[destinations[i]] = values[i]`, zero behind the destinations; destinations below 0 point nowhere. The others are ranks, as those of
            /// [`ScanOps::partition_ranks`], the last of whose `offsets` is their number.
            #[fusion(dtype = values, shape = values)]
            fn $scatter(
                values: $Tensor<Self>,
                destinations: IntTensor<Self>,
                offsets: IntTensor<Self>,
            ) -> $Tensor<Self>;

            /// `output[i] = values[destinations[i]]`, zero where the destination is below 0: the adjoint of scattering to these destinations.
            #[fusion(dtype = values, shape = values)]
            fn $gather(
                values: $Tensor<Self>,
                destinations: IntTensor<Self>,
                offsets: IntTensor<Self>,
            ) -> $Tensor<Self>;
        }
    };
}

selection_ops!(
    /// Compaction, expansion and grouping of float tensors.
    FloatSelectionOps: Backend IntSelectionOps, FloatTensor, float_slice, float_reshape,
    float_compact_padded, float_compact, float_expand_by_mask,
    float_compact_dim_padded, float_compact_dim, float_expand_dim,
    float_scatter_to, float_gather_from, float_front,
    float_compact_along, float_repeat_rows, float_run_lengths_padded, float_run_lengths
);
selection_ops!(
    /// Compaction, expansion and grouping of int tensors.
    IntSelectionOps: Backend, IntTensor, int_slice, int_reshape,
    int_compact_padded, int_compact, int_expand_by_mask,
    int_compact_dim_padded, int_compact_dim, int_expand_dim,
    int_scatter_to, int_gather_from, int_front,
    int_compact_along, int_repeat_rows, int_run_lengths_padded, int_run_lengths
);
selection_ops!(
    /// Compaction, expansion and grouping of bool tensors.
    BoolSelectionOps: Backend IntSelectionOps, BoolTensor, bool_slice, bool_reshape,
    bool_compact_padded, bool_compact, bool_expand_by_mask,
    bool_compact_dim_padded, bool_compact_dim, bool_expand_dim,
    bool_scatter_to, bool_gather_from, bool_front,
    bool_compact_along, bool_repeat_rows, bool_run_lengths_padded, bool_run_lengths
);

/// The coordinates in a tensor of `shape` of row-major positions, one row each.
pub(crate) fn coordinates<B: Backend>(
    indices: IntTensor<B>,
    shape: &Shape,
    int_dtype: IntDType,
) -> IntTensor<B> {
    let count = indices.shape()[0];
    if count == 0 {
        // Burn's element-wise kernels do not take empty tensors on every backend.
        return B::int_empty([0, shape.num_dims()].into(), &indices.device(), int_dtype);
    }
    let mut stride: usize = shape.iter().product();
    let columns = shape.iter().map(|&size| {
        stride = stride.checked_div(size).unwrap_or(0).max(1);
        let coordinate = B::int_div_scalar(indices.clone(), (stride as i64).into());
        let coordinate = B::int_remainder_scalar(coordinate, (size.max(1) as i64).into());
        B::int_reshape(coordinate, [count, 1].into())
    });
    B::int_cat(columns.collect(), 1)
}

/// The slice of the first `count` entries.
fn first(count: usize) -> Slice {
    Slice::from(0..count)
}

/// The first `count` slices along `dim`.
///
/// A tensor without elements is reshaped: Burn's slice of one leaves out of its memory, on CubeCL's devices, what the slices behind the
/// kept ones would take, and fails.
pub(crate) fn first_slices<T: TensorMetadata>(
    tensor: T,
    dim: usize,
    count: usize,
    slice: impl FnOnce(T, &[Slice]) -> T,
    reshape: impl FnOnce(T, Shape) -> T,
) -> T {
    let shape = tensor.shape();
    if shape.num_elements() == 0 {
        return reshape(tensor, with_dim(&shape, dim, count));
    }
    let mut slices = vec![Slice::full(); shape.num_dims()];
    slices[dim] = first(count);
    slice(tensor, &slices)
}

/// Waits for the device and reads the one number of a `[1]` tensor. A remote device may have gone: the panic says which.
fn read_count<B: Backend>(count: IntTensor<B>) -> usize {
    let device = count.device();
    burn_backend::read_sync(B::int_into_data(count))
        .unwrap_or_else(|error| panic!("the count cannot be read back from {device:?}: {error}"))
        .iter::<i64>()
        .next()
        .expect("the count is one number") as usize
}

/// `shape` with `size` entries along `dim`.
pub(crate) fn with_dim(shape: &Shape, dim: usize, size: usize) -> Shape {
    let mut shape = shape.clone();
    shape[dim] = size;
    shape
}

#[cfg(feature = "fusion")]
pub(crate) fn adjoint_spec(
    flow: &TensorSpec,
    _decay: &TensorSpec,
    _results: &TensorSpec,
    _dim: &usize,
    _reverse: &bool,
) -> (TensorSpec, TensorSpec) {
    (flow.clone(), flow.clone())
}

#[cfg(feature = "fusion")]
pub(crate) fn adjoint_from_spec(
    flow: &TensorSpec,
    _decay: &TensorSpec,
    _results: &TensorSpec,
    initial: &TensorSpec,
    _dim: &usize,
    _reverse: &bool,
) -> (TensorSpec, TensorSpec, TensorSpec) {
    (flow.clone(), flow.clone(), initial.clone())
}

#[cfg(feature = "fusion")]
pub(crate) fn extremum_spec(
    tensor: &TensorSpec,
    _dim: &usize,
    _is_max: &bool,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    let positions = TensorSpec::new(tensor.shape.clone(), (*int_dtype).into());
    (tensor.clone(), positions)
}

#[cfg(feature = "fusion")]
pub(crate) fn indices_spec(mask: &TensorSpec, int_dtype: &IntDType) -> (TensorSpec, TensorSpec) {
    let n = mask.shape.num_elements();
    let spec = |n: usize| TensorSpec::new([n].into(), (*int_dtype).into());
    (spec(n), spec(1))
}

#[cfg(feature = "fusion")]
pub(crate) fn partition_ranks_spec(
    keys: &TensorSpec,
    num_keys: &usize,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    let spec = |n: usize| TensorSpec::new([n].into(), (*int_dtype).into());
    (spec(keys.shape.num_elements()), spec(num_keys + 1))
}

#[cfg(feature = "fusion")]
pub(crate) fn segment_ids_spec(offsets: &TensorSpec, len: &usize) -> TensorSpec {
    TensorSpec::new([*len].into(), offsets.dtype)
}

#[cfg(feature = "fusion")]
pub(crate) fn segment_starts_spec(
    _offsets: &TensorSpec,
    len: &usize,
    bool_dtype: &BoolDType,
) -> TensorSpec {
    TensorSpec::new([*len].into(), (*bool_dtype).into())
}

#[cfg(feature = "fusion")]
pub(crate) fn segment_reduce_spec(
    values: &TensorSpec,
    offsets: &TensorSpec,
    _op: &ScanOp,
) -> TensorSpec {
    TensorSpec::new(
        with_dim(&values.shape, 0, offsets.shape[0] - 1),
        values.dtype,
    )
}

#[cfg(feature = "fusion")]
pub(crate) fn compact_along_spec(
    values: &TensorSpec,
    _mask: &TensorSpec,
    dim: &usize,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    let counts = TensorSpec::new(with_dim(&values.shape, *dim, 1), (*int_dtype).into());
    (values.clone(), counts)
}

#[cfg(feature = "fusion")]
pub(crate) fn repeat_rows_spec(
    values: &TensorSpec,
    _offsets: &TensorSpec,
    total: &usize,
) -> TensorSpec {
    TensorSpec::new(with_dim(&values.shape, 0, *total), values.dtype)
}

#[cfg(feature = "fusion")]
pub(crate) fn run_lengths_spec(
    values: &TensorSpec,
    _fill: &bool,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec, TensorSpec) {
    let int = |shape: Shape| TensorSpec::new(shape, (*int_dtype).into());
    (values.clone(), int(values.shape.clone()), int([1].into()))
}

#[cfg(feature = "fusion")]
pub(crate) fn compact_spec(
    values: &TensorSpec,
    _mask: &TensorSpec,
    _fill: &bool,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    let flat = [values.shape.num_elements()].into();
    (
        TensorSpec::new(flat, values.dtype),
        TensorSpec::new([1].into(), (*int_dtype).into()),
    )
}

#[cfg(feature = "fusion")]
pub(crate) fn front_spec(values: &TensorSpec, count: &usize) -> TensorSpec {
    TensorSpec::new([*count].into(), values.dtype)
}

#[cfg(feature = "fusion")]
pub(crate) fn compact_dim_spec(
    values: &TensorSpec,
    _mask: &TensorSpec,
    _dim: &usize,
    int_dtype: &IntDType,
) -> (TensorSpec, TensorSpec) {
    (
        values.clone(),
        TensorSpec::new([1].into(), (*int_dtype).into()),
    )
}

#[cfg(feature = "fusion")]
pub(crate) fn expand_spec(values: &TensorSpec, mask: &TensorSpec) -> TensorSpec {
    TensorSpec::new(mask.shape.clone(), values.dtype)
}

#[cfg(feature = "fusion")]
pub(crate) fn expand_dim_spec(values: &TensorSpec, mask: &TensorSpec, dim: &usize) -> TensorSpec {
    TensorSpec::new(with_dim(&values.shape, *dim, mask.shape[0]), values.dtype)
}
