//! An operation that reads nothing back waits for nothing: it is built, planned and launched while the device
//! is held.
//!
//! ```text
//! device thread   ──┤ held ├──────────────────────────────────┤ released ├──
//! this thread          build the graph   have it launched   tell
//! ```
//!
//! The probe holds the device's own thread, through which every kernel and every read must go. A call that
//! needs an answer from the device cannot return before the probe gives up. The exact forms show that the probe
//! notices a wait.
#![cfg(feature = "cubecl-backend")]

mod sorts;

use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use burn::backend::{BackendTensor, DispatchDevice, DispatchTensorKind};
use burn::tensor::{Bool, Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::numbered;
use scan_testing::tensors::views::half;
use scan_testing::tensors::{devices, host_indices, mask, oracle, tensor};

/// The limit for calls that must not wait. Only a failure reaches it.
const PATIENT: Duration = Duration::from_secs(30);
/// The limit for calls that must wait. They wait to its end.
const BRIEF: Duration = Duration::from_millis(300);

const N: usize = 20_000;

/// Calls `body` while the device is held, for at most `limit`. Returns the result, and whether `body` returned
/// in that time.
fn while_held<T>(device: &Device, limit: Duration, body: impl FnOnce() -> T) -> (T, bool) {
    let DispatchDevice::Cube(cube) = device.as_dispatch() else {
        unreachable!("only Cube devices are held")
    };
    let client = cube.client();
    let ((held, is_held), (tell, told)) = (channel(), channel());
    thread::scope(|scope| {
        let holder = scope.spawn(move || {
            let hold = move || {
                held.send(()).expect("the probe listens");
                told.recv_timeout(limit).is_ok()
            };
            client.exclusive(hold).expect("the device can be held")
        });
        is_held.recv().expect("the device is held");
        let result = body();
        // After the limit the holder no longer receives.
        let _ = tell.send(());
        (result, holder.join().expect("no panic"))
    })
}

/// Launches everything that is still queued for the tensor's device, without an answer from the device. Without
/// fusion each call has launched at once.
fn launch(tensor: &Tensor<1, Int>) {
    let DispatchTensorKind::Cube(BackendTensor::Int(tensor)) = tensor.clone().into_dispatch().kind
    else {
        unreachable!("an int tensor on a Cube device")
    };
    #[cfg(feature = "fusion")]
    tensor.client.sync(|| ());
    #[cfg(not(feature = "fusion"))]
    drop(tensor);
}

struct Inputs {
    /// The lock of the tests: a device that is held for one test answers no other.
    _alone: MutexGuard<'static, ()>,
    device: Device,
    values: Tensor<2, Int>,
    kept: Tensor<2, Bool>,
    row: Tensor<1, Bool>,
    keys: Tensor<1, Int>,
    trues: usize,
}

/// Tensors on the device. Their uploads are done.
fn inputs() -> Option<Inputs> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let device = devices::cube()?.device.clone();
    let shape = [N / 20, 20];
    let kept: Vec<bool> = (0..N).map(half).collect();
    let keys: Vec<i32> = (0..N as i32).map(|i| i % 7).collect();
    let inputs = Inputs {
        _alone: alone,
        values: tensor::<i32, 2>(&numbered(N), shape, &device),
        kept: mask(&kept, shape, &device),
        row: mask(&kept[..20], [20], &device),
        keys: tensor::<i32, 1>(&keys, [N], &device),
        trues: oracle::indices(&kept).len(),
        device,
    };
    inputs.device.sync().expect("the device syncs");
    Some(inputs)
}

/// Calls `build` once, so that tuning and compilation are done. Calls it again while the device is held, and
/// launches the result while the device is held once more. `check` compares each result, which the device
/// computes afterwards.
#[track_caller]
fn assert_lazy(build: impl Fn(&Inputs) -> Tensor<1, Int>, check: impl Fn(&Inputs, Vec<usize>)) {
    let Some(inputs) = inputs() else { return };
    check(&inputs, host_indices(build(&inputs)));

    let (built, returned) = while_held(&inputs.device, PATIENT, || build(&inputs));
    assert!(returned, "building the graph waits for the device");
    check(&inputs, host_indices(built));

    let (launched, returned) = while_held(&inputs.device, PATIENT, || {
        let built = build(&inputs);
        launch(&built);
        built
    });
    assert!(returned, "launching the graph waits for the device");
    check(&inputs, host_indices(launched));
}

