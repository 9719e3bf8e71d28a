//! Draws the next token of a language model from the nucleus: the fewest tokens that together have probability
//! p.
//!
//! Top-p (nucleus) sampling of Holtzman et al. 2020, for a batch of 8 texts and a vocabulary of 151,936 tokens:
//!
//! ```text
//! softmax   0.1  0.5  0.1  0.3       probabilities, by token
//! sort      0.5  0.3  0.1  0.1       and the tokens in that order
//! cumsum    0    0.5  0.8  0.9       exclusive: the mass before each token
//! mask      yes  yes  yes  no        for p = 0.85: the mass before is below p
//! compact   0.5  0.3  0.1            the nuclei of all texts packed, and where each begins
//! sample         ^                   the last token whose mass before is at most u * 0.9, with u from 0 .. 1
//! ```
//!
//! With the exclusive sum the rule is one comparison. With an inclusive one the mask would have to be shifted
//! by one. The sizes of the nuclei differ, so they are packed one after the other, and `exclusive_cumsum` of
//! their sizes gives the start of each. A token of probability 0 is in no nucleus, so none is drawn, however sums are
//! rounded.
//!
//! A confident text has a small nucleus, so the step first takes the 256 likeliest tokens of each text
//! (`radix_topk_with_indices`). Where they do not reach p, it draws −1, and takes these texts again with all their
//! tokens (`radix_sort_with_indices`). Only the drawn tokens are read back.
//!
//! ```text
//! cargo run --release --example top_p_sampling [-- [--device flex|wgpu|vulkan|cuda|..] [--svg PATH]]
//! ```
//!
//! The logits are made up: in each text the probability of the k-th token falls like a power of k (Zipf's law),
//! with noise. The texts differ in the power, as confident predictions differ from open ones. For every text
//! the host checks the order, that the nucleus reaches p and would not without its last token, and the drawn
//! token. The mass over the rank is drawn, by default as `target/plots/top_p_sampling.svg`. The exit code is 0
//! if all results are right, 1 if any is not, 2 if the run could not start.

#[path = "top_p_sampling/host.rs"]
mod host;

use std::process::ExitCode;

use burn::tensor::activation::softmax;
use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use burn_scan::prelude::*;
use common::Checks;
use common::arguments::Arguments;
use common::random::Random;
use common::timing::{median, milliseconds};
use host::Host;

const USAGE: &str = "top_p_sampling [--device NAME] [--svg PATH]";

const TEXTS: usize = 8;
const VOCABULARY: usize = 151_936;
const TOP_P: f32 = 0.9;
/// How many tokens of a text are tried first.
const LIKELIEST: usize = 256;
/// Drawn where the likeliest tokens do not reach p.
const UNKNOWN: i32 = -1;
/// The largest relative error of Burn's own softmax. On Flex it is 6.3e-4.
const SOFTMAX_TOLERANCE: f64 = 1e-3;

fn main() -> ExitCode {
    common::run(USAGE, run)
}

/// Returns whether all results are right, or the reason why there are none.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let (device, description) = common::device::choose(arguments.device())?;
    println!("device: {description}");
    let mut random = Random::new(2);
    let host_logits = zipf_logits(&mut random);
    let uniform: Vec<f32> = (0..TEXTS).map(|_| random.uniform()).collect();
    let upload = |values: &[f32], width| {
        let data = TensorData::new(values.to_vec(), [TEXTS, width]);
        Tensor::<2>::from_data(data, &device)
    };
    let (logits, uniform) = (upload(&host_logits, VOCABULARY), upload(&uniform, 1));

    let probabilities = softmax(logits.clone(), 1);
    let sorted = Sorted::all(probabilities.clone());
    let nuclei = Nuclei::new(&sorted);
    let drawn = nuclei.sample(&sorted, uniform.clone());
    let (by_step, again) = step(&probabilities, &uniform);

    let mut checks = Checks::default();
    let host = Host::read(&sorted, &nuclei, &uniform, [ints(drawn), by_step]);
    let error = host.softmax_error(&host_logits);
    println!("softmax: off by at most {error:.1e} of each probability");
    checks.check("softmax", error < SOFTMAX_TOLERANCE);
    println!("text  nucleus  mass      without last  drawn   its probability");
    for text in 0..TEXTS {
        host.check(text, &mut checks);
    }
    println!(
        "with the {LIKELIEST} likeliest tokens alone: {} of {TEXTS} texts",
        TEXTS - again
    );
    let total: usize = host.sizes.iter().sum();
    let padding = &host.nuclei[total..];
    checks.check(
        "zeros after the nuclei",
        padding.iter().all(|&token| token == 0),
    );

    time_each_step(&device, &logits, &uniform, &sorted, &nuclei);
    host.draw().save(&arguments.svg())?;
    if checks.passed() {
        println!(
            "In all {TEXTS} texts the nucleus is the fewest tokens that reach {TOP_P} of the probability: {total} of \
             {} tokens are left to draw from.",
            TEXTS * VOCABULARY
        );
    }
    Ok(checks.passed())
}

