//! Every operation that travels: the queued ones of [`ops::rows`](crate::ops::rows). Both ends are made from their
//! rows.
//!
//! ```text
//! name(tensor: Kind, …; argument: Type, …) -> Kind …, [shapes and dtypes of the results] key, rule(what, …), …;
//! ```
//!
//! A row names the method's tensors and arguments in their order, and the kinds of its results. The
//! [rules](super::rules) are what a server checks, in their order, before it computes the shapes. Exact operations do
//! not travel: they only call operations that do.

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

/// Shapes and dtypes of the results, from what fusion is told: those of a tensor, or what a function gives. An
/// operation that fusion does not queue has a function of its key in `crate::ops::specs`.
macro_rules! results_of {
    ([dtype = $like:ident, shape = $same:ident] $key:ident; $($all:expr),*) => {{
        let _ = ($($all),*);
        $like.clone()
    }};
    ([meta = specs::$spec:ident] $key:ident; $($all:expr),*) => { crate::ops::specs::$spec($($all),*) };
    ([default] $key:ident; $($all:expr),*) => { crate::ops::specs::$key($($all),*) };
}

/// `$each! { Trait: rows }` for every trait.
macro_rules! every_operation {
    ($each:ident) => {
        scan_operations! { rows(Float, Int, Bool) $each }
        sort_operations! { rows(Float, Int, Bool) $each }
        for_each_kind! { rows(Float, Int, Bool) $each }
    };
}

/// The queued operations of [`crate::ops::rows`].
macro_rules! rows {
    (
        $each:ident $Trait:ident: $($Super:ident)+;
        queued {$(
            $(#[$($doc:tt)*])*
            $op:ident = $key:ident($($t:ident: $T:ident),+; $($a:ident: $A:ident),*) -> ($($Out:ident),+)
                as ($($how:tt)*) if ($($rule:ident($($what:ident),*)),*) $body:tt
        )+}
        exact {$($exact:tt)*}
    ) => {
        $each! { $Trait: $(
            $op($($t: $T),+; $($a: $A),*) -> $($Out)+, [$($how)*] $key $(, $rule($($what),*))*;
        )+ }
    };
}

pub(super) use crate::ops::scans::scan_operations;
pub(super) use crate::ops::selections::for_each_kind;
pub(super) use crate::ops::sort::sort_operations;
pub(super) use {every_operation, id, results_of, rows};

/// A constant with one trait's operations.
macro_rules! described {
    ($Trait:ident: $(
        $op:ident($($t:ident: $Kind:ident),+; $($a:ident: $A:ident),*) -> $($Out:ident)+,
            [$($how:tt)*] $key:ident $(, $rule:ident($($what:ident),*))*;
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
