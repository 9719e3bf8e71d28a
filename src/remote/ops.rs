//! Every operation that travels: one row each. Both ends are made from the rows.
//!
//! ```text
//! name(tensor: Kind, …; argument: Type, …) -> Kind …, shapes, rule(what, …), …;
//! ```
//!
//! A row names the method's tensors and arguments in their order, and the kinds of its results. The shapes and dtypes
//! of the results are `like` one of the tensors, or `by` a function of all tensors and arguments. The
//! [rules](super::rules) are what a server checks, in their order, before it computes the shapes. The rows of the
//! selections are made from the list in [`ops::selections`](crate::ops::selections). Exact selections and other
//! operations that only call further operations are not here: those further operations travel.

/// An operation as it travels, for programs that inspect a server's traffic.
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
    /// The name under which a server registers it.
    pub id: &'static str,
    /// The kinds of its tensors.
    pub tensors: &'static [&'static str],
    /// Names and types of its arguments. They follow [`PROTOCOL`](super::PROTOCOL) in the scalars.
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

/// Shapes and dtypes of the results: `like` a tensor, or `by` a function in `crate::ops::specs`.
macro_rules! results_of {
    (like $first:ident; $($all:expr),*) => {{
        let _ = ($($all),*);
        $first.clone()
    }};
    (by $spec:ident; $($all:expr),*) => { crate::ops::specs::$spec($($all),*) };
}

/// `$each! { Trait: rows }` for every trait.
macro_rules! every_operation {
    ($each:ident) => {
        scan_operations! { $each }
        sort_operations! { $each }
        for_each_kind! { selection_operations(Float, Int, Bool) $each }
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
                like tensor, one_a_line(initial, tensor, dim), joined(tensor, initial);
            int_scan_from(tensor: Int, initial: Int; dim: usize, op: ScanOp, options: ScanOptions) -> Int,
                like tensor, one_a_line(initial, tensor, dim), joined(tensor, initial), of_ints(op);
            float_linear_recurrence(values: Float, decay: Float; dim: usize, options: ScanOptions) -> Float,
                like values, dimension(values, dim), alike(decay, values);
            float_linear_recurrence_from(
                values: Float, decay: Float, initial: Float; dim: usize, options: ScanOptions
            ) -> Float,
                like values, alike(decay, values), one_a_line(initial, values, dim);
            float_reset_recurrence(values: Float, decay: Float; dim: usize, options: ScanOptions) -> Float,
                like values, dimension(values, dim), alike(decay, values);
            float_recurrence_adjoint(flow: Float, decay: Float, results: Float; dim: usize, reverse: bool)
                -> Float Float,
                by adjoint, dimension(flow, dim), alike(decay, flow), alike(results, flow), has_elements(flow);
            float_recurrence_adjoint_from(
                flow: Float, decay: Float, results: Float, initial: Float; dim: usize, reverse: bool
            ) -> Float Float Float,
                by adjoint_from, alike(decay, flow), alike(results, flow), one_a_line(initial, flow, dim),
                has_elements(flow);
            float_segmented_scan(tensor: Float, starts: Bool; dim: usize, op: ScanOp, options: ScanOptions) -> Float,
                like tensor, dimension(tensor, dim), same_shape(starts, tensor);
            int_segmented_scan(tensor: Int, starts: Bool; dim: usize, op: ScanOp, options: ScanOptions) -> Int,
                like tensor, dimension(tensor, dim), same_shape(starts, tensor), of_ints(op);
            float_extremum_with_indices(tensor: Float; dim: usize, is_max: bool, int_dtype: IntDType) -> Float Int,
                by extremum, dimension(tensor, dim), has_int(int_dtype);
            int_extremum_with_indices(tensor: Int; dim: usize, is_max: bool, int_dtype: IntDType) -> Int Int,
                by extremum, dimension(tensor, dim), has_int(int_dtype);
            float_segment_sums(values: Float, heads: Bool; dim: usize, reverse: bool) -> Float,
                like values, dimension(values, dim), same_shape(heads, values);
            mask_indices_unpadded(mask: Bool; int_dtype: IntDType) -> Int Int,
                by mask_indices, numbered(mask), has_int(int_dtype);
            mask_count(mask: Bool; int_dtype: IntDType) -> Int,
                by mask_count, numbered(mask), has_int(int_dtype);
            segment_ids(offsets: Int; len: usize) -> Int,
                by segment_ids, bounds(offsets), countable(len);
            segment_starts(offsets: Int; len: usize, bool_dtype: BoolDType) -> Bool,
                by segment_starts, offsets(offsets), countable(len), has_bool(bool_dtype);
            float_segment_reduce(values: Float, offsets: Int; op: ScanOp) -> Float,
                by segment_reduce, reduced(values), bounds(offsets);
            int_segment_reduce(values: Int, offsets: Int; op: ScanOp) -> Int,
                by segment_reduce, reduced(values), bounds(offsets), of_ints(op);
            partition_ranks(keys: Int; num_keys: usize, int_dtype: IntDType) -> Int Int,
                by partition_ranks, grouped(keys), numbered(keys), groups(num_keys), has_int(int_dtype);
        }
    };
}

