//! The fuser: follows a block of operations, claims it up to its last scan, and mirrors Burn everywhere else.
//!
//! ```text
//! Following ── scan, or the built-in fusers closed ──────────────────────────────────▶ Closed
//!     │                                                                                  ▲
//!     ├── scan with a load and store ──▶ Extending ── operation that does not fit, ──────┤
//!     │                                                or of another block               │
//!     └── reversal, nothing to gain ──▶ Held ── scan of it ──▶ Waiting ── any operation ─┤
//!                                         ├── operation of a block merged in ─▶ Joining ─┤
//!                                         └── any other operation ───────────────────────┘
//! ```
//!
//! The stage answers *when Burn may stop feeding operations*. What is claimed does not depend on it: Burn keeps feeding
//! a closed block while another block of the segment is open, and every scan is noted wherever it comes.

use burn_cubecl::CubeDevice;
use burn_cubecl::fusion::CubeOptimization;
use burn_fusion::{FuserProperties, FuserStatus, OperationFuser};
use burn_ir::OperationIr;

use super::chain::Chain;
use super::hold::{History, Hold, Join, Search};
use super::mirror::BuiltinMirror;
use super::operation::ScanOperation;
use super::pattern::{Reversal, ScanStep};
use super::plan::{Sandwich, plan};

#[derive(Clone)]
pub(super) struct ScanFuser {
    mirror: BuiltinMirror,
    search: Search,
    history: History,
    operations: Vec<OperationIr>,
    /// How many operations there are up to the last scan, the reversal behind it included.
    claimed: usize,
    stage: Stage,
    /// A scan computes the operations in front of it in its load, from the first one on.
    loads_front: bool,
    /// The only operation so far ended a hold elsewhere and is to head a search of its own.
    is_released_head: bool,
}

#[derive(Clone)]
enum Stage {
    /// Open as long as a built-in fuser is.
    Following,
    /// The operations so far end with a scan and what goes into its store.
    /// Nothing is waited for in a merge, which would look worthwhile then.
    Extending {
        chain: Box<Chain>,
        hold: Option<Hold>,
    },
    /// The last operation is a reversal a scan may follow.
    Held {
        lead: Box<Reversal>,
        hold: Hold,
    },
    /// The last operation is a scan of a reversal, and may be reversed back.
    Waiting(Hold),
    /// A held reversal Burn is merging another block into.
    Joining(Join),
    Closed,
}

impl ScanFuser {
    pub(super) fn new(device: &CubeDevice) -> Self {
        Self {
            mirror: BuiltinMirror::new(device),
            search: Search::new(),
            history: History::default(),
            operations: Vec::new(),
            claimed: 0,
            stage: Stage::Following,
            loads_front: false,
            is_released_head: false,
        }
    }

    /// The stage behind `operation`. One copy made since the operation before is a merge for the sake of an operation
    /// to come.
    fn follow(&mut self, stage: Stage, operation: &OperationIr, copies: u64) -> Stage {
        match stage {
            Stage::Following if self.mirror.is_open() => Stage::Following,
            Stage::Following if ScanStep::parse(operation).is_some() => {
                let chain = self.chain(operation);
                chain.map_or(Stage::Closed, |chain| self.extending(chain, operation))
            }
            Stage::Following => self.hold(operation).unwrap_or(Stage::Closed),
            Stage::Extending { mut chain, .. } => match chain.extend(operation) {
                true => self.extending(chain, operation),
                false => self.scan_alone(operation),
            },
            Stage::Held { lead, .. } => match ScanStep::parse(operation) {
                Some(scan) if scan.may_follow(&lead) => {
                    Stage::Waiting(Hold::on_claimed(&self.search))
                }
                Some(_) => Stage::Closed,
                None if self.history.is_related(operation) => {
                    if self.search.has_seen_only(self.operations.len() + 1) {
                        self.search.release(operation);
                    }
                    Stage::Closed
                }
                None if copies == 1 => {
                    Stage::Joining(Join::new(&self.search, self.operations.len()))
                }
                None => Stage::Closed,
            },
            Stage::Joining(join) if !self.history.is_related(operation) => {
                Stage::Joining(join.extend())
            }
            Stage::Joining(join) => {
                self.search.release(&self.operations[join.start()]);
                Stage::Closed
            }
            Stage::Waiting(_) | Stage::Closed => Stage::Closed,
        }
    }

    /// The chain that ends with the scan `operation`: all operations so far, or the scan alone if Burn gains nothing
    /// from those in front of it.
    fn chain(&mut self, operation: &OperationIr) -> Option<Box<Chain>> {
        let device = self.mirror.device();
        let mut all = self.operations.clone();
        all.push(operation.clone());
        if let Some(chain) = Chain::new(device, &all) {
            self.loads_front = chain.in_front() > 0;
            return Some(Box::new(chain));
        }
        let is_claimed = self.mirror.best_score() == 0;
        is_claimed.then(|| self.chain_alone(operation)).flatten()
    }