/// The same probe with a call that must wait.
#[track_caller]
fn assert_waits<T>(call: impl Fn(&Inputs) -> T) {
    let Some(inputs) = inputs() else { return };
    call(&inputs);
    let (_, returned) = while_held(&inputs.device, BRIEF, || call(&inputs));
    assert!(
        !returned,
        "the call has read a number from a device that stood still"
    );
}

#[test]
fn compact_by_mask_padded() {
    assert_lazy(
        |x| {
            let (values, count) = x.values.clone().compact_by_mask_padded(x.kept.clone());
            Tensor::cat(vec![count, values.equal_elem(0).int().sum()], 0)
        },
        |x, found| assert_eq!(found, [x.trues, N - x.trues]),
    );
}

#[test]
fn compact_dim_by_mask_padded() {
    assert_lazy(
        |x| {
            x.values
                .clone()
                .compact_dim_by_mask_padded(x.row.clone(), 1)
                .1
        },
        |_, found| assert_eq!(found, [(0..20).filter(|&i| half(i)).count()]),
    );
}

#[test]
fn recurrences() {
    assert_lazy(
        |x| {
            // The sums of these values are exact in any order.
            let values = x.kept.clone().float();
            let decay = Tensor::<2>::ones([1, 1], &x.device);
            let ends = values.clone().linear_recurrence(decay, 0).narrow(0, 999, 1);
            let before = Tensor::<2>::zeros([1, 20], &x.device);
            let sums = values.scan_from(before, 0, ScanOp::Sum, ScanOptions::default());
            (ends - sums.narrow(0, 999, 1)).abs().max().int()
        },
        |_, found| assert_eq!(found, [0]),
    );
}

/// The last element.
fn last(tensor: Tensor<2, Int>) -> Tensor<1, Int> {
    tensor.slice([999..1000, 19..20]).reshape([1])
}

#[test]
fn segmented_scan() {
    assert_lazy(
        |x| {
            let options = ScanOptions::default();
            let starts = x.kept.clone();
            last(
                x.kept
                    .clone()
                    .int()
                    .segmented_scan(starts, 0, ScanOp::Sum, options),
            )
        },
        |_, found| assert_eq!(found, [usize::from((0..1000).any(|i| half(20 * i + 19)))]),
    );
}

#[test]
fn cummin_with_indices() {
    assert_lazy(
        |x| last(x.values.clone().mul_scalar(0).cummin_with_indices(0).1),
        |_, found| assert_eq!(found, [999]),
    );
}

#[test]
fn count_true() {
    assert_lazy(
        |x| x.kept.clone().count_true(),
        |x, found| assert_eq!(found, [x.trues]),
    );
}

#[test]
fn partition_by_key() {
    assert_lazy(
        |x| {
            let values = x.values.clone().reshape([N]);
            values.partition_by_key(x.keys.clone(), 7).1
        },
        |_, found| assert_eq!((found[0], found[7]), (0, N)),
    );
}

#[test]
fn expand_by_mask() {
    assert_lazy(
        |x| {
            let ones = Tensor::<1, Int>::ones([N], &x.device);
            ones.expand_by_mask(x.kept.clone()).sum()
        },
        |x, found| assert_eq!(found, [x.trues]),
    );
}

#[test]
fn scan() {
    assert_lazy(
        |x| x.kept.clone().int().reshape([N]).exclusive_cumsum(0).max(),
        |x, found| assert!(x.trues - found[0] <= 1),
    );
}

#[test]
fn compact_along_by_mask() {
    assert_lazy(
        |x| {
            let (_, counts) = x.values.clone().compact_along_by_mask(x.kept.clone(), 1);
            counts.sum()
        },
        |x, found| assert_eq!(found, [x.trues]),
    );
}

