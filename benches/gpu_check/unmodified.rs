//! Burn's own `cumsum`, forward and backward: with `install()`, and in another process without it. The plan of the
//! forward pass says whose kernel ran.

use std::time::{Duration, Instant};

use burn::tensor::{Device, Tensor};
use burn_scan::{ScanOp, install};
use scan_testing::tensors::{host, oracle, tensor};
use serde_json::json;

use crate::bench::input::steps;
use crate::fusion_support::planned;
use crate::stage::{self, Outcome, figures};

/// Burn's kernel is quadratic: it takes minutes for the longer row on a small device.
const LENGTHS: [usize; 2] = [1 << 14, 1 << 20];
const BEARABLE: usize = 1 << 14;

/// The name of our fuser in Burn's plan.
const OURS: &str = "Scan(";

/// Calls of which the median counts.
const SAMPLES: usize = 5;

pub fn with_install(open: impl FnOnce() -> Device) {
    install().expect("no tensor operation precedes it");
    run(&open(), true);
}

pub fn without_install(device: &Device) {
    run(device, false);
}

fn run(device: &Device, is_installed: bool) {
    for len in LENGTHS {
        let who = if is_installed {
            "installed"
        } else {
            "Burn's own"
        };
        stage::case(&format!("x.cumsum(0) of {len}, {who}"), || {
            if !is_installed && len > BEARABLE {
                return Outcome::LeftOut("Burn's kernel is quadratic".into());
            }
            measure(device, len, is_installed)
        });
    }
}

fn measure(device: &Device, len: usize, is_installed: bool) -> Outcome {
    let values: Vec<f32> = steps(len);
    let x: Tensor<1> = tensor(&values, [len], device);
    let (sums, plan) = planned(device, || x.clone().cumsum(0));
    let ours = plan.contains(OURS);
    if ours != is_installed {
        return Outcome::Wrong(format!("the plan is {plan}"));
    }
    let expected = oracle::scan(&values, &[len], 0, ScanOp::Sum, (false, false));
    if host::<f32, 1>(sums) != expected {
        return Outcome::Wrong("the sums are wrong".into());
    }
    let tracked: Tensor<1> = tensor(&values, [len], &device.clone().autodiff()).require_grad();
    let backward = || {
        let gradients = tracked.clone().cumsum(0).sum().backward();
        tracked.grad(&gradients).expect("it is tracked")
    };
    let gradient = host::<f32, 1>(backward());
    let is_right = (0..len).all(|at| gradient[at] == (len - at) as f32);
    if !is_right {
        return Outcome::Wrong("the gradient is wrong".into());
    }
    let forward = median(device, || x.clone().cumsum(0));
    let both = median(device, backward);
    Outcome::Right(figures([
        ("forward_us", json!(forward.as_secs_f64() * 1e6)),
        ("forward_and_backward_us", json!(both.as_secs_f64() * 1e6)),
        ("plan", json!(plan)),
    ]))
}

/// From the call to the end of the device's queue. Results live until then, because Burn computes none that is dropped.
fn median<R>(device: &Device, run: impl Fn() -> R) -> Duration {
    let mut times: Vec<Duration> = (0..SAMPLES)
        .map(|_| {
            let begun = Instant::now();
            let _held = run();
            device.sync().expect("the device finishes its queue");
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[SAMPLES / 2]
}
