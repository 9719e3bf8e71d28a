//! Random graphs, planned by two child processes: one with the hook and one without.
//!
//! Graphs without a scan must get exactly the same plan from both, also where every third operation reverses a tensor.
//! Graphs with scans must give the same values, with their scans on this crate's kernels. Rare exceptions to the latter
//! are counted and bounded: Burn gives up fusing a segment whose fused parts depend on each other both ways.

use std::process::Command;

use crate::fusion_support::patient::Patient;
use crate::fusion_support::{Host, device, floats, hooked_device, planned};
use burn::tensor::{Device, Tensor, s};

const CHILD: &str = "BURN_SCAN_RANDOM_GRAPHS";
const SIDE: usize = 6;
const GRAPHS: u64 = 100;
/// How many of the [`GRAPHS`] with scans may leave a scan to Burn's kernel.
const EXCEPTIONS: usize = 6;

#[derive(Clone, Copy)]
enum Mix {
    Plain,
    Reversals,
    Scans,
    Casts,
}

impl Mix {
    /// The number of operations that [`graph`] draws from.
    fn choices(self) -> usize {
        match self {
            Self::Plain => 9,
            Self::Reversals => 12,
            Self::Scans => 15,
            Self::Casts => 12,
        }
    }
}

/// SplitMix64 of Steele, Lea and Flood.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// A few operations on a growing list of square tensors. Half of the operands are taken out of the list, so
/// that last uses and later uses both occur.
fn graph(random: &mut Random, inputs: &[Tensor<2>], mix: Mix) -> Vec<Tensor<2>> {
    let mut pool = inputs.to_vec();
    for _ in 0..2 + random.below(9) {
        let mut operand = || {
            let index = random.below(pool.len());
            if pool.len() > 2 && random.below(2) == 0 {
                pool.swap_remove(index)
            } else {
                pool[index].clone()
            }
        };
        let (x, y) = (operand(), operand());
        let dim = random.below(2);
        let choice = match (random.below(mix.choices()), mix) {
            (choice @ 9..12, Mix::Casts) => choice + 6,
            (choice, _) => choice,
        };
        pool.push(match choice {
            0 => x * 0.5,
            1 => x + 0.25,
            2 | 3 => x + y,
            4 => x.tanh(),
            5 => x.matmul(y).tanh(),
            6 => x.sum_dim(dim).tanh() + y,
            7 => x.transpose(),
            8 => x.flip([0, 1]),
            9 | 10 => x.flip([dim]),
            11 if dim == 0 => x.slice(s![..;-1, ..]),
            11 => x.slice(s![.., ..;-1]),
            12 => x.cumsum(dim).tanh(),
            13 => x.cummax(dim),
            14 => x.flip([dim]).cumsum(dim).flip([dim]).tanh(),
            15 => x.greater_elem(0.0).float(),
            16 => x.greater(y).float(),
            _ => x.lower(y).int().float(),
        });
    }
    pool
}

/// One line per graph: `plan|values`.
fn describe(device: &Device, mix: Mix) {
    let inputs = [
        floats(device, [SIDE, SIDE]),
        floats(device, [SIDE, SIDE]) * 0.5,
    ];
    for seed in 0..GRAPHS {
        let (outputs, plan) = planned(device, || graph(&mut Random(seed), &inputs, mix));
        let values = outputs
            .into_iter()
            .flat_map(|output| Host::of(output).values);
        let values: Vec<String> = values.map(|value| value.to_string()).collect();
        println!("graph {plan}|{}", values.join(","));
    }
}

