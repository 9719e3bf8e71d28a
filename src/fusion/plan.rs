//! How claimed operations are executed: scans on this crate's kernels, everything else as Burn would.

use burn_cubecl::fusion::CubeOptimization;
use burn_fusion::NumOperations;
use burn_ir::OperationIr;

use super::fused::FusedScan;
use super::load_store::LoadStore;
use super::mirror::BuiltinMirror;
use super::pattern::{Reversal, ScanStep, is_consumed_by};

/// One part of a claim. Operations are counted from the first one claimed.
pub(super) enum Step {
    /// The operation at `index`, through Burn's fallback.
    Unfused { index: usize },
    /// The operations from `start` on that a built-in fuser took.
    Builtin {
        start: usize,
        optimization: CubeOptimization,
    },
    /// A scan.
    Scan(ScanStep),
    /// A scan between two operations that may reverse it.
    FlipScanFlip {
        start: usize,
        reverse_scan: Box<FlipScanFlip>,
    },
    /// A scan with its load and its store, and the plan for calls that do not suit it.
    Fused {
        fused: Box<FusedScan>,
        otherwise: Vec<Step>,
    },
}

/// A scan whose input and output are reversals that nothing else reads: the three operations in order.
#[derive(Debug)]
pub(super) struct FlipScanFlip {
    pub(super) prologue: Reversal,
    pub(super) scan: ScanStep,
    pub(super) epilogue: Reversal,
}

impl FlipScanFlip {
    pub(super) const LEN: usize = 3;

    /// The flip–scan–flip that `operations` begin with.
    pub(super) fn parse(operations: &[OperationIr]) -> Option<Self> {
        let [prologue, scan, epilogue, ..] = operations else {
            return None;
        };
        let prologue = Reversal::parse(prologue)?;
        let scan = ScanStep::parse(scan)?;
        let epilogue = Reversal::parse(epilogue)?;
        (scan.may_follow(&prologue) && scan.may_precede(&epilogue)).then_some(Self {
            prologue,
            scan,
            epilogue,
        })
    }
}

impl ScanStep {
    /// Whether this scans along the axis that `prologue` may reverse, and is the only reader of the result.
    pub(super) fn may_follow(&self, prologue: &Reversal) -> bool {
        is_consumed_by(&prologue.out, &self.ir.input) && prologue.may_reverse(self.ir.axis)
    }

    fn may_precede(&self, epilogue: &Reversal) -> bool {
        is_consumed_by(&self.ir.out, &epilogue.input) && epilogue.may_reverse(self.ir.axis)
    }
}

/// What may go into the load and the store of a scan.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    LoadAndStore,
    Store,
    Nothing,
}

/// Plans operations that include a scan.
pub(super) fn plan(builtins: &mut BuiltinMirror, operations: &[OperationIr]) -> Vec<Step> {
    plan_from(0, Reach::LoadAndStore, builtins, operations)
}

/// As [`plan`], for operations that follow `offset` others.
fn plan_from(
    offset: usize,
    reach: Reach,
    builtins: &mut BuiltinMirror,
    operations: &[OperationIr],
) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < operations.len() {
        let rest = &operations[at..];
        let start = offset + at;
        let (step, len) = if let Some(reverse_scan) = FlipScanFlip::parse(rest) {
            let reverse_scan = Box::new(reverse_scan);
            (
                Step::FlipScanFlip {
                    start,
                    reverse_scan,
                },
                FlipScanFlip::LEN,
            )
        } else if let Some(load_store) = load_store(reach, builtins, rest) {
            let len = load_store.len();
            let reach = if load_store.load_len() > 0 && load_store.store_len() > 0 {
                Reach::Store
            } else {
                Reach::Nothing
            };
            let otherwise = plan_from(start, reach, builtins, &rest[..len]);
            let fused = Box::new(load_store.finish());
            (Step::Fused { fused, otherwise }, len)
        } else if let Some(scan) = ScanStep::parse(&rest[0]) {
            (Step::Scan(scan), 1)
        } else if let Some(optimization) = builtins.finish_best(&rest[..until_scan(rest)]) {
            let len = optimization.len();
            (
                Step::Builtin {
                    start,
                    optimization,
                },
                len,
            )
        } else {
            (Step::Unfused { index: start }, 1)
        };
        steps.push(step);
        at += len;
    }
    steps
}

fn load_store(
    reach: Reach,
    builtins: &BuiltinMirror,
    operations: &[OperationIr],
) -> Option<LoadStore> {
    match reach {
        Reach::Nothing => None,
        _ => LoadStore::longest(builtins.device(), operations, reach == Reach::LoadAndStore),
    }
}

/// How many operations precede the first scan or flip–scan–flip.
fn until_scan(operations: &[OperationIr]) -> usize {
    let starts_scan = |start: &usize| {
        let rest = &operations[*start..];
        ScanStep::parse(&rest[0]).is_some() || FlipScanFlip::parse(rest).is_some()
    };
    (0..operations.len())
        .find(starts_scan)
        .unwrap_or(operations.len())
}

#[cfg(test)]
mod tests {
    use super::super::sample::{cumsum, flip};
    use super::*;

    fn fits(prologue: &OperationIr, scan: &OperationIr, epilogue: &OperationIr) -> bool {
        FlipScanFlip::parse(&[prologue.clone(), scan.clone(), epilogue.clone()]).is_some()
    }

    #[test]
    fn a_flip_scan_flip_is_along_one_axis() {
        let (prologue, scan, epilogue) = (flip(0, 1, &[1]), cumsum(1, 2, 1), flip(2, 3, &[1]));
        assert!(fits(&prologue, &scan, &epilogue));
        assert!(FlipScanFlip::parse(&[prologue.clone(), scan.clone()]).is_none());
        assert!(!fits(&flip(0, 1, &[0]), &scan, &epilogue));
        assert!(!fits(&flip(0, 9, &[1]), &scan, &epilogue));
        assert!(!fits(&prologue, &scan, &flip(2, 3, &[0])));
        assert!(!fits(&prologue, &scan, &flip(9, 3, &[1])));
        assert!(!fits(&prologue, &cumsum(1, 2, 0), &epilogue));
        assert!(!fits(&scan, &prologue, &epilogue));
    }

    #[test]
    fn operations_in_front_of_a_scan_are_counted() {
        let plain = flip(0, 1, &[0, 1]);
        let reverse_scan = [flip(1, 2, &[1]), cumsum(2, 3, 1), flip(3, 4, &[1])];
        assert_eq!(until_scan(&[plain.clone(), plain.clone()]), 2);
        assert_eq!(
            until_scan(&[plain.clone(), plain.clone(), cumsum(1, 2, 0)]),
            2
        );
        let [prologue, scan, epilogue] = reverse_scan;
        assert_eq!(
            until_scan(&[plain, prologue.clone(), scan.clone(), epilogue.clone()]),
            1
        );
        assert_eq!(until_scan(&[prologue, scan, epilogue]), 0);
    }
}
