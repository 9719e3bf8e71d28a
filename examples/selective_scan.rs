//! A Mamba mixer with its recurrence as one operation, a model of two such mixers that learns to copy selectively, and
//! one that learns from sequences without an end, chunk by chunk.
//!
//! The recurrence `h[t] = decay[t]·h[t−1] + input[t]` of a state-space model has different decays at each step. Without
//! a scan it is a loop over the steps with a few operations each, and a backward pass with more. Here both ways are one
//! module ([`mixer`]). Their outputs and all gradients are compared, and their times at a size of real use. Then
//! [`copying`] trains a model in a minute or two, and [`endless`] trains another one.
//!
//! ```text
//! cargo run --release --example selective_scan [-- [--device flex|wgpu|vulkan|cuda|..] [--svg PATH]]
//! ```
//!
//! The loss is drawn, by default as `target/plots/selective_scan.svg`. The exit code is 0 if all results are
//! right and both tasks are learnt, 1 if not, 2 if the run could not start.

#[path = "selective_scan/copying.rs"]
mod copying;
#[path = "selective_scan/endless.rs"]
mod endless;
#[path = "selective_scan/mixer.rs"]
mod mixer;

use std::process::ExitCode;
use std::time::Duration;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Distribution, Gradients, Tensor};
use common::Checks;
use common::arguments::Arguments;
use common::plot::{self, Marks, Plot, Series};
use common::random::Random;
use common::timing::{median, milliseconds};
use copying::{Learnt, ROUNDS, learn};
use endless::{CHUNKS, Followed, follow};
use mixer::{Memory, Mixer, Selected, Sizes, Way};

const USAGE: &str = "selective_scan [--device NAME] [--svg PATH]";

/// `[batch, time]` of the comparison.
const BATCH: usize = 2;
const TIME: usize = 256;
const SIZES: Sizes = Sizes {
    model: 128,
    channels: 256,
    states: 16,
};

/// Steps of the comparison of all gradients. The time of the loop's backward pass grows with their square.
const SHORT: usize = 40;

/// The largest difference of results, relative to the largest result: the two ways round differently.
const TOLERANCE: f64 = 1e-4;

/// The accuracy that counts as learnt. Chance alone gives an eighth.
const LEARNT: f64 = 0.9;

/// The accuracy on sequences without an end that counts as learnt, and the part of it that earlier chunks bring.
const FOLLOWED: f64 = 0.9;
const NEEDED: f64 = 0.2;

fn main() -> ExitCode {
    common::run(USAGE, run)
}

/// Returns whether all results are right, or the reason why there are none.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let (device, description) = common::device::choose(arguments.device())?;
    println!("device: {description}");
    let mut checks = Checks::default();
    let tracked = device.clone().autodiff();
    tracked.seed(11);
    let mixer = Mixer::new(SIZES, &mut Random::new(5), &tracked);
    compare_gradients(&mixer, &tracked, &mut checks);
    compare_times(&mixer, &tracked, &mut checks);
    compare_chunks(&mixer, &tracked, &mut checks);

    let learnt = learn(&device);
    let last = learnt.losses[learnt.losses.len() - 1];
    println!(
        "selective copying: loss {:.3} at first, {last:.3} after {ROUNDS} rounds; {:.1} % of new symbols right",
        learnt.losses[0],
        100.0 * learnt.accuracy
    );
    learnt.plot().save(&arguments.svg())?;
    checks.check("selective copying is learnt", learnt.accuracy > LEARNT);
    let Followed {
        first_loss,
        last_loss,
        accuracy,
        forgetful,
    } = follow(&device);
    println!(
        "sequences without an end: loss {first_loss:.3} at first, {last_loss:.3} after {CHUNKS} chunks; {:.1} % of the next answers right, {:.1} % without what earlier chunks leave",
        100.0 * accuracy,
        100.0 * forgetful
    );
    checks.check(
        "the memory over chunks is learnt",
        accuracy > FOLLOWED && forgetful < accuracy - NEEDED,
    );
    if checks.passed() {
        println!(
            "One recurrence gives what the loop gives, forward and backward, and both tasks are learnt."
        );
    }
    Ok(checks.passed())
}

/// The outputs of a mixer and the gradients of all its parameters, both ways.
fn compare_gradients(mixer: &Mixer, device: &Device, checks: &mut Checks) {
    let input = drawn([BATCH, SHORT, SIZES.model], device);
    let weights = drawn([BATCH, SHORT, SIZES.model], device);
    let [ours, theirs] = [Way::Scan, Way::Loop].map(|way| {
        let input = input.clone().require_grad();
        let output = mixer.forward(input.clone(), way);
        let gradients = (output.clone() * weights.clone()).sum().backward();
        let mut all = vec![host(output)];
        all.push(host(input.grad(&gradients).expect("the input is tracked")));
        let mut parameters = Parameters {
            gradients,
            found: Vec::new(),
        };
        mixer.visit(&mut parameters);
        all.append(&mut parameters.found);
        all
    });
    let furthest = ours
        .iter()
        .zip(&theirs)
        .map(|(ours, theirs)| apart(ours, theirs));
    // A maximum ignores NaN.
    let is_near = furthest.clone().all(|apart| apart < TOLERANCE);
    let furthest = furthest.fold(0.0, f64::max);
    println!(
        "the output and {} gradients of both ways: apart by at most {furthest:.1e} of the largest",
        ours.len() - 1
    );
    checks.check("the ways agree", is_near && ours.len() == theirs.len());
}

