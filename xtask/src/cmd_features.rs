//! `cargo xtask features`: clippy with each feature alone, and with all that build together.
//!
//! The features are read from the manifests, so that a new one cannot be forgotten. Warnings are errors by
//! clippy's own arguments, not by `RUSTFLAGS`, which would rebuild every dependency.

use std::fs;

use crate::Result;
use crate::args::{Args, Spec};
use crate::process::{Steps, cargo, root, run as run_to_success};

const PACKAGES: [(&str, &str); 2] = [
    ("burn-scan", "Cargo.toml"),
    ("cubecl-scan", "kernels/Cargo.toml"),
];

/// These link CubeCL's LLVM bundle, which is fetched at build time. `DOCS_RS=1` leaves it out, which is
/// enough to check the code.
const NEED_LLVM: [&str; 4] = ["cuda", "cuda-cpp", "rocm", "cpu"];

/// Turned on by the features of the runtimes, and checked with each of those. Without any Burn's own crates do not compile.
const PART_OF_OTHERS: [&str; 1] = ["cubecl-backend"];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(
        args,
        &Spec {
            flags: &[],
            options: &[],
        },
    )?;
    let mut steps = Steps::default();
    let mut left_out = Vec::new();
    let mut known = Vec::new();
    for (package, manifest) in PACKAGES {
        let path = root().join(manifest);
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut features = features_of(&text);
        known.extend(features.iter().map(|name| (*name).to_owned()));
        features.retain(|name| args.words.is_empty() || args.words.iter().any(|w| w == name));
        features.retain(|name| !PART_OF_OTHERS.contains(name));
        if !cfg!(target_os = "macos") && features.contains(&"metal") {
            features.retain(|name| *name != "metal");
            left_out.push(format!("{package}: metal builds on macOS only"));
        }
        let (need_llvm, plain): (Vec<&str>, Vec<&str>) = features
            .into_iter()
            .partition(|name| NEED_LLVM.contains(name));
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
        // Last: the variable makes build scripts run again.
        for feature in &need_llvm {
            let name = format!("{package}: {feature} (DOCS_RS=1: checked, not linked)");
            steps.step(&name, || clippy(package, feature, true));
        }
    }
    left_out
        .extend(PART_OF_OTHERS.map(|name| format!("{name} alone: it is a part of wgpu, cuda, ..")));
    let result = steps.finish();
    if let Some(word) = args.words.iter().find(|word| !known.contains(word)) {
        return Err(format!("no feature `{word}` in either crate"));
    }
    for line in left_out {
        println!("left out: {line}");
    }
    result
}

fn clippy(package: &str, features: &str, docs_rs: bool) -> Result<()> {
    let mut command = cargo(&[
        "clippy",
        "-p",
        package,
        "--no-default-features",
        "--features",
        features,
    ]);
    command.args(["--", "-D", "warnings"]);
    if docs_rs {
        command.env("DOCS_RS", "1");
    }
    run_to_success(&mut command)
}

/// The names in a manifest's `[features]`, without `default`. Lists may span lines; those are indented.
fn features_of(manifest: &str) -> Vec<&str> {
    let section = manifest
        .lines()
        .skip_while(|line| line.trim() != "[features]")
        .skip(1);
    section
        .take_while(|line| !line.starts_with('['))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_alphanumeric()))
        .filter_map(|line| line.split_once('=').map(|(name, _)| name.trim()))
        .filter(|name| *name != "default")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::features_of;

    #[test]
    fn features_are_read_from_a_manifest() {
        let manifest = "[package]\nname = \"x\"\n\n[features]\ndefault = [\"a\"]\n# Why.\na = []\n\
            long-one = [\n    \"dep:b\",\n]\n\n[dependencies]\nc = \"1\"\n";
        assert_eq!(features_of(manifest), ["a", "long-one"]);
        assert!(features_of("[package]\nname = \"x\"\n").is_empty());
    }
}