/// Logits whose ranks are shuffled over the tokens of each text.
fn zipf_logits(random: &mut Random) -> Vec<f32> {
    let mut logits = Vec::with_capacity(TEXTS * VOCABULARY);
    for text in 0..TEXTS {
        let power = 1.15 + 0.1 * text as f32;
        let start = logits.len();
        logits.extend(
            (1..=VOCABULARY).map(|rank| 12.0 - power * (rank as f32).ln() + 0.3 * random.normal()),
        );
        for i in (1..VOCABULARY).rev() {
            logits.swap(start + i, start + random.below(i + 1));
        }
    }
    logits
}

/// Draws a token for each text, and returns for how many it took all tokens. Only drawn tokens are read back.
fn step(probabilities: &Tensor<2>, uniform: &Tensor<2>) -> (Vec<i32>, usize) {
    let likeliest = Sorted::likeliest(probabilities.clone());
    let nuclei = Nuclei::new(&likeliest);
    let is_short = likeliest.mass_before() + likeliest.probabilities.clone();
    let is_short = is_short.narrow(1, LIKELIEST - 1, 1).lower_elem(TOP_P);
    let drawn = nuclei.sample(&likeliest, uniform.clone());
    let mut drawn = ints(drawn.mask_fill(is_short.reshape([TEXTS]), UNKNOWN));
    let again: Vec<i32> = (0..TEXTS as i32)
        .filter(|&text| drawn[text as usize] == UNKNOWN)
        .collect();
    if !again.is_empty() {
        let texts = Tensor::<1, Int>::from_data(again.as_slice(), &uniform.device());
        let sorted = Sorted::all(probabilities.clone().select(0, texts.clone()));
        let uniform = uniform.clone().select(0, texts);
        let tokens = ints(Nuclei::new(&sorted).sample(&sorted, uniform));
        for (&text, token) in again.iter().zip(tokens) {
            drawn[text as usize] = token;
        }
    }
    (drawn, again.len())
}

/// The probabilities of each text in descending order, and their tokens.
struct Sorted {
    probabilities: Tensor<2>,
    tokens: Tensor<2, Int>,
}

impl Sorted {
    fn all(probabilities: Tensor<2>) -> Self {
        let (probabilities, tokens) =
            probabilities.radix_sort_with_indices(1, SortOrder::Descending);
        Self {
            probabilities,
            tokens,
        }
    }

    fn likeliest(probabilities: Tensor<2>) -> Self {
        let (probabilities, tokens) = probabilities.radix_topk_with_indices(LIKELIEST, 1);
        Self {
            probabilities,
            tokens,
        }
    }

    fn mass_before(&self) -> Tensor<2> {
        self.probabilities.clone().exclusive_cumsum(1)
    }
}

struct Nuclei {
    mass_before: Tensor<2>,
    inside: Tensor<2, Bool>,
    /// The size of each text's nucleus.
    sizes: Tensor<1, Int>,
    /// The tokens of all nuclei, one after the other, and zeros after them.
    tokens: Tensor<1, Int>,
}

