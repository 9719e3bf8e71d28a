//! Waiting on an operation that Burn would run at once, without changing the plan when the wait is in vain.
//!
//! A `flip` closes every built-in fuser, so Burn settles it the moment it is queued. A fuser that wants to know
//! whether a scan follows has to stay open one operation longer. Three things keep that invisible when no scan comes:
//!
//! 1. *What is settled.* Burn settles a head up to and including the operation that closed its last fuser. Had this
//!    fuser closed on the operation behind the flip, that operation would be settled unfused with it and be lost to
//!    the element-wise fuser. Burn notes when a fuser closed by asking its status once, right after feeding it; later
//!    questions only decide whether the search goes on. So a hold answers the first question with `Closed` (for the
//!    count, it closed on the flip) and those that follow with `Open`.
//! 2. *How long.* Only for the very next operation of the stream. Fusers of one search share a [`Clock`] that ticks
//!    with every operation given to any of them, so a hold ends even when the next operation goes to another block.
//! 3. *Where.* Burn also tries to merge blocks by feeding the operations of one to the fusers of the other. There a
//!    hold would make a merge look worthwhile. In a merge some operation shares no tensor with those before it, which
//!    never happens otherwise; [`History`] notices, and no hold is made.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use burn_fusion::FuserStatus;
use burn_ir::{OperationIr, TensorId};

/// Counts the operations given to all fusers of one search. Clones share the count.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(Arc<AtomicU64>);

impl Clock {
    pub(super) fn tick(&self) {
        // Relaxed: the fusers of a search live on one thread, the atomic is there because they have to be `Send`.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A wait for the next operation of the stream, over once any fuser of the search has seen one.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    clock: Clock,
    since: u64,
    counts_as_closed: Cell<bool>,
}

impl Hold {
    /// A hold on an operation that is to be settled on its own if nothing comes of it.
    pub(super) fn on_unclaimed(clock: &Clock) -> Self {
        Self {
            clock: clock.clone(),
            since: clock.now(),
            counts_as_closed: Cell::new(true),
        }
    }

    /// A hold behind operations that are claimed whatever comes.
    pub(super) fn on_claimed(clock: &Clock) -> Self {
        Self {
            counts_as_closed: Cell::new(false),
            ..Self::on_unclaimed(clock)
        }
    }

    pub(super) fn status(&self) -> FuserStatus {
        if self.counts_as_closed.replace(false) || self.clock.now() != self.since {
            FuserStatus::Closed
        } else {
            FuserStatus::Open
        }
    }
}

/// The tensors seen so far, and whether every operation shared one with those before it.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    tensors: HashSet<TensorId>,
    is_merged: bool,
}

impl History {
    pub(super) fn record(&mut self, operation: &OperationIr) {
        let nodes = operation.nodes();
        let is_related =
            self.tensors.is_empty() || nodes.iter().any(|node| self.tensors.contains(&node.id));
        self.is_merged |= !is_related;
        self.tensors.extend(nodes.iter().map(|node| node.id));
    }

    pub(super) fn is_merged(&self) -> bool {
        self.is_merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unclaimed_hold_counts_as_closed_once() {
        let hold = Hold::on_unclaimed(&Clock::default());
        assert_eq!(hold.status(), FuserStatus::Closed);
        assert_eq!(hold.status(), FuserStatus::Open);
        assert_eq!(hold.status(), FuserStatus::Open);
    }

    #[test]
    fn a_hold_ends_with_the_next_operation_of_any_fuser() {
        let clock = Clock::default();
        let hold = Hold::on_claimed(&clock);
        assert_eq!(hold.status(), FuserStatus::Open);
        clock.clone().tick();
        assert_eq!(hold.status(), FuserStatus::Closed);
    }
}
