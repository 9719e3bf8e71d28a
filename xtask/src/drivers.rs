//! Gets a Vulkan driver for the tests: the machine's own, lavapipe (installed) or SwiftShader ([`swiftshader`]).
//! The result is a set of variables for the test process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, anyhow, bail, ensure};

use crate::Result;
use crate::process::{in_path, output, run};
use crate::swiftshader;
use crate::vulkan::{Machine, OVERRIDES};

/// Variables that make a process use the driver.
pub(crate) type Env = Vec<(&'static str, OsString)>;

/// The variables of a driver, and one that the tests read: a device must start.
pub(crate) fn for_tests(name: &str) -> Result<Env> {
    let mut env = get(name)?;
    env.push(("BURN_SCAN_REQUIRE_CUBE", "1".into()));
    Ok(env)
}

/// The same, with plane operations where only SwiftShader has them: it runs them although it does not advertise them.
pub(crate) fn for_kernels(name: &str) -> Result<Env> {
    let mut env = for_tests(name)?;
    if name == "swiftshader" {
        env.push(("BURN_SCAN_FORCE_PLANE", "1".into()));
    }
    Ok(env)
}

/// The driver that is soonest done with the tests: a GPU's or the one that a variable names, else SwiftShader. It
/// compiles a kernel in a fraction of lavapipe's time: the contract took 125 s on it, and over 400 s on lavapipe
/// (2026-11-27).
pub(crate) fn soonest() -> &'static str {
    let is_chosen = OVERRIDES
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    let is_linux = cfg!(target_os = "linux");
    if !is_linux || is_chosen || Machine::look().has_gpu() || !swiftshader::is_offered() {
        "system"
    } else {
        "swiftshader"
    }
}

/// The driver that `--driver NAME` asks for.
pub(crate) fn get(name: &str) -> Result<Env> {
    match name {
        "system" => system(),
        "lavapipe" => lavapipe(),
        "swiftshader" => swiftshader::get(),
        other => bail!("no driver `{other}`; there are: system lavapipe swiftshader"),
    }
}

/// The loader's own choice (it prefers a GPU), or lavapipe where the loader would find nothing.
fn system() -> Result<Env> {
    if !cfg!(target_os = "linux") {
        eprintln!("Metal or DirectX 12 comes with this system: no driver to look for");
        return Ok(Env::new());
    }
    let machine = Machine::look();
    eprintln!("{machine}");
    if machine.has_adapter() {
        return Ok(Env::new());
    }
    if let Some(name) = OVERRIDES
        .iter()
        .find(|name| std::env::var_os(name).is_some())
    {
        bail!("{name} is set but names no driver that can start: unset or correct it");
    }
    install_lavapipe().map(|manifest| pin(&manifest))
}

fn lavapipe() -> Result<Env> {
    let machine = Machine::look();
    eprintln!("{machine}");
    match machine.lavapipe() {
        Some(manifest) => Ok(pin(manifest)),
        None => install_lavapipe().map(|manifest| pin(&manifest)),
    }
}

/// Sets the loader's variable under its present name and under the one before 1.3.207, which Ubuntu 22.04 has.
pub(crate) fn pin(manifest: &Path) -> Env {
    OVERRIDES
        .map(|name| (name, manifest.as_os_str().to_owned()))
        .to_vec()
}

fn install_lavapipe() -> Result<PathBuf> {
    eprintln!("this machine has no Vulkan adapter: installing lavapipe, Mesa's software driver");
    apt_install("mesa-vulkan-drivers", &[])
        .map_err(|error| anyhow!("{error:#}. {}", by_hand(in_path)))?;
    let machine = Machine::look();
    eprintln!("{machine}");
    let manifest = machine.lavapipe().map(Path::to_owned);
    manifest.context("mesa-vulkan-drivers is installed but brought no lavapipe")
}

/// The line a person types where this program cannot install a driver.
fn by_hand(has: impl Fn(&str) -> bool) -> &'static str {
    let lines = [
        (
            "apt-get",
            "Type: sudo apt-get update && sudo apt-get install -y mesa-vulkan-drivers",
        ),
        (
            "dnf",
            "Type: sudo dnf install -y vulkan-loader mesa-vulkan-drivers",
        ),
        (
            "pacman",
            "Type: sudo pacman -S vulkan-icd-loader vulkan-swrast",
        ),
        ("apk", "Type: apk add vulkan-loader mesa-vulkan-swrast"),
    ];
    let other = "Install a Vulkan loader and Mesa's lavapipe with this system's package manager";
    lines
        .iter()
        .find(|(tool, _)| has(tool))
        .map_or(other, |(_, line)| line)
}

/// Installs a package of Debian.
pub(crate) fn apt_install(package: &str, options: &[&str]) -> Result<()> {
    let has_apt = cfg!(target_os = "linux") && in_path("apt-get");
    ensure!(has_apt, "cannot install {package} here (no apt-get)");
    let may_install = is_root() || in_path("sudo");
    ensure!(
        may_install,
        "cannot install {package} here (not root, no sudo)"
    );
    update_lists()?;
    let mut command = as_root(&["apt-get", "install", "-y"]);
    run(command.args(options).arg(package))
}

/// Updates apt's lists of packages.
pub(crate) fn update_lists() -> Result<()> {
    run(&mut as_root(&["apt-get", "update"]))
}

fn is_root() -> bool {
    output("id", &["-u"]).trim() == "0"
}

/// `line` as root. apt asks no question.
fn as_root(line: &[&str]) -> Command {
    let mut words = vec!["env", "DEBIAN_FRONTEND=noninteractive"];
    words.extend(line);
    if !is_root() {
        words.insert(0, "sudo");
    }
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_to_type_fits_the_system() {
        assert!(
            by_hand(|tool| tool == "apt-get").contains("apt-get install -y mesa-vulkan-drivers")
        );
        assert!(by_hand(|tool| tool == "dnf").contains("sudo dnf"));
        assert!(by_hand(|_| false).contains("package manager"));
    }

    #[test]
    fn a_pinned_driver_is_pinned_under_both_names() {
        let env = pin(Path::new("/x/lvp_icd.json"));
        assert_eq!(env.len(), 2);
        assert!(env.iter().all(|(_, value)| value == "/x/lvp_icd.json"));
    }
}
