//! `cargo xtask faults`: mistakes are made in the kernels, one at a time, and each must fail the test that is named for it.
//!
//! The list is `kernels/tests/faults.txt`. The mistakes are made in a [`copy`](crate::copy) of the tree. First the copy as it
//! is: every named test must exist and pass. A test that does not end counts as failed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::Result;
use crate::args::{Args, Spec};
use crate::bundle_files::binary_of;
use crate::copy::{Copy, copy_sources};
use crate::drivers::{self, Env};
use crate::faults::{Fault, parse};
use crate::process::{cargo, root, run_reading};

const SPEC: Spec = Spec {
    flags: &[],
    options: &["--driver"],
};

const LIST: &str = "kernels/tests/faults.txt";

/// Ten times what the slowest of the named tests takes.
const LIMIT: Duration = Duration::from_secs(180);

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    let path = root().join(LIST);
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut faults = parse(&text).map_err(|e| format!("{LIST}, {e}"))?;
    let named = |fault: &Fault| args.words.iter().any(|word| fault.name.contains(word));
    faults.retain(|fault| args.words.is_empty() || named(fault));
    if faults.is_empty() {
        return Err(format!("no such fault in {LIST}"));
    }
    let trial = Trial::new(args.last("--driver").unwrap_or("system"), &faults)?;
    trial.passes_as_it_is(&faults)?;
    let mut found = Vec::new();
    for fault in &faults {
        let start = Instant::now();
        let outcome = trial.outcome(fault);
        let (state, note) = match &outcome {
            Ok(note) => ("caught", *note),
            Err(message) => ("MISSED", message.as_str()),
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
    match missed {
        0 => Ok(()),
        _ => Err(format!("{missed} faults were not caught")),
    }
}

/// The copy in which mistakes are made.
struct Trial {
    copy: Copy,
    /// By name; a fault that names no driver has the one that was asked for.
    drivers: BTreeMap<Option<String>, Env>,
}

impl Trial {
    fn new(driver: &str, faults: &[Fault]) -> Result<Self> {
        let mut drivers = BTreeMap::new();
        for name in faults.iter().map(|fault| fault.driver.clone()) {
            if drivers.contains_key(&name) {
                continue;
            }
            let chosen = name.as_deref().unwrap_or(driver);
            let env = drivers::for_tests(chosen)?;
            drivers.insert(name, env);
        }
        let copy = copy_sources()?;
        Ok(Self { copy, drivers })
    }

    fn passes_as_it_is(&self, faults: &[Fault]) -> Result<()> {
        let mut tests: Vec<_> = faults.iter().map(|f| (&f.test, &f.driver)).collect();
        tests.sort();
        tests.dedup();
        for ((binary, test), driver) in tests {
            let path = self.build(binary)?;
            let (passed, printed) = self.ran(&path, test, driver)?;
            if !passed || !printed.contains("1 passed") {
                return Err(format!(
                    "`{test}` of {binary} does not pass without any fault:\n{printed}"
                ));
            }
        }
        Ok(())
    }

    /// How the fault was caught, or that it was not.
    fn outcome(&self, fault: &Fault) -> Result<&'static str> {
        let path = self.copy.tree.join("kernels").join(&fault.file);
        let error = |e: std::io::Error| format!("{}: {e}", path.display());
        let text = fs::read_to_string(&path).map_err(error)?;
        fs::write(&path, fault.plant(&text)?).map_err(error)?;
        let outcome = self.build(&fault.test.0).and_then(|binary| {
            match self.ran(&binary, &fault.test.1, &fault.driver)? {
                (true, _) => Err("the test passes all the same".to_owned()),
                (false, printed) if printed.is_empty() => Ok("(it did not end)"),
                (false, _) => Ok(""),
            }
        });
        fs::write(&path, text).map_err(error)?;
        outcome
    }

    /// The test executable of the copy as it stands.
    fn build(&self, binary: &str) -> Result<PathBuf> {
        // The copy has a folder of its own to be built in, and needs nothing of Burn.
        let mut command = cargo(&["test", "-p", "cubecl-scan", "--features", "wgpu"]);
        command
            .args(["--test", binary, "--no-run"])
            .arg("--message-format=json-render-diagnostics")
            .env("CARGO_TARGET_DIR", &self.copy.target)
            .current_dir(&self.copy.tree);
        let mut found = None;
        let wanted = format!("cubecl-scan.test.{binary}");
        run_reading(&mut command, false, |line| {
            let binary = binary_of(line, &self.copy.tree).filter(|binary| binary.name == wanted);
            found = found.take().or(binary);
        })?;
        let found = found.ok_or_else(|| format!("cubecl-scan has no test `{binary}`"))?;
        Ok(found.path)
    }

    /// Whether the test passed, and what it printed; nothing where it was stopped.
    fn ran(&self, binary: &Path, test: &str, driver: &Option<String>) -> Result<(bool, String)> {
        let log = self.copy.tree.with_file_name("test.log");
        let error = |e: std::io::Error| format!("{}: {e}", log.display());
        let out = File::create(&log).map_err(error)?;
        let mut child = Command::new(binary)
            .args(["--exact", test])
            .envs(
                self.drivers[driver]
                    .iter()
                    .map(|(name, value)| (name, value)),
            )
            .current_dir(self.copy.tree.join("kernels"))
            .stdin(Stdio::null())
            .stdout(out.try_clone().map_err(error)?)
            .stderr(out)
            .spawn()
            .map_err(|e| format!("{}: {e}", binary.display()))?;
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(error)? {
                let printed = fs::read(&log).map_err(error)?;
                return Ok((
                    status.success(),
                    String::from_utf8_lossy(&printed).into_owned(),
                ));
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
