//! Mean and max pooling of a batch of sequences of different lengths, packed and padded, forward and backward.
//!
//! A text classifier pools the features of each text's tokens into one vector. Padded, every sequence takes the space
//! of the longest, and masks keep the padding out of the result. Packed, the tokens of all sequences follow one
//! another, and `segment_reduce` pools the rows between two offsets.
//!
//! ```text
//! packed   [tokens, features]              offsets 0 3 3 5 …
//! padded   [sequences, longest, features]  mask    1 1 1 0 …
//! ```
//!
//! Both ways are computed with their gradients, compared with each other and with a loop on the host, and
//! timed. The bytes of their inputs are counted, too.
//!
//! ```text
//! cargo run --release --example pooling [-- [--device flex|wgpu|vulkan|cuda|..]]
//! ```
//!
//! The exit code is 0 if all results are right, 1 if any is not, 2 if the run could not start.

use std::process::ExitCode;

use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use burn_scan::prelude::*;
use common::Checks;
use common::arguments::Arguments;
use common::random::Random;
use common::timing::{median, milliseconds};

const USAGE: &str = "pooling [--device NAME]";

const SEQUENCES: usize = 256;
const LONGEST: usize = 512;
const FEATURES: usize = 64;

fn main() -> ExitCode {
    common::run(USAGE, run)
}

/// Returns whether all results are right, or the reason why there are none.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let (device, description) = common::device::choose(arguments.device())?;
    println!("device: {description}");
    let device = device.autodiff();
    let sequences = Sequences::drawn();
    let (packed, padded) = (sequences.packed(&device), sequences.padded(&device));
    let tokens = sequences.lengths.iter().sum::<usize>();
    let megabytes = |tokens: usize| (tokens * FEATURES * size_of::<f32>()) as f64 / 1e6;
    println!(
        "{SEQUENCES} sequences of {tokens} tokens; packed {:.1} MB, padded {:.1} MB",
        megabytes(tokens),
        megabytes(SEQUENCES * LONGEST)
    );
    let weights = sequences.weights(&device);
    let [ours, masked] = [packed.pool(), padded.pool()].map(|pooled| read(&pooled));
    let expected = sequences.pooled();
    let mut checks = Checks::default();
    checks.check("packed pooling", is_close(&ours, &expected));
    checks.check("padded pooling", is_close(&masked, &expected));
    let of_packed = read(&packed.gradient(&weights));
    // The gradients of the tokens, taken from the padded gradients in order.
    let of_padded = padded.gradient(&weights).flatten::<2>(0, 1);
    let of_tokens = of_padded.compact_dim_by_mask(padded.mask().flatten(0, 1), 0);
    checks.check("gradients", is_close(&of_packed, &read(&of_tokens)));

    type Ways<'a> = [(&'a str, &'a dyn Fn() -> Tensor<2>, &'a dyn Fn()); 2];
    let ways: Ways = [
        ("forward", &|| packed.pool(), &|| drop(padded.pool())),
        (
            "forward and backward",
            &|| packed.gradient(&weights),
            &|| {
                drop(padded.gradient(&weights));
            },
        ),
    ];
    for (name, ours, theirs) in ways {
        let times = [median(&device, ours), median(&device, theirs)].map(milliseconds);
        let [ours, theirs] = times;
        println!(
            "{name:20}   packed {ours:9.3} ms   padded {theirs:9.3} ms   {:5.1}x",
            theirs / ours
        );
    }
    if checks.passed() {
        println!(
            "Packed and padded, {SEQUENCES} sequences have the same means, maxima and gradients."
        );
    }
    Ok(checks.passed())
}

/// The batch on the host.
struct Sequences {
    lengths: Vec<usize>,
    /// The features of all tokens, one after the other.
    features: Vec<f32>,
}

struct Packed {
    features: Tensor<2>,
    offsets: Tensor<1, Int>,
    lengths: Tensor<2>,
}

struct Padded {
    features: Tensor<3>,
    is_token: Tensor<3, Bool>,
    lengths: Tensor<2>,
}

impl Sequences {
    /// Most sequences are short. One is the longest.
    fn drawn() -> Self {
        let mut random = Random::new(11);
        let mut lengths: Vec<usize> = (0..SEQUENCES)
            .map(|_| 1 + (random.uniform().powi(3) * (LONGEST - 1) as f32) as usize)
            .collect();
        lengths[SEQUENCES / 2] = LONGEST;
        let tokens: usize = lengths.iter().sum();
        let features = (0..tokens * FEATURES).map(|_| random.normal()).collect();
        Self { lengths, features }
    }

