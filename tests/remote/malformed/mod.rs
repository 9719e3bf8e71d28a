//! Calls that this crate's client never makes: no panic leaves a handler, and the session goes on.

mod calls;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::backend::{DispatchDevice, Flex};
use burn::remote::CustomOpClient;
use burn::tensor::{DType, Device, Int, Shape, Tensor, TensorData};
use burn_ir::{BackendIr, CustomOpIr, OperationIr, ScalarIr, TensorId, TensorIr, TensorStatus};
use burn_router::TensorInterpreter;
use burn_scan::ops::ScanBackend;
use burn_scan::prelude::*;
use burn_scan::remote::{OPERATIONS, PROTOCOL, custom_ops};
use calls::{Call, call};
use proptest::test_runner::{Config, TestRunner};

use crate::servers::{connect, flex, serve};

const CASES: u32 = if cfg!(feature = "heavy") {
    200_000
} else {
    10_000
};

/// Each call compiles kernels and waits for the device.
#[cfg(feature = "cubecl-backend")]
const CASES_ON_CUBE: u32 = CASES / 25;

/// The server's side of a session.
pub struct Host<B: BackendIr> {
    interpreter: TensorInterpreter<B>,
    device: Device,
    ids: u64,
}

impl<B: ScanBackend + BackendIr> Host<B> {
    fn new(device: &Device) -> Self {
        let interpreter = TensorInterpreter::with_custom_ops(Default::default(), custom_ops());
        Self {
            interpreter,
            device: device.clone(),
            ids: 0,
        }
    }

    fn named(&mut self, shape: &[usize], dtype: DType, status: TensorStatus) -> TensorIr {
        self.ids += 1;
        TensorIr {
            id: TensorId::new(self.ids),
            shape: Shape::from(shape.to_vec()),
            status,
            dtype: match dtype {
                DType::Bool(_) => self.device.settings().bool_dtype.into(),
                dtype => dtype,
            },
        }
    }

    /// Registers a tensor with these data. It stays missing if the device cannot hold it: a dtype that the device lacks
    /// or, on a Cube device, a tensor without dimensions, which CubeCL cannot allocate.
    fn holding(&mut self, data: TensorData, status: TensorStatus) -> TensorIr {
        let ir = self.named(data.shape(), data.dtype(), status);
        let is_flex = matches!(self.device.as_dispatch(), DispatchDevice::Flex(_));
        if self.device.supports_dtype(ir.dtype) && (is_flex || !ir.shape.is_empty()) {
            let data = data.convert_dtype(ir.dtype);
            self.interpreter.register_tensor_data_id(ir.id, data);
        }
        ir
    }

    /// The result, if it was written and can be read.
    fn read(&mut self, result: &TensorIr) -> Option<TensorData> {
        let result = TensorIr {
            status: TensorStatus::ReadWrite,
            ..result.clone()
        };
        let read = || burn::tensor::read_sync(self.interpreter.read_tensor_async(result));
        // Burn's read of a refused result panics.
        catch_unwind(AssertUnwindSafe(read)).ok()?.ok()
    }

    /// Asserts that a correct call is still answered.
    fn works(&mut self) {
        let data = TensorData::from([1i32, 2, 3]);
        let input = self.holding(data, TensorStatus::ReadWrite);
        let output = self.named(&[3], DType::I32, TensorStatus::NotInit);
        let scalars = [PROTOCOL, 0, 0, 0].map(ScalarIr::UInt).to_vec();
        let ir = CustomOpIr::with_scalars(
            "burn-scan/int_scan",
            &[input],
            std::slice::from_ref(&output),
            scalars,
        );
        self.interpreter.register_op(OperationIr::Custom(ir));
        let sums = self.read(&output).expect("it was answered");
        assert!(sums.iter::<i32>().eq([1, 3, 6]));
    }

