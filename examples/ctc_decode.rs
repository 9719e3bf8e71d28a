//! Greedy decoding of connectionist temporal classification (Graves et al. 2006): how the outputs of a speech
//! or handwriting model become text.
//!
//! The model scores each symbol, and a blank, at every time step. Decoding takes the best symbol of each step,
//! collapses repeats, and drops blanks:
//!
//! ```text
//! best of each step   - h h - e l l - l o o        -  the blank
//! kept                  h     e l     l o          differs from the step before, and is not a blank
//! decoded             h e l l o . . . . . .        length 5
//! ```
//!
//! - the mask compares each step with the one before it;
//! - `compact_along_by_mask` moves each text of the batch to the left and counts its symbols. Nothing is read
//!   back.
//!
//! ```text
//! cargo run --release --example ctc_decode [-- [--device flex|wgpu|vulkan|cuda|..] [--verbose]]
//! ```
//!
//! All texts are compared with a loop on the host, and with the texts that the scores were made from. The exit
//! code is 0 if all results are right, 1 if any is not, 2 if the run could not start.

use std::process::ExitCode;

use burn::tensor::{Device, Int, Tensor, TensorData};
use burn_scan::prelude::*;
use common::Checks;
use common::arguments::Arguments;
use common::random::Random;
use common::timing;

const USAGE: &str = "ctc_decode [--device NAME] [--verbose]";

const TEXTS: usize = 64;
const STEPS: usize = 1000;

/// The blank, then the alphabet.
const SYMBOLS: &[u8] = b"-abcdefghijklmnopqrstuvwxyz ";

/// The most symbols of a text.
const LONGEST: usize = 200;

/// Texts that are printed without `--verbose`.
const SHOWN: usize = 3;

fn main() -> ExitCode {
    common::run(USAGE, run)
}

/// Returns whether all results are right, or the reason why there are none.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let (device, description) = common::device::choose(arguments.device())?;
    println!("device: {description}");
    let spoken = Spoken::drawn();
    let scores = spoken.scores(&device);
    let (symbols, lengths) = decode(scores.clone());
    let (symbols, lengths) = (read(symbols), read(lengths));
    let decoded: Vec<&[i32]> = (symbols.chunks(STEPS).zip(&lengths))
        .map(|(line, &length)| &line[..length as usize])
        .collect();
    let mut checks = Checks::default();
    checks.check("texts", decoded == spoken.texts);
    checks.check("what follows them", {
        let lines = symbols.chunks(STEPS).zip(&lengths);
        lines
            .flat_map(|(line, &length)| &line[length as usize..])
            .all(|&symbol| symbol == 0)
    });
    let on_host = decode_on_host(scores.clone());
    checks.check("the loop on the host", on_host == spoken.texts);
    let shown = if arguments.flag("--verbose") {
        TEXTS
    } else {
        SHOWN
    };
    for text in decoded.iter().take(shown) {
        println!("{}", readable(text));
    }
    if shown < TEXTS {
        println!("…, {} more", TEXTS - shown);
    }
    timing::compare(
        &device,
        "decode",
        || decode(scores.clone()),
        "best symbols read back, a loop on the host",
        || decode_on_host(scores.clone()),
    );
    if checks.passed() {
        let symbols: usize = decoded.iter().map(|text| text.len()).sum();
        println!("{TEXTS} texts of {symbols} symbols were read out of {STEPS} steps each.");
    }
    Ok(checks.passed())
}

/// From `[texts, steps, symbols]` to the symbols of each text, with zeros after them, and their number.
fn decode(scores: Tensor<3>) -> (Tensor<2, Int>, Tensor<2, Int>) {
    let best = best_of_each_step(scores);
    let first = Tensor::zeros([TEXTS, 1], &best.device());
    let before = Tensor::cat(vec![first, best.clone().narrow(1, 0, STEPS - 1)], 1);
    // A blank stands before the first step. Blanks are dropped in any case.
    let kept = best
        .clone()
        .not_equal(before)
        .bool_and(best.clone().not_equal_elem(0));
    best.compact_along_by_mask(kept, 1)
}

fn best_of_each_step(scores: Tensor<3>) -> Tensor<2, Int> {
    scores.argmax(2).reshape([TEXTS, STEPS])
}

/// The same with Burn's own operations: everything is read back.
fn decode_on_host(scores: Tensor<3>) -> Vec<Vec<i32>> {
    let best = read(best_of_each_step(scores));
    let lines = best.chunks(STEPS).map(|line| {
        let mut before = 0;
        let mut text = Vec::new();
        for &symbol in line {
            if symbol != before && symbol != 0 {
                text.push(symbol);
            }
            before = symbol;
        }
        text
    });
    lines.collect()
}

/// Texts, and the steps at which their symbols are spoken.
struct Spoken {
    texts: Vec<Vec<i32>>,
    /// The symbol of each step.
    steps: Vec<i32>,
}

impl Spoken {
    fn drawn() -> Self {
        let mut random = Random::new(7);
        let mut steps = Vec::new();
        let texts = (0..TEXTS).map(|_| {
            let text: Vec<i32> = (0..random.below(LONGEST + 1))
                .map(|_| 1 + random.below(SYMBOLS.len() - 1) as i32)
                .collect();
            let end = steps.len() + STEPS;
            let mut before = 0;
            for &symbol in &text {
                // Only a blank separates a symbol from its repetition.
                let blanks = random.below(2) + usize::from(symbol == before);
                steps.extend(std::iter::repeat_n(0, blanks));
                steps.extend(std::iter::repeat_n(symbol, 1 + random.below(3)));
                before = symbol;
            }
            steps.resize(end, 0);
            text
        });
        Self {
            texts: texts.collect(),
            steps,
        }
    }

    /// Noise, and a higher score for the spoken symbol.
    fn scores(&self, device: &Device) -> Tensor<3> {
        let mut random = Random::new(8);
        let symbols = SYMBOLS.len();
        let mut scores: Vec<f32> = (0..TEXTS * STEPS * symbols)
            .map(|_| random.uniform())
            .collect();
        for (step, &symbol) in scores.chunks_mut(symbols).zip(&self.steps) {
            step[symbol as usize] += 2.0;
        }
        Tensor::from_data(TensorData::new(scores, [TEXTS, STEPS, symbols]), device)
    }
}

fn readable(text: &[i32]) -> String {
    let letters = text
        .iter()
        .map(|&symbol| char::from(SYMBOLS[symbol as usize]));
    letters.collect()
}

fn read(tensor: Tensor<2, Int>) -> Vec<i32> {
    tensor.try_into_vec_as().expect("the device is read")
}
