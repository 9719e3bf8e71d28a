//! `install()` on a server.

use burn::server::RemoteServer;
use burn::tensor::Tensor;
use burn_scan::install;
use scan_testing::tensors::{devices, host};

use crate::fusion_support::planned;
use crate::servers::{again, at, connect, serve};

/// Tells a process of this binary to call `install()`, which affects a whole process.
const INSTALLED: &str = "BURN_SCAN_TEST_INSTALLED";

/// The client calls nothing from this crate, and the server has none of its operations.
#[test]
fn a_server_with_install_scans_for_plain_clients() {
    if std::env::var_os(INSTALLED).is_none() {
        return again(
            "installed::a_server_with_install_scans_for_plain_clients",
            INSTALLED,
            "1",
        );
    }
    install().expect("no tensor operation precedes it");
    let Some(local) = devices::cube() else {
        return;
    };
    let device = connect(&at(serve(RemoteServer::new([local.device.clone()]))));
    let x = Tensor::<1>::from_data([1.0, 2.0, 3.0], &device);
    // The server runs operations on the client's stream, and in this process the inspector sees them.
    let (sums, plan) = planned(&device, || x.cumsum(0));
    assert!(plan.contains("Scan(CumSum)"), "{plan}");
    assert_eq!(host::<f32, 1>(sums), [1.0, 3.0, 6.0]);
}