    /// Makes a call. Returns whether it was answered.
    fn run(&mut self, call: &Call) -> bool {
        let inputs: Vec<TensorIr> = call
            .tensors
            .iter()
            .map(|tensor| {
                if tensor.exists {
                    self.holding(tensor.data(), tensor.status)
                } else {
                    self.named(&tensor.shape, DType::F32, tensor.status)
                }
            })
            .collect();
        let outputs: Vec<TensorIr> = call
            .results
            .iter()
            .map(|(shape, dtype)| self.named(shape, *dtype, TensorStatus::NotInit))
            .collect();
        let ir = CustomOpIr::with_scalars(call.id, &inputs, &outputs, call.scalars.clone());
        self.interpreter.register_op(OperationIr::Custom(ir));
        let read = outputs.iter().map(|output| {
            let data = self.read(output)?;
            assert_eq!(*data.shape(), output.shape, "a result of {call:?}");
            Some(data)
        });
        let answered = read.map(|data| data.is_some()).collect::<Vec<_>>();
        assert!(
            answered.windows(2).all(|pair| pair[0] == pair[1]),
            "some results of {call:?} have been written, others not"
        );
        answered.contains(&true)
    }
}

#[test]
fn no_call_ends_a_session() {
    let mut answered = BTreeMap::<_, u32>::new();
    let mut never: Vec<_> = OPERATIONS.iter().map(|operation| operation.id).collect();
    // Few calls of some operations are correct, and none may be among the first.
    for round in 1..=5 {
        for (id, count) in answered_on::<Flex>(&Device::flex(), CASES) {
            *answered.entry(id).or_default() += count;
        }
        never.retain(|id| !answered.contains_key(id));
        let (all, calls) = (answered.values().sum::<u32>(), round * CASES);
        assert!(all < calls, "all of {calls} calls were answered");
        if never.is_empty() {
            return;
        }
    }
    panic!("{answered:?}, none of {never:?}: these are not the cases meant");
}

#[cfg(feature = "cubecl-backend")]
#[test]
fn no_call_ends_a_session_of_a_cube_device() {
    if let Some(cube) = scan_testing::tensors::devices::cube() {
        let answered: u32 = answered_on::<burn::backend::Cube>(&cube.device, CASES_ON_CUBE)
            .values()
            .sum();
        assert!(
            (1..CASES_ON_CUBE).contains(&answered),
            "{answered} calls were answered"
        );
    }
}

/// Makes calls, with a correct one after each. Returns how many of each operation were answered.
fn answered_on<B: ScanBackend + BackendIr>(
    device: &Device,
    cases: u32,
) -> BTreeMap<&'static str, u32> {
    let host = Cell::new(Some(Host::<B>::new(device)));
    let answered = RefCell::new(BTreeMap::new());
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&call(), |call| {
        let mut session = host.take().unwrap_or_else(|| Host::new(device));
        if session.run(&call) {
            *answered.borrow_mut().entry(call.id).or_default() += 1;
        }
        session.works();
        host.set(Some(session));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    answered.into_inner()
}

