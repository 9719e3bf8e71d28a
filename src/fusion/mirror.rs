//! Burn's built-in fusers. [`ScanFuser`](super::fuser) replaces them in Burn's registry.
//!
//! They receive each operation. They tell whether Burn would keep a search open, and what it would gain from fusing
//! what it has seen. They finish each block without a scan, and they plan the operations before a claimed scan, as Burn
//! itself would.

use burn_cubecl::CubeDevice;
use burn_cubecl::fusion::CubeOptimization;
use burn_cubecl_fusion::optim::elemwise::{self, ElementWiseFuser};
use burn_cubecl_fusion::optim::matmul::{self, MatmulFuser};
use burn_cubecl_fusion::optim::nhwc_relayout::{self, NHWCRelayoutFuser};
use burn_cubecl_fusion::optim::reduce::{self, ReduceFuser, ReduceSettings};
use burn_cubecl_fusion::optim::reduce_broadcasted::{self, ReduceBroadcastedFuser};
use burn_fusion::{FuserStatus, OperationFuser};
use burn_ir::OperationIr;

/// Their names in Burn's registry, in its order.
pub(super) const NAMES: [&str; 5] = [
    elemwise::NAME,
    matmul::NAME,
    reduce::NAME,
    reduce_broadcasted::NAME,
    nhwc_relayout::NAME,
];

/// One fuser for each of [`NAMES`], made as Burn's registry makes it.
pub(super) struct BuiltinMirror {
    device: CubeDevice,
    fusers: Vec<Box<dyn OperationFuser<CubeOptimization>>>,
}

impl BuiltinMirror {
    pub(super) fn new(device: &CubeDevice) -> Self {
        Self {
            device: device.clone(),
            fusers: vec![
                Box::new(ElementWiseFuser::new(device.clone())),
                Box::new(MatmulFuser::new(device.clone())),
                Box::new(ReduceFuser::new(device.clone(), ReduceSettings::Always)),
                Box::new(ReduceBroadcastedFuser::new(device.clone())),
                Box::new(NHWCRelayoutFuser::new(device.clone())),
            ],
        }
    }

    pub(super) fn device(&self) -> &CubeDevice {
        &self.device
    }

    pub(super) fn fuse(&mut self, operation: &OperationIr) {
        for fuser in &mut self.fusers {
            fuser.fuse(operation);
        }
    }

    /// Starts over with new fusers. A reset would not do: a fuser that has seen a reduction keeps the settings of the
    /// part after it, and its next kernel fails to launch. Burn only ever resets fusers that have seen nothing.
    pub(super) fn renew(&mut self) {
        *self = Self::new(&self.device);
    }

    /// Whether a built-in fuser waits for more operations.
    pub(super) fn is_open(&self) -> bool {
        self.fusers
            .iter()
            .any(|fuser| fuser.status() == FuserStatus::Open)
    }

    /// The score of the fuser that Burn's search would pick for the operations seen so far; zero without one.
    pub(super) fn best_score(&self) -> u64 {
        self.scores().max().unwrap_or(0)
    }

    /// Whether Burn would call a fuser ready. It asks when it merges blocks, also for a fuser whose score is zero.
    pub(super) fn is_ready(&self) -> bool {
        self.fusers.iter().any(|fuser| fuser.properties().ready)
    }

    /// What the fuser with the best score makes of the first of these operations.
    pub(super) fn finish_best(&mut self, operations: &[OperationIr]) -> Option<CubeOptimization> {
        self.renew();
        for operation in operations {
            self.fuse(operation);
            if !self.is_open() {
                break;
            }
        }
        self.finish()
    }

    /// What the fuser with the best score makes of the operations seen so far. The first of several equal scores wins.
    pub(super) fn finish(&mut self) -> Option<CubeOptimization> {
        let best_score = self.best_score();
        let best = self.scores().position(|score| score == best_score)?;
        (best_score > 0).then(|| self.fusers[best].finish())
    }

    fn scores(&self) -> impl Iterator<Item = u64> {
        self.fusers.iter().map(|fuser| {
            let properties = fuser.properties();
            if properties.ready {
                properties.score
            } else {
                0
            }
        })
    }
}

impl Clone for BuiltinMirror {
    fn clone(&self) -> Self {
        Self {
            device: self.device.clone(),
            fusers: self.fusers.iter().map(|fuser| fuser.clone_dyn()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    /// A built-in fuser that Burn adds or retires must be added to or dropped from the mirror.
    #[test]
    fn mirrors_every_builtin() {
        assert_eq!(burn_cubecl::fusion::BUILTIN_NAMES, super::NAMES);
    }
}
