//! [`install`]: one call that puts Burn's own cumulative operations on this crate's kernels.

use thiserror::Error;

/// Why [`install`] hooked nothing.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InstallError {
    /// Burn's fusion service is already running, and with it the plans it made without this crate.
    #[error(
        "burn_scan::install() came too late: a tensor operation has already run on a fused device of this process, \
         and Burn takes no new fusion after that. Call it at the start of `main`, before the first tensor is created \
         (making a `Device` first is fine). Until then `TensorScan::{{scan, inclusive_cumsum, ..}}` are accelerated \
         all the same"
    )]
    TooLate,
    /// Another provider of Burn's fusion registry goes by the name this crate uses.
    #[error(
        "burn_scan::install() found another fusion optimization of the name it uses: either the program links two \
         versions of burn-scan, and the other one is installed, or some other crate took the name"
    )]
    NameTaken,
    /// The first tensor operation on a fused device ran on another thread during the call.
    #[error(
        "burn_scan::install() was interrupted: another thread ran the first tensor operation on a fused device during \
         the call. Scans run on this crate's kernels where no fuser of Burn's claims them first. Call it before other \
         threads use tensors"
    )]
    Interrupted,
    /// This build of the crate has no fused Cube device whose operations could be taken over.
    #[error(
        "burn_scan::install() has nothing to hook: this build lacks the `fusion` feature or a CubeCL runtime (`wgpu`, \
         `cuda`, ..), so `Tensor::cumsum` stays Burn's own. The methods of `TensorScan`, `TensorCompact`, \
         `TensorExpand` and `MaskIndices` are accelerated without it: call `tensor.inclusive_cumsum(dim)` where you \
         would write `tensor.cumsum(dim)`"
    )]
    NothingToHook,
}

/// Routes Burn's own `Tensor::{cumsum, cumprod, cummax, cummin}` through this crate, on every fused Cube device of the
/// process: in any model, in Burn's own modules, forward and backward. A flip, a scan and a flip back along the same
/// dimension, which is how Burn writes the gradient of `cumsum`, becomes one reverse scan.
///
/// Call it once at the start of the program, before the first tensor operation; making a `Device` first is fine. Once
/// it has succeeded, every further call is `Ok`, from any thread and at any time.
///
/// In Burn's registry of fusers, one fuser that contains the built-in ones takes their place. A graph without scans is
/// planned as before. A built-in fuser that the program removed earlier comes back; fusers of other crates stay.
///
/// # Errors
///
/// - [`InstallError::TooLate`] when a tensor operation has already run on a fused device.
/// - [`InstallError::Interrupted`] when one ran on another thread during the call. Burn has no call that exchanges
///   fusers at once, so the exchange is then half done; results are still right.
/// - [`InstallError::NameTaken`] when Burn's registry already holds a provider of the same name.
/// - [`InstallError::NothingToHook`] when the crate was built without feature `fusion` or without a CubeCL runtime.
///
/// # Example
///
/// ```no_run
/// fn main() -> Result<(), burn_scan::InstallError> {
///     burn_scan::install()?;
///     // .. an ordinary Burn program ..
///     Ok(())
/// }
/// ```
pub fn install() -> Result<(), InstallError> {
    hook()
}

#[cfg(all(feature = "fusion", feature = "cubecl-backend"))]
fn hook() -> Result<(), InstallError> {
    use burn_cubecl::fusion::RegistryError;
    use std::sync::{Mutex, PoisonError};

    // The lock is held across the registration: of two first calls, the second one waits and finds the outcome. A
    // fusion service never stops, so `TooLate` is final. After `NameTaken` the program can remove the other provider
    // and try again.
    static OUTCOME: Mutex<Option<Result<(), InstallError>>> = Mutex::new(None);

    let mut outcome = OUTCOME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = *outcome {
        return known;
    }
    let result = crate::fusion::register().map_err(|error| match error {
        RegistryError::ServiceRunning => InstallError::TooLate,
        RegistryError::DuplicateOptimization { .. } => InstallError::NameTaken,
    });
    let result = result
        .and_then(|()| crate::fusion::replace_builtins().map_err(|_| InstallError::Interrupted));
    if result != Err(InstallError::NameTaken) {
        *outcome = Some(result);
    }
    result
}

#[cfg(not(all(feature = "fusion", feature = "cubecl-backend")))]
fn hook() -> Result<(), InstallError> {
    Err(InstallError::NothingToHook)
}
