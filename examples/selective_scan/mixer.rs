//! The mixer of Mamba (Gu & Dao, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces", 2023) as a
//! Burn module.
//!
//! ```text
//! x, z         = halves of in_proj(u)                                  [batch, time, channels] each
//! x            = silu(causal convolution of each channel)
//! Δ, B, C      = functions of x: what is taken in, kept and read is selected by the input
//! decay        = exp(Δ·A)                                              [batch, time, channels, states]
//! h[t]         = decay[t]·h[t−1] + Δ[t]·B[t]·x[t]                       the recurrence
//! y[t]         = Σ C[t]·h[t] + D·x[t]                                  the sum goes over the states
//! output       = out_proj(y · silu(z))
//! ```

use burn::module::{Module, Param};
use burn::nn::conv::{Conv1d, Conv1dConfig};
use burn::nn::{Linear, LinearConfig, PaddingConfig1d};
use burn::tensor::activation::{silu, softplus};
use burn::tensor::{Bool, Device, Tensor, TensorData};
use burn_scan::prelude::*;

use common::random::Random;

/// Elements that the convolution of a channel reads.
const WIDTH: usize = 4;

/// The dimension of the steps.
const TIME: usize = 1;

/// How the recurrence is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// As one operation.
    Scan,
    /// Step by step, as it is written with Burn alone.
    Loop,
}

/// The sizes of a mixer.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub model: usize,
    pub channels: usize,
    pub states: usize,
}

#[derive(Module, Debug)]
pub struct Mixer {
    in_proj: Linear,
    convolution: Conv1d,
    /// From each step to the inputs of Δ, B and C.
    selection: Linear,
    step: Linear,
    /// The logarithms of −A, `[channels, states]`.
    rates: Param<Tensor<2>>,
    /// D of each channel.
    skip: Param<Tensor<1>>,
    out_proj: Linear,
}

/// The inputs of the recurrence of a mixer.
#[derive(Clone)]
pub struct Selected {
    /// `[batch, time, channels, states]`.
    pub decay: Tensor<4>,
    /// The input of each step, in the same shape.
    pub input: Tensor<4>,
    /// C, `[batch, time, 1, states]`.
    pub readout: Tensor<4>,
}

impl Mixer {
    pub fn new(sizes: Sizes, random: &mut Random, device: &Device) -> Self {
        let Sizes {
            model,
            channels,
            states,
        } = sizes;
        let rank = model.div_ceil(16);
        let linear = |from, to, bias| LinearConfig::new(from, to).with_bias(bias).init(device);
        let mut step = linear(rank, channels, true);
        // Steps Δ between 0.001 and 0.1, evenly spaced on a logarithmic scale: the softplus of the bias.
        let bias: Vec<f32> = (0..channels)
            .map(|_| (0.001 * 100f32.powf(random.uniform())).exp_m1().ln())
            .collect();
        step.bias = Some(Param::from_data(bias.as_slice(), device));
        let rates = (0..channels * states).map(|at| ((at % states + 1) as f32).ln());
        let rates = TensorData::new(rates.collect(), [channels, states]);
        Self {
            in_proj: linear(model, 2 * channels, false),
            convolution: Conv1dConfig::new(channels, channels, WIDTH)
                .with_groups(channels)
                .with_padding(PaddingConfig1d::Explicit(WIDTH - 1, 0))
                .init(device),
            selection: linear(channels, rank + 2 * states, false),
            step,
            rates: Param::from_data(rates, device),
            skip: Param::from_tensor(Tensor::ones([channels], device)),
            out_proj: linear(channels, model, false),
        }
    }

    /// `[batch, time, model]`, and a result of the same shape.
    pub fn forward(&self, u: Tensor<3>, way: Way) -> Tensor<3> {
        let [x, z] = self.halves(u);
        let y = self.select(x.clone()).states_read(way);
        let y = y + x * self.skip.val().unsqueeze();
        self.out_proj.forward(y * silu(z))
    }

