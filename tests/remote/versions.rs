//! Servers and clients of other versions, and servers without this crate.

use std::time::Duration;

use burn::backend::Flex;
use burn::server::RemoteServer;
use burn::tensor::{Device, Int, Tensor, TensorData};
use burn_backend::ops::IntTensorOps;
use burn_scan::TensorScan;
use burn_scan::remote::custom_ops;

use crate::servers::{at, connect, serve, within};
use crate::trouble::panic_of;

const OWN: &str = env!("CARGO_PKG_VERSION");

/// The server's port, and the panic messages of the first and the second scan on its device.
#[track_caller]
fn refusals(server: RemoteServer) -> (String, [String; 2]) {
    let address = serve(server);
    let device = connect(&at(address));
    // Burn's own operations need nothing from this crate.
    let tensor = Tensor::<1, Int>::from_data([1, 2, 3], &device);
    assert_eq!((tensor.clone() * 2).sum().into_scalar::<i32>(), 12);
    let scan = move || {
        let tensor = tensor.clone();
        within(Duration::from_secs(20), move || {
            panic_of(|| tensor.inclusive_cumsum(0))
        })
    };
    (address.port().to_string(), [scan(), scan()])
}

#[test]
fn a_server_of_another_protocol_is_named_with_both_versions() {
    let mut newer = custom_ops::<Flex>();
    newer.register("burn-scan/greeting", |handles, ir, device| {
        let answer = TensorData::from([99, 9, 8, 7]).convert_dtype(ir.outputs[0].dtype);
        let answer = Flex::int_from_data(answer, device);
        handles.register_int_tensor::<Flex>(&ir.outputs[0].id, answer);
    });
    let (port, messages) = refusals(RemoteServer::new([Device::flex()]).with_custom_ops(newer));
    for message in messages {
        for part in [port.as_str(), "9.8.7", OWN, "int_scan"] {
            assert!(message.contains(part), "{part} is not in: {message}");
        }
    }
}

#[test]
fn a_server_without_this_crate_is_named() {
    let (port, messages) = refusals(RemoteServer::new([Device::flex()]));
    for message in messages {
        for part in [port.as_str(), "burn_scan::remote::custom_ops", OWN] {
            assert!(message.contains(part), "{part} is not in: {message}");
        }
    }
}
