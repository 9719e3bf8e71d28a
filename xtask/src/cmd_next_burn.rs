//! `cargo xtask next-burn`: what the next version of Burn breaks, so that it is no surprise.
//!
//! 1. Cargo resolves a manifest that asks only for a Burn after the pinned one. Its lock file names the newest such
//!    version, and the CubeCL that goes with it.
//! 2. In a [`copy`](crate::copy) of the tree, these versions replace those of packages that admit only patches
//!    (`"~X"`).
//! 3. `cargo check` compiles the copy, and the tests run if there is no error.
//!
//! With `--patch`, the copy takes the newest patches that the manifest admits instead. Then the command fails if the
//! lock file has older ones, whatever the tests say.
//!
//! `docs/compatibility.md` says what broke when this ran last.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};
use fs_err as fs;

use crate::Result;
use crate::args::{Args, Spec};
use crate::cmd_test::cargo_test;
use crate::copy::{Copy, copy_tree, write};
use crate::drivers;
use crate::process::{cargo, run as run_to_success};

const SPEC: Spec = Spec {
    flags: &["--patch"],
    options: &[],
};

/// xtask does not use Burn.
const SELECTION: [&str; 5] = [
    "--workspace",
    "--exclude",
    "xtask",
    "--features",
    "cubecl-scan/wgpu,remote",
];

/// The versions in a lock file, by package.
type Versions = BTreeMap<String, String>;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    args.no_words("")?;
    let copy = copy_tree("next-burn")?;
    let manifest = copy.tree.join("Cargo.toml");
    let text = fs::read_to_string(&manifest)?;
    if args.flag("--patch") {
        return newest_patches(&copy, &text);
    }
    let mut pins = text.lines().filter_map(pin);
    let (_, pinned) = pins
        .find(|(name, _)| *name == "burn")
        .context("Cargo.toml pins no burn")?;
    let Some(new) = newest(&copy, &requirements(pinned)?)? else {
        println!("nothing to try: there is no Burn after {pinned}");
        return Ok(());
    };
    write(&manifest, replace_pins(&text, &new).as_bytes())?;
    check_and_test(&copy)?;
    println!("everything passes with Burn {}", new["burn"]);
    Ok(())
}

/// Tries the newest patches that the manifest admits. The lock file should have them.
fn newest_patches(copy: &Copy, manifest: &str) -> Result<()> {
    let read =
        || Ok::<_, anyhow::Error>(versions(&fs::read_to_string(copy.tree.join("Cargo.lock"))?));
    let old = read()?;
    let pinned = manifest.lines().filter_map(pin).map(|(name, _)| name);
    let mut command = cargo(&["update"]);
    command.args(pinned.filter(|name| old.contains_key(*name)));
    run_to_success(command.current_dir(&copy.tree))?;
    if read()? == old {
        println!("the lock file has the newest patches");
        return Ok(());
    }
    check_and_test(copy)?;
    bail!("everything passes with them, and the lock file has older patches: run `cargo update`")
}

/// The lock file of the newest Burn that meets the first requirement which any version meets.
fn newest(copy: &Copy, requirements: &[String]) -> Result<Option<Versions>> {
    let folder = copy.tree.with_file_name("newest");
    write(&folder.join("src/lib.rs"), b"")?;
    for requirement in requirements {
        let manifest = format!(
            "[package]\nname = \"newest\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             burn = \"{requirement}\"\nburn-cubecl = \"{requirement}\"\n"
        );
        write(&folder.join("Cargo.toml"), manifest.as_bytes())?;
        let mut command = cargo(&["generate-lockfile"]);
        let out = command.current_dir(&folder).output()?;
        if out.status.success() {
            return Ok(Some(versions(&fs::read_to_string(
                folder.join("Cargo.lock"),
            )?)));
        }
        // Cargo found the package, so it reached the registry or a cache of it.
        let said = String::from_utf8_lossy(&out.stderr);
        ensure!(
            said.contains("candidate versions found which didn't match"),
            "cargo cannot ask the registry for Burn:\n{}",
            said.trim()
        );
    }
    Ok(None)
}

