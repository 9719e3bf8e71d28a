//! The operations that wait in a queue, of fusion or of a remote device, from the [rows](super::rows).
//!
//! ```text
//! name(tensor: Kind, …; argument: Type, …) -> Kind …, [shapes and dtypes of the results] key, rule(what, …), …;
//! ```
//!
//! A row names the method's tensors and arguments in their order, and the kinds of its results. The rules are what a
//! server of remote devices checks, in their order, before it computes the shapes. Exact operations do not wait: they
//! only call operations that do.

use burn::backend::TensorMetadata;
use burn::backend::fusion::custom::TensorSpec;

/// Shapes and dtypes of the results, from what fusion is told: those of a tensor, or what a function gives. An
/// operation that fusion does not queue has a function of its key in [`specs`](super::specs).
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
        $crate::ops::scans::scan_operations! { queued_rows(Float, Int, Bool) $each }
        $crate::ops::sort::sort_operations! { queued_rows(Float, Int, Bool) $each }
        $crate::ops::selections::for_each_kind! { queued_rows(Float, Int, Bool) $each }
    };
}

/// The queued operations among the rows of a trait, as a row of `$each!`.
macro_rules! queued_rows {
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

/// The type of one result, or of several.
macro_rules! returned {
    ($Tensor:ty; $one:ident) => { $Tensor };
    ($Tensor:ty; $($one:ident)+) => { ($(returned!($Tensor; $one)),+) };
}

/// One result or several, taken from a vector.
macro_rules! unpacked {
    ($results:expr; $one:ident) => {{
        let [one] = $crate::ops::queued::declared($results);
        one
    }};
    ($results:expr; $($many:ident)+) => {
        $crate::ops::queued::declared($results).into()
    };
}

/// Shape and dtype of a tensor, or of the several results of an operation.
pub(crate) trait Specs {
    fn list(self) -> Vec<TensorSpec>;
}

impl Specs for TensorSpec {
    fn list(self) -> Vec<TensorSpec> {
        vec![self]
    }
}

impl Specs for (TensorSpec, TensorSpec) {
    fn list(self) -> Vec<TensorSpec> {
        vec![self.0, self.1]
    }
}

impl Specs for (TensorSpec, TensorSpec, TensorSpec) {
    fn list(self) -> Vec<TensorSpec> {
        vec![self.0, self.1, self.2]
    }
}

pub(crate) fn spec(tensor: &impl TensorMetadata) -> TensorSpec {
    TensorSpec::new(tensor.shape(), tensor.dtype())
}

/// The results of an operation with `N` of them.
pub(crate) fn declared<T, const N: usize>(results: Vec<T>) -> [T; N] {
    results
        .try_into()
        .unwrap_or_else(|_| unreachable!("Burn returns the results that were declared"))
}

pub(crate) use {every_operation, queued_rows, results_of, returned, unpacked};
