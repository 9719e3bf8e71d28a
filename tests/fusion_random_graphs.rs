//! Random graphs, planned by two child processes, one with the hook in place and one without.
//!
//! Graphs without a scan have to get the same plan from both; graphs with scans the same values, and no scan may be
//! left unfused by the hooked process.
#![cfg(all(feature = "fusion", feature = "wgpu"))]

mod fusion_support;

use std::process::Command;

use burn::tensor::{Device, Tensor, s};
use fusion_support::{Host, device, floats, hooked_device, planned};

const CHILD: &str = "BURN_SCAN_RANDOM_GRAPHS";
const SIDE: usize = 6;
const GRAPHS: u64 = 150;

/// Steele, Lea and Flood's SplitMix64.
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

/// A few operations on a growing pool of square tensors. Operands are taken out of the pool half of the time, so that
/// last uses and later uses both occur.
fn graph(random: &mut Random, inputs: &[Tensor<2>], with_scans: bool) -> Vec<Tensor<2>> {
    let mut pool = inputs.to_vec();
    for _ in 0..2 + random.below(9) {
        let mut operand = || {
            let index = random.below(pool.len());
            match pool.len() > 2 && random.below(2) == 0 {
                true => pool.swap_remove(index),
                false => pool[index].clone(),
            }
        };
        let (x, y) = (operand(), operand());
        let dim = random.below(2);
        let choice = random.below(if with_scans { 15 } else { 12 });
        pool.push(match choice {
            0 => x * 0.5,
            1 => x + 0.25,
            2 | 3 => x + y,
            4 => x.tanh(),
            5 | 6 => x.flip([dim]),
            7 if dim == 0 => x.slice(s![..;-1, ..]),
            7 => x.slice(s![.., ..;-1]),
            8 => x.matmul(y).tanh(),
            9 => x.sum_dim(dim).tanh() + y,
            10 => x.transpose(),
            11 => x.flip([0, 1]),
            12 => x.cumsum(dim).tanh(),
            13 => x.cummax(dim),
            _ => x.flip([dim]).cumsum(dim).flip([dim]).tanh(),
        });
    }
    pool
}

/// One line per graph: `plan|values`.
fn describe(device: &Device, with_scans: bool) {
    let inputs = [floats(device, [SIDE, SIDE]), floats(device, [SIDE, SIDE]) * 0.5];
    for seed in 0..GRAPHS {
        let (outputs, plan) = planned(device, || graph(&mut Random(seed), &inputs, with_scans));
        let values = outputs.into_iter().flat_map(|output| Host::of(output).values);
        let values: Vec<String> = values.map(|value| value.to_string()).collect();
        println!("graph {plan}|{}", values.join(","));
    }
}

#[test]
fn child() {
    let Ok(mode) = std::env::var(CHILD) else {
        return; // run for its own sake: the parents below start it
    };
    let (hooked, with_scans) = (mode.contains("hooked"), mode.contains("scans"));
    let device = if hooked { hooked_device() } else { device() };
    if let Some(device) = device {
        describe(&device, with_scans);
    }
}

/// The plan and the values of every graph, from a process of its own.
fn run_child(mode: &str) -> Vec<(String, Vec<f64>)> {
    let executable = std::env::current_exe().expect("a test knows its own path");
    let output = Command::new(executable)
        .args(["--exact", "child", "--nocapture"])
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
            let values = values.split(',').map(|value| value.parse().expect("a number"));
            (plan.to_string(), values.collect())
        })
        .collect()
}

#[test]
fn plans_without_scans_are_the_same() {
    let (plain, hooked) = (run_child("plain"), run_child("hooked"));
    assert_eq!(plain.len(), hooked.len());
    let differences: Vec<String> = (plain.iter().zip(&hooked).enumerate())
        .filter(|(_, (plain, hooked))| plain.0 != hooked.0)
        .map(|(seed, (plain, hooked))| format!("{seed}: {}\n  instead of {}", hooked.0, plain.0))
        .collect();
    assert!(
        differences.is_empty(),
        "{} of {GRAPHS} plans differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn values_with_scans_are_the_same() {
    let (plain, hooked) = (run_child("plain scans"), run_child("hooked scans"));
    assert_eq!(plain.len(), hooked.len());
    let mut unfused = Vec::new();
    for (seed, (plain, hooked)) in plain.iter().zip(&hooked).enumerate() {
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-4 * a.abs().max(1.0);
        assert!(plain.1.iter().zip(&hooked.1).all(close), "graph {seed}: {}", hooked.0);
        let is_left = |block: &str| !block.starts_with("Scan(") && block.contains("Cum");
        if hooked.0.split(") ").any(is_left) {
            unfused.push(format!("{seed}: {}", hooked.0));
        }
    }
    assert!(unfused.is_empty(), "scans left unfused:\n{}", unfused.join("\n"));
}
