//! `cargo xtask test-cuda-sim`: the kernels as CUDA, executed by a cycle-level GPU simulator.
//!
//! 1. The test `cuda` of `cubecl-scan` writes down every module, launch and result, as in `cargo xtask gpu-code`.
//! 2. The simulator's own script compiles each module to the PTX that it can parse; what it cannot is named.
//! 3. It runs each case, and what is in memory afterwards is compared with what plain loops gave.
//!
//! The simulator stays outside of this repository: `--simulator` names the folder with its `sim.py`, `--built` the one that its `build.sh`
//! filled. The headline cases print cycles. Cycles compare programs on a machine that does not exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::Result;
use crate::args::{Args, Spec};
use crate::gpu_code::record::{self, CUDA};
use crate::process::{Steps, root};

const SPEC: Spec = Spec {
    flags: &["--replay", "--headlines"],
    options: &["--simulator", "--built"],
};

const MISSING: &str = "\
the simulator is no part of this repository. It is a folder with `sim.py` and `build.sh`, made of GPGPU-Sim (gpgpu-sim.org, with
support for PTX 7.8), NVRTC and a runner of launches described in a text file; give it as --simulator DIR, and as --built DIR what its
build.sh filled";

/// The group of the cases whose cycles count.
const HEADLINE: &str = "headline";

/// Seconds after which a case hangs.
const PATIENCE: &str = "1200";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    let simulator = Simulator::of(&args)?;
    let mut steps = Steps::default();
    let recorded = args.flag("--replay")
        || steps.step("record what the kernels' callers ask of a device", || {
            record::write(CUDA)
        });
    if recorded {
        let headlines = args.flag("--headlines");
        steps.step("run it in the simulator", || {
            let cases = cases(&args.words, headlines)?;
            let outcomes = simulator.run_all(&cases)?;
            report(&cases, &outcomes, headlines)
        });
    }
    steps.finish()
}

/// A case of the record.
struct Case {
    folder: PathBuf,
    group: String,
    name: String,
}

/// Those with one of `words` in their names; the headline cases, or the others.
fn cases(words: &[String], headlines: bool) -> Result<Vec<Case>> {
    let folder = record::folder(CUDA).join("cases");
    let error = |e| format!("{}: {e}", folder.display());
    let mut cases = Vec::new();
    for entry in fs::read_dir(&folder).map_err(error)? {
        let folder = entry.map_err(error)?.path();
        let text = fs::read_to_string(folder.join("name")).map_err(error)?;
        let (group, name) = text.trim().split_once('\n').unwrap_or((&text, ""));
        let (group, name) = (group.to_owned(), name.to_owned());
        let full = format!("{group}: {name}");
        let asked = words.is_empty() || words.iter().any(|word| full.contains(word));
        if asked && (group == HEADLINE) == headlines {
            cases.push(Case {
                folder,
                group,
                name,
            });
        }
    }
    let number = |case: &Case| {
        let name = case.folder.file_name()?;
        name.to_string_lossy().parse::<u32>().ok()
    };
    cases.sort_by_key(number);
    match cases.is_empty() {
        true => Err("no such case".into()),
        false => Ok(cases),
    }
}

/// How a case ended.
enum Outcome {
    /// The cycles of its launches, by kernel.
    Right(Vec<(String, u64)>),
    Wrong(String),
    /// The simulator does not know what a module needs.
    Unknown(String),
}

struct Simulator {
    scripts: PathBuf,
    built: PathBuf,
}

