//! Programs that use this crate, made from nothing, built and run: that of the README, and two that differ only in this
//! crate. Adding it must not move a program to another device. `xtask/tests/structure/neighbours.rs` compares their
//! features, which takes no build.

use anyhow::{Context, ensure};
use fs_err as fs;

use crate::Result;
use crate::copy::write;
use crate::process::{cargo, root, run_reading, target_dir};

/// The folder of all programs, in the target folder. They share what they build.
const FOLDER: &str = "programs";

/// What a program on Burn's CPU back end writes into its manifest. The workspace's lock file names the version.
const BURN: &str =
    r#"burn = { version = "*", default-features = false, features = ["std", "flex"] }"#;

/// Printed before the device, so that it is found among other lines.
const MARK: &str = "default device: ";

/// The lines of the README's sections "Install" and "Quick start". Cargo takes the newest versions that they admit.
pub(crate) fn of_the_readme() -> Result<()> {
    let readme = fs::read_to_string(root().join("README.md"))?;
    let first = |language: &str| {
        let (_, rest) = readme.split_once(&format!("```{language}\n"))?;
        Some(rest.split_once("```")?.0)
    };
    let manifest = first("toml").context("the README has no manifest")?;
    let path = "path = \"../burn-scan\"";
    ensure!(
        manifest.contains(path),
        "the README's manifest has no {path}"
    );
    let manifest = manifest.replace(path, &format!("path = {:?}", root()));
    let main = first("rust").context("the README has no program")?;
    program("of-the-readme", &manifest, main, false).map(drop)
}

/// Compares the default devices of a program without and with this crate.
pub(crate) fn default_device_stays() -> Result<()> {
    let ours = format!(
        "burn-scan = {{ path = {:?}, features = [\"flex\"] }}",
        root()
    );
    let sums = "use burn_scan::prelude::*;\n    let sums = tensor.inclusive_cumsum(0);";
    let without = device_of("without", "", "let sums = tensor.cumsum(0);")?;
    let with = device_of("with", &ours, sums)?;
    println!("{without} without burn-scan, {with} with it");
    ensure!(
        without == with,
        "burn-scan moves a program to another device"
    );
    Ok(())
}

/// The default device of a program with these lines, after it has added up some numbers there.
fn device_of(name: &str, dependency: &str, sums: &str) -> Result<String> {
    let main = format!(
        r#"use burn::tensor::{{Device, Int, Tensor}};

fn main() {{
    let device = Device::default();
    let tensor = Tensor::<1, Int>::from_data([1, 2, 3], &device);
    {sums}
    assert!(sums.into_data().iter::<i64>().eq([1, 3, 6]));
    println!("{MARK}{{device:?}}");
}}
"#
    );
    let manifest = format!("[dependencies]\n{BURN}\n{dependency}\n");
    let printed = program(name, &manifest, &main, true)?;
    let mut devices = printed.iter().filter_map(|line| line.strip_prefix(MARK));
    let device = devices.next().map(str::to_owned);
    device.with_context(|| format!("the program {name} names no device"))
}

/// Builds and runs a program, and returns what it prints. `manifest` begins with its dependencies.
fn program(name: &str, manifest: &str, main: &str, is_locked: bool) -> Result<Vec<String>> {
    let folder = target_dir().join(FOLDER).join(name);
    let package =
        format!("[package]\nname = \"program-{name}\"\nedition = \"2024\"\n\n[workspace]\n");
    write(
        &folder.join("Cargo.toml"),
        format!("{package}\n{manifest}").as_bytes(),
    )?;
    write(&folder.join("src/main.rs"), main.as_bytes())?;
    let lock = folder.join("Cargo.lock");
    if is_locked {
        // Cargo takes out of it what the program does not need, so it is brought anew each time.
        fs::copy(root().join("Cargo.lock"), lock)?;
    } else {
        let _ = fs::remove_file(lock);
    }
    let mut printed = Vec::new();
    let mut command = cargo(&["run", "--quiet"]);
    command
        .env("CARGO_TARGET_DIR", target_dir().join(FOLDER).join("target"))
        .current_dir(&folder);
    run_reading(&mut command, true, |line| printed.push(line.to_owned()))?;
    Ok(printed)
}
