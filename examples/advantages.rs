//! Advantages of a batch of episodes: generalized advantage estimation (Schulman et al. 2016) as one
//! recurrence.
//!
//! An agent acted in many environments at once, and episodes ended here and there. The advantage of a step is
//! the sum of the surprises `δ` from it to the end of its episode, each discounted by `γλ` per step:
//!
//! ```text
//! δ[t] = r[t] + γ·v[t+1]·(1 − end[t]) − v[t]
//! A[t] = δ[t] + γλ·(1 − end[t])·A[t+1]            a linear recurrence in reverse; the end of an episode is a decay of 0
//! ```
//!
//! Without a scan, RL code walks back over the steps, one operation or one number at a time. Both ways are
//! timed, and all advantages are compared with a loop in f64.
//!
//! ```text
//! cargo run --release --example advantages [-- [--device flex|wgpu|vulkan|cuda|..]]
//! ```
//!
//! The exit code is 0 if all results are right, 1 if any is not, 2 if the run could not start.

use std::process::ExitCode;

use burn::tensor::{Device, Tensor, TensorData};
use burn_scan::prelude::*;
use common::Checks;
use common::arguments::Arguments;
use common::random::Random;
use common::timing;

const USAGE: &str = "advantages [--device NAME]";

const ENVIRONMENTS: usize = 64;
const STEPS: usize = 1024;

/// The discount of rewards and, below, the further discount of surprises.
const GAMMA: f32 = 0.99;
const LAMBDA: f32 = 0.95;

/// The average steps of an episode.
const EPISODE: f32 = 200.0;

fn main() -> ExitCode {
    common::run(USAGE, run)
}

/// The agent's record, `[environments, steps]`. Values have one step more: the agent's expectation after the last step.
struct Seen {
    rewards: Vec<f32>,
    values: Vec<f32>,
    ends: Vec<f32>,
}

/// The same on the device.
struct Rollout {
    rewards: Tensor<2>,
    values: Tensor<2>,
    goes_on: Tensor<2>,
}

/// Returns whether all results are right, or the reason why there are none.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let (device, description) = common::device::choose(arguments.device())?;
    println!("device: {description}");
    let seen = Seen::drawn();
    let rollout = seen.on(&device);
    let expected = seen.advantages();
    let mut checks = Checks::default();
    let mut compare = |what: &str, found: Tensor<2>| {
        let found: Vec<f32> = found.into_data().try_to_vec().expect("f32");
        let far = found
            .iter()
            .zip(&expected)
            .map(|(&found, expected)| (f64::from(found) - expected).abs());
        let furthest = far.clone().fold(0.0, f64::max);
        println!("{what}: off by at most {furthest:.1e}");
        // A maximum ignores NaN.
        let is_right = found.len() == expected.len() && far.clone().all(|far| far < 1e-3);
        checks.check(what, is_right);
    };
    compare("one recurrence", rollout.advantages());
    compare("step by step", rollout.step_by_step());
    let episodes = seen.ends.iter().filter(|&&end| end == 1.0).count();
    timing::compare(
        &device,
        "advantages",
        || rollout.advantages(),
        "step by step, a few operations each",
        || rollout.step_by_step(),
    );
    if checks.passed() {
        println!(
            "The advantages of {} steps in {ENVIRONMENTS} environments, of which {episodes} ended an episode, are those of the loop.",
            ENVIRONMENTS * STEPS
        );
    }
    Ok(checks.passed())
}

impl Seen {
    fn drawn() -> Self {
        let mut random = Random::new(20);
        let mut draw = |n: usize, each: fn(f32) -> f32| -> Vec<f32> {
            (0..n).map(|_| each(random.uniform())).collect()
        };
        let steps = ENVIRONMENTS * STEPS;
        Self {
            rewards: draw(steps, |unit| unit - 0.3),
            values: draw(steps + ENVIRONMENTS, |unit| 4.0 * unit),
            ends: draw(steps, |unit| f32::from(u8::from(unit < 1.0 / EPISODE))),
        }
    }

    fn on(&self, device: &Device) -> Rollout {
        let tensor = |values: &[f32], steps: usize| {
            let data = TensorData::new(values.to_vec(), [ENVIRONMENTS, steps]);
            Tensor::<2>::from_data(data, device)
        };
        Rollout {
            rewards: tensor(&self.rewards, STEPS),
            values: tensor(&self.values, STEPS + 1),
            goes_on: tensor(&self.ends, STEPS).neg() + 1.0,
        }
    }

    /// The formulas in f64.
    fn advantages(&self) -> Vec<f64> {
        let mut advantages = vec![0.0; ENVIRONMENTS * STEPS];
        for environment in 0..ENVIRONMENTS {
            let mut advantage = 0.0;
            for step in (0..STEPS).rev() {
                let at = environment * STEPS + step;
                let value = |step: usize| f64::from(self.values[environment * (STEPS + 1) + step]);
                let goes_on = 1.0 - f64::from(self.ends[at]);
                let gamma = f64::from(GAMMA);
                let surprise =
                    f64::from(self.rewards[at]) + gamma * value(step + 1) * goes_on - value(step);
                advantage = surprise + gamma * f64::from(LAMBDA) * goes_on * advantage;
                advantages[at] = advantage;
            }
        }
        advantages
    }
}

impl Rollout {
    fn surprises(&self) -> Tensor<2> {
        let now = self.values.clone().narrow(1, 0, STEPS);
        let next = self.values.clone().narrow(1, 1, STEPS);
        self.rewards.clone() + next * self.goes_on.clone() * GAMMA - now
    }

    fn advantages(&self) -> Tensor<2> {
        let decay = self.goes_on.clone() * (GAMMA * LAMBDA);
        let options = RecurrenceOptions::default().reverse();
        self.surprises().linear_recurrence_with(decay, 1, options)
    }

    fn step_by_step(&self) -> Tensor<2> {
        let (surprises, decay) = (self.surprises(), self.goes_on.clone() * (GAMMA * LAMBDA));
        let at = |tensor: &Tensor<2>, step: usize| tensor.clone().narrow(1, step, 1);
        let mut advantage = at(&surprises, STEPS - 1);
        let mut all = vec![advantage.clone()];
        for step in (0..STEPS - 1).rev() {
            advantage = at(&surprises, step) + at(&decay, step) * advantage;
            all.push(advantage.clone());
        }
        all.reverse();
        Tensor::cat(all, 1)
    }
}
