//! The form of every panic on bad input: Burn's.

/// Panics as Burn's tensor checks do.
#[track_caller]
pub(crate) fn fail(operation: &str, reason: &str) -> ! {
    panic!(
        "=== Tensor Operation Error ===\n  Operation: '{operation}'\n  Reason:\n    1. {reason} \n"
    );
}

/// `who` numbers this many elements.
#[track_caller]
pub(crate) fn numbers(operation: &str, who: &str, elements: usize, most: u64) {
    if elements as u64 > most {
        fail(
            operation,
            &format!("There are {elements} elements; {who} numbers at most {most}."),
        );
    }
}
