//! Every operation that travels: one row each, from which both ends are made.
//!
//! ```text
//! name(tensor: Kind, …; argument: Type, …) -> Kind …, shapes, rule(what, …), …;
//! ```
//!
//! A row gives the method's tensors and arguments in its order; the kinds of its results; their shapes and dtypes,
//! `like` one of the tensors or `by` a function of all tensors and arguments; and the [rules](super::rules) that a
//! server checks, in their order, before it asks for the shapes. Operations that have a body of their own in
//! [`ops`](crate::ops) and call others are not here: those others travel.

/// An operation as it travels, for those who look into a server's traffic.
///
/// # Example
///
/// ```
/// use burn_scan::remote::OPERATIONS;
///
/// let scan = OPERATIONS.iter().find(|operation| operation.id == "burn-scan/float_scan").unwrap();
/// assert_eq!(scan.tensors, ["Float"]);
/// assert_eq!(scan.arguments[0], ("dim", "usize"));
/// assert_eq!(scan.results, ["Float"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation {
    /// Under which a server registers it.
    pub id: &'static str,
    /// The kinds of its tensors.
    pub tensors: &'static [&'static str],
    /// Names and types of its arguments, which follow [`PROTOCOL`](super::PROTOCOL) in the scalars.
    pub arguments: &'static [(&'static str, &'static str)],
    /// The kinds of its results.
    pub results: &'static [&'static str],
}

/// The id of an operation.
macro_rules! id {
    ($op:ident) => {
        concat!("burn-scan/", stringify!($op))
    };
}

/// What the results look like: `like` a tensor or `by` a function in `crate::ops`.
macro_rules! results_of {
    (like $first:ident; $($all:expr),*) => {{
        let _ = ($($all),*);
        $first.clone()
    }};
    (by $spec:ident; $($all:expr),*) => { crate::ops::$spec($($all),*) };
}

/// `$each! { Trait: rows }` for every trait.
macro_rules! every_operation {
    ($each:ident) => {
        scan_operations! { $each }
        selection_operations! {
            $each, FloatSelectionOps, Float, float_compact_padded, float_front, float_expand_by_mask,
            float_compact_dim_padded, float_expand_dim, float_compact_along, float_repeat_rows,
            float_run_lengths_padded, float_scatter_to, float_gather_from
        }
        selection_operations! {
            $each, IntSelectionOps, Int, int_compact_padded, int_front, int_expand_by_mask,
            int_compact_dim_padded, int_expand_dim, int_compact_along, int_repeat_rows,
            int_run_lengths_padded, int_scatter_to, int_gather_from
        }
        selection_operations! {
            $each, BoolSelectionOps, Bool, bool_compact_padded, bool_front, bool_expand_by_mask,
            bool_compact_dim_padded, bool_expand_dim, bool_compact_along, bool_repeat_rows,
            bool_run_lengths_padded, bool_scatter_to, bool_gather_from
        }
    };
}

macro_rules! scan_operations {
    ($each:ident) => {
        $each! { ScanOps:
            float_scan(tensor: Float; dim: usize, op: ScanOp, options: ScanOptions) -> Float,
                like tensor, dimension(tensor, dim);
            int_scan(tensor: Int; dim: usize, op: ScanOp, options: ScanOptions) -> Int,
                like tensor, dimension(tensor, dim), of_ints(op);
            float_scan_from(tensor: Float, initial: Float; dim: usize, op: ScanOp, options: ScanOptions) -> Float,
                like tensor, one_a_line(initial, tensor, dim);
            int_scan_from(tensor: Int, initial: Int; dim: usize, op: ScanOp, options: ScanOptions) -> Int,
                like tensor, one_a_line(initial, tensor, dim), of_ints(op);
            float_linear_recurrence(values: Float, decay: Float; dim: usize, reverse: bool) -> Float,
                like values, dimension(values, dim), alike(decay, values);
            float_linear_recurrence_from(values: Float, decay: Float, initial: Float; dim: usize, reverse: bool)
                -> Float,
                like values, alike(decay, values), one_a_line(initial, values, dim);
            float_recurrence_adjoint(flow: Float, decay: Float, results: Float; dim: usize, reverse: bool)
                -> Float Float,
                by adjoint_spec, dimension(flow, dim), alike(decay, flow), alike(results, flow), has_elements(flow);
            float_recurrence_adjoint_from(
                flow: Float, decay: Float, results: Float, initial: Float; dim: usize, reverse: bool
            ) -> Float Float Float,
                by adjoint_from_spec, alike(decay, flow), alike(results, flow), one_a_line(initial, flow, dim),
                has_elements(flow);
            float_segmented_scan(tensor: Float, starts: Bool; dim: usize, op: ScanOp, options: ScanOptions) -> Float,
                like tensor, dimension(tensor, dim), same_shape(starts, tensor);
            int_segmented_scan(tensor: Int, starts: Bool; dim: usize, op: ScanOp, options: ScanOptions) -> Int,
                like tensor, dimension(tensor, dim), same_shape(starts, tensor), of_ints(op);
            float_extremum_with_indices(tensor: Float; dim: usize, is_max: bool, int_dtype: IntDType) -> Float Int,
                by extremum_spec, dimension(tensor, dim), has_int(int_dtype);
            int_extremum_with_indices(tensor: Int; dim: usize, is_max: bool, int_dtype: IntDType) -> Int Int,
                by extremum_spec, dimension(tensor, dim), has_int(int_dtype);
            float_segment_sums(values: Float, heads: Bool; dim: usize, reverse: bool) -> Float,
                like values, dimension(values, dim), same_shape(heads, values);
            mask_indices_unpadded(mask: Bool; int_dtype: IntDType) -> Int Int,
                by indices_spec, numbered(mask), has_int(int_dtype);
            segment_ids(offsets: Int; len: usize) -> Int,
                by segment_ids_spec, offsets(offsets), countable(len);
            segment_starts(offsets: Int; len: usize, bool_dtype: BoolDType) -> Bool,
                by segment_starts_spec, offsets(offsets), countable(len), has_bool(bool_dtype);
            float_segment_reduce(values: Float, offsets: Int; op: ScanOp) -> Float,
                by segment_reduce_spec, rows(values), offsets(offsets);
            int_segment_reduce(values: Int, offsets: Int; op: ScanOp) -> Int,
                by segment_reduce_spec, rows(values), offsets(offsets), of_ints(op);
            partition_ranks(keys: Int; num_keys: usize, int_dtype: IntDType) -> Int Int,
                by partition_ranks_spec, vector(keys), numbered(keys), groups(num_keys), has_int(int_dtype);
        }
    };
}