fn check_and_test(copy: &Copy) -> Result<()> {
    let env = drivers::for_tests("system")?;
    let mut check = cargo(&["check", "--keep-going", "--all-targets"]);
    check.args(SELECTION);
    let mut test = cargo_test(&SELECTION, &env);
    test.arg("--no-fail-fast");
    for command in [&mut check, &mut test] {
        command.current_dir(&copy.tree);
        run_to_success(command.env("CARGO_TARGET_DIR", &copy.target))?;
    }
    Ok(())
}

/// The name and the version of a line that admits only patches of a package: `burn = { version = "~1.2.3", .. }`.
fn pin(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(" = ")?;
    let (_, version) = rest.split_once("\"~")?;
    Some((name, version.split_once('"')?.0))
}

/// The requirements for a version after `pinned`: the next minor version, or else the next major one. `-0` admits
/// pre-releases. Cargo admits those of this one version only, and releases of all later versions.
fn requirements(pinned: &str) -> Result<[String; 2]> {
    let mut parts = pinned.split('.').map(str::parse::<u32>);
    let mut part = || parts.next()?.ok();
    let (major, minor) = part().zip(part()).context("the pin is no version")?;
    Ok([
        format!(">={major}.{}.0-0", minor + 1),
        format!(">={}.0.0-0", major + 1),
    ])
}

/// The manifest with exactly the locked versions. A package that is not locked takes the version of its family: the
/// crates of Burn have one version, and so have those of CubeCL.
fn replace_pins(manifest: &str, locked: &Versions) -> String {
    let replaced = manifest.split_inclusive('\n').map(|line| {
        let new = pin(line).and_then(|(name, old)| {
            let new = locked
                .get(name)
                .or_else(|| locked.get(name.split('-').next()?))?;
            Some(line.replace(&format!("\"~{old}\""), &format!("\"={new}\"")))
        });
        new.unwrap_or_else(|| line.to_owned())
    });
    replaced.collect()
}

fn versions(lock: &str) -> Versions {
    let value = |line: &str, key: &str| {
        let value = line.strip_prefix(key)?.strip_prefix(" = \"")?;
        Some(value.strip_suffix('"')?.to_owned())
    };
    let lines: Vec<&str> = lock.lines().collect();
    let pairs = lines.windows(2);
    pairs
        .filter_map(|pair| Some((value(pair[0], "name")?, value(pair[1], "version")?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_patches_are_replaced_and_nothing_else() {
        let manifest = "burn = { version = \"~0.22.1\", default-features = false }\n\
                        burn-std = { version = \"~0.22.1\" }\ncubecl = \"~0.11.3\"\nhalf = \"2\"\n";
        let lock = "name = \"burn\"\nversion = \"0.23.0-pre.1\"\n\nname = \"cubecl\"\nversion = \"0.12.0\"\n\n\
                    name = \"half\"\nversion = \"2.4.1\"\n";
        let new = "burn = { version = \"=0.23.0-pre.1\", default-features = false }\n\
                   burn-std = { version = \"=0.23.0-pre.1\" }\ncubecl = \"=0.12.0\"\nhalf = \"2\"\n";
        assert_eq!(replace_pins(manifest, &versions(lock)), new);
    }

    #[test]
    fn the_manifest_admits_patches_of_burn_and_cubecl() {
        let manifest = include_str!("../../Cargo.toml");
        let pins: BTreeMap<&str, &str> = manifest.lines().filter_map(pin).collect();
        assert!(pins.contains_key("burn") && pins.contains_key("cubecl"));
        assert!(requirements(pins["burn"]).is_ok());
        let later = [">=0.23.0-0".to_owned(), ">=1.0.0-0".to_owned()];
        assert_eq!(requirements("0.22.1").unwrap(), later);
    }
}
