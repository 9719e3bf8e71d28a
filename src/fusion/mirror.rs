//! Copies of Burn's built-in fusers, fed the same operations as the originals.
//!
//! They answer the two questions the claim depends on: would Burn keep this search open, and would Burn gain from
//! fusing what it has seen so far. They never finish into anything.

use burn_cubecl::CubeDevice;
use burn_cubecl::fusion::CubeOptimization;
use burn_cubecl_fusion::optim::elemwise::ElementWiseFuser;
use burn_cubecl_fusion::optim::matmul::MatmulFuser;
use burn_cubecl_fusion::optim::nhwc_relayout::NHWCRelayoutFuser;
use burn_cubecl_fusion::optim::reduce::{ReduceFuser, ReduceSettings};
use burn_cubecl_fusion::optim::reduce_broadcasted::ReduceBroadcastedFuser;
use burn_fusion::{FuserStatus, OperationFuser};
use burn_ir::OperationIr;

/// One of each fuser in `burn_cubecl::fusion::BUILTIN_NAMES`, made as Burn's registry makes it.
pub(super) struct BuiltinMirror {
    fusers: Vec<Box<dyn OperationFuser<CubeOptimization>>>,
}

impl BuiltinMirror {
    pub(super) fn new(device: &CubeDevice) -> Self {
        Self {
            fusers: vec![
                Box::new(ElementWiseFuser::new(device.clone())),
                Box::new(MatmulFuser::new(device.clone())),
                Box::new(ReduceFuser::new(device.clone(), ReduceSettings::Always)),
                Box::new(ReduceBroadcastedFuser::new(device.clone())),
                Box::new(NHWCRelayoutFuser::new(device.clone())),
            ],
        }
    }

    pub(super) fn fuse(&mut self, operation: &OperationIr) {
        for fuser in &mut self.fusers {
            fuser.fuse(operation);
        }
    }

    pub(super) fn reset(&mut self) {
        for fuser in &mut self.fusers {
            fuser.reset();
        }
    }

    /// Whether a built-in fuser waits for more operations.
    pub(super) fn is_open(&self) -> bool {
        self.fusers
            .iter()
            .any(|fuser| fuser.status() == FuserStatus::Open)
    }

    /// Whether Burn's search would pick a built-in fuser for the operations seen so far.
    pub(super) fn pays(&self) -> bool {
        self.fusers.iter().any(|fuser| {
            let properties = fuser.properties();
            properties.ready && properties.score > 0
        })
    }
}

impl Clone for BuiltinMirror {
    fn clone(&self) -> Self {
        Self {
            fusers: self.fusers.iter().map(|fuser| fuser.clone_dyn()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    /// A built-in fuser that Burn adds or retires has to be added to or dropped from the mirror.
    #[test]
    fn mirrors_every_builtin() {
        assert_eq!(
            burn_cubecl::fusion::BUILTIN_NAMES,
            ["ElementWise", "Matmul", "Reduce", "ReduceBroadcasted", "NHWCRelayout"],
        );
    }
}