/// Over the network, a refused call ends no session. What depends on its result inherits the error.
fn survives(device: &Device) {
    let tensor = Tensor::<1, Int>::from_data([1, 2, 3], device);
    let DispatchDevice::Remote(remote) = device.as_dispatch() else {
        unreachable!("a remote device")
    };
    let client = CustomOpClient::new(remote);
    let output = |shape: &[usize]| TensorIr {
        id: client.create_empty_handle(),
        shape: Shape::from(shape.to_vec()),
        status: TensorStatus::NotInit,
        dtype: DType::I32,
    };
    let own = ScalarIr::UInt(PROTOCOL);
    let wrong: [(&'static str, Vec<ScalarIr>); 6] = [
        ("burn-scan/segment_ids", vec![]),
        (
            "burn-scan/segment_ids",
            vec![ScalarIr::UInt(PROTOCOL + 1), ScalarIr::UInt(3)],
        ),
        (
            "burn-scan/int_scan",
            vec![own, ScalarIr::UInt(9), ScalarIr::UInt(0), ScalarIr::UInt(0)],
        ),
        (
            "burn-scan/int_scan",
            vec![
                own,
                ScalarIr::UInt(0),
                ScalarIr::UInt(99),
                ScalarIr::UInt(0),
            ],
        ),
        (
            "burn-scan/int_scan",
            vec![
                own,
                ScalarIr::Float(0.5),
                ScalarIr::UInt(0),
                ScalarIr::UInt(0),
            ],
        ),
        (
            "burn-scan/partition_ranks",
            vec![own, ScalarIr::UInt(u64::MAX), ScalarIr::UInt(77)],
        ),
    ];
    for (id, scalars) in wrong {
        let refused = client.register(CustomOpIr::with_scalars(id, &[], &[output(&[3])], scalars));
        // In the same session, before and after the result is dropped.
        let sums = tensor.clone().inclusive_cumsum(0).into_data();
        assert!(sums.iter::<i32>().eq([1, 3, 6]), "{id}");
        drop(refused);
    }
    let sums = tensor.inclusive_cumsum(0).into_data();
    assert!(sums.iter::<i32>().eq([1, 3, 6]));
}

/// The same for calls whose results are small and whose values are a broadcast that the server would have to write out.
fn survives_copies_that_do_not_fit(device: &Device) {
    let sums = Tensor::<1, Int>::from_data([1, 2, 3], device);
    let broadcast = || Tensor::<1>::from_data([1.0], device).expand([1usize << 44]);
    let mask = Tensor::<1, Int>::from_data([1, 0, 1], device).equal_scalar(1);
    let offsets = Tensor::<1, Int>::from_data([0, 1], device);
    let calls: [&dyn Fn() -> Tensor<1>; 2] =
        [&|| broadcast().expand_by_mask(mask.clone()), &|| {
            broadcast().segment_reduce(offsets.clone(), ScanOp::Sum)
        }];
    for call in calls {
        let refused = call();
        let sums = sums.clone().inclusive_cumsum(0).into_data();
        assert!(sums.iter::<i32>().eq([1, 3, 6]));
        drop(refused);
    }
}

on_every_device![survives, survives_copies_that_do_not_fit];

/// Reading a refused result ends its session and no other.
#[test]
fn reading_what_was_refused_ends_one_session() {
    let server = serve(flex());
    let host = crate::servers::at(server);
    let (device, other) = (
        connect(&host),
        connect(&host.clone().with_credential("other")),
    );
    let DispatchDevice::Remote(remote) = device.as_dispatch() else {
        unreachable!("a remote device")
    };
    let client = CustomOpClient::new(remote);
    let output = TensorIr {
        id: client.create_empty_handle(),
        shape: [3].into(),
        status: TensorStatus::NotInit,
        dtype: DType::I32,
    };
    let [refused] = client
        .register(CustomOpIr::with_scalars(
            "burn-scan/int_scan",
            &[],
            &[output],
            vec![],
        ))
        .try_into()
        .expect("one result");
    let read = crate::servers::within(std::time::Duration::from_secs(20), move || {
        use burn_backend::ops::IntTensorOps;
        burn::tensor::read_sync(burn::backend::Remote::int_into_data(refused))
    });
    assert!(read.is_err());
    let tensor = Tensor::<1, Int>::from_data([1, 2, 3], &other);
    assert!(
        tensor
            .inclusive_cumsum(0)
            .into_data()
            .iter::<i32>()
            .eq([1, 3, 6])
    );
    // The server takes new sessions.
    let tensor = Tensor::<1, Int>::from_data([1, 2, 3], &connect(&host.with_credential("later")));
    assert!(
        tensor
            .inclusive_cumsum(0)
            .into_data()
            .iter::<i32>()
            .eq([1, 3, 6])
    );
}
