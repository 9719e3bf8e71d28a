//! Two programs that differ only in this crate, built and run: adding it must not move a program to another device.
//! `xtask/tests/structure/neighbours.rs` compares their features, which takes no build.

use anyhow::{Context, ensure};
use fs_err as fs;

use crate::Result;
use crate::copy::write;
use crate::process::{cargo, root, run_reading, target_dir};

/// The folder of both programs, in the target folder. They share what they build.
const FOLDER: &str = "default-device";

/// What a program on Burn's CPU back end writes into its manifest. The workspace's lock file names the version.
const BURN: &str =
    r#"burn = { version = "*", default-features = false, features = ["std", "flex"] }"#;

/// Printed before the device, so that it is found among other lines.
const MARK: &str = "default device: ";

/// Compares the default devices of a program without and with this crate.
pub(crate) fn stays() -> Result<()> {
    let path = root();
    let ours = format!("burn-scan = {{ path = {path:?}, features = [\"flex\"] }}");
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
    let folder = target_dir().join(FOLDER).join(name);
    let manifest = format!(
        "[package]\nname = \"program-{name}\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{BURN}\n{dependency}\n"
    );
    write(&folder.join("Cargo.toml"), manifest.as_bytes())?;
    write(&folder.join("src/main.rs"), program(sums).as_bytes())?;
    // Cargo takes out of it what the program does not need, so it is brought anew each time.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let mut device = None;
    let mut command = cargo(&["run", "--quiet"]);
    command
        .env("CARGO_TARGET_DIR", target_dir().join(FOLDER).join("target"))
        .current_dir(&folder);
    run_reading(&mut command, true, |line| {
        device = line.strip_prefix(MARK).map(str::to_owned).or(device.take());
    })?;
    device.with_context(|| format!("program-{name} names no device"))
}

fn program(sums: &str) -> String {
    format!(
        r#"use burn::tensor::{{Device, Int, Tensor}};

fn main() {{
    let device = Device::default();
    let tensor = Tensor::<1, Int>::from_data([1, 2, 3], &device);
    {sums}
    assert!(sums.into_data().iter::<i64>().eq([1, 3, 6]));
    println!("{MARK}{{device:?}}");
}}
"#
    )
}
