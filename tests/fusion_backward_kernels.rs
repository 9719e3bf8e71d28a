//! The gradient of `(x * 2).cumsum(0)` compiles no flip: CubeCL's compilation log names every kernel of the process,
//! so this is the only test of its process.
#![cfg(all(feature = "fusion", feature = "wgpu", feature = "autodiff"))]

mod fusion_support;

use fusion_support::{floats, hooked_device};

#[test]
fn backward_compiles_no_flip() {
    let log = std::env::temp_dir().join(format!("burn-scan-kernels-{}.log", std::process::id()));
    // SAFETY: nothing else reads or writes the environment yet: this is the only test of the process, and no device
    // has been started.
    unsafe { std::env::set_var("CUBECL_DEBUG_LOG", &log) };
    let Some(device) = hooked_device() else {
        return;
    };
    let kernels = || std::fs::read_to_string(&log).unwrap_or_default();

    let x = floats(&device.clone().autodiff(), [4096]).require_grad();
    let gradients = (x.clone() * 2.0).cumsum(0).backward();
    x.grad(&gradients).expect("x is tracked").into_data();
    assert!(!wait_for(kernels, "flip_kernel"), "the gradient ran a flip");

    // The log does name a flip where there is one.
    floats(&device, [4096]).flip([0]).into_data();
    assert!(
        wait_for(kernels, "flip_kernel"),
        "no flip in the log of {}",
        log.display()
    );
    std::fs::remove_file(log).expect("the log is this test's own");
}

/// The log is written by a thread of its own: gives it a moment to catch up.
fn wait_for(log: impl Fn() -> String, name: &str) -> bool {
    (0..20).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        log().contains(name)
    })
}
