//! Gradients take linear time: none of them uses an operation of Burn that is quadratic on a Cube device, as Burn's
//! cumulative sums and the ranges made from them are without `install()`.

use std::time::{Duration, Instant};

use burn::tensor::{Bool, Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::devices::is_flex;
use scan_testing::tensors::{OPS, WAYS, host, options, tensor};

on_every_device![of_scans, of_recurrences, of_segments, of_selections];

/// Elements of the short input, on a Cube device and on the CPU. The long one has four times as many: there a quadratic
/// operation takes seconds on two cores, and a linear one some milliseconds.
const SHORT: [usize; 2] = [1 << 13, 1 << 15];

/// Times up to this are ignored: those of launches, and of a busy machine.
const QUICK: Duration = Duration::from_secs(1);

/// How often a time that is not quick is measured: other tests compile kernels meanwhile.
const TRIES: usize = 6;

/// The largest factor by which the time may grow. It is 4 for linear growth. Burn's own `cumsum`, whose time grows by
/// 16 in the long run, takes 11 times as long on lavapipe (0.27 s and 2.9 s, two cores).
const MOST: u32 = 8;

type Operation<'a> = (String, Box<dyn Fn(Tensor<1>) -> Tensor<1> + 'a>);

/// Asserts that the gradients with respect to `[n]` values take linear time.
fn are_linear(device: &Device, operations: impl Fn(usize) -> Vec<Operation<'static>>) {
    let tracking = device.clone().autodiff();
    let n = SHORT[usize::from(is_flex(device))];
    let (short, long) = (operations(n), operations(4 * n));
    for ((name, short), (_, long)) in short.iter().zip(&long) {
        let slow = least_time(long, 4 * n, &tracking, QUICK);
        if slow > QUICK {
            let quick = least_time(short, n, &tracking, Duration::ZERO);
            assert!(
                slow < MOST * quick,
                "the gradient of {name} takes {quick:?} for {n} elements, {slow:?} for four times as many"
            );
        }
    }
}

/// The least time of a forward and a backward pass. The first one compiles kernels. A time below `enough` ends the
/// measurement.
fn least_time(
    operation: &dyn Fn(Tensor<1>) -> Tensor<1>,
    n: usize,
    device: &Device,
    enough: Duration,
) -> Duration {
    // Values are near 1, so that products stay in range, with a zero among them.
    let values: Vec<f32> = (0..n)
        .map(|i| {
            if i == n / 3 {
                0.0
            } else {
                0.9999 + (i % 7) as f32 * 3e-5
            }
        })
        .collect();
    let mut least = Duration::MAX;
    for _ in 0..TRIES {
        let x = tensor::<f32, 1>(&values, [n], device).require_grad();
        let begun = Instant::now();
        let gradients = operation(x.clone()).sum().backward();
        // Data that nobody reads are not waited for.
        let gradient = host::<f32, 1>(x.grad(&gradients).expect("x has a gradient"));
        assert_eq!(gradient.len(), n);
        least = least.min(begun.elapsed());
        if least < enough {
            break;
        }
    }
    least
}

fn named(
    name: impl Into<String>,
    operation: impl Fn(Tensor<1>) -> Tensor<1> + 'static,
) -> Operation<'static> {
    (name.into(), Box::new(operation))
}

fn of_scans(device: &Device) {
    are_linear(device, |_| {
        let ops = OPS.into_iter().chain([ScanOp::LogSumExp]);
        let mut operations = Vec::new();
        for (turn, op) in ops.enumerate() {
            let way = options(WAYS[turn % 4]);
            operations.push(named(format!("{op:?}"), move |x| {
                x.scan(0, op, options(WAYS[0]))
            }));
            operations.push(named(format!("{op:?} {way:?}"), move |x| {
                x.scan(0, op, way)
            }));
            operations.push(named(format!("{op:?} from a value"), move |x| {
                x.clone().scan_from(x.narrow(0, 5, 1), 0, op, way)
            }));
            operations.push(named(format!("running {op:?}"), move |x| {
                let mut running = RunningScan::new(0, op, ScanOptions::default());
                let n = x.dims()[0];
                running.next(x.clone().narrow(0, 0, n / 2));
                running.next(x.narrow(0, n / 2, n / 2))
            }));
        }
        operations.push(named("cummax_with_indices", |x| x.cummax_with_indices(0).0));
        operations.push(named("cummin_with_indices", |x| x.cummin_with_indices(0).0));
        operations
    });
}

