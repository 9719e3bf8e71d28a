//! `cargo xtask faults`: plants mistakes in the kernels, in the CPU engine and in gradients, one at a time. Each must
//! fail the test that the list names for it.
//!
//! The lists are `kernels/tests/faults.txt` and `tests/faults.txt`. The mistakes go into a [`copy`](crate::copy) of the
//! tree. First, every named test must exist and pass in the copy as it is. A test that does not end counts as failed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use fs_err as fs;

use crate::Result;
use crate::args::{Args, Spec};
use crate::bundle_files::binary_of;
use crate::copy::{Copy, copy_sources};
use crate::drivers::{self, Env};
use crate::faults::{Fault, PACKAGES, parse};
use crate::process::{cargo, root, run_reading};

const SPEC: Spec = Spec {
    flags: &[],
    options: &["--driver"],
};

/// Each fault in the CPU engine builds `burn-scan` again: it stays unoptimised.
const UNOPTIMISED: [&str; 2] = ["--config", "profile.dev.package.burn-scan.opt-level=0"];

/// A test may take this long: ten times as long as the slowest of them does.
const LIMIT: Duration = Duration::from_secs(180);

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    let mut faults = Vec::new();
    for package in &PACKAGES {
        let list = package.list();
        let text = fs::read_to_string(root().join(&list))?;
        faults.extend(parse(package, &text).context(list)?);
    }
    let named = |fault: &Fault| {
        let mut words = args.words.iter();
        words.any(|word| fault.name.contains(word) || fault.package.name == word)
    };
    faults.retain(|fault| args.words.is_empty() || named(fault));
    ensure!(!faults.is_empty(), "no such fault in the lists");
    let trial = Trial::new(args.last("--driver").unwrap_or("system"), &faults)?;
    trial.passes_as_it_is(&faults)?;
    let mut found = Vec::new();
    for fault in &faults {
        let start = Instant::now();
        let outcome = trial.outcome(fault);
        let (state, note) = match &outcome {
            Ok(note) => ("caught", (*note).to_owned()),
            Err(error) => ("MISSED", format!("{error:#}")),
        };
        let (binary, test) = &fault.test;
        let line = format!(
            "{state:>6} {:>6.1} s  {} [{binary} {test}] {note}",
            start.elapsed().as_secs_f64(),
            fault.name
        );
        eprintln!("{line}");
        found.push((outcome.is_ok(), line));
    }
    println!();
    for (_, line) in &found {
        println!("{line}");
    }
    let missed = found.iter().filter(|(caught, _)| !caught).count();
    println!("{} of {} faults caught", found.len() - missed, found.len());
    ensure!(missed == 0, "{missed} faults were not caught");
    Ok(())
}

/// The copy, and the drivers that the tests run on.
struct Trial {
    copy: Copy,
    /// By name. A fault that names no driver uses the one that the command line asks for, if its package needs one.
    drivers: BTreeMap<Option<String>, Env>,
}

impl Trial {
    fn new(driver: &str, faults: &[Fault]) -> Result<Self> {
        let mut drivers = BTreeMap::new();
        let on_devices = faults.iter().filter(|fault| fault.package.needs_driver);
        for name in on_devices.map(|fault| fault.driver.clone()) {
            if drivers.contains_key(&name) {
                continue;
            }
            let chosen = name.as_deref().unwrap_or(driver);
            let env = drivers::for_kernels(chosen)?;
            drivers.insert(name, env);
        }
        let copy = copy_sources()?;
        Ok(Self { copy, drivers })
    }

    fn passes_as_it_is(&self, faults: &[Fault]) -> Result<()> {
        let mut tests: Vec<_> = faults.iter().collect();
        let key = |fault: &Fault| (fault.package.name, fault.test.clone(), fault.driver.clone());
        tests.sort_by_key(|fault| key(fault));
        tests.dedup_by_key(|fault| key(fault));
        for fault in tests {
            let path = self.build(fault)?;
            let (passed, printed) = self.ran(&path, fault)?;
            let (binary, test) = &fault.test;
            ensure!(
                passed && printed.contains("1 passed"),
                "`{test}` of {binary} does not pass without any fault:\n{printed}"
            );
        }
        Ok(())
    }

    /// How a test caught the fault. An error means that it did not.
    fn outcome(&self, fault: &Fault) -> Result<&'static str> {
        let path = self.folder(fault).join(&fault.file);
        let text = fs::read_to_string(&path)?;
        fs::write(&path, fault.plant(&text)?)?;
        let outcome = self
            .build(fault)
            .and_then(|binary| match self.ran(&binary, fault)? {
                (true, _) => bail!("the test passes all the same"),
                (false, printed) if printed.is_empty() => Ok("(it did not end)"),
                (false, _) => Ok(""),
            });
        fs::write(&path, text)?;
        outcome
    }

    /// The folder of the fault's package in the copy.
    fn folder(&self, fault: &Fault) -> PathBuf {
        self.copy.tree.join(fault.package.folder)
    }

    /// Builds a fault's test of the copy as it stands.
    fn build(&self, fault: &Fault) -> Result<PathBuf> {
        let (package, (binary, _)) = (fault.package, &fault.test);
        // The copy has a target folder of its own.
        let mut command = cargo(&["test", "-p", package.name, "--features", package.features]);
        command
            .args(UNOPTIMISED)
            .args(["--test", binary, "--no-run"])
            .arg("--message-format=json-render-diagnostics")
            .env("CARGO_TARGET_DIR", &self.copy.target)
            .current_dir(&self.copy.tree);
        let mut found = None;
        let wanted = format!("{}.test.{binary}", package.name);
        run_reading(&mut command, false, |line| {
            let binary = binary_of(line, &self.copy.tree).filter(|binary| binary.name == wanted);
            found = found.take().or(binary);
        })?;
        let found = found.with_context(|| format!("{} has no test `{binary}`", package.name))?;
        Ok(found.path)
    }

    /// Whether the test passed, and what it printed. That is nothing if the test had to be stopped.
    fn ran(&self, binary: &Path, fault: &Fault) -> Result<(bool, String)> {
        let driver = fault.package.needs_driver.then_some(&fault.driver);
        let env = driver.and_then(|driver| self.drivers.get(driver));
        let log = self.copy.tree.with_file_name("test.log");
        let out = fs::File::create(&log)?.into_file();
        let mut child = Command::new(binary)
            .args(["--exact", &fault.test.1])
            .envs(env.into_iter().flatten().map(|(name, value)| (name, value)))
            .current_dir(self.folder(fault))
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .spawn()
            .with_context(|| binary.display().to_string())?;
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                let printed = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
                return Ok((status.success(), printed));
            }
            if start.elapsed() > LIMIT {
                let _ = child.kill();
                let _ = child.wait();
                return Ok((false, String::new()));
            }
            sleep(Duration::from_millis(50));
        }
    }
}