macro_rules! selection_operations {
    (
        $each:ident, $Trait:ident, $Kind:ident, $compact_padded:ident, $front:ident, $expand:ident,
        $compact_dim_padded:ident, $expand_dim:ident, $compact_along:ident, $repeat_rows:ident,
        $run_lengths_padded:ident, $scatter:ident, $gather:ident
    ) => {
        $each! { $Trait:
            $compact_padded(values: $Kind, mask: Bool; fill: bool, int_dtype: IntDType) -> $Kind Int,
                by compact_spec, same_shape(mask, values), numbered(mask), has_int(int_dtype);
            $front(values: $Kind; count: usize) -> $Kind,
                by front_spec, within(count, values);
            $expand(values: $Kind, mask: Bool;) -> $Kind,
                by expand_spec, vector(values), numbered(mask);
            $compact_dim_padded(values: $Kind, mask: Bool; dim: usize, int_dtype: IntDType) -> $Kind Int,
                by compact_dim_spec, along(mask, values, dim), numbered(mask), has_int(int_dtype);
            $expand_dim(values: $Kind, mask: Bool; dim: usize) -> $Kind,
                by expand_dim_spec, dimension(values, dim), vector(mask), numbered(mask);
            $compact_along(values: $Kind, mask: Bool; dim: usize, int_dtype: IntDType) -> $Kind Int,
                by compact_along_spec, dimension(values, dim), same_shape(mask, values), numbered(mask),
                has_int(int_dtype);
            $repeat_rows(values: $Kind, offsets: Int; total: usize) -> $Kind,
                by repeat_rows_spec, offsets_of(offsets, values), countable(total);
            $run_lengths_padded(values: $Kind; fill: bool, int_dtype: IntDType) -> $Kind Int Int,
                by run_lengths_spec, vector(values), numbered(values), has_int(int_dtype);
            $scatter(values: $Kind, destinations: Int, offsets: Int;) -> $Kind,
                like values, vector(values), same_shape(destinations, values), offsets(offsets), same_dtype(offsets, destinations);
            $gather(values: $Kind, destinations: Int, offsets: Int;) -> $Kind,
                like values, vector(values), same_shape(destinations, values), offsets(offsets), same_dtype(offsets, destinations);
        }
    };
}

pub(super) use {every_operation, id, results_of, scan_operations, selection_operations};

/// A const of one trait's operations.
macro_rules! described {
    ($Trait:ident: $(
        $op:ident($($t:ident: $Kind:ident),+; $($a:ident: $A:ident),*) -> $($Out:ident)+,
            $how:ident $spec:ident $(, $rule:ident($($what:ident),*))*;
    )+) => {
        #[allow(non_upper_case_globals, reason = "named as the trait whose operations they are")]
        const $Trait: &[Operation] = &[$(
            Operation {
                id: id!($op),
                tensors: &[$(stringify!($Kind)),+],
                arguments: &[$((stringify!($a), stringify!($A))),*],
                results: &[$(stringify!($Out)),+],
            },
        )+];
    };
}

every_operation!(described);

/// All operations of [`PROTOCOL`](super::PROTOCOL), as [`custom_ops`](super::custom_ops) registers them.
pub const OPERATIONS: &[Operation] = &joined();

const COUNT: usize =
    ScanOps.len() + FloatSelectionOps.len() + IntSelectionOps.len() + BoolSelectionOps.len();

/// The operations of all traits, one trait after the other.
const fn joined() -> [Operation; COUNT] {
    let mut all = [ScanOps[0]; COUNT];
    let lists = [
        ScanOps,
        FloatSelectionOps,
        IntSelectionOps,
        BoolSelectionOps,
    ];
    let (mut list, mut at) = (0, 0);
    while list < lists.len() {
        let mut i = 0;
        while i < lists[list].len() {
            all[at] = lists[list][i];
            (at, i) = (at + 1, i + 1);
        }
        list += 1;
    }
    all
}