    fn lengths(&self, device: &Device) -> Tensor<1, Int> {
        let lengths: Vec<i32> = self.lengths.iter().map(|&length| length as i32).collect();
        Tensor::from_data(lengths.as_slice(), device)
    }

    fn packed(&self, device: &Device) -> Packed {
        let tokens = self.features.len() / FEATURES;
        let features = TensorData::new(self.features.clone(), [tokens, FEATURES]);
        let lengths = self.lengths(device);
        Packed {
            features: Tensor::from_data(features, device).require_grad(),
            lengths: lengths.clone().float().reshape([SEQUENCES, 1]),
            offsets: lengths.lengths_to_offsets(),
        }
    }

    fn padded(&self, device: &Device) -> Padded {
        let row = LONGEST * FEATURES;
        let mut features = vec![0.0; SEQUENCES * row];
        let mut rest = &self.features[..];
        for (row, &length) in features.chunks_mut(row).zip(&self.lengths) {
            let (own, others) = rest.split_at(length * FEATURES);
            row[..own.len()].copy_from_slice(own);
            rest = others;
        }
        let shape = [SEQUENCES, LONGEST, FEATURES];
        let features = TensorData::new(features, shape);
        let lengths = self.lengths(device);
        let steps = Tensor::<1, Int>::arange(0..LONGEST as i64, device).reshape([1, LONGEST, 1]);
        let ends = lengths.clone().reshape([SEQUENCES, 1, 1]);
        let is_token = steps.expand(shape).lower(ends.expand(shape));
        Padded {
            features: Tensor::from_data(features, device).require_grad(),
            is_token,
            lengths: lengths.float().reshape([SEQUENCES, 1]),
        }
    }

    /// The loss weighs each pooled number by these.
    fn weights(&self, device: &Device) -> Tensor<2> {
        let mut random = Random::new(12);
        let weights: Vec<f32> = (0..SEQUENCES * 2 * FEATURES)
            .map(|_| random.normal())
            .collect();
        Tensor::from_data(TensorData::new(weights, [SEQUENCES, 2 * FEATURES]), device)
    }

    /// The means, then the maxima of each sequence, computed in f64.
    fn pooled(&self) -> Vec<f32> {
        let mut rest = &self.features[..];
        let mut pooled = Vec::new();
        for &length in &self.lengths {
            let (own, others) = rest.split_at(length * FEATURES);
            let of = |feature: usize| own.iter().skip(feature).step_by(FEATURES);
            pooled.extend((0..FEATURES).map(|feature| {
                let sum: f64 = of(feature).map(|&x| f64::from(x)).sum();
                (sum / length as f64) as f32
            }));
            pooled
                .extend((0..FEATURES).map(|feature| of(feature).fold(f32::MIN, |a, &b| a.max(b))));
            rest = others;
        }
        pooled
    }
}

impl Packed {
    fn pool(&self) -> Tensor<2> {
        let reduce = |op| {
            self.features
                .clone()
                .segment_reduce(self.offsets.clone(), op)
        };
        let mean = reduce(ScanOp::Sum) / self.lengths.clone();
        Tensor::cat(vec![mean, reduce(ScanOp::Max)], 1)
    }

    fn gradient(&self, weights: &Tensor<2>) -> Tensor<2> {
        let gradients = (self.pool() * weights.clone()).sum().backward();
        self.features
            .grad(&gradients)
            .expect("the features are tracked")
    }
}

impl Padded {
    fn pool(&self) -> Tensor<2> {
        let padding = self.is_token.clone().bool_not();
        let only = |fill: f32| self.features.clone().mask_fill(padding.clone(), fill);
        let shape = [SEQUENCES, FEATURES];
        let mean = only(0.0).sum_dim(1).reshape(shape) / self.lengths.clone();
        let max = only(f32::NEG_INFINITY).max_dim(1).reshape(shape);
        Tensor::cat(vec![mean, max], 1)
    }

    fn gradient(&self, weights: &Tensor<2>) -> Tensor<3> {
        let gradients = (self.pool() * weights.clone()).sum().backward();
        self.features
            .grad(&gradients)
            .expect("the features are tracked")
    }

    /// Which steps are tokens, `[sequences, longest]`.
    fn mask(&self) -> Tensor<2, Bool> {
        let mask = self.is_token.clone().narrow(2, 0, 1);
        mask.reshape([SEQUENCES, LONGEST])
    }
}

fn read(tensor: &Tensor<2>) -> Vec<f32> {
    tensor.to_data().try_to_vec().expect("f32")
}

fn is_close(found: &[f32], expected: &[f32]) -> bool {
    let mut pairs = found.iter().zip(expected);
    found.len() == expected.len() && pairs.all(|(a, b)| (a - b).abs() <= 1e-4)
}
