//! Sorts of lampshade, massively and rdst, each in a process of its own: `sort-peers PEER FILE.json`.
//!
//! lampshade and massively take the adapter that wgpu prefers, as CubeCL does in the benches. Inputs lie on the device
//! before the clock starts, and it stops when the device has finished. Each answer is checked before it is measured.
//! The file has the form of `run.py`'s.

mod by_lampshade;
mod by_massively;
mod by_rdst;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Runs of a case, after three that warm up and compile.
const ROUNDS: usize = 15;
const WARM: usize = 3;

/// The keys of the sorts on a device.
const ON_DEVICE: [usize; 2] = [1 << 20, 1 << 22];

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [peer, file] = &words[..] else {
        return Err("usage: sort-peers lampshade|massively|rdst FILE.json".into());
    };
    let mut report = Report::default();
    let version = match peer.as_str() {
        "lampshade" => by_lampshade::run(&mut report)?,
        "massively" => by_massively::run(&mut report)?,
        "rdst" => by_rdst::run(&mut report)?,
        other => return Err(format!("no peer `{other}`").into()),
    };
    let text = json!({
        "versions": { peer.as_str(): version },
        "left_out": {},
        "results": report.results,
    });
    std::fs::write(file, text.to_string())?;
    Ok(())
}

/// Well-mixed bits of `i`, as in the benches.
fn hash(i: usize) -> u32 {
    let mut bits = (i as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits ^ (bits >> 31)) as u32
}

fn keys(n: usize) -> Vec<u32> {
    (0..n).map(hash).collect()
}

/// The positions of the keys in order.
fn order(keys: &[u32]) -> Vec<u32> {
    let mut positions: Vec<u32> = (0..keys.len() as u32).collect();
    positions.sort_by_key(|&at| keys[at as usize]);
    positions
}

#[derive(Default)]
struct Report {
    results: Vec<Value>,
}

impl Report {
    /// Measures `work`, whose answer must be right.
    fn case<T>(
        &mut self,
        peer: &str,
        name: &str,
        mut work: impl FnMut() -> Outcome<T>,
        is_right: impl FnOnce(T) -> Outcome<bool>,
    ) -> Outcome<()> {
        if !is_right(work()?)? {
            return Err(format!("WRONG ANSWER of {peer} in {name}").into());
        }
        let mut times = Vec::with_capacity(ROUNDS);
        for round in 0..WARM + ROUNDS {
            let start = Instant::now();
            let answer = work()?;
            let time = start.elapsed();
            drop(answer);
            if round >= WARM {
                times.push(time);
            }
        }
        times.sort();
        let median = times[ROUNDS / 2];
        println!("{name:<40}{peer:<12}{:>12.3} ms", milliseconds(median));
        self.results.push(json!({
            "case": name,
            "peer": peer,
            "median_s": median.as_secs_f64(),
            "min_s": times[0].as_secs_f64(),
        }));
        Ok(())
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
