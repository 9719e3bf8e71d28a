//! How a claimed run of operations is executed: scans on this crate's kernels, everything else as Burn would.

use burn_cubecl::fusion::CubeOptimization;
use burn_fusion::NumOperations;
use burn_ir::OperationIr;
use serde::{Deserialize, Serialize};

use super::chain::Chain;
use super::fused::FusedScan;
use super::mirror::BuiltinMirror;
use super::pattern::{Reversal, ScanStep, is_consumed_by};

/// One part of a claim. Operations are counted from the first one claimed; `B` is a built-in optimization, or its
/// serialized state.
#[derive(Serialize, Deserialize)]
pub(super) enum Step<B> {
    /// The operation at `index`, through Burn's fallback.
    Unfused { index: usize },
    /// The operations from `start` on that a built-in fuser took.
    Builtin { start: usize, optimization: B },
    /// A scan.
    Scan(ScanStep),
    /// A scan between two operations that may reverse it.
    Sandwich {
        start: usize,
        sandwich: Box<Sandwich>,
    },
    /// A scan with what stands around it, and the plan for calls that do not suit it.
    Fused {
        fused: Box<FusedScan>,
        otherwise: Vec<Step<B>>,
    },
}

/// A scan whose input and output are reversals nothing else reads: the three operations in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sandwich {
    pub(super) lead: Reversal,
    pub(super) scan: ScanStep,
    pub(super) trail: Reversal,
}

impl Sandwich {
    pub(super) const LEN: usize = 3;

    /// The sandwich `operations` begin with.
    pub(super) fn parse(operations: &[OperationIr]) -> Option<Self> {
        let [lead, scan, trail, ..] = operations else {
            return None;
        };
        let sandwich = Self {
            lead: Reversal::parse(lead)?,
            scan: ScanStep::parse(scan)?,
            trail: Reversal::parse(trail)?,
        };
        (sandwich.scan.may_follow(&sandwich.lead) && sandwich.scan.may_precede(&sandwich.trail))
            .then_some(sandwich)
    }
}

impl ScanStep {
    /// Whether this scans along the axis `lead` may reverse, and is the only reader of the result.
    pub(super) fn may_follow(&self, lead: &Reversal) -> bool {
        is_consumed_by(&lead.out, &self.ir.input) && lead.may_reverse(self.ir.axis)
    }

    fn may_precede(&self, trail: &Reversal) -> bool {
        is_consumed_by(&self.ir.out, &trail.input) && trail.may_reverse(self.ir.axis)
    }
}

/// What may go into the load and the store of a scan.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    LoadAndStore,
    Store,
    Nothing,
}

/// Plans operations with a scan among them.
pub(super) fn plan(
    builtins: &mut BuiltinMirror,
    operations: &[OperationIr],
) -> Vec<Step<CubeOptimization>> {
    plan_from(0, Reach::LoadAndStore, builtins, operations)
}

/// Plans operations of which `offset` precede the first.
fn plan_from(
    offset: usize,
    reach: Reach,
    builtins: &mut BuiltinMirror,
    operations: &[OperationIr],
) -> Vec<Step<CubeOptimization>> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < operations.len() {
        let rest = &operations[at..];
        let start = offset + at;
        let (step, len) = if let Some(sandwich) = Sandwich::parse(rest) {
            let sandwich = Box::new(sandwich);
            (Step::Sandwich { start, sandwich }, Sandwich::LEN)
        } else if let Some(chain) = chain(reach, builtins, rest) {
            let len = chain.len();
            let reach = match chain.in_front() > 0 && chain.behind() > 0 {
                true => Reach::Store,
                false => Reach::Nothing,
            };
            let otherwise = plan_from(start, reach, builtins, &rest[..len]);
            let fused = Box::new(chain.finish());
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

fn chain(reach: Reach, builtins: &BuiltinMirror, operations: &[OperationIr]) -> Option<Chain> {
    match reach {
        Reach::Nothing => None,
        _ => Chain::longest(builtins.device(), operations, reach == Reach::LoadAndStore),
    }
}

/// How many operations precede the first scan or sandwich.
fn until_scan(operations: &[OperationIr]) -> usize {
    let starts_scan = |start: &usize| {
        let rest = &operations[*start..];
        ScanStep::parse(&rest[0]).is_some() || Sandwich::parse(rest).is_some()
    };
    (0..operations.len())
        .find(starts_scan)
        .unwrap_or(operations.len())
}

#[cfg(test)]
mod tests {
    use super::super::sample::{cumsum, flip};
    use super::*;

    fn is_sandwich(operations: [OperationIr; 3]) -> bool {
        Sandwich::parse(&operations).is_some()
    }

    #[test]
    fn a_sandwich_is_one_chain_along_one_axis() {
        let (lead, scan, trail) = (flip(0, 1, &[1]), cumsum(1, 2, 1), flip(2, 3, &[1]));
        assert!(is_sandwich([lead.clone(), scan.clone(), trail.clone()]));
        assert!(Sandwich::parse(&[lead.clone(), scan.clone()]).is_none());

        assert!(!is_sandwich([
            flip(0, 1, &[0]),
            scan.clone(),
            trail.clone()
        ]));
        assert!(!is_sandwich([
            flip(0, 9, &[1]),
            scan.clone(),
            trail.clone()
        ]));
        assert!(!is_sandwich([lead.clone(), scan.clone(), flip(2, 3, &[0])]));
        assert!(!is_sandwich([lead.clone(), scan.clone(), flip(9, 3, &[1])]));
        assert!(!is_sandwich([lead.clone(), cumsum(1, 2, 0), trail.clone()]));
        assert!(!is_sandwich([scan.clone(), lead, trail]));
    }

    #[test]
    fn operations_in_front_of_a_scan_are_counted() {
        let plain = flip(0, 1, &[0, 1]);
        let sandwich = [flip(1, 2, &[1]), cumsum(2, 3, 1), flip(3, 4, &[1])];
        assert_eq!(until_scan(&[plain.clone(), plain.clone()]), 2);
        assert_eq!(
            until_scan(&[plain.clone(), plain.clone(), cumsum(1, 2, 0)]),
            2
        );
        let [lead, scan, trail] = sandwich;
        assert_eq!(
            until_scan(&[plain, lead.clone(), scan.clone(), trail.clone()]),
            1
        );
        assert_eq!(until_scan(&[lead, scan, trail]), 0);
    }
}