#[test]
fn segment_reduce() {
    assert_lazy(
        |x| {
            let lengths = Tensor::<1, Int>::ones([N / 2], &x.device) * 2;
            let ones = Tensor::<1, Int>::ones([N], &x.device);
            let totals = ones.segment_reduce(lengths.lengths_to_offsets(), ScanOp::Sum);
            Tensor::cat(vec![totals.clone().min(), totals.max()], 0)
        },
        |_, found| assert_eq!(found, [2, 2]),
    );
}

#[test]
fn run_length_encode_padded() {
    assert_lazy(
        |x| {
            let same = x.values.clone().reshape([N]).mul_scalar(0);
            let (_, lengths, count) = same.run_length_encode_padded();
            Tensor::cat(vec![count, lengths.max()], 0)
        },
        |_, found| assert_eq!(found, [1, N]),
    );
}

#[test]
fn repeat_by_lengths_into() {
    assert_lazy(
        |x| {
            // Few launches: the queue of a held device takes 32 tasks.
            let lengths = x.keys.clone().narrow(0, 0, 7);
            lengths
                .clone()
                .repeat_by_lengths_into(lengths, 21 + 3)
                .sum()
        },
        |_, found| assert_eq!(found, [(0..7).map(|key| key * key).sum::<usize>()]),
    );
}

/// Shards of one device, so that nothing leaves it. There are two, because the queue of a held device takes 32
/// tasks, and the next task waits.
const SHARDS: usize = 2;

fn shards_of<const D: usize, K: burn::tensor::kind::Basic>(
    x: &Inputs,
    tensor: Tensor<D, K>,
) -> Sharded<D, K> {
    Sharded::split(tensor, 0, &vec![x.device.clone(); SHARDS])
}

/// The last element of the last shard.
fn last_of(shards: Sharded<2, Int>) -> Tensor<1, Int> {
    let shard = shards.into_shards().pop().expect("there are some");
    let [rows, columns] = shard.dims();
    let last = shard.slice([rows - 1..rows, columns - 1..columns]);
    last.reshape([1])
}

#[test]
fn sharded_scan() {
    assert_lazy(
        |x| last_of(shards_of(x, x.kept.clone().int()).inclusive_cumsum()),
        |_, found| assert_eq!(found, [(0..1000).filter(|&i| half(20 * i + 19)).count()]),
    );
}

#[test]
fn sharded_recurrence() {
    assert_lazy(
        |x| {
            let decay = vec![Tensor::<2>::ones([1, 1], &x.device); SHARDS];
            let states = shards_of(x, x.kept.clone().float());
            let states = states.linear_recurrence(Sharded::new(decay, 0));
            let states = states.into_shards().into_iter().map(Tensor::<2>::int);
            last_of(Sharded::new(states.collect(), 0))
        },
        |_, found| assert_eq!(found, [(0..1000).filter(|&i| half(20 * i + 19)).count()]),
    );
}

#[test]
fn sharded_compaction_is_seen_to_wait() {
    assert_waits(|x| {
        let keys = shards_of(x, x.keys.clone());
        let mask = shards_of(x, x.keys.clone().greater_elem(3));
        keys.compact_dim_by_mask(mask)
    });
}

#[test]
fn run_length_encode_is_seen_to_wait() {
    assert_waits(|x| x.values.clone().reshape([N]).run_length_encode());
}

#[test]
fn repeat_by_lengths_is_seen_to_wait() {
    assert_waits(|x| {
        let lengths = Tensor::<1, Int>::ones([N], &x.device);
        lengths.clone().repeat_by_lengths(lengths)
    });
}

#[test]
fn compact_by_mask_is_seen_to_wait() {
    assert_waits(|x| x.values.clone().compact_by_mask(x.kept.clone()));
}

#[test]
fn compact_dim_by_mask_is_seen_to_wait() {
    assert_waits(|x| x.values.clone().compact_dim_by_mask(x.row.clone(), 1));
}

#[test]
fn compact_indices_is_seen_to_wait() {
    assert_waits(|x| x.kept.clone().compact_indices());
}