    fn chain_alone(&self, scan: &OperationIr) -> Option<Box<Chain>> {
        let chain = Chain::new(self.mirror.device(), std::slice::from_ref(scan));
        chain.map(Box::new)
    }

    /// The stage behind an operation that did not fit a chain: another one, if it is a scan.
    fn scan_alone(&self, operation: &OperationIr) -> Stage {
        let chain = self.chain_alone(operation);
        chain.map_or(Stage::Closed, |chain| self.extending(chain, operation))
    }

    fn extending(&self, chain: Box<Chain>, last: &OperationIr) -> Stage {
        let hold = (!self.is_merged_by(last)).then(|| Hold::on_claimed(&self.search));
        Stage::Extending { chain, hold }
    }

    /// Whether `operation`, or one before it, came here from another block.
    fn is_merged_by(&self, operation: &OperationIr) -> bool {
        self.history.is_merged() || !self.history.is_related(operation)
    }

    /// A hold on `operation` if it may be a reversal, and Burn gains nothing from the operations in front of it:
    /// otherwise it heads the next search, and is held there.
    fn hold(&self, operation: &OperationIr) -> Option<Stage> {
        let lead = Reversal::parse(operation)?;
        (!self.is_merged_by(operation) && self.mirror.best_score() == 0).then(|| Stage::Held {
            lead: Box::new(lead),
            hold: Hold::on_unclaimed(&self.search),
        })
    }

    /// Whether the operations so far end with a scan or with the reversal that completes one.
    fn ends_with_scan(&self) -> bool {
        let sandwich_start = self.operations.len().saturating_sub(Sandwich::LEN);
        let last = self.operations.last();
        last.is_some_and(|operation| ScanStep::parse(operation).is_some())
            || Sandwich::parse(&self.operations[sandwich_start..]).is_some()
    }

    /// Above every built-in fuser, so that a scan is never left behind in the tail of a block: the tail of the last
    /// block before a sync runs unfused. Nothing if this is the only block and a built-in fuser gains from the
    /// operations in front, which the scan does not load: it takes them, and the scan heads the next search.
    fn score(&self) -> u64 {
        let builtin = self.mirror.best_score();
        let leave_to_builtin =
            builtin > 0 && !self.loads_front && self.search.has_seen_only(self.operations.len());
        match self.claimed == 0 || leave_to_builtin {
            true => 0,
            false => builtin + 1,
        }
    }
}

impl OperationFuser<CubeOptimization> for ScanFuser {
    fn fuse(&mut self, operation: &OperationIr) {
        let copies = self.search.advance();
        self.is_released_head = self.operations.is_empty() && self.search.is_released(operation);

        self.mirror.fuse(operation);
        let stage = core::mem::replace(&mut self.stage, Stage::Closed);
        self.stage = self.follow(stage, operation, copies);
        if !matches!(self.stage, Stage::Joining(_)) {
            self.history.record(operation);
        }

        self.operations.push(operation.clone());
        let extends_scan = matches!(self.stage, Stage::Extending { .. });
        if extends_scan || self.ends_with_scan() {
            self.claimed = self.operations.len();
        }
    }

    fn finish(&mut self) -> CubeOptimization {
        let steps = plan(&mut self.mirror, &self.operations[..self.claimed]);
        CubeOptimization::new(ScanOperation::new(steps, self.claimed))
    }

    fn reset(&mut self) {
        self.mirror.renew();
        self.search.reset();
        self.history = History::default();
        self.operations.clear();
        self.claimed = 0;
        self.stage = Stage::Following;
        self.loads_front = false;
        self.is_released_head = false;
    }

    fn status(&self) -> FuserStatus {
        match &self.stage {
            Stage::Following => FuserStatus::Open,
            Stage::Extending { hold, .. } => {
                (hold.as_ref()).map_or(FuserStatus::Closed, Hold::status)
            }
            Stage::Held { hold, .. } | Stage::Waiting(hold) => hold.status(),
            Stage::Joining(join) => join.status(),
            Stage::Closed => FuserStatus::Closed,
        }
    }

    fn properties(&self) -> FuserProperties {
        let score = self.score();
        // A released head is ready but worth nothing: it is never picked, but a search that settles what is in front
        // of it stops there.
        FuserProperties {
            score,
            ready: score > 0 || self.is_released_head,
        }
    }

    fn len(&self) -> usize {
        match self.claimed {
            0 => self.operations.len(),
            claimed => claimed,
        }
    }

    fn clone_dyn(&self) -> Box<dyn OperationFuser<CubeOptimization>> {
        self.search.count_copy();
        Box::new(self.clone())
    }
}
