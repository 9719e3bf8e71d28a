//! The provider of another crate: it keeps searches open after every other fuser has closed.

use burn_cubecl::CubeDevice;
use burn_cubecl::fusion::{
    CubeFuser, CubeFusionHandle, CubeOptimization, FallbackOperation, FusedOperation,
    OptimizationProvider,
};
use burn_fusion::stream::Context;
use burn_fusion::{FuserProperties, FuserStatus, OperationFuser};
use burn_ir::OperationIr;

/// How many operations the fuser receives before it gives up.
const PATIENCE: usize = 6;

pub(crate) struct Patient;

impl OptimizationProvider for Patient {
    type Operation = Nothing;

    fn fuser(&self, _device: &CubeDevice) -> CubeFuser {
        CubeFuser::new(Looks(0))
    }
}

/// Receives operations and fuses none.
#[derive(Clone)]
struct Looks(usize);

impl OperationFuser<CubeOptimization> for Looks {
    fn fuse(&mut self, _operation: &OperationIr) {
        self.0 += 1;
    }

    fn finish(&mut self) -> CubeOptimization {
        unreachable!("its score is zero")
    }

    fn reset(&mut self) {
        self.0 = 0;
    }

    fn status(&self) -> FuserStatus {
        if self.0 < PATIENCE {
            FuserStatus::Open
        } else {
            FuserStatus::Closed
        }
    }

    fn properties(&self) -> FuserProperties {
        FuserProperties {
            score: 0,
            ready: false,
        }
    }

    fn len(&self) -> usize {
        self.0
    }

    fn clone_dyn(&self) -> Box<dyn OperationFuser<CubeOptimization>> {
        Box::new(self.clone())
    }
}

/// What [`Looks`] would finish.
pub(crate) struct Nothing;

impl FusedOperation for Nothing {
    const NAME: &'static str = "Nothing";
    type State = ();

    fn num_ops_fused(&self) -> usize {
        0
    }

    fn run(
        &mut self,
        _context: &mut Context<CubeFusionHandle>,
        _fallback: &dyn Fn(usize) -> Box<dyn FallbackOperation>,
    ) {
    }

    fn to_state(&self) -> Self::State {}

    fn from_state(_device: &CubeDevice, (): Self::State) -> Self {
        Self
    }
}
