//! The fuser waits one operation longer than Burn would, and undoes a wait that did not pay.
//!
//! A flip closes every built-in fuser. Burn then ends the search, settles the flip, and starts the next search with the
//! next operation. The fuser keeps the search open to see whether a scan follows. It does this only where nothing else
//! would keep the search open: the search has one block, and the built-in fusers have closed. Three rules then give
//! the plan that Burn would have made without the next operation:
//!
//! 1. *The wait does not move the place where the fuser closed.* Burn settles an unfused head up to that place. To find
//!    it, Burn asks for the status right after it feeds the fuser. Later questions decide whether the search goes on.
//!    So a waiting fuser answers `Closed` once, and `Open` after that.
//! 2. *The next operation ends the search, whichever fuser receives it.* If the wait did not pay, that fuser *hands the
//!    operation back*, and every fuser of the search is closed. This needs one fuser for each block, so this fuser
//!    replaces the [built-in fusers](super::mirror).
//! 3. *A fuser that receives the handed-back operation again is open.* This leaves the operation to the next search. If
//!    the operation shares a tensor with the block, Burn asks fresh fusers how far to settle, and stops where one is
//!    open. If not, the operation has its own block. Burn then tries to merge the two blocks, and succeeds because the
//!    merged block is open. It settles the merged block up to the same place.
//!
//! A fuser of another crate can keep the search open nevertheless. The next operation then cancels rules 2 and 3.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burn_ir::OperationIr;

/// What the fusers of one search and their copies share.
#[derive(Clone, Default)]
pub(super) struct Search(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// How many operations the fusers received, all together.
    fed: usize,
    /// Whether a wait alone keeps the search open.
    waits: bool,
    handed_back: Option<OperationIr>,
}

impl Search {
    /// Counts an operation that a fuser receives. Returns whether a fuser waited for it.
    pub(super) fn feed(&self) -> bool {
        let mut state = self.state();
        state.fed += 1;
        state.handed_back = None;
        core::mem::take(&mut state.waits)
    }

    /// Whether the search consists of one block of `operations`, not merged from others.
    pub(super) fn is_one_block(&self, operations: usize) -> bool {
        self.state().fed == operations
    }

    /// Waits for the next operation if the search is one block. Returns whether it does.
    pub(super) fn wait(&self, operations: usize) -> bool {
        let mut state = self.state();
        state.waits = state.fed == operations;
        state.waits
    }

    /// Leaves `operation`, the last one, to the next search.
    pub(super) fn hand_back(&self, operation: &OperationIr) {
        self.state().handed_back = Some(operation.clone());
    }

    pub(super) fn handed_back(&self) -> Option<OperationIr> {
        self.state().handed_back.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::flip;
    use super::*;

    #[test]
    fn one_block_waits_for_the_next_operation_of_any_fuser() {
        let search = Search::default();
        assert!(!search.feed(), "nobody waits yet");
        assert!(search.is_one_block(1) && search.wait(1));
        assert!(search.clone().feed(), "copies share the wait");
        assert!(!search.feed(), "it lasts for one operation");
        assert!(!search.is_one_block(2) && !search.wait(2));
        assert!(!search.feed(), "several blocks do not wait");
    }

    #[test]
    fn an_operation_is_handed_back_until_the_next_one() {
        let (search, operation) = (Search::default(), flip(0, 1, &[0]));
        assert_eq!(search.handed_back(), None);
        search.hand_back(&operation);
        assert_eq!(search.clone().handed_back(), Some(operation));
        search.feed();
        assert_eq!(search.handed_back(), None);
    }
}
