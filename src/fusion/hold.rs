//! Waiting on an operation that Burn would run at once, without changing the plan when the wait is in vain.
//!
//! A `flip` closes every built-in fuser, so Burn settles it the moment it is queued. A fuser that wants to know
//! whether a scan follows has to stay open one operation longer. Five things keep that invisible when no scan comes:
//!
//! 1. *What is settled.* Burn settles a head up to and including the operation that closed its last fuser. Had this
//!    fuser closed on the operation behind the flip, that operation would be settled unfused with it and be lost to
//!    the element-wise fuser. Burn notes when a fuser closed by asking its status once, right after feeding it; later
//!    questions only decide whether the search goes on. So a hold answers the first question with `Closed` (for the
//!    count, it closed on the flip) and those that follow with `Open`.
//! 2. *What is settled along.* Burn extends a settled head over operations no fresh fuser would start on. The
//!    operation behind the flip would have headed a search of its own, so [`Search`] remembers it, and a fresh fuser
//!    that is asked about it wants it.
//! 3. *How long.* Only for the very next operation of the stream. The fusers of one search share a count that grows
//!    with every operation given to any of them, so a hold ends even when the next operation goes to another block.
//! 4. *Where.* Burn also tries to merge blocks by feeding the operations of one to the fusers of the other. There a
//!    hold would make a merge look worthwhile. In a merge some operation shares no tensor with those before it, which
//!    never happens otherwise; [`History`] notices, and no hold is made.
//! 5. *What comes between.* An operation behind the flip that does not touch the flipped tensor joins the flip's
//!    segment as a block of its own. When a third operation then reads both blocks, Burn tries to merge them. A
//!    [`Join`] lets it, and the third operation closes the merged block: the flip is settled, and what follows it is
//!    searched afresh, as if it had never shared a segment with the flip. When Burn merges blocks at the end of a
//!    segment instead, nothing would follow, so the merge is refused. Burn copies every block before it merges at
//!    the end, and only the one it merges into otherwise: the number of copies tells the two apart.
//!
//! What remains: with more than two blocks in the segment no join is made, and an operation behind the flip may then be
//! planned as it is whenever another block is open, instead of as the head of a segment.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use burn_fusion::FuserStatus;
use burn_ir::{OperationIr, TensorId};

/// What the fusers of one search share; so do their clones. Relaxed throughout: they live on one thread, the atomics
/// are there because fusers have to be `Send`.
#[derive(Clone, Debug)]
pub(super) struct Search(Arc<SharedSearch>);

#[derive(Debug)]
struct SharedSearch {
    operations_seen: AtomicU64,
    copies_made: AtomicU64,
    released: AtomicU64,
}

impl Search {
    const NOTHING_RELEASED: u64 = u64::MAX;

    pub(super) fn new() -> Self {
        Self(Arc::new(SharedSearch {
            operations_seen: AtomicU64::new(0),
            copies_made: AtomicU64::new(0),
            released: AtomicU64::new(Self::NOTHING_RELEASED),
        }))
    }

    /// Called by every fuser for every operation it is given. Returns how many copies of fusers were made since the
    /// operation before.
    pub(super) fn advance(&self) -> u64 {
        self.0.operations_seen.fetch_add(1, Ordering::Relaxed);
        self.0.copies_made.swap(0, Ordering::Relaxed)
    }

    /// Called by every fuser that is copied.
    pub(super) fn count_copy(&self) {
        self.0.copies_made.fetch_add(1, Ordering::Relaxed);
    }

    /// Starts on a new segment.
    pub(super) fn reset(&self) {
        self.0.operations_seen.store(0, Ordering::Relaxed);
        self.0
            .released
            .store(Self::NOTHING_RELEASED, Ordering::Relaxed);
    }

    /// Whether the search has seen no more than `count` operations.
    pub(super) fn has_seen_only(&self, count: usize) -> bool {
        self.now() == count as u64
    }

    fn now(&self) -> u64 {
        self.0.operations_seen.load(Ordering::Relaxed)
    }

    /// Remembers `operation` as the one that ended a hold in vain.
    pub(super) fn release(&self, operation: &OperationIr) {
        self.0
            .released
            .store(Self::key(operation), Ordering::Relaxed);
    }

    pub(super) fn is_released(&self, operation: &OperationIr) -> bool {
        self.0.released.load(Ordering::Relaxed) == Self::key(operation)
    }

    /// Tells an operation from the others of its segment: each writes a tensor of its own, and what writes none
    /// frees one.
    fn key(operation: &OperationIr) -> u64 {
        let written = operation.outputs().next();
        written
            .or_else(|| operation.inputs().next())
            .map_or(Self::NOTHING_RELEASED, |tensor| tensor.id.value())
    }
}

/// A wait for the next operation of the stream, over once any fuser of the search has seen one.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    search: Search,
    since: u64,
    counts_as_closed: Cell<bool>,
}

impl Hold {
    /// A hold on an operation that is to be settled on its own if nothing comes of it.
    pub(super) fn on_unclaimed(search: &Search) -> Self {
        Self {
            search: search.clone(),
            since: search.now(),
            counts_as_closed: Cell::new(true),
        }
    }

    /// A hold behind operations that are claimed whatever comes.
    pub(super) fn on_claimed(search: &Search) -> Self {
        Self {
            counts_as_closed: Cell::new(false),
            ..Self::on_unclaimed(search)
        }
    }

