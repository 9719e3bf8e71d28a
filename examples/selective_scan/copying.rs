//! Selective copying, a task that needs memory (Gu & Dao 2023, section 4.1), and a model of two mixers that
//! learns it.
//!
//! ```text
//! read     . . 7 . . . 2 . . . . 4 . . . 7 . . .  ? ? ? ?          symbols at random places, then as many questions
//! told     - - - - - - - - - - - - - - - - - - -  7 2 4 7          the symbols in their order
//! ```
//!
//! The model must ignore the steps between the symbols, however many they are. So its decays must depend on
//! what it reads.

use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Embedding, EmbeddingConfig, Linear, LinearConfig, RmsNorm, RmsNormConfig};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Int, Tensor, TensorData};
use indicatif::{ProgressBar, ProgressStyle};

use super::mixer::{Mixer, Sizes, Way};
use common::random::Random;

const SYMBOLS: usize = 8;
/// Symbols of a sequence.
const KEPT: usize = 3;
/// Steps before the questions.
const READ: usize = 29;
const NOTHING: usize = SYMBOLS;
const QUESTION: usize = SYMBOLS + 1;

const SIZES: Sizes = Sizes {
    model: 32,
    channels: 64,
    states: 16,
};
const LAYERS: usize = 2;
const BATCH: usize = 32;
const LEARNING_RATE: f64 = 5e-3;

/// Sequences that measure the accuracy.
const HELD_OUT: usize = 256;

/// Steps of the optimizer.
pub const ROUNDS: usize = 400;

#[derive(Module, Debug)]
pub struct Copier {
    embedding: Embedding,
    norms: Vec<RmsNorm>,
    mixers: Vec<Mixer>,
    last_norm: RmsNorm,
    head: Linear,
}

/// Sequences, and the answers to their questions.
struct Task {
    read: Vec<i32>,
    told: Vec<i32>,
}

/// The result of the training.
pub struct Learnt {
    pub losses: Vec<f32>,
    /// The share of right answers for sequences that the model has never seen.
    pub accuracy: f64,
}

impl Task {
    fn drawn(sequences: usize, random: &mut Random) -> Self {
        let mut task = Self {
            read: Vec::new(),
            told: Vec::new(),
        };
        for _ in 0..sequences {
            let mut sequence = vec![NOTHING as i32; READ];
            for place in places(random) {
                let symbol = random.below(SYMBOLS) as i32;
                sequence[place] = symbol;
                task.told.push(symbol);
            }
            sequence.resize(READ + KEPT, QUESTION as i32);
            task.read.extend(sequence);
        }
        task
    }

    fn sequences(&self) -> usize {
        self.told.len() / KEPT
    }

    fn read_on(&self, device: &Device) -> Tensor<2, Int> {
        let shape = [self.sequences(), READ + KEPT];
        Tensor::from_data(TensorData::new(self.read.clone(), shape), device)
    }

    fn told_on(&self, device: &Device) -> Tensor<1, Int> {
        Tensor::from_data(self.told.as_slice(), device)
    }
}

/// Different positions, in order.
fn places(random: &mut Random) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    while places.len() < KEPT {
        let place = random.below(READ);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places.sort_unstable();
    places
}

impl Copier {
    fn new(random: &mut Random, device: &Device) -> Self {
        let norm = || RmsNormConfig::new(SIZES.model).init(device);
        Self {
            embedding: EmbeddingConfig::new(SYMBOLS + 2, SIZES.model).init(device),
            norms: (0..LAYERS).map(|_| norm()).collect(),
            mixers: (0..LAYERS)
                .map(|_| Mixer::new(SIZES, random, device))
                .collect(),
            last_norm: norm(),
            head: LinearConfig::new(SIZES.model, SYMBOLS).init(device),
        }
    }

    /// A score for each symbol at each question, `[sequences · KEPT, SYMBOLS]`.
    fn forward(&self, read: Tensor<2, Int>) -> Tensor<2> {
        let mut x = self.embedding.forward(read);
        for (norm, mixer) in self.norms.iter().zip(&self.mixers) {
            x = x.clone() + mixer.forward(norm.forward(x), Way::Scan);
        }
        let asked = self.last_norm.forward(x.narrow(1, READ, KEPT));
        self.head.forward(asked).flatten(0, 1)
    }

    fn accuracy(&self, task: &Task, device: &Device) -> f64 {
        let told = self.forward(task.read_on(device)).argmax(1);
        let told: Vec<i32> = told.try_into_vec_as().expect("the device is read");
        let right = told
            .iter()
            .zip(&task.told)
            .filter(|(found, told)| found == told);
        right.count() as f64 / told.len() as f64
    }
}

/// Trains a model. It is told only the answers.
pub fn learn(device: &Device) -> Learnt {
    let mut random = Random::new(7);
    let tracked = device.clone().autodiff();
    tracked.seed(7);
    let mut model = Copier::new(&mut random, &tracked);
    let mut optimizer = AdamConfig::new().init();
    let loss_of = CrossEntropyLossConfig::new().init(&tracked);
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} rounds, loss {msg}, {eta} left");
    let bar = ProgressBar::new(ROUNDS as u64).with_style(style.expect("a template"));
    let mut losses = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let task = Task::drawn(BATCH, &mut random);
        let loss = loss_of.forward(
            model.forward(task.read_on(&tracked)),
            task.told_on(&tracked),
        );
        losses.push(loss.clone().into_scalar::<f32>());
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(LEARNING_RATE, model, gradients);
        bar.set_message(format!("{:.3}", losses[losses.len() - 1]));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let held_out = Task::drawn(HELD_OUT, &mut random);
    Learnt {
        losses,
        accuracy: model.accuracy(&held_out, &tracked),
    }
}
