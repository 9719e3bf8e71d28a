//! What Burn's fusion registry holds: the maker of one [`ScanFuser`] per execution stream.

use burn_cubecl::CubeDevice;
use burn_cubecl::fusion::{self, CubeFuser, OptimizationProvider, RegistryError};

use super::fuser::ScanFuser;
use super::mirror;
use super::operation::ScanOperation;

struct ScanProvider;

impl OptimizationProvider for ScanProvider {
    type Operation = ScanOperation;

    fn fuser(&self, device: &CubeDevice) -> CubeFuser {
        CubeFuser::new(ScanFuser::new(device))
    }
}

/// Registers the provider, for every stream made from now on.
pub(crate) fn register() -> Result<(), RegistryError> {
    fusion::register(ScanProvider)
}

/// Removes the built-in providers, whose fusers are in ours.
pub(crate) fn replace_builtins() -> Result<(), RegistryError> {
    mirror::NAMES.into_iter().try_for_each(fusion::remove)
}