    pub(super) fn status(&self) -> FuserStatus {
        if self.counts_as_closed.replace(false) || self.search.now() != self.since {
            FuserStatus::Closed
        } else {
            FuserStatus::Open
        }
    }
}

/// A held block another block is being merged into.
#[derive(Clone, Debug)]
pub(super) struct Join {
    search: Search,
    held: usize,
    joined: usize,
}

impl Join {
    /// A join of a block of `held` operations, with the first operation of the other block.
    pub(super) fn new(search: &Search, held: usize) -> Self {
        Self {
            search: search.clone(),
            held,
            joined: 1,
        }
    }

    pub(super) fn extend(self) -> Self {
        Self {
            joined: self.joined + 1,
            ..self
        }
    }

    /// The position of the first joined operation.
    pub(super) fn start(&self) -> usize {
        self.held
    }

    /// Open if the two blocks are the whole segment: the merge has fed the joined operations a second time.
    pub(super) fn status(&self) -> FuserStatus {
        match self.search.has_seen_only(self.held + 2 * self.joined) {
            true => FuserStatus::Open,
            false => FuserStatus::Closed,
        }
    }
}

/// The tensors of a block, and whether every operation shared one with those before it.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    tensors: HashSet<TensorId>,
    is_merged: bool,
}

impl History {
    pub(super) fn is_related(&self, operation: &OperationIr) -> bool {
        let mut nodes = operation.nodes().into_iter();
        self.tensors.is_empty() || nodes.any(|node| self.tensors.contains(&node.id))
    }

    pub(super) fn record(&mut self, operation: &OperationIr) {
        self.is_merged |= !self.is_related(operation);
        self.tensors
            .extend(operation.nodes().iter().map(|node| node.id));
    }

    pub(super) fn is_merged(&self) -> bool {
        self.is_merged
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{cumsum, flip, freed};
    use super::*;

    #[test]
    fn copies_are_counted_from_operation_to_operation() {
        let search = Search::new();
        assert_eq!(search.advance(), 0);
        search.count_copy();
        search.count_copy();
        assert_eq!(search.advance(), 2);
        assert_eq!(search.advance(), 0);
        assert!(search.has_seen_only(3) && !search.has_seen_only(2));
    }

    #[test]
    fn the_operation_that_ended_a_hold_is_known_again() {
        let search = Search::new();
        assert!(!search.is_released(&cumsum(0, 1, 0)), "none yet");
        search.release(&cumsum(0, 1, 0));
        assert!(search.is_released(&cumsum(0, 1, 0)));
        assert!(!search.is_released(&cumsum(0, 2, 0)), "by what it writes");
        search.release(&freed(7));
        assert!(search.is_released(&freed(7)), "by what it frees");
        assert!(!search.is_released(&freed(8)));
        assert!(!search.is_released(&cumsum(0, 1, 0)));
    }

    #[test]
    fn a_new_segment_starts_with_nothing() {
        let search = Search::new();
        search.advance();
        search.release(&freed(7));
        search.reset();
        assert!(search.has_seen_only(0));
        assert!(!search.is_released(&freed(7)));
    }

    #[test]
    fn a_merge_brings_an_operation_that_shares_no_tensor() {
        let mut history = History::default();
        assert!(history.is_related(&flip(0, 1, &[0])), "the first one");
        history.record(&flip(0, 1, &[0]));
        assert!(
            history.is_related(&flip(1, 2, &[0])),
            "reads what was written"
        );
        assert!(history.is_related(&flip(0, 2, &[0])), "reads what was read");
        assert!(!history.is_related(&flip(5, 6, &[0])));
        history.record(&flip(1, 2, &[0]));
        assert!(!history.is_merged());
        history.record(&flip(5, 6, &[0]));
        assert!(history.is_merged());
        history.record(&flip(6, 7, &[0]));
        assert!(history.is_merged(), "for good");
    }

    #[test]
    fn an_unclaimed_hold_counts_as_closed_once() {
        let hold = Hold::on_unclaimed(&Search::new());
        assert_eq!(hold.status(), FuserStatus::Closed);
        assert_eq!(hold.status(), FuserStatus::Open);
        assert_eq!(hold.status(), FuserStatus::Open);
    }

    #[test]
    fn a_hold_ends_with_the_next_operation_of_any_fuser() {
        let search = Search::new();
        let hold = Hold::on_claimed(&search);
        assert_eq!(hold.status(), FuserStatus::Open);
        search.clone().advance();
        assert_eq!(hold.status(), FuserStatus::Closed);
    }

    #[test]
    fn a_join_is_of_two_blocks_and_no_more() {
        let search = Search::new();
        // A flip and two operations of another block; then the merge feeds those two again.
        for _ in 0..4 {
            search.advance();
        }
        let first = Join::new(&search, 1);
        search.advance();
        assert_eq!(first.clone().extend().status(), FuserStatus::Open);
        search.advance();
        assert_eq!(first.clone().extend().status(), FuserStatus::Closed);
        let third = first.clone().extend().extend();
        search.advance();
        assert_eq!(third.status(), FuserStatus::Open);
        assert_eq!(first.start(), 1);
        assert_eq!(Join::new(&search, 3).extend().start(), 3);
    }
}
