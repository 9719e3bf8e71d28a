//! Every operation that travels: the [queued ones](crate::ops::queued), from whose rows both ends are made.

use crate::ops::queued::{every_operation, queued_rows};

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

pub(super) use id;

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