impl Nuclei {
    fn new(sorted: &Sorted) -> Self {
        let mass_before = sorted.mass_before();
        let is_possible = sorted.probabilities.clone().greater_elem(0);
        let inside = mass_before.clone().lower_elem(TOP_P).bool_and(is_possible);
        let sizes = inside.clone().int().sum_dim(1).flatten(0, 1);
        let (tokens, _) = sorted.tokens.clone().compact_by_mask_padded(inside.clone());
        Self {
            mass_before,
            inside,
            sizes,
            tokens,
        }
    }

    /// Draws one token for each text, by numbers in 0 .. 1.
    fn sample(&self, sorted: &Sorted, uniform: Tensor<2>) -> Tensor<1, Int> {
        let mass = sorted.probabilities.clone() * self.inside.clone().float();
        let point = uniform * mass.sum_dim(1);
        let passed = self
            .mass_before
            .clone()
            .lower_equal(point.expand(self.mass_before.dims()));
        let passed = passed
            .bool_and(self.inside.clone())
            .int()
            .sum_dim(1)
            .flatten(0, 1);
        let starts = self.sizes.clone().exclusive_cumsum(0);
        self.tokens.clone().select(0, starts + passed - 1)
    }
}

/// Prints the time of each step, and of Burn's own way where it differs.
fn time_each_step(
    device: &Device,
    logits: &Tensor<2>,
    uniform: &Tensor<2>,
    sorted: &Sorted,
    nuclei: &Nuclei,
) {
    let print = |step: &str, time, note: &str| {
        let line = format!("{step:24} {:10.3} ms   {note}", milliseconds(time));
        println!("{}", line.trim_end());
    };
    let probabilities = softmax(logits.clone(), 1);
    print(
        "softmax",
        median(device, || softmax(logits.clone(), 1)),
        "Burn's own",
    );
    let sort = median(device, || Sorted::all(probabilities.clone()));
    print("radix_sort", sort, "with the tokens");
    let by_burn = || probabilities.clone().sort_descending_with_indices(1);
    let note = "on CubeCL devices it sorts on the host";
    print("  Burn: sort", median(device, by_burn), note);
    let likeliest = || Sorted::likeliest(probabilities.clone());
    let note = format!("the {LIKELIEST} likeliest");
    print("radix_topk", median(device, likeliest), &note);

    print(
        "exclusive_cumsum",
        median(device, || sorted.mass_before()),
        "",
    );
    // Burn's own way takes n² / 2 additions for a row of n on CubeCL devices, so one row is measured.
    let row = sorted.probabilities.clone().narrow(0, 0, 1);
    let by_burn = || row.clone().cumsum(1) - row.clone();
    let (burns, ours) = (floats(by_burn()), floats(row.clone().exclusive_cumsum(1)));
    let same = burns.iter().zip(&ours).all(|(a, b)| (a - b).abs() < 1e-2);
    let verdict = if same {
        ""
    } else {
        "; WRONG values on this driver"
    };
    let note = format!("one text of {TEXTS} only{verdict}");
    print("  Burn: cumsum minus x", median(device, by_burn), &note);

    let mask = || nuclei.mass_before.clone().lower_elem(TOP_P);
    print("mask", median(device, mask), "Burn's own");
    let tokens = || sorted.tokens.clone();
    let compact = || tokens().compact_by_mask_padded(nuclei.inside.clone());
    print("compact_by_mask_padded", median(device, compact), "");
    let by_burn = || tokens().mask_select(nuclei.inside.clone());
    print("  Burn: mask_select", median(device, by_burn), "");
    let sample = || nuclei.sample(sorted, uniform.clone());
    print("sample", median(device, sample), "");
    let whole = || step(&probabilities, uniform);
    print("the step", median(device, whole), "the likeliest first");
    let whole = || {
        let sorted = Sorted::all(probabilities.clone());
        ints(Nuclei::new(&sorted).sample(&sorted, uniform.clone()))
    };
    print("  all tokens sorted", median(device, whole), "");
}

fn floats(tensor: Tensor<2>) -> Vec<f32> {
    tensor.try_into_vec_as().expect("the device is read")
}

fn ints<const D: usize>(tensor: Tensor<D, Int>) -> Vec<i32> {
    tensor.try_into_vec_as().expect("the device is read")
}