macro_rules! sort_operations {
    ($each:ident) => {
        $each! { SortOps:
            float_radix_sort(tensor: Float; dim: usize, order: SortOrder) -> Float,
                like tensor, dimension(tensor, dim), numbered(tensor);
            int_radix_sort(tensor: Int; dim: usize, order: SortOrder) -> Int,
                like tensor, dimension(tensor, dim), numbered(tensor);
            float_radix_argsort(tensor: Float; dim: usize, order: SortOrder, int_dtype: IntDType) -> Int,
                by radix_argsort, dimension(tensor, dim), numbered(tensor), has_int(int_dtype);
            int_radix_argsort(tensor: Int; dim: usize, order: SortOrder, int_dtype: IntDType) -> Int,
                by radix_argsort, dimension(tensor, dim), numbered(tensor), has_int(int_dtype);
            float_radix_sort_with_indices(tensor: Float; dim: usize, order: SortOrder, int_dtype: IntDType)
                -> Float Int,
                by radix_sort_with_indices, dimension(tensor, dim), numbered(tensor), has_int(int_dtype);
            int_radix_sort_with_indices(tensor: Int; dim: usize, order: SortOrder, int_dtype: IntDType)
                -> Int Int,
                by radix_sort_with_indices, dimension(tensor, dim), numbered(tensor), has_int(int_dtype);
            float_radix_topk(tensor: Float; k: usize, dim: usize, int_dtype: IntDType) -> Float Int,
                by radix_topk, along_line(k, tensor, dim), numbered(tensor), has_int(int_dtype);
            int_radix_topk(tensor: Int; k: usize, dim: usize, int_dtype: IntDType) -> Int Int,
                by radix_topk, along_line(k, tensor, dim), numbered(tensor), has_int(int_dtype);
            radix_sort_bits(keys: Int; bits: usize, order: SortOrder, int_dtype: IntDType) -> Int Int,
                by radix_sort_bits, vector(keys), key_bits(bits, keys), numbered(keys), has_int(int_dtype);
        }
    };
}

/// The queued selections of one kind as rows. The functions for their results and rules have the keys as names.
macro_rules! selection_operations {
    (
        $each:ident $Trait:ident: $($Super:ident)+, $kind:literal $Values:ident, $slice:ident $reshape:ident;
        queued {$(
            $(#[$($doc:tt)*])*
            $op:ident = $key:ident($($t:ident: $T:ident),+; $($a:ident: $A:ident),*)
                -> ($($Out:ident),+) $body:tt
        )+}
        exact {$($exact:tt)*}
    ) => {
        $each! { $Trait: $(
            $op($($t: $T),+; $($a: $A),*) -> $($Out)+, by $key, $key($($t),+ $(, $a)*);
        )+ }
    };
}

pub(super) use crate::ops::selections::for_each_kind;
pub(super) use {
    every_operation, id, results_of, scan_operations, selection_operations, sort_operations,
};

/// A constant with one trait's operations.
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

const COUNT: usize = ScanOps.len()
    + SortOps.len()
    + FloatSelectionOps.len()
    + IntSelectionOps.len()
    + BoolSelectionOps.len();

/// The operations of all traits, one trait after the other.
const fn joined() -> [Operation; COUNT] {
    let mut all = [ScanOps[0]; COUNT];
    let lists = [
        ScanOps,
        SortOps,
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
