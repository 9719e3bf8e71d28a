//! Measures the headline cases against `benches/baseline.toml`, or writes that file.

use std::fs;
use std::path::PathBuf;

use super::bench::Benches;
use super::check::{Baseline, ROUNDS, Ratios, Rounds, known, ratios, slower, update};
use super::collect::measures;
use super::headline::{HEADLINE, filter_of_ratios};
use super::record::Facts;
use super::{machine, work_folder};
use crate::Result;
use crate::process::root;

const HEAD: &str = "\
# What the headline cases took as multiples of a copy of the same bytes in the same run, by class of device: medians of
# three runs. `cargo xtask report --check` compares with this, `cargo xtask report --write-baseline` writes it.

";

/// Fails where a headline case is slower than the baseline allows; what looks slower is measured again before.
pub(crate) fn check(benches: Benches) -> Result<()> {
    let baseline = read()?;
    if baseline.is_empty() {
        return Err(format!(
            "no baseline in {}: `cargo xtask report --write-baseline` writes one",
            path().display()
        ));
    }
    let mut session = Session::new(benches);
    session.round(&HEADLINE)?;
    let (expected, unknown) = known(&baseline, &session.facts);
    unknown.iter().for_each(|line| println!("{line}"));
    if expected.is_empty() {
        return Err("nothing was compared".to_owned());
    }
    let first = session.rounds.medians();
    let suspects = slower(&expected, &first);
    let again: Vec<&str> = suspects
        .iter()
        .map(|suspect| suspect.case.as_str())
        .collect();
    for _ in 1..ROUNDS {
        if again.iter().any(|case| first.contains_key(*case)) {
            println!("measured again: {}", again.join(" "));
            session.round(&again)?;
        }
    }
    let found = slower(&expected, &session.rounds.medians());
    if found.is_empty() {
        println!(
            "{} headline cases compared: none is slower than the baseline allows",
            expected.len()
        );
        return Ok(());
    }
    let lines: Vec<String> = found.into_iter().map(|slower| slower.message).collect();
    Err(format!("slower than the baseline:\n{}", lines.join("\n")))
}

/// Measures every headline case three times and writes the medians for this machine's devices.
pub(crate) fn write(benches: Benches) -> Result<()> {
    let mut baseline = read()?;
    let mut session = Session::new(benches);
    for _ in 0..ROUNDS {
        session.round(&HEADLINE)?;
    }
    update(&mut baseline, &session.facts, &session.rounds.medians());
    let text = toml::to_string_pretty(&baseline).map_err(|e| e.to_string())?;
    fs::write(path(), HEAD.to_owned() + &text).map_err(|e| format!("{}: {e}", path().display()))?;
    println!("wrote {}", path().display());
    Ok(())
}

/// Rounds on one machine.
struct Session {
    benches: Benches,
    facts: Facts,
    rounds: Rounds,
}

impl Session {
    fn new(benches: Benches) -> Self {
        Self {
            benches,
            facts: machine::facts(),
            rounds: Rounds::default(),
        }
    }

    fn round(&mut self, cases: &[&str]) -> Result<()> {
        let folder = work_folder("check");
        let said = self.benches.run(&filter_of_ratios(cases), &folder)?;
        if self.facts.get("adapter").is_none() {
            self.facts.extend(said);
        }
        let ratios: Ratios = ratios(measures(&folder)?);
        self.rounds.add(ratios);
        Ok(())
    }
}

fn path() -> PathBuf {
    root().join("benches/baseline.toml")
}

fn read() -> Result<Baseline> {
    let text = fs::read_to_string(path()).unwrap_or_default();
    toml::from_str(&text).map_err(|e| format!("{}: {e}", path().display()))
}
