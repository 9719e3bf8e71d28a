//! The stages, in the order of their worth, with the seconds that each may take.
//!
//! What a stage does not use goes to the next ones. The test binaries take what is left.

use std::time::Duration;

use crate::supervisor::Stage;

/// The back ends, in the order in which they are tried.
pub const FLAVOURS: [&str; 3] = ["cuda", "vulkan", "wgpu"];

/// Compilers of kernels take seconds, and the largest cases some ten.
const CASE_SECONDS: f64 = 45.;

/// What a step of the plan runs.
#[derive(Clone, Debug)]
pub enum Step {
    /// Processes of this program.
    Own(Stage),
    /// Programs of others: see [`outside`](crate::outside).
    Peers(Duration),
    Tests(Duration),
}

impl Step {
    pub fn name(&self) -> &'static str {
        match self {
            Step::Own(stage) => stage.name,
            Step::Peers(_) => "peers",
            Step::Tests(_) => "tests",
        }
    }

    pub fn limit(&mut self) -> &mut Duration {
        match self {
            Step::Own(stage) => &mut stage.limit,
            Step::Peers(limit) | Step::Tests(limit) => limit,
        }
    }
}

/// What shows whether a back end starts: the first step of each.
pub fn facts() -> Step {
    own("facts", 1, 15)
}

/// The further steps of the back ends that have started, in order. The first one has them all.
pub fn steps(started: &[String]) -> Vec<(String, Step)> {
    // Kernels are compiled on one thread of a process.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let shards = (cores * 3 / 4).clamp(2, 12);
    let mut all = Vec::new();
    for (turn, flavour) in started.iter().enumerate() {
        let mut add = |step| all.push((flavour.clone(), step));
        if turn == 0 {
            add(own("right", shards, 110));
            add(own("large", 1, 40));
            add(own("fast", 1, 100));
            add(own("sorting", 1, 60));
            add(Step::Peers(Duration::from_secs(90)));
            add(own("invariance", 1, 40));
            add(own("tuning", 1, 20));
            add(own("installed", 1, 20));
            add(own("burns-own", 1, 20));
        } else {
            add(own("right", shards, 50));
            add(own("fast", 1, 40));
        }
    }
    let first = started.first().cloned();
    all.extend(first.map(|flavour| (flavour, Step::Tests(Duration::ZERO))));
    all
}

fn own(name: &'static str, shards: usize, seconds: u64) -> Step {
    Step::Own(Stage {
        name,
        shards,
        limit: Duration::from_secs(seconds),
        case_seconds: CASE_SECONDS,
        extra: Vec::new(),
    })
}
