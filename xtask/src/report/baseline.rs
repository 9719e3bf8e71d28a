//! Measures the headline cases against `benches/baseline.toml`, or writes that file.

use std::fs;
use std::path::PathBuf;

use super::bench::Benches;
use super::check::{Baseline, ROUNDS, Ratios, Rounds, known, slower, update};
use super::collect::fastest;
use super::headline::{HEADLINE, filter_of_ratios};
use super::record::Facts;
use super::{machine, work_folder};
use crate::Result;
use crate::process::root;

const HEAD: &str = "\
# What the headline cases took as multiples of a copy of the same bytes in the same run, by class of device: the fastest
# of some rounds. `cargo xtask report --check` compares with this, `cargo xtask report --write-baseline` writes it.

";

/// Fails where a headline case is slower than the baseline allows.
pub(crate) fn check(benches: Benches) -> Result<()> {
    let baseline = read()?;
    if baseline.is_empty() {
        return Err(format!(
            "no baseline in {}: `cargo xtask report --write-baseline` writes one",
            path().display()
        ));
    }
    let (facts, ratios) = measure(benches)?;
    let (expected, unknown) = known(&baseline, &facts);
    unknown.iter().for_each(|line| println!("{line}"));
    if expected.is_empty() {
        return Err("nothing was compared".to_owned());
    }
    for (case, was) in &expected {
        if let Some(is) = ratios.get(case) {
            println!("{case}: {is:.3} times the copy, {was:.3} in the baseline");
        }
    }
    let found = slower(&expected, &ratios);
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

/// Measures every headline case and writes the ratios for this machine's devices.
pub(crate) fn write(benches: Benches) -> Result<()> {
    let mut baseline = read()?;
    let (facts, ratios) = measure(benches)?;
    update(&mut baseline, &facts, &ratios);
    let text = toml::to_string_pretty(&baseline).map_err(|e| e.to_string())?;
    fs::write(path(), HEAD.to_owned() + &text).map_err(|e| format!("{}: {e}", path().display()))?;
    println!("wrote {}", path().display());
    Ok(())
}

/// The headline cases' ratios on this machine.
fn measure(benches: Benches) -> Result<(Facts, Ratios)> {
    let folder = work_folder("check");
    let (mut facts, mut rounds) = (machine::facts(), Rounds::default());
    for _ in 0..ROUNDS {
        let said = benches.run(&filter_of_ratios(&HEADLINE), &folder)?;
        if facts.get("adapter").is_none() {
            facts.extend(said);
        }
        rounds.add(fastest(&folder)?);
    }
    Ok((facts, rounds.ratios()))
}

fn path() -> PathBuf {
    root().join("benches/baseline.toml")
}

fn read() -> Result<Baseline> {
    let text = fs::read_to_string(path()).unwrap_or_default();
    toml::from_str(&text).map_err(|e| format!("{}: {e}", path().display()))
}