    /// [`forward`](Self::forward) of the next chunk of a sequence.
    pub fn next(&self, u: Tensor<3>, memory: &mut Memory) -> Tensor<3> {
        let [x, z] = self.projected(u);
        let [batch, steps, channels] = x.dims();
        let tail = memory.tail.take();
        let tail = tail.unwrap_or_else(|| Tensor::zeros([batch, WIDTH - 1, channels], &x.device()));
        let seen = Tensor::cat(vec![tail, x], TIME);
        memory.tail = Some(seen.clone().narrow(TIME, steps, WIDTH - 1));
        let x = self.convolved(seen).narrow(TIME, WIDTH - 1, steps);
        let Selected {
            decay,
            input,
            readout,
        } = self.select(x.clone());
        let y = read(memory.states.next(input, decay), readout);
        let y = y + x * self.skip.val().unsqueeze();
        self.out_proj.forward(y * silu(z))
    }

    /// x and z.
    pub fn halves(&self, u: Tensor<3>) -> [Tensor<3>; 2] {
        let [x, z] = self.projected(u);
        [self.convolved(x), z]
    }

    /// x before its convolution, and z.
    fn projected(&self, u: Tensor<3>) -> [Tensor<3>; 2] {
        let parts = self.in_proj.forward(u).chunk(2, 2);
        parts.try_into().expect("two halves")
    }

    fn convolved(&self, x: Tensor<3>) -> Tensor<3> {
        silu(self.convolution.forward(x.swap_dims(1, 2)).swap_dims(1, 2))
    }

    /// Discretises: computes what each step keeps, takes in and reads.
    pub fn select(&self, x: Tensor<3>) -> Selected {
        let [channels, states] = self.rates.dims();
        let selection = self.selection.forward(x.clone());
        let rank = selection.dims()[2] - 2 * states;
        let delta = softplus(self.step.forward(selection.clone().narrow(2, 0, rank)), 1.0);
        let b = selection.clone().narrow(2, rank, states);
        let c = selection.narrow(2, rank + states, states);
        let a = self
            .rates
            .val()
            .exp()
            .neg()
            .reshape([1, 1, channels, states]);
        let taken = (delta.clone() * x).unsqueeze_dim::<4>(3);
        Selected {
            decay: (delta.unsqueeze_dim::<4>(3) * a).exp(),
            input: taken * b.unsqueeze_dim::<4>(2),
            readout: c.unsqueeze_dim(2),
        }
    }
}

/// What a mixer remembers from the chunks of a sequence so far.
pub struct Memory {
    /// The last inputs of the convolution, `[batch, WIDTH - 1, channels]`.
    tail: Option<Tensor<3>>,
    states: RunningRecurrence<4>,
}

impl Memory {
    pub fn new() -> Self {
        Self {
            tail: None,
            states: RunningRecurrence::new(TIME),
        }
    }

    /// The next chunk takes this as a constant.
    pub fn detach(&mut self) {
        self.tail = self.tail.take().map(Tensor::detach);
        self.states.detach();
    }

    /// Starts the sequences under `true` anew.
    pub fn reset_where(&mut self, ended: Tensor<1, Bool>) {
        let (Some(tail), Some(state)) = (self.tail.take(), self.states.state()) else {
            return;
        };
        let batch = ended.dims()[0];
        let of_states = ended.clone().reshape([batch, 1, 1, 1]).expand(state.dims());
        self.states.reset_where(of_states);
        let of_tail = ended.reshape([batch, 1, 1]).expand(tail.dims());
        self.tail = Some(tail.mask_fill(of_tail, 0.0));
    }
}

/// `Σ C·h`, `[batch, time, channels]`.
fn read(h: Tensor<4>, readout: Tensor<4>) -> Tensor<3> {
    (h * readout).sum_dim(3).squeeze_dim(3)
}

impl Selected {
    /// `Σ C·h`, `[batch, time, channels]`.
    pub fn states_read(self, way: Way) -> Tensor<3> {
        match way {
            Way::Scan => read(self.input.linear_recurrence(self.decay, TIME), self.readout),
            Way::Loop => self.step_by_step(),
        }
    }

    fn step_by_step(self) -> Tensor<3> {
        let [batch, steps, channels, states] = self.input.dims();
        let mut h = Tensor::zeros([batch, 1, channels, states], &self.input.device());
        let mut outputs = Vec::with_capacity(steps);
        for step in 0..steps {
            let at = |tensor: &Tensor<4>| tensor.clone().narrow(TIME, step, 1);
            h = at(&self.decay) * h + at(&self.input);
            outputs.push(read(h.clone(), at(&self.readout)));
        }
        Tensor::cat(outputs, TIME)
    }
}