#[test]
fn child() {
    let Ok(mode) = std::env::var(CHILD) else {
        // The parent tests below start it with the variable set.
        return;
    };
    let (hook, mix) = mode.split_once(' ').expect("a hook and a mix");
    let mix = match mix {
        "plain" => Mix::Plain,
        "reversals" => Mix::Reversals,
        "casts" => Mix::Casts,
        _ => Mix::Scans,
    };
    let device = match hook {
        "hooked" => hooked_device(),
        "beside" => {
            burn_scan::install().expect("no tensor operation precedes the first install");
            burn_cubecl::fusion::register(Patient).expect("nor the second provider");
            device()
        }
        _ => device(),
    };
    if let Some(device) = device {
        describe(&device, mix);
    }
}

/// The plan and the values of a graph.
type Outcome = (String, Vec<f64>);

/// Every graph of `mix`, without and with the hook.
fn run_both(mix: &str) -> Vec<(Outcome, Outcome)> {
    without_and(&format!("hooked {mix}"))
}

/// Every graph of a mode, without the hook and in that mode.
fn without_and(mode: &str) -> Vec<(Outcome, Outcome)> {
    let (_, mix) = mode.split_once(' ').expect("a hook and a mix");
    let (bare, hooked) = (run_child(&format!("bare {mix}")), run_child(mode));
    assert_eq!(bare.len(), hooked.len());
    let graphs = hooked_device().map_or(0, |_| GRAPHS as usize);
    assert_eq!(bare.len(), graphs, "the child describes every graph");
    bare.into_iter().zip(hooked).collect()
}

/// The graphs of `mode`, from another process.
fn run_child(mode: &str) -> Vec<Outcome> {
    let executable = std::env::current_exe().expect("a test knows its own path");
    let output = Command::new(executable)
        .args(["--exact", "random_graphs::child", "--nocapture"])
        .env(CHILD, mode)
        .output()
        .expect("the test binary starts");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}{stderr}");
    eprint!("{stderr}");
    let graphs = stdout.lines().filter_map(|line| line.split_once("graph "));
    graphs
        .map(|(_, graph)| {
            let (plan, values) = graph.split_once('|').expect("a plan and values");
            let values = values
                .split(',')
                .map(|value| value.parse().expect("a number"));
            (plan.to_string(), values.collect())
        })
        .collect()
}

#[track_caller]
fn assert_rare(what: &str, exceptions: &[String], bound: usize) {
    assert!(
        exceptions.len() <= bound,
        "{what}, in {} of {GRAPHS} graphs:\n{}",
        exceptions.len(),
        exceptions.join("\n")
    );
}

#[track_caller]
fn assert_close(bare: &Outcome, hooked: &Outcome) {
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-4 * a.abs().max(1.0);
    assert_eq!(bare.1.len(), hooked.1.len(), "{}", hooked.0);
    let is_close = bare.1.iter().zip(&hooked.1).all(close);
    assert!(is_close, "values differ: {}", hooked.0);
}

#[test]
fn graphs_without_scans_keep_their_plan() {
    let graphs = ["plain", "casts", "reversals"].map(run_both).concat();
    let differences: Vec<String> = (graphs.iter())
        .filter(|(bare, hooked)| bare.0 != hooked.0)
        .map(|(bare, hooked)| format!("{}\n  instead of {}", hooked.0, bare.0))
        .collect();
    assert_rare("plans differ", &differences, 0);
}

#[test]
fn graphs_with_scans_keep_their_values() {
    let mut unfused_scans = Vec::new();
    for (bare, hooked) in run_both("scans") {
        assert_close(&bare, &hooked);
        let mut blocks = hooked.0.split(") ");
        if blocks.any(|block| !block.starts_with("Scan(") && block.contains("Cum")) {
            unfused_scans.push(hooked.0);
        }
    }
    assert_rare("scans are left unfused", &unfused_scans, EXCEPTIONS);
}

/// If another provider keeps the search open, what this crate's fuser handed back stays in the block.
#[test]
fn graphs_with_a_second_provider_keep_their_values() {
    for mode in ["beside scans", "beside reversals"] {
        for (bare, hooked) in without_and(mode) {
            assert_close(&bare, &hooked);
        }
    }
}
