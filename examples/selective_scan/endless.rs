//! Training on sequences that do not end, chunk by chunk (truncated back-propagation, Williams & Peng 1990).
//!
//! ```text
//! read     . 3 . . . . | . . . 1 . . | . . . . . .         chunks of a stream: symbols are rare
//! told     - 3 3 3 3 3 | 3 3 3 1 1 1 | - - - - - -         the last symbol of the episode, which may end with a chunk
//! memory        └──────→     └──→ detach    reset_where
//! ```
//!
//! What the model needs lies mostly in earlier chunks. A chunk is learnt from its own graph, and what it leaves to the
//! next one is a constant there: so time and memory of a step do not grow with the sequence.

use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Embedding, EmbeddingConfig, Linear, LinearConfig, RmsNorm, RmsNormConfig};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Bool, Device, Int, Tensor, TensorData};

use super::mixer::{Memory, Mixer, Sizes};
use common::random::Random;

const SYMBOLS: usize = 4;
/// What is read between symbols, and told before the first one of an episode.
const NOTHING: usize = SYMBOLS;

/// Streams that are read side by side, and steps of a chunk.
const STREAMS: usize = 16;
const CHUNK: usize = 12;
/// On average one step in `RARE` has a symbol, and one chunk in `EPISODE` ends its episode.
const RARE: usize = 12;
const EPISODE: usize = 8;

const SIZES: Sizes = Sizes {
    model: 16,
    channels: 32,
    states: 4,
};
const LEARNING_RATE: f64 = 1e-2;

/// Chunks that are learnt from, and chunks that measure the accuracy.
pub const CHUNKS: usize = 400;
const HELD_OUT: usize = 50;

#[derive(Module, Debug)]
struct Reader {
    embedding: Embedding,
    norm: RmsNorm,
    mixer: Mixer,
    head: Linear,
}

/// The result of the training.
pub struct Followed {
    pub first_loss: f32,
    pub last_loss: f32,
    /// The share of right answers in the chunks that follow.
    pub accuracy: f64,
    /// The same if each chunk is read as if it were the first.
    pub forgetful: f64,
}

impl Reader {
    fn new(random: &mut Random, device: &Device) -> Self {
        Self {
            embedding: EmbeddingConfig::new(SYMBOLS + 1, SIZES.model).init(device),
            norm: RmsNormConfig::new(SIZES.model).init(device),
            mixer: Mixer::new(SIZES, random, device),
            head: LinearConfig::new(SIZES.model, SYMBOLS + 1).init(device),
        }
    }

    /// A score for each answer at each step, `[STREAMS · CHUNK, SYMBOLS + 1]`.
    fn next(&self, read: Tensor<2, Int>, memory: &mut Memory) -> Tensor<2> {
        let x = self.embedding.forward(read);
        let x = x.clone() + self.mixer.next(self.norm.forward(x), memory);
        self.head.forward(x).flatten(0, 1)
    }
}

/// The streams: what is told next, and the state of the random numbers.
struct Streams {
    random: Random,
    last: [usize; STREAMS],
}

/// A chunk of each stream.
struct Chunk {
    read: Vec<i32>,
    told: Vec<i32>,
    /// The streams whose episode ends with it.
    ended: Vec<bool>,
}

impl Streams {
    fn next(&mut self) -> Chunk {
        let mut chunk = Chunk {
            read: Vec::new(),
            told: Vec::new(),
            ended: Vec::new(),
        };
        for last in &mut self.last {
            for _ in 0..CHUNK {
                let mut read = NOTHING;
                if self.random.below(RARE) == 0 {
                    read = self.random.below(SYMBOLS);
                    *last = read;
                }
                chunk.read.push(read as i32);
                chunk.told.push(*last as i32);
            }
            let ends = self.random.below(EPISODE) == 0;
            if ends {
                *last = NOTHING;
            }
            chunk.ended.push(ends);
        }
        chunk
    }
}

impl Chunk {
    fn read_on(&self, device: &Device) -> Tensor<2, Int> {
        Tensor::from_data(TensorData::new(self.read.clone(), [STREAMS, CHUNK]), device)
    }

    fn told_on(&self, device: &Device) -> Tensor<1, Int> {
        Tensor::from_data(self.told.as_slice(), device)
    }

    fn ended_on(&self, device: &Device) -> Tensor<1, Bool> {
        Tensor::from_data(self.ended.as_slice(), device)
    }

    fn right(&self, scores: Tensor<2>) -> usize {
        let told: Vec<i32> = scores
            .argmax(1)
            .try_into_vec_as()
            .expect("the device is read");
        told.iter()
            .zip(&self.told)
            .filter(|(found, told)| found == told)
            .count()
    }
}

/// Trains a model on the streams, and goes on with them to measure it.
pub fn follow(device: &Device) -> Followed {
    let tracked = device.clone().autodiff();
    tracked.seed(3);
    let mut random = Random::new(3);
    let mut model = Reader::new(&mut random, &tracked);
    let mut streams = Streams {
        random,
        last: [NOTHING; STREAMS],
    };
    let mut optimizer = AdamConfig::new().init();
    let loss_of = CrossEntropyLossConfig::new().init(&tracked);
    let mut memory = Memory::new();
    let mut losses = Vec::with_capacity(CHUNKS);
    for _ in 0..CHUNKS {
        let chunk = streams.next();
        let scores = model.next(chunk.read_on(&tracked), &mut memory);
        let loss = loss_of.forward(scores, chunk.told_on(&tracked));
        losses.push(loss.clone().into_scalar::<f32>());
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(LEARNING_RATE, model, gradients);
        memory.detach();
        memory.reset_where(chunk.ended_on(&tracked));
    }
    let (mut right, mut forgetful) = (0, 0);
    for _ in 0..HELD_OUT {
        let chunk = streams.next();
        let read = chunk.read_on(&tracked);
        right += chunk.right(model.next(read.clone(), &mut memory));
        forgetful += chunk.right(model.next(read, &mut Memory::new()));
        memory.detach();
        memory.reset_where(chunk.ended_on(&tracked));
    }
    let share = |right: usize| right as f64 / (HELD_OUT * STREAMS * CHUNK) as f64;
    Followed {
        first_loss: losses[0],
        last_loss: losses[CHUNKS - 1],
        accuracy: share(right),
        forgetful: share(forgetful),
    }
}
