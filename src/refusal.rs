//! The form of every panic on bad input: Burn's.

/// Panics as Burn's tensor checks do.
#[track_caller]
pub(crate) fn fail(operation: &str, reason: &str) -> ! {
    panic!(
        "=== Tensor Operation Error ===\n  Operation: '{operation}'\n  Reason:\n    1. {reason} \n"
    );
}