impl Simulator {
    fn of(args: &Args) -> Result<Self> {
        let folder = |option| args.last(option).map(|folder| root().join(folder));
        let scripts = folder("--simulator").ok_or(MISSING)?;
        let built = folder("--built").or_else(|| Some(std::env::var_os("SIM_DIR")?.into()));
        let built: PathBuf = built.ok_or(MISSING)?;
        match scripts.join("sim.py").is_file() && built.join("bin").is_dir() {
            true => Ok(Self { scripts, built }),
            false => Err(MISSING.into()),
        }
    }

    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new("python3");
        command.arg(self.scripts.join("sim.py")).arg(verb);
        command.env("SIM_DIR", &self.built);
        command
    }

    /// As many at once as there are processors.
    fn run_all(&self, cases: &[Case]) -> Result<Vec<Outcome>> {
        let next = AtomicUsize::new(0);
        let outcomes = Mutex::new(BTreeMap::new());
        let compiled = Mutex::new(BTreeSet::new());
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(case) = cases.get(index) else {
                    break;
                };
                let outcome = self.run(case, &compiled);
                let outcome = outcome.unwrap_or_else(Outcome::Wrong);
                let state = match &outcome {
                    Outcome::Right(_) => "right".to_owned(),
                    Outcome::Wrong(why) => format!("WRONG: {why}"),
                    Outcome::Unknown(why) => format!("left out: {why}"),
                };
                eprintln!("{}: {}: {state}", case.group, case.name);
                outcomes
                    .lock()
                    .expect("no thread panicked")
                    .insert(index, outcome);
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(2, Into::into) {
                scope.spawn(work);
            }
        });
        Ok(outcomes
            .into_inner()
            .expect("no thread panicked")
            .into_values()
            .collect())
    }

    fn run(&self, case: &Case, compiled: &Mutex<BTreeSet<PathBuf>>) -> Result<Outcome> {
        let job = case.folder.join("job");
        let text = fs::read_to_string(&job).map_err(|e| format!("{}: {e}", job.display()))?;
        for module in text.lines().filter_map(|line| line.strip_prefix("ptx ")) {
            let module = case.folder.join(module);
            if compiled
                .lock()
                .expect("no thread panicked")
                .contains(&module)
            {
                continue;
            }
            if let Err(why) = self.compile(&module) {
                return Ok(Outcome::Unknown(why));
            }
            compiled.lock().expect("no thread panicked").insert(module);
        }
        let mut command = self.command("run");
        command
            .arg(&job)
            .args(["--config", "h100q", "--timeout", PATIENCE]);
        let out = command.output().map_err(|e| e.to_string())?;
        let said = String::from_utf8_lossy(&out.stdout);
        if !out.status.success() {
            let why = said.lines().find(|line| line.starts_with("JOB failed"));
            return Ok(Outcome::Wrong(
                why.unwrap_or("the simulator ended").to_owned(),
            ));
        }
        compare(&case.folder)?;
        Ok(Outcome::Right(said.lines().filter_map(launch).collect()))
    }

    /// `N.ptx` from `N.cu`. `N.againI.ptx` is the same under another name.
    fn compile(&self, module: &Path) -> Result<()> {
        let file = module
            .file_name()
            .ok_or("a module without a name")?
            .to_string_lossy()
            .into_owned();
        let stem = file.trim_end_matches(".ptx");
        let (first, again) = stem.split_once('.').unwrap_or((stem, ""));
        let ptx = module.with_file_name(format!("{first}.ptx"));
        if !ptx.is_file() {
            let mut command = self.command("compile");
            command.arg(ptx.with_extension("cu"));
            // Another thread may be at the same module.
            let own = ptx.with_extension(format!("{:?}", thread::current().id()));
            let out = command.arg(&own).arg("--schedule").output();
            let out = out.map_err(|e| e.to_string())?;
            if !out.status.success() {
                let why = String::from_utf8_lossy(&out.stderr);
                return Err(why.lines().last().unwrap_or("no reason").to_owned());
            }
            fs::rename(&own, &ptx).map_err(|e| e.to_string())?;
        }
        if !again.is_empty() {
            let text = fs::read_to_string(&ptx).map_err(|e| e.to_string())?;
            let entry = text
                .split(".entry ")
                .nth(1)
                .and_then(|rest| rest.split('(').next());
            let entry = entry.ok_or("a module without a kernel")?.trim();
            let text = text.replace(entry, &format!("{entry}_{again}"));
            fs::write(module, text).map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}

/// `LAUNCH kernel cycles=C …`
fn launch(line: &str) -> Option<(String, u64)> {
    let mut words = line.strip_prefix("LAUNCH ")?.split_whitespace();
    let kernel = words.next()?.split("_kernel").next()?.to_owned();
    let cycles = words.find_map(|word| word.strip_prefix("cycles="))?;
    Some((kernel, cycles.parse().ok()?))
}

/// What is in memory after a case, with what should be.
fn compare(folder: &Path) -> Result<()> {
    let read = |name: &str| fs::read(folder.join(name)).map_err(|e| format!("{name}: {e}"));
    let list = String::from_utf8(read("wanted")?).map_err(|e| e.to_string())?;
    for line in list.lines() {
        let mut words = line.split(' ');
        let mut word = || words.next().ok_or_else(|| format!("`{line}`"));
        let (found, start, wanted) = (read(word()?)?, word()?, read(word()?)?);
        let start: usize = start.parse().map_err(|_| format!("`{line}`"))?;
        let found = found.get(start..start + wanted.len());
        let found = found.ok_or("a buffer is too short")?;
        let wrong = (0..wanted.len()).filter(|i| found[*i] != wanted[*i]);
        if let Some(first) = wrong.clone().next() {
            let wrong = wrong.count();
            return Err(format!(
                "{wrong} of {} bytes, the first at {first}",
                wanted.len()
            ));
        }
    }
    Ok(())
}

fn report(cases: &[Case], outcomes: &[Outcome], headlines: bool) -> Result<()> {
    let mut groups: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (case, outcome) in cases.iter().zip(outcomes) {
        let counts = groups.entry(&case.group).or_default();
        match outcome {
            Outcome::Right(cycles) => {
                counts[0] += 1;
                if headlines {
                    let total: u64 = cycles.iter().map(|(_, cycles)| cycles).sum();
                    let each: Vec<_> = cycles
                        .iter()
                        .map(|(kernel, cycles)| format!("{kernel} {cycles}"))
                        .collect();
                    println!("{}: {total} cycles ({})", case.name, each.join(", "));
                }
            }
            Outcome::Wrong(why) => {
                counts[1] += 1;
                wrong.push(format!("{}: {}: {why}", case.group, case.name));
            }
            Outcome::Unknown(why) => {
                counts[2] += 1;
                println!("left out: {}: {}: {why}", case.group, case.name);
            }
        }
    }
    println!("\n{:>6} {:>6} {:>8}  group", "right", "wrong", "left out");
    for (group, [right, wrong, unknown]) in groups {
        println!("{right:>6} {wrong:>6} {unknown:>8}  {group}");
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_is_read() {
        let line = "LAUNCH scan_kernel_f32_0a1b cycles=7164 instructions=3 wall=1.0";
        assert_eq!(launch(line), Some(("scan".to_owned(), 7164)));
        assert_eq!(launch("JOB ok"), None);
    }
}
