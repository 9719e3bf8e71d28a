//! `report --check`: whether a change made a headline case slower.
//!
//! The command measures the benches of the workspace and those of the revision that it stands on ([`base`]) in turn,
//! until each case is decided ([`compare`](super::compare)) or the rounds end.

use anyhow::ensure;

use super::bench::Benches;
use super::collect::measures;
use super::compare::{Comparison, Verdict};
use super::headline::{filter_of_ours, filter_of_ratios, of_device};
use super::record::Measure;
use super::{base, work_folder};
use crate::Result;
use crate::args::Args;

/// Rounds of every case before the first look. On two shared cores they decided 5 of 19 cases. All rounds decided 16.
const ROUNDS: usize = 12;

/// The copies stay the same, so only the first rounds measure them.
const ROUNDS_WITH_COPIES: usize = 3;

/// Rounds between two looks at the open cases, and the number of looks.
const ROUNDS_MORE: usize = 6;
const LOOKS: usize = 8;

/// Criterion's settings. They are short, because processes differ by more than the samples of one process do.
const SETTINGS: [&str; 4] = ["--warm-up-time", "0.1", "--measurement-time", "0.2"];

/// Fails if a headline case is slower than allowed.
pub(crate) fn run(args: &Args) -> Result<()> {
    let cases = of_device(args.last("--device"))?;
    let revision = base::revision(args.last("--against"))?;
    let env = super::driver(args)?;
    let now = Benches::build(&env, &args.rest)?;
    let before = Benches::build_in(&base::checkout(&revision)?, &env, &args.rest)?;
    let mut pair = Pair {
        before,
        now,
        round: 0,
        found: Comparison::of(&cases),
    };

    pair.measure(&filter_of_ratios(&cases), ROUNDS_WITH_COPIES)?;
    pair.measure(&filter_of_ours(&cases), ROUNDS - ROUNDS_WITH_COPIES)?;
    for _ in 0..LOOKS {
        let open = pair.found.all(Verdict::Open);
        if open.is_empty() {
            break;
        }
        eprintln!("still open: {}", open.join(" "));
        pair.measure(&filter_of_ours(&open), ROUNDS_MORE)?;
    }
    println!(
        "before ({}) and now, in copies of the same bytes:",
        &revision[..12]
    );
    print!("{}", pair.found);
    let slower = pair.found.slower();
    ensure!(slower.is_empty(), "slower:\n{}", slower.join("\n"));
    Ok(())
}

/// The two sides.
struct Pair {
    before: Benches,
    now: Benches,
    round: usize,
    found: Comparison,
}

impl Pair {
    /// The sides take turns in beginning.
    fn measure(&mut self, filter: &str, rounds: usize) -> Result<()> {
        for _ in 0..rounds {
            self.round += 1;
            eprintln!("round {}", self.round);
            let (before, now) = match self.round % 2 {
                0 => {
                    let before = side(&self.before, filter)?;
                    (before, side(&self.now, filter)?)
                }
                _ => {
                    let now = side(&self.now, filter)?;
                    (side(&self.before, filter)?, now)
                }
            };
            self.found.add(&before, &now);
        }
        Ok(())
    }
}

fn side(benches: &Benches, filter: &str) -> Result<Vec<Measure>> {
    let folder = work_folder("check");
    benches.run(filter, &SETTINGS, &folder)?;
    measures(&folder)
}
