//! `cargo xtask features`: clippy with each feature alone, and with all that build together. Without a name it also
//! looks at the tests that need no GPU, as they are built without one, and builds two programs that differ only in this
//! crate, and compares their default devices.
//!
//! Cargo names the features, so a new one is never left out. Warnings become errors by clippy's own arguments.
//! `RUSTFLAGS` would rebuild every dependency.

use anyhow::bail;

use crate::args::{Args, Spec};
use crate::metadata::packages;
use crate::process::{cargo, root, run as run_to_success};
use crate::steps::Steps;
use crate::{Result, programs};

const PACKAGES: [&str; 2] = ["burn-scan", "cubecl-scan"];

/// These link CubeCL's LLVM bundle, which a build script fetches. `DOCS_RS=1` leaves the bundle out, and that is enough
/// to check the code.
const NEED_LLVM: [&str; 4] = ["cuda", "cuda-cpp", "rocm", "cpu"];

/// The features of the runtimes turn these on, so each of those checks them. Alone, they leave Burn's crates unable to
/// compile.
const PART_OF_OTHERS: [&str; 1] = ["cubecl-backend"];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let words = Args::parse(args, &Spec::default())?.words;
    let mut steps = Steps::default();
    let mut left_out = Vec::new();
    let known = features()?;
    for package in PACKAGES {
        let mut features: Vec<&str> = (known.iter())
            .filter(|(of, _)| of == package)
            .map(|(_, feature)| feature.as_str())
            .collect();
        features.retain(|name| words.is_empty() || words.iter().any(|word| word == name));
        if !cfg!(target_os = "macos") && features.contains(&"metal") {
            features.retain(|name| *name != "metal");
            left_out.push(format!("{package}: metal builds on macOS only"));
        }
        check(package, &features, &mut steps);
    }
    if words.is_empty() {
        steps.step(
            "burn-scan: its tests on Flex alone, as `faults` builds them",
            || {
                let features = ["--tests", "--features", "flex,autodiff"];
                let mut command = cargo(&["clippy", "-p", "burn-scan"]);
                run_to_success(command.args(features).args(["--", "-D", "warnings"]))
            },
        );
        steps.step("the README's first program", programs::of_the_readme);
        steps.step(
            "a program keeps its default device",
            programs::default_device_stays,
        );
    }
    left_out
        .extend(PART_OF_OTHERS.map(|name| format!("{name} alone: it is a part of wgpu, cuda, ..")));
    let result = steps.finish();
    let is_known = |word: &&String| known.iter().any(|(_, feature)| feature == *word);
    if let Some(word) = words.iter().find(|word| !is_known(word)) {
        bail!("no feature `{word}` in either crate");
    }
    for line in left_out {
        println!("left out: {line}");
    }
    result
}

/// Each feature of both crates with its package.
fn features() -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for package in packages(&root())? {
        let of = package["name"].as_str().unwrap_or_default();
        let names = package["features"].as_object().into_iter().flatten();
        let names = names.map(|(name, _)| name.clone());
        let wanted = names.filter(|name| name != "default" && PACKAGES.contains(&of));
        found.extend(wanted.map(|name| (of.to_owned(), name)));
    }
    Ok(found)
}

fn check(package: &str, features: &[&str], steps: &mut Steps) {
    let checked = features
        .iter()
        .filter(|name| !PART_OF_OTHERS.contains(name));
    let (need_llvm, plain): (Vec<&str>, Vec<&str>) =
        checked.partition(|name| NEED_LLVM.contains(name));
    for feature in &plain {
        steps.step(&format!("{package}: {feature}"), || {
            clippy(package, feature, false)
        });
    }
    if plain.len() > 1 {
        let together = plain.join(",");
        steps.step(&format!("{package}: {together}"), || {
            clippy(package, &together, false)
        });
    }
    // Last, because the variable makes build scripts run again.
    for feature in &need_llvm {
        let name = format!("{package}: {feature} (DOCS_RS=1: checked, not linked)");
        steps.step(&name, || clippy(package, feature, true));
    }
}

fn clippy(package: &str, features: &str, docs_rs: bool) -> Result<()> {
    let mut command = cargo(&["clippy", "-p", package, "--no-default-features"]);
    command.args(["--features", features, "--", "-D", "warnings"]);
    if docs_rs {
        command.env("DOCS_RS", "1");
    }
    run_to_success(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_names_the_features_of_both_crates() {
        let found = features().unwrap();
        let has = |package: &str, name: &str| {
            let is_it = |(of, feature): &(String, String)| of == package && feature == name;
            found.iter().any(is_it)
        };
        assert!(has("burn-scan", "remote") && has("cubecl-scan", "cuda-source"));
        assert!(!has("burn-scan", "default") && !has("xtask", "report"));
    }
}
