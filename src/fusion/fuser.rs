//! The fuser: decides, operation by operation, whether a segment of the queue is a scan to be claimed.
//!
//! ```text
//!            mirror open                   scan reads the reversal
//!   Prefix ─────────────▶ Prefix    Held ──────────────────────────▶ Claimed, waiting ──▶ Claimed
//!     │  scan, mirror does not pay   ▲ │                              (for the second reversal)
//!     ├─────────────────▶ Claimed    │ └──▶ Declined (anything else)
//!     ├──────────────────────────────┘ reversal, mirror does not pay
//!     └─────────────────▶ Declined (mirror closed, or it pays and takes the prefix)
//! ```

use burn_cubecl::CubeDevice;
use burn_cubecl::fusion::CubeOptimization;
use burn_fusion::{FuserProperties, FuserStatus, OperationFuser};
use burn_ir::OperationIr;

use super::hold::{Clock, History, Hold};
use super::mirror::BuiltinMirror;
use super::operation::{ScanOperation, Sandwich, ScanSegment};
use super::pattern::{Reversal, ScanStep, is_consumed_by};

/// Below every score of a built-in fuser: a claim is only made where none of them pays.
const SCORE: u64 = 1;

#[derive(Clone)]
pub(super) struct ScanFuser {
    mirror: BuiltinMirror,
    clock: Clock,
    history: History,
    stage: Stage,
}

#[derive(Clone)]
enum Stage {
    /// So far, `len` operations that keep a built-in fuser open.
    Prefix { len: usize },
    /// A prefix of `prefix` operations, then a reversal a scan may follow.
    Held {
        prefix: usize,
        lead: Reversal,
        hold: Hold,
    },
    /// A scan whose output may be reversed next.
    Waiting {
        segment: ScanSegment,
        lead: Reversal,
        hold: Hold,
    },
    Claimed(ScanSegment),
    Declined,
}

impl ScanFuser {
    pub(super) fn new(device: &CubeDevice) -> Self {
        Self {
            mirror: BuiltinMirror::new(device),
            clock: Clock::default(),
            history: History::default(),
            stage: Stage::Prefix { len: 0 },
        }
    }

    fn extend_prefix(&mut self, len: usize, operation: &OperationIr) -> Stage {
        if let Some(scan) = ScanStep::parse(operation) {
            return match self.mirror.pays() {
                true => Stage::Declined,
                false => Stage::Claimed(ScanSegment::new(len, scan)),
            };
        }
        if let Some(lead) = Reversal::parse(operation)
            && !self.history.is_merged()
            && !self.mirror.pays()
        {
            return Stage::Held {
                prefix: len,
                lead,
                hold: Hold::on_unclaimed(&self.clock),
            };
        }
        self.mirror.fuse(operation);
        match self.mirror.is_open() {
            true => Stage::Prefix { len: len + 1 },
            false => Stage::Declined,
        }
    }

    fn claim_held(&self, prefix: usize, lead: Reversal, operation: &OperationIr) -> Stage {
        let Some(scan) = ScanStep::parse(operation) else {
            return Stage::Declined;
        };
        let is_first_half =
            is_consumed_by(&lead.out, &scan.ir.input) && lead.may_reverse(scan.ir.axis);
        let segment = ScanSegment::new(prefix + 1, scan);
        match is_first_half {
            true => Stage::Waiting {
                segment,
                lead,
                hold: Hold::on_claimed(&self.clock),
            },
            false => Stage::Claimed(segment),
        }
    }

    fn complete(mut segment: ScanSegment, lead: Reversal, operation: &OperationIr) -> Stage {
        if let Some(trail) = Reversal::parse(operation)
            && is_consumed_by(&segment.scan.ir.out, &trail.input)
            && trail.may_reverse(segment.scan.ir.axis)
        {
            segment.sandwich = Some(Sandwich { lead, trail });
        }
        Stage::Claimed(segment)
    }
}

impl OperationFuser<CubeOptimization> for ScanFuser {
    fn fuse(&mut self, operation: &OperationIr) {
        self.clock.tick();
        self.history.record(operation);
        self.stage = match core::mem::replace(&mut self.stage, Stage::Declined) {
            Stage::Prefix { len } => self.extend_prefix(len, operation),
            Stage::Held { prefix, lead, .. } => self.claim_held(prefix, lead, operation),
            Stage::Waiting { segment, lead, .. } => Self::complete(segment, lead, operation),
            stage @ (Stage::Claimed(_) | Stage::Declined) => stage,
        };
    }

    fn finish(&mut self) -> CubeOptimization {
        match &self.stage {
            Stage::Claimed(segment) | Stage::Waiting { segment, .. } => {
                CubeOptimization::new(ScanOperation::new(segment.clone()))
            }
            Stage::Prefix { .. } | Stage::Held { .. } | Stage::Declined => {
                unreachable!("only a fuser that scores is finished, and only a claim scores")
            }
        }
    }

    fn reset(&mut self) {
        self.mirror.reset();
        self.history = History::default();
        self.stage = Stage::Prefix { len: 0 };
    }

    fn status(&self) -> FuserStatus {
        match &self.stage {
            Stage::Prefix { .. } if self.mirror.is_open() => FuserStatus::Open,
            Stage::Held { hold, .. } | Stage::Waiting { hold, .. } => hold.status(),
            Stage::Prefix { .. } | Stage::Claimed(_) | Stage::Declined => FuserStatus::Closed,
        }
    }

    fn properties(&self) -> FuserProperties {
        match &self.stage {
            Stage::Claimed(_) | Stage::Waiting { .. } => FuserProperties {
                score: SCORE,
                ready: true,
            },
            // Ready but worth nothing: never picked, but a search that settles an unfusable head in front of a
            // reversal stops there instead of settling the reversal too.
            Stage::Held { .. } => FuserProperties {
                score: 0,
                ready: true,
            },
            Stage::Prefix { .. } | Stage::Declined => FuserProperties::default(),
        }
    }

    fn len(&self) -> usize {
        match &self.stage {
            Stage::Prefix { len } => *len,
            Stage::Held { prefix, .. } => prefix + 1,
            Stage::Claimed(segment) | Stage::Waiting { segment, .. } => segment.num_operations(),
            Stage::Declined => 0,
        }
    }

    fn clone_dyn(&self) -> Box<dyn OperationFuser<CubeOptimization>> {
        Box::new(self.clone())
    }
}
