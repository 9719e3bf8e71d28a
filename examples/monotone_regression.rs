//! Learns a rising curve from noisy points, with an ordinary Burn module that never names this crate.
//!
//! Some curves must not fall: a dose response, a calibration map, a distribution function. Such a curve is the
//! running sum of increments that are not negative:
//!
//! ```text
//! curve = start + cumsum(softplus(slopes)) / KNOTS          4,096 slopes, learnt by Adam
//! ```
//!
//! [`MonotoneCurve`] writes it with Burn's own `Tensor::cumsum`. Its gradient is Burn's own, too. The only line
//! of burn-scan is `burn_scan::install()`. With it, both run on this crate's kernels wherever the device is
//! fused. On other devices (Flex) it changes nothing.
//!
//! ```text
//! cargo run --release --example monotone_regression [-- [--device flex|wgpu|vulkan|cuda|..] [--svg PATH]]
//! cargo run --release --example monotone_regression -- --no-install      Burn's own kernels only, nothing compared
//! ```
//!
//! `install()` holds for the whole process, so the comparison is a second process: the program starts itself
//! with `--no-install --report`. `--report` prints the last loss and the milliseconds per step for a program to read.
//! Both must end at the same loss, rise everywhere, and come close to the curve without noise. The points and the fit
//! are drawn, by default as `target/plots/monotone_regression.svg`. The exit code is 0 if all results are right, 1 if
//! any is not, 2 if the run could not start.

use std::process::{Command, ExitCode};
use std::time::Instant;

use burn::module::{Module, Param};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::activation::softplus;
use burn::tensor::{Device, Tensor};
use common::Checks;
use common::arguments::Arguments;
use common::plot::{self, Marks, Plot, Series};
use common::random::Random;
use common::timing::milliseconds;

const USAGE: &str = "monotone_regression [--device NAME] [--svg PATH] [--no-install] [--report]";

const KNOTS: usize = 4096;
const STEPS: usize = 300;
/// Steps that are not timed, because they compile kernels.
const WARM_UP: usize = 20;
const LEARNING_RATE: f64 = 0.3;
const NOISE: f32 = 0.1;
/// The largest relative difference between the last losses: the sums round in another order. On lavapipe the
/// losses were 1.3e-6 apart.
const TOLERANCE: f32 = 1e-4;

fn main() -> ExitCode {
    common::run(USAGE, |arguments| {
        if !arguments.flag("--no-install")
            && let Err(error) = burn_scan::install()
        {
            println!("{error}");
        }
        run(arguments)
    })
}

#[derive(Module, Debug)]
struct MonotoneCurve {
    start: Param<Tensor<1>>,
    slopes: Param<Tensor<1>>,
}

impl MonotoneCurve {
    /// The straight line from 0 to 1.
    fn new(device: &Device) -> Self {
        let slope_1 = (1f32.exp() - 1.0).ln();
        Self {
            start: Param::from_tensor(Tensor::zeros([1], device)),
            slopes: Param::from_tensor(Tensor::full([KNOTS], slope_1, device)),
        }
    }

    fn forward(&self) -> Tensor<1> {
        let increments = softplus(self.slopes.val(), 1.0) / KNOTS as f32;
        self.start.val() + increments.cumsum(0)
    }

    fn loss(&self, points: Tensor<1>) -> Tensor<1> {
        (self.forward() - points).square().mean()
    }
}

/// Returns whether all results are right, or the reason why there are none.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let (device, description) = common::device::choose(arguments.device())?;
    let report = arguments.flag("--report");
    let points = noisy_points();
    if !report {
        println!("device: {description}");
        println!("{KNOTS} knots, {STEPS} steps of Adam");
    }
    let fit = Fit::train(&points, &device.autodiff(), !report);
    if report {
        println!("{:?} {:?}", fit.loss, fit.step);
        return Ok(true);
    }

    let mut checks = Checks::default();
    fit.check(&mut checks);
    fit.draw(&points).save(&arguments.svg())?;
    let times = if arguments.flag("--no-install") {
        format!("a step takes {:.3} ms without install()", fit.step)
    } else {
        let name = description.split(' ').next().unwrap_or_default();
        let (loss, step) = without_install(name)?;
        println!("without install()   loss {loss:.6}   {step:8.3} ms a step");
        println!(
            "with install()      loss {:.6}   {:8.3} ms a step",
            fit.loss, fit.step
        );
        if name == "flex" {
            println!("(flex is not fused: install() changes nothing there)");
        }
        let same = (loss - fit.loss).abs() <= TOLERANCE * loss;
        checks.check("the losses agree", same);
        format!(
            "a step takes {:.3} ms with install() and {step:.3} ms without",
            fit.step
        )
    };
    if checks.passed() {
        println!("The curve fits the points and never falls; {times}.");
    }
    Ok(checks.passed())
}

