//! The fuser follows a block of operations and claims it up to its last scan. A block without a scan goes to the
//! built-in fuser that Burn would pick.
//!
//! ```text
//! Following ── a built-in fuser is open ──▶ Following
//!           ── a scan, or a reversal after nothing worth fusing ──▶ Waiting
//!           ── any other operation ──▶ Closed
//! Waiting   ── a scan, or an operation that fits its store ──▶ Waiting
//!           ── the reversal back ──▶ Closed
//!           ── any other operation, which the fuser hands back ──▶ Closed
//! ```
//!
//! The stage answers *when Burn may stop feeding operations*. The claim does not depend on it: Burn feeds a closed
//! block while another block of the segment is open, and the fuser claims each scan that it receives.

use std::cell::Cell;
use std::slice;

use burn_cubecl::CubeDevice;
use burn_cubecl::fusion::CubeOptimization;
use burn_fusion::{FuserProperties, FuserStatus, OperationFuser};
use burn_ir::OperationIr;

use super::hold::Search;
use super::load_store::LoadStore;
use super::mirror::BuiltinMirror;
use super::operation::ScanOperation;
use super::pattern::{Reversal, ScanStep};
use super::plan::{FlipScanFlip, plan};

#[derive(Clone)]
pub(super) struct ScanFuser {
    builtins: BuiltinMirror,
    search: Search,
    operations: Vec<OperationIr>,
    /// The number of operations up to the last scan, with its store or its reversal back.
    claimed: usize,
    stage: Stage,
    /// Whether Burn has been told where this fuser closed.
    has_said_closed: Cell<bool>,
}

#[derive(Clone)]
enum Stage {
    /// Open while a built-in fuser is open.
    Following,
    /// Open for the next operation: a scan after a reversal, or after a scan its reversal back or a part of its store.
    Waiting(Option<Box<LoadStore>>),
    Closed,
    /// The fuser received an operation that was handed back. It is not part of the block, unless the search goes on.
    Beyond(Box<OperationIr>),
}

impl ScanFuser {
    pub(super) fn new(device: &CubeDevice) -> Self {
        Self {
            builtins: BuiltinMirror::new(device),
            search: Search::default(),
            operations: Vec::new(),
            claimed: 0,
            stage: Stage::Following,
            has_said_closed: Cell::new(false),
        }
    }

    /// Adds an operation to the block. Returns whether it was worth a wait.
    fn take(&mut self, operation: &OperationIr) -> bool {
        self.builtins.fuse(operation);
        self.operations.push(operation.clone());
        self.advance(operation)
    }

    /// Moves to the stage after `operation`, the last one. Returns whether `operation` was worth a wait.
    fn advance(&mut self, operation: &OperationIr) -> bool {
        match core::mem::replace(&mut self.stage, Stage::Closed) {
            Stage::Waiting(load_store) => return self.go_on(load_store, operation),
            Stage::Following if self.builtins.is_open() => self.stage = Stage::Following,
            Stage::Following => self.close(operation),
            _ if is_scan(operation) || self.ends_with_flip_scan_flip() => self.claim(),
            _ => {}
        }
        false
    }

    fn go_on(&mut self, load_store: Option<Box<LoadStore>>, operation: &OperationIr) -> bool {
        if is_scan(operation) {
            self.stage = Stage::Waiting(self.load_store(slice::from_ref(operation)));
        } else if let Some(mut load_store) = load_store
            && load_store.extend(operation)
        {
            self.stage = Stage::Waiting(Some(load_store));
        } else if !self.ends_with_flip_scan_flip() {
            return false;
        }
        self.claim();
        true
    }

    /// Handles the operation that closed the built-in fusers.
    fn close(&mut self, operation: &OperationIr) {
        let gains_nothing = self.builtins.best_score() == 0;
        if is_scan(operation) {
            let load_store = match self.load_store(&self.operations) {
                None if gains_nothing => self.load_store(slice::from_ref(operation)),
                load_store => load_store,
            };
            // A built-in fuser takes the operations in front, and the scan starts the next search. A search of several
            // blocks may be the last one: a sync runs the tails of its blocks unfused.
            let leaves_scan = load_store.is_none() && !gains_nothing;
            if !leaves_scan || !self.search.is_one_block(self.operations.len()) {
                self.claim();
            }
            self.stage =
                load_store.map_or(Stage::Closed, |load_store| Stage::Waiting(Some(load_store)));
        } else if gains_nothing && Reversal::parse(operation).is_some() {
            self.stage = Stage::Waiting(None);
        }
    }

    fn claim(&mut self) {
        self.claimed = self.operations.len();
    }

    fn load_store(&self, operations: &[OperationIr]) -> Option<Box<LoadStore>> {
        LoadStore::new(self.builtins.device(), operations).map(Box::new)
    }

    fn ends_with_flip_scan_flip(&self) -> bool {
        let start = self.operations.len().saturating_sub(FlipScanFlip::LEN);
        FlipScanFlip::parse(&self.operations[start..]).is_some()
    }
}

fn is_scan(operation: &OperationIr) -> bool {
    ScanStep::parse(operation).is_some()
}

impl OperationFuser<CubeOptimization> for ScanFuser {
    fn fuse(&mut self, operation: &OperationIr) {
        if self.search.handed_back().as_ref() == Some(operation) {
            self.stage = Stage::Beyond(Box::new(operation.clone()));
            return;
        }
        // A fuser of another crate has kept the search open, so the block has the operation that was handed back.
        if let Stage::Beyond(left_out) = &self.stage {
            let left_out = left_out.clone();
            self.stage = Stage::Closed;
            self.take(&left_out);
        }
        let is_awaited = self.search.feed();
        if !self.take(operation) && is_awaited {
            self.search.hand_back(operation);
        }
    }

    fn finish(&mut self) -> CubeOptimization {
        if self.claimed == 0 {
            return (self.builtins.finish()).expect("Burn finishes no fuser whose score is zero");
        }
        let steps = plan(&mut self.builtins, &self.operations[..self.claimed]);
        CubeOptimization::new(ScanOperation::new(steps, self.claimed))
    }

    fn reset(&mut self) {
        *self = Self::new(self.builtins.device());
    }

    fn status(&self) -> FuserStatus {
        let operations = self.operations.len();
        let is_open = match self.stage {
            Stage::Following => self.search.handed_back().is_none(),
            Stage::Waiting(_) => self.has_said_closed.replace(true) && self.search.wait(operations),
            Stage::Closed => false,
            Stage::Beyond(_) => true,
        };
        if is_open {
            FuserStatus::Open
        } else {
            FuserStatus::Closed
        }
    }

    /// A claim scores above the built-in fusers, so the block leaves no scan to its tail.
    fn properties(&self) -> FuserProperties {
        let is_claimed = self.claimed > 0;
        FuserProperties {
            score: self.builtins.best_score() + u64::from(is_claimed),
            ready: is_claimed || self.builtins.is_ready(),
        }
    }

    fn len(&self) -> usize {
        self.operations.len()
    }

    fn clone_dyn(&self) -> Box<dyn OperationFuser<CubeOptimization>> {
        Box::new(self.clone())
    }
}
