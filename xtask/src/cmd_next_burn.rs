//! `cargo xtask next-burn`: what the next version of Burn breaks, so that it is no surprise.
//!
//! 1. Cargo resolves a manifest that asks only for a Burn after the pinned one. Its lock file names the newest such
//!    version, and the CubeCL that goes with it.
//! 2. In a [`copy`](crate::copy) of the tree, these versions replace those of packages that admit only patches
//!    (`"~X"`).
//! 3. `cargo check` compiles the copy. The command counts its errors and warnings by file.
//! 4. The tests run if there is no error.
//!
//! With `--patch`, the copy takes the newest patches that the manifest admits instead. Then the command fails if the
//! lock file has older ones, whatever the check says.
//!
//! `docs/compatibility.md` says what broke when this ran last.

mod check;
mod pins;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};
use fs_err as fs;

use crate::Result;
use crate::args::{Args, Spec};
use crate::cmd_test::cargo_test;
use crate::copy::{Copy, copy_tree, write};
use crate::drivers;
use crate::process::{cargo, run as run_to_success, run_reading};
use check::Findings;
use pins::{Lock, pins, replace_pins, requirements};

const SPEC: Spec = Spec {
    flags: &["--patch"],
    options: &["--burn"],
};

/// xtask does not use Burn.
const SELECTION: [&str; 5] = [
    "--workspace",
    "--exclude",
    "xtask",
    "--features",
    "cubecl-scan/wgpu,remote",
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    args.no_words("")?;
    let copy = copy_tree("next-burn")?;
    let manifest = copy.tree.join("Cargo.toml");
    let text = fs::read_to_string(&manifest)?;
    if args.flag("--patch") {
        return newest_patches(&copy, &text);
    }
    let pins = pins(&text);
    let pinned = *pins.get("burn").context("Cargo.toml pins no burn")?;
    let wanted = match args.last("--burn") {
        Some(version) => vec![format!("={version}")],
        None => requirements(pinned)?,
    };
    let Some(lock) = newest(&copy, &wanted)? else {
        let wanted = wanted.join(" or ");
        ensure!(args.last("--burn").is_none(), "no Burn fits {wanted}");
        println!("nothing to try: no Burn after {pinned} fits {wanted}");
        return Ok(());
    };
    write(&manifest, replace_pins(&text, &lock).as_bytes())?;
    let changes = changes(&pins, &lock);
    println!("{changes}");

    let (selection, is_whole): (Vec<&str>, bool) = match args.rest.as_slice() {
        [] => ([&SELECTION[..], &["--all-targets"]].concat(), true),
        rest => (rest.iter().map(String::as_str).collect(), false),
    };
    let (findings, checked) = check(&copy, &selection)?;
    print!("\n{changes}\n{findings}");
    let errors = findings.errors();
    ensure!(errors == 0, "{errors} errors with the next Burn");
    checked.context("cargo check failed before it compiled anything of this workspace")?;
    if is_whole {
        test(&copy)?;
    }
    Ok(())
}

/// Tries the newest patches that the manifest admits. The lock file should have them.
fn newest_patches(copy: &Copy, manifest: &str) -> Result<()> {
    let read = || fs::read_to_string(copy.tree.join("Cargo.lock"));
    let old = Lock::parse(&read()?);
    let mut command = cargo(&["update"]);
    command.args(old.pinned(manifest));
    run_to_success(command.current_dir(&copy.tree))?;
    let new = Lock::parse(&read()?);
    let moved = old.moved(&new);
    if moved.is_empty() {
        println!("the lock file has the newest patches");
        return Ok(());
    }
    let moved: Vec<_> = moved
        .iter()
        .map(|(name, old, new)| format!("{name} {old} -> {new}"))
        .collect();
    println!("{}", moved.join("\n"));
    let (findings, checked) = check(copy, &[&SELECTION[..], &["--all-targets"]].concat())?;
    print!("\n{findings}");
    checked?;
    test(copy)?;
    bail!("everything passes with them, and the lock file has older patches: run `cargo update`")
}

/// The lock file of the newest Burn that meets the first requirement which any version meets.
fn newest(copy: &Copy, requirements: &[String]) -> Result<Option<Lock>> {
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
        let said = String::from_utf8_lossy(&out.stderr);
        if out.status.success() {
            let text = fs::read_to_string(folder.join("Cargo.lock"))?;
            return Ok(Some(Lock::parse(&text)));
        }
        // Cargo found the package, so it reached the registry or a cache of it.
        ensure!(
            said.contains("candidate versions found which didn't match"),
            "cargo cannot ask the registry for Burn:\n{}",
            said.trim()
        );
    }
    Ok(None)
}

/// `Burn 1 -> 2, CubeCL 3 -> 4`
fn changes(pins: &BTreeMap<&str, &str>, lock: &Lock) -> String {
    let names = [("Burn", "burn"), ("CubeCL", "cubecl"), ("CubeK", "cubek")];
    let changes = names.iter().filter_map(|(title, name)| {
        let new = lock.version(name)?;
        let old = pins.get(name).map(|old| format!("{old} -> "));
        Some(format!("{title} {}{new}", old.unwrap_or_default()))
    });
    changes.collect::<Vec<_>>().join(", ")
}

/// What the compiler says, and how cargo ended.
fn check(copy: &Copy, selection: &[&str]) -> Result<(Findings, Result<()>)> {
    let mut command = cargo(&["check", "--keep-going", "--message-format=json"]);
    inside(&mut command, copy);
    let mut findings = Findings::of(&copy.tree)?;
    let checked = run_reading(command.args(selection), false, |line| findings.add(line));
    Ok((findings, checked))
}

fn test(copy: &Copy) -> Result<()> {
    let env = drivers::for_tests("system")?;
    let mut command = cargo_test(&SELECTION, &env);
    inside(&mut command, copy);
    run_to_success(command.arg("--no-fail-fast"))
}

fn inside(command: &mut Command, copy: &Copy) {
    let tree: &Path = &copy.tree;
    command.current_dir(tree);
    command.env("CARGO_TARGET_DIR", &copy.target);
}