fn of_recurrences(device: &Device) {
    are_linear(device, |_| {
        let with = |options: fn(Tensor<1>) -> RecurrenceOptions<1>| {
            move |x: Tensor<1>| {
                let options = options(x.clone().narrow(0, 5, 1));
                x.clone().linear_recurrence_with(x * 0.5, 0, options)
            }
        };
        vec![
            named("a recurrence", with(|_| RecurrenceOptions::default())),
            named(
                "reversed",
                with(|first| RecurrenceOptions::default().reverse().initial(first)),
            ),
            named(
                "exclusive",
                with(|first| RecurrenceOptions::default().exclusive().initial(first)),
            ),
            named("with one decay", |x| {
                x.clone().linear_recurrence(x.narrow(0, 5, 1), 0)
            }),
            named("with its state", |x| {
                let options = RecurrenceOptions::default();
                let (h, state) = x.clone().linear_recurrence_with_state(x * 0.5, 0, options);
                h + state
            }),
            named("a running recurrence", |x| {
                let mut running = RunningRecurrence::new(0);
                let n = x.dims()[0];
                let mut half = |first| {
                    let half = x.clone().narrow(0, first, n / 2);
                    running.next(half.clone(), half * 0.5)
                };
                half(0);
                half(n / 2)
            }),
            named("logcumsumexp", |x| x.logcumsumexp(0)),
        ]
    });
}

/// Numbers that count up, `step` at a time.
fn counted(n: usize, step: usize, device: &Device) -> Tensor<1, Int> {
    let numbers: Vec<i32> = (0..n).map(|i| (i * step) as i32).collect();
    tensor(&numbers, [n], device)
}

/// One in `step` is true.
fn every(n: usize, step: i32, device: &Device) -> Tensor<1, Bool> {
    counted(n, 1, device).remainder_scalar(step).equal_scalar(1)
}

fn of_segments(device: &Device) {
    let tracking = device.clone().autodiff();
    are_linear(device, |n| {
        let mut operations = Vec::new();
        for (turn, op) in OPS.into_iter().chain([ScanOp::LogSumExp]).enumerate() {
            let starts = every(n, 50, &tracking);
            let way = options(WAYS[turn % 4]);
            operations.push(named(
                format!("a segmented scan by {op:?} {way:?}"),
                move |x| x.segmented_scan(starts.clone(), 0, op, way),
            ));
            for step in [8, n] {
                let offsets = counted(n / step + 1, step, &tracking);
                operations.push(named(format!("segments of {step} by {op:?}"), move |x| {
                    x.segment_reduce(offsets.clone(), op)
                }));
            }
        }
        operations
    });
}

fn of_selections(device: &Device) {
    let tracking = device.clone().autodiff();
    are_linear(device, |n| {
        let third = every(n, 3, &tracking);
        let keys = counted(n, 1, &tracking).remainder_scalar(100);
        let twos = Tensor::<1, Int>::ones([n], &tracking) * 2;
        let of_mask = |operation: fn(Tensor<1>, Tensor<1, Bool>) -> Tensor<1>| {
            let third = third.clone();
            move |x| operation(x, third.clone())
        };
        let of_lengths = |operation: fn(Tensor<1>, Tensor<1, Int>) -> Tensor<1>| {
            let twos = twos.clone();
            move |x| operation(x, twos.clone())
        };
        vec![
            named(
                "compact_by_mask",
                of_mask(|x, mask| x.compact_by_mask(mask)),
            ),
            named(
                "compact_by_mask_padded",
                of_mask(|x, mask| x.compact_by_mask_padded(mask).0),
            ),
            named(
                "compact_dim_by_mask",
                of_mask(|x, mask| x.compact_dim_by_mask(mask, 0)),
            ),
            named(
                "compact_dim_by_mask of slices",
                of_mask(|x, mask| {
                    let n = x.dims()[0];
                    let rows = x.unsqueeze_dim::<2>(1).expand([n, 2]);
                    rows.compact_dim_by_mask(mask, 0).sum_dim(1).squeeze_dim(1)
                }),
            ),
            named(
                "compact_along_by_mask",
                of_mask(|x, mask| x.compact_along_by_mask(mask, 0).0),
            ),
            named("expand_by_mask", of_mask(|x, mask| x.expand_by_mask(mask))),
            named("partition_by_key", move |x| {
                x.partition_by_key(keys.clone(), 100).0
            }),
            named("run_length_encode", |x| x.run_length_encode().0),
            named("radix_sort of short rows", |x| {
                let rows = x.reshape([-1, 2]);
                rows.radix_sort(1, SortOrder::Ascending).reshape([-1])
            }),
            named(
                "repeat_by_lengths",
                of_lengths(|x, twos| x.repeat_by_lengths(twos)),
            ),
            named(
                "repeat_by_lengths_into",
                of_lengths(|x, twos| {
                    let n = x.dims()[0];
                    x.repeat_by_lengths_into(twos, n)
                }),
            ),
        ]
    });
}
