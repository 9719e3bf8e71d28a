//! What the checks ask of a device: whether this build knows its back end, and what it holds.

use super::fail;
use burn::backend::DispatchDevice;
use burn::tensor::Device;

/// The most bytes of a buffer of a Cube device.
pub(super) fn largest_buffer(device: &Device) -> Option<u64> {
    #[cfg(feature = "cubecl-backend")]
    fn of(device: &DispatchDevice) -> Option<u64> {
        match device {
            DispatchDevice::Cube(device) => Some(device.client().properties().memory.max_page_size),
            #[cfg(feature = "autodiff")]
            DispatchDevice::Autodiff(device) => of(device),
            #[allow(unreachable_patterns, reason = "depends on the backends in the build")]
            _ => None,
        }
    }
    #[cfg(feature = "cubecl-backend")]
    return of(device.as_dispatch());
    #[cfg(not(feature = "cubecl-backend"))]
    {
        let _ = device;
        None
    }
}

/// Whether operations run on the CPU of this process, and end before they return. The other devices queue operations.
pub(crate) fn is_cpu(device: &DispatchDevice) -> bool {
    match device {
        #[cfg(feature = "flex")]
        DispatchDevice::Flex(_) => true,
        #[cfg(feature = "autodiff")]
        DispatchDevice::Autodiff(device) => is_cpu(device),
        #[allow(unreachable_patterns, reason = "depends on the backends in the build")]
        _ => false,
    }
}

/// The host can wait for what the operation reads back. A browser page cannot, except on its own CPU; it must call
/// `instead`, which does not block.
#[track_caller]
pub(crate) fn waits(operation: &str, device: &Device, instead: &str) {
    if cfg!(target_family = "wasm") && !is_cpu(device.as_dispatch()) {
        fail(
            operation,
            &format!(
                "A browser cannot wait for the device {device:?}. Call {instead} and await it."
            ),
        );
    }
}

/// This build has the operations of the device's back end. A program may have other back ends of Burn than this crate.
#[track_caller]
pub(super) fn backend(operation: &str, device: &DispatchDevice) {
    match device {
        #[cfg(feature = "flex")]
        DispatchDevice::Flex(_) => {}
        #[cfg(feature = "cubecl-backend")]
        DispatchDevice::Cube(_) => {}
        #[cfg(feature = "remote")]
        DispatchDevice::Remote(_) => {}
        #[cfg(feature = "autodiff")]
        DispatchDevice::Autodiff(device) => backend(operation, device),
        #[allow(unreachable_patterns, reason = "depends on the backends in the build")]
        other => fail(operation, &missing_backend(&format!("{other:?}"))),
    }
}

/// What to do about a device, given as printed, whose back end this build does not have.
#[cfg_attr(
    not(test),
    allow(dead_code, reason = "depends on the backends in the build")
)]
fn missing_backend(device: &str) -> String {
    let features = [
        ("Flex", "`flex`"),
        ("Cube", "that of its runtime: `wgpu`, `cuda`, .."),
        ("Remote", "`remote`"),
        ("Autodiff", "`autodiff`"),
    ];
    let known = features
        .into_iter()
        .find(|(name, _)| device.starts_with(name));
    match known {
        Some((_, feature)) => format!(
            "burn-scan was built without the back end of the device {device}. Add a feature to burn-scan: {feature}."
        ),
        None => format!("burn-scan has no operations for the device {device}."),
    }
}

#[cfg(test)]
mod tests {
    use super::missing_backend;

    #[test]
    fn a_missing_back_end_is_named_with_its_feature() {
        assert!(missing_backend("Flex(Cpu)").ends_with("feature to burn-scan: `flex`."));
        assert!(missing_backend("Cube(Wgpu)").contains("`wgpu`, `cuda`"));
        assert!(missing_backend("LibTorch(Cpu)").contains("no operations"));
    }
}
