//! Whether client and server understand each other.
//!
//! Before its first operation on a device, a client greets: it sends its protocol and version, and reads back the
//! server's. Only then does an operation that reads back no number wait for the network. A client can read only tensors
//! from a server, so there is no other way.
//!
//! ```text
//! greeting    scalars: protocol, major, minor, patch    result: [4] int, the same of the server
//! ```
//!
//! The greeting itself never changes: versions tell each other apart by it.

use super::fault::Fault;
use super::protocol::PROTOCOL;
use crate::ops::kinds::{Int, Kind};
use crate::refusal;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, DispatchDevice, Remote, TensorMetadata};
use burn::remote::CustomOpClient;
use burn::tensor::{DType, Device, Shape, TensorData};
use burn_backend::ops::IntTensorOps;
use burn_backend::{Device as _, DeviceId};
use burn_ir::{BackendIr, CustomOpIr, HandleContainer, ScalarIr, TensorIr, TensorStatus};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

pub(super) const GREETING: &str = "burn-scan/greeting";

/// A tensor on a remote device. Burn has one type for all three kinds.
pub(super) type RemoteTensor = FloatTensor<Remote>;

type RemoteDevice = <RemoteTensor as TensorMetadata>::Device;

/// Protocol and version of this crate.
fn own() -> [u64; 4] {
    let part = |text: &str| text.parse().unwrap_or(0);
    [
        PROTOCOL,
        part(env!("CARGO_PKG_VERSION_MAJOR")),
        part(env!("CARGO_PKG_VERSION_MINOR")),
        part(env!("CARGO_PKG_VERSION_PATCH")),
    ]
}

/// The outcome of the greeting for each device, once it is known.
type Answers = HashMap<DeviceId, Arc<OnceLock<Result<(), String>>>>;

/// Panics unless the server of `device` understands this client; asks it once.
#[track_caller]
pub(super) fn greet(operation: &str, device: &RemoteDevice) {
    static ANSWERS: LazyLock<Mutex<Answers>> = LazyLock::new(Mutex::default);

    let answer = {
        let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
        answers.entry(device.to_id()).or_default().clone()
    };
    if let Err(reason) = answer.get_or_init(|| understands(device)) {
        refusal::fail(operation, reason);
    }
}

/// Whether the device computes with that dtype. A server is asked once for each dtype.
pub(crate) fn supports(device: &Device, dtype: DType) -> bool {
    static ANSWERS: LazyLock<Mutex<HashMap<(DeviceId, DType), bool>>> =
        LazyLock::new(Mutex::default);

    let plain = device.clone().inner();
    #[allow(irrefutable_let_patterns, reason = "a build may have no other backend")]
    let DispatchDevice::Remote(remote) = plain.as_dispatch() else {
        return device.supports_dtype(dtype);
    };
    let key = (remote.to_id(), dtype);
    let known = |answers: &Mutex<HashMap<_, _>>| {
        let answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(&key).copied()
    };
    known(&ANSWERS).unwrap_or_else(|| {
        let answer = device.supports_dtype(dtype);
        let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
        answers.insert(key, answer);
        answer
    })
}

/// A browser must not wait, and greets no server. Every call carries the protocol as well.
#[cfg(target_family = "wasm")]
fn understands(_: &RemoteDevice) -> Result<(), String> {
    Ok(())
}

#[cfg(not(target_family = "wasm"))]
fn understands(device: &RemoteDevice) -> Result<(), String> {
    let client = CustomOpClient::new(device);
    let answer = TensorIr {
        id: client.create_empty_handle(),
        shape: Shape::from([own().len()]),
        status: TensorStatus::NotInit,
        dtype: burn_backend::get_or_init_device_settings::<Remote>(device)
            .int_dtype
            .into(),
    };
    let scalars = own().map(ScalarIr::UInt).to_vec();
    let ir = CustomOpIr::with_scalars(GREETING, &[], core::slice::from_ref(&answer), scalars);
    let [answer]: [RemoteTensor; 1] = client
        .register(ir)
        .try_into()
        .unwrap_or_else(|_| unreachable!("one result was declared"));
    let data = burn_backend::read_sync(Remote::int_into_data(answer)).map_err(|error| {
        format!(
            "The server of {device:?} does not answer. Either it has ended, and its log says why, or it was \
             started without `burn_scan::remote::custom_ops`, which it needs of version {}. ({error})",
            env!("CARGO_PKG_VERSION")
        )
    })?;
    let theirs: Vec<u64> = data.iter::<i64>().map(|part| part as u64).collect();
    compare(&theirs, device)
}

/// The protocols are the same, or an error that names both versions.
fn compare(theirs: &[u64], device: &impl core::fmt::Debug) -> Result<(), String> {
    match theirs {
        [PROTOCOL, ..] => Ok(()),
        [protocol, major, minor, patch] => Err(format!(
            "The server of {device:?} has burn-scan {major}.{minor}.{patch} with protocol {protocol}, this client \
             burn-scan {} with protocol {PROTOCOL}. Build both with the same version.",
            env!("CARGO_PKG_VERSION")
        )),
        _ => Err(format!("The server of {device:?} answers with {theirs:?}.")),
    }
}

/// The server's answer.
pub(super) fn answer<B: Backend + BackendIr>(
    handles: &mut HandleContainer<B::Handle>,
    ir: &CustomOpIr,
    device: &B::Device,
) -> Result<(), Fault> {
    let [result] = ir.outputs.as_slice() else {
        return Err(Fault::Count {
            what: "results",
            expected: 1,
            found: ir.outputs.len(),
        });
    };
    let dtype = if <Int as Kind<B>>::holds(result.dtype) {
        result.dtype
    } else {
        DType::I32
    };
    let parts = own().map(|part| part as i64);
    let data = TensorData::new(parts.to_vec(), [parts.len()]).convert_dtype(dtype);
    let tensor = B::int_from_data(data, device);
    <Int as Kind<B>>::leave(handles, &result.id, tensor);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_do_not_understand_each_other_are_both_named() {
        let device = "ws://host:3000";
        assert_eq!(compare(&own(), &device), Ok(()));
        let newer = [PROTOCOL + 1, 7, 8, 9];
        let error = compare(&newer, &device).expect_err("another protocol");
        for part in ["7.8.9", env!("CARGO_PKG_VERSION"), "ws://host:3000"] {
            assert!(error.contains(part), "{error}");
        }
        assert!(compare(&[], &device).is_err());
    }

    #[test]
    fn releases_of_one_protocol_understand_each_other() {
        assert_eq!(compare(&[PROTOCOL, 7, 8, 9], &"host"), Ok(()));
    }
}