/// The last loss and the milliseconds per step of this program without `install()`.
fn without_install(device: &str) -> Result<(f32, f64), String> {
    let program = std::env::current_exe().map_err(|error| format!("where am I? {error}"))?;
    let mut command = Command::new(program);
    command.args(["--no-install", "--report", "--device", device]);
    command.stderr(std::process::Stdio::inherit());
    let output = command
        .output()
        .map_err(|error| format!("cannot run without install(): {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let parsed = text
        .trim()
        .split_once(' ')
        .map(|(loss, step)| (loss.parse(), step.parse()));
    match parsed {
        Some((Ok(loss), Ok(step))) if output.status.success() => Ok((loss, step)),
        _ => Err(format!(
            "the run without install() ended with {}: {text}",
            output.status
        )),
    }
}

/// The curve to learn: three rises of different steepness.
fn truth(knot: usize) -> f32 {
    let x = knot as f32 / KNOTS as f32;
    let rise = |height: f32, at: f32, steepness: f32| height / (1.0 + (steepness * (at - x)).exp());
    0.3 * x + rise(0.8, 0.2, 60.0) + rise(0.6, 0.55, 15.0) + rise(0.4, 0.85, 120.0)
}

/// One point for each knot.
fn noisy_points() -> Vec<f32> {
    let mut random = Random::new(3);
    (0..KNOTS)
        .map(|knot| truth(knot) + NOISE * random.normal())
        .collect()
}

struct Fit {
    first_loss: f32,
    loss: f32,
    /// Milliseconds.
    step: f64,
    curve: Vec<f32>,
}

impl Fit {
    fn train(points: &[f32], device: &Device, print: bool) -> Self {
        let points = Tensor::<1>::from_data(points, device);
        let mut model = MonotoneCurve::new(device);
        let mut optimizer = AdamConfig::new().with_epsilon(1e-9).init();
        let sync = || device.sync().expect("the device finishes its queue");
        let first_loss = model.loss(points.clone()).into_scalar::<f32>();
        let mut start = Instant::now();
        for step in 0..STEPS {
            if step == WARM_UP {
                sync();
                start = Instant::now();
            }
            let loss = model.loss(points.clone());
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            model = optimizer.step(LEARNING_RATE, model, gradients);
            if step % 50 == 0 {
                let loss = loss.into_scalar::<f32>();
                if print {
                    println!("step {step:4}   loss {loss:.6}");
                }
            }
        }
        sync();
        let step = milliseconds(start.elapsed()) / (STEPS - WARM_UP) as f64;
        let loss = model.loss(points).into_scalar::<f32>();
        if print {
            println!("step {STEPS:4}   loss {loss:.6}");
        }
        let curve = model
            .forward()
            .try_into_vec_as()
            .expect("the device is read");
        Self {
            first_loss,
            loss,
            step,
            curve,
        }
    }

    fn check(&self, checks: &mut Checks) {
        checks.check(
            "the loss falls to the noise",
            self.loss < 1.1 * NOISE * NOISE && self.loss < self.first_loss / 4.0,
        );
        // A sum of 4,096 increments is off by a few roundings of a number near 2.
        checks.check(
            "the curve never falls",
            self.curve.is_sorted_by(|a, b| *b >= a - 1e-6),
        );
        let errors = self
            .curve
            .iter()
            .enumerate()
            .map(|(knot, y)| (y - truth(knot)).powi(2));
        let error = (errors.sum::<f32>() / KNOTS as f32).sqrt();
        println!("distance from the curve without noise: {error:.4} (noise: {NOISE})");
        checks.check(
            "the curve is close to the one without noise",
            error < NOISE / 4.0,
        );
    }

    fn draw(&self, points: &[f32]) -> Plot {
        let every = |step: usize, values: &[f32]| {
            let at = |(knot, &y): (usize, &f32)| (knot as f64 / KNOTS as f64, f64::from(y));
            values
                .iter()
                .enumerate()
                .step_by(step)
                .map(at)
                .collect::<Vec<_>>()
        };
        let series = |label: &str, color, marks| Series {
            label: label.to_string(),
            color,
            marks,
        };
        Plot {
            title: format!("A curve that never falls: cumsum of {KNOTS} increments"),
            x: "x",
            y: "y",
            log_x: false,
            series: vec![
                series(
                    "points (one of 8)",
                    plot::GREY,
                    Marks::Dots(every(8, points)),
                ),
                series("fit", plot::ORANGE, Marks::Line(every(4, &self.curve))),
            ],
        }
    }
}