/// The gradients of a module's parameters.
struct Parameters {
    gradients: Gradients,
    found: Vec<Vec<f32>>,
}

impl ModuleVisitor for Parameters {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        let gradient = parameter.val().grad(&self.gradients);
        self.found
            .push(host(gradient.expect("every parameter takes part")));
    }
}

/// The recurrence of a mixer at a size of real use, forward and backward.
fn compare_times(mixer: &Mixer, device: &Device, checks: &mut Checks) {
    let [x, _] = mixer.halves(drawn([BATCH, TIME, SIZES.model], device));
    let Selected {
        decay,
        input,
        readout,
    } = mixer.select(x);
    let leaf = |tensor: Tensor<4>| tensor.detach().require_grad();
    let leaves = [leaf(decay), leaf(input), leaf(readout)];
    let forward = |way| {
        let [decay, input, readout] = leaves.clone();
        Selected {
            decay,
            input,
            readout,
        }
        .states_read(way)
    };
    let both = |way| {
        let gradients = forward(way).sum().backward();
        leaves
            .each_ref()
            .map(|leaf| leaf.grad(&gradients).expect("the leaf is tracked"))
    };
    let apart = apart(&host(forward(Way::Scan)), &host(forward(Way::Loop)));
    checks.check("the results at full size agree", apart < TOLERANCE);
    println!(
        "{BATCH} sequences of {TIME} steps, {} channels, {} states; the loop takes {} operations forward:",
        SIZES.channels,
        SIZES.states,
        OPERATIONS * TIME
    );
    let print = |what: &str, [ours, theirs]: [Duration; 2]| {
        let [ours, theirs] = [ours, theirs].map(milliseconds);
        println!(
            "{what:22} {ours:10.3} ms   loop {theirs:10.3} ms {:7.1}x",
            theirs / ours
        );
    };
    print(
        "forward",
        [Way::Scan, Way::Loop].map(|way| median(device, || forward(way))),
    );
    print(
        "forward and backward",
        [Way::Scan, Way::Loop].map(|way| median(device, || both(way))),
    );
}

/// A sequence in chunks of any length gives the results of the whole sequence.
fn compare_chunks(mixer: &Mixer, device: &Device, checks: &mut Checks) {
    let input = drawn([BATCH, SHORT, SIZES.model], device);
    let whole = host(mixer.forward(input.clone(), Way::Scan));
    let mut memory = Memory::new();
    let lengths = [1, 2, 17, SHORT - 20];
    let chunks = input.split_with_sizes(lengths.to_vec(), 1);
    let parts = chunks
        .into_iter()
        .map(|chunk| mixer.next(chunk, &mut memory));
    let parts = host(Tensor::cat(parts.collect(), 1));
    checks.check(
        "chunks make up the sequence",
        apart(&parts, &whole) < TOLERANCE,
    );
}

/// Operations of a step of the loop: three slices, two products, a sum of two, a sum of states, a dropped
/// dimension.
const OPERATIONS: usize = 8;

fn drawn<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::random(shape, Distribution::Normal(0.0, 1.0), device)
}

fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as().expect("the device is read")
}

/// The largest difference of the two, relative to the largest element.
fn apart(ours: &[f32], theirs: &[f32]) -> f64 {
    let largest = theirs
        .iter()
        .fold(0f64, |most, &x| most.max(f64::from(x).abs()));
    let apart = ours
        .iter()
        .zip(theirs)
        .map(|(&a, &b)| (f64::from(a) - f64::from(b)).abs());
    // A maximum that ignores NaN would hide it.
    let apart = apart.fold(
        0f64,
        |most, x| if x > most || x.is_nan() { x } else { most },
    );
    apart / largest.max(f64::MIN_POSITIVE)
}

impl Learnt {
    fn plot(&self) -> Plot {
        let at = |(round, &loss): (usize, &f32)| (round as f64, f64::from(loss));
        let line = self.losses.iter().enumerate().map(at).collect();
        Plot {
            title: "Selective copying with two Mamba mixers".to_string(),
            x: "round",
            y: "cross entropy",
            log_x: false,
            series: vec![Series {
                label: "loss".to_string(),
                color: plot::BLUE,
                marks: Marks::Line(line),
            }],
        }
    }
}
