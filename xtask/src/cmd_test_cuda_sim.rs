//! `cargo xtask test-cuda-sim`: the kernels as CUDA, in a cycle-level GPU simulator.
//!
//! 1. The test `cuda` of `cubecl-scan` writes down every module, launch and result, as for `cargo xtask gpu-code`.
//! 2. The simulator's own script compiles each module to the PTX that it can parse. The command names the others.
//! 3. It runs each case, and the command compares the memory afterwards with the results of plain loops.
//!
//! The simulator is not part of this repository: `--simulator` names the folder with its `sim.py`, and `--built` the
//! folder that its `build.sh` filled. The headline cases print cycles, which compare programs on a machine that does
//! not exist, and sectors, the pieces of 32 bytes that the accesses of all warps touch. Strided accesses touch more than
//! a copy of the same bytes does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, bail, ensure};
use fs_err as fs;

use crate::Result;
use crate::args::{Args, Spec};
use crate::gpu_code::record::{self, CUDA};
use crate::process::{in_parallel, root};
use crate::steps::Steps;

const SPEC: Spec = Spec {
    flags: &["--replay", "--headlines"],
    options: &["--simulator", "--built"],
};

const MISSING: &str = "\
the simulator is not part of this repository. It is a folder with `sim.py` and `build.sh`, made of GPGPU-Sim
(gpgpu-sim.org, with support for PTX 7.8), NVRTC and a runner of launches described in a text file; give it as
--simulator DIR, and as --built DIR what its build.sh filled";

/// The group of the cases whose cycles count.
const HEADLINE: &str = "headline";

/// The headline cases that read and write as much as a copy does, in full tiles: the beginnings of their names, and
/// their elements.
const LIKE_A_COPY: [(&str, u64); 6] = [
    ("sum of 2^18 f32", 1 << 18),
    ("sum of 2^20 f32", 1 << 20),
    ("rows of [64, 4096] f32", 1 << 18),
    ("rows of [1024, 256] f32", 1 << 18),
    ("rows of [16384, 16] f32", 1 << 18),
    ("columns of [1024, 1024] f32", 1 << 20),
];

/// Elements of f32 in a sector.
const IN_SECTOR: u64 = 8;

/// The most sectors of such a case, as a multiple of a copy's.
const MOST_SECTORS: f64 = 1.25;

/// A case may take this many seconds.
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
            let outcomes = simulator.run_all(&cases);
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

/// The headline cases or the others. `words` selects those with one of them in their names.
fn cases(words: &[String], headlines: bool) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(record::folder(CUDA).join("cases"))? {
        let folder = entry?.path();
        let text = fs::read_to_string(folder.join("name"))?;
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
    ensure!(!cases.is_empty(), "no such case");
    Ok(cases)
}

/// How a case ended.
enum Outcome {
    Right(Counts),
    Wrong(String),
    /// The simulator cannot run a module of the case.
    Unknown(String),
}

/// What the simulator counted.
struct Counts {
    /// The cycles of the launches, by kernel.
    cycles: Vec<(String, u64)>,
    /// The sectors of all launches.
    sectors: u64,
}

struct Simulator {
    scripts: PathBuf,
    built: PathBuf,
}

impl Simulator {
    fn of(args: &Args) -> Result<Self> {
        let folder = |option| args.last(option).map(|folder| root().join(folder));
        let scripts = folder("--simulator").context(MISSING)?;
        let built = folder("--built").or_else(|| Some(std::env::var_os("SIM_DIR")?.into()));
        let built: PathBuf = built.context(MISSING)?;
        let is_there = scripts.join("sim.py").is_file() && built.join("bin").is_dir();
        ensure!(is_there, MISSING);
        Ok(Self { scripts, built })
    }

    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new("python3");
        command.arg(self.scripts.join("sim.py")).arg(verb);
        command.env("SIM_DIR", &self.built);
        command
    }

    fn run_all(&self, cases: &[Case]) -> Vec<Outcome> {
        let compiled = Mutex::new(BTreeSet::new());
        in_parallel(cases, |case| {
            let outcome = self.run(case, &compiled);
            let outcome = outcome.unwrap_or_else(|error| Outcome::Wrong(format!("{error:#}")));
            let state = match &outcome {
                Outcome::Right(_) => "right".to_owned(),
                Outcome::Wrong(why) => format!("WRONG: {why}"),
                Outcome::Unknown(why) => format!("left out: {why}"),
            };
            eprintln!("{}: {}: {state}", case.group, case.name);
            outcome
        })
    }

    fn run(&self, case: &Case, compiled: &Mutex<BTreeSet<PathBuf>>) -> Result<Outcome> {
        let compiled = || compiled.lock().expect("no thread panicked");
        let job = case.folder.join("job");
        let text = fs::read_to_string(&job)?;
        for module in text.lines().filter_map(|line| line.strip_prefix("ptx ")) {
            let module = case.folder.join(module);
            if compiled().contains(&module) {
                continue;
            }
            if let Err(why) = self.compile(&module) {
                return Ok(Outcome::Unknown(format!("{why:#}")));
            }
            compiled().insert(module);
        }
        let mut command = self.command("run");
        let log = case.folder.join("log");
        command.arg(&job).arg("--log").arg(&log);
        command.args(["--config", "h100q", "--timeout", PATIENCE]);
        let out = command.output()?;
        let said = String::from_utf8_lossy(&out.stdout);
        if !out.status.success() {
            let why = said.lines().find(|line| line.starts_with("JOB failed"));
            bail!("{}", why.unwrap_or("the simulator ended"));
        }
        compare(&case.folder)?;
        let touched = sectors(&fs::read_to_string(&log)?).context("no sectors in the log")?;
        fs::remove_file(&log)?;
        Ok(Outcome::Right(Counts {
            cycles: said.lines().filter_map(launch).collect(),
            sectors: touched,
        }))
    }

    /// Makes `N.ptx` from `N.cu`. `N.againI.ptx` is the same with another name of its kernel.
    fn compile(&self, module: &Path) -> Result<()> {
        let file = module.file_name().context("a module without a name")?;
        let file = file.to_string_lossy();
        let stem = file.trim_end_matches(".ptx");
        let (first, again) = stem.split_once('.').unwrap_or((stem, ""));
        let ptx = module.with_file_name(format!("{first}.ptx"));
        if !ptx.is_file() {
            let mut command = self.command("compile");
            command.arg(ptx.with_extension("cu"));
            // Another thread may compile the same module.
            let own = ptx.with_extension(format!("{:?}", thread::current().id()));
            let out = command.arg(&own).arg("--schedule").output()?;
            let why = String::from_utf8_lossy(&out.stderr);
            let why = why.lines().last().unwrap_or("no reason");
            ensure!(out.status.success(), "{why}");
            fs::rename(&own, &ptx)?;
        }
        if !again.is_empty() {
            let text = fs::read_to_string(&ptx)?;
            let entry = text
                .split(".entry ")
                .nth(1)
                .and_then(|rest| rest.split('(').next());
            let entry = entry.context("a module without a kernel")?.trim();
            fs::write(module, text.replace(entry, &format!("{entry}_{again}")))?;
        }
        Ok(())
    }
}

/// Reads a line `LAUNCH kernel cycles=C …`.
fn launch(line: &str) -> Option<(String, u64)> {
    let mut words = line.strip_prefix("LAUNCH ")?.split_whitespace();
    let kernel = words.next()?.split("_kernel").next()?.to_owned();
    let cycles = words.find_map(|word| word.strip_prefix("cycles="))?;
    Some((kernel, cycles.parse().ok()?))
}

/// The sectors of all reads and writes. The log has the counts so far after each launch.
fn sectors(log: &str) -> Option<u64> {
    ["R", "W"].into_iter().try_fold(0, |sum, access| {
        let name =
            format!("Total_core_cache_stats_breakdown[GLOBAL_ACC_{access}][TOTAL_ACCESS] = ");
        let (_, count) = log.rsplit_once(&name)?;
        let count: u64 = count.lines().next()?.trim().parse().ok()?;
        Some(sum + count)
    })
}

/// Compares the memory after a case with the wanted bytes.
fn compare(folder: &Path) -> Result<()> {
    let list = fs::read_to_string(folder.join("wanted"))?;
    for line in list.lines() {
        let mut words = line.split(' ');
        let mut word = || words.next().with_context(|| format!("`{line}`"));
        let (found, start, wanted) = (word()?, word()?, word()?);
        let (found, wanted) = (
            fs::read(folder.join(found))?,
            fs::read(folder.join(wanted))?,
        );
        let start: usize = start.parse().with_context(|| format!("`{line}`"))?;
        let found = found.get(start..start + wanted.len());
        let found = found.context("a buffer is too short")?;
        let wrong: Vec<usize> = (0..wanted.len())
            .filter(|at| found[*at] != wanted[*at])
            .collect();
        if let Some(first) = wrong.first() {
            let (wrong, all) = (wrong.len(), wanted.len());
            bail!("{wrong} of {all} bytes, the first at {first}");
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
            Outcome::Right(found) => {
                counts[0] += 1;
                if headlines {
                    print_counts(&case.name, found);
                }
                let share = of_copy(&case.name, found.sectors);
                if let Some(share) = share.filter(|share| headlines && *share > MOST_SECTORS) {
                    wrong.push(format!("{}: {share:.2} × the sectors of a copy", case.name));
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
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

fn print_counts(case: &str, found: &Counts) {
    let total: u64 = found.cycles.iter().map(|(_, cycles)| cycles).sum();
    let each: Vec<_> = found
        .cycles
        .iter()
        .map(|(kernel, cycles)| format!("{kernel} {cycles}"))
        .collect();
    let (each, sectors) = (each.join(", "), found.sectors);
    let share =
        of_copy(case, sectors).map_or(String::new(), |share| format!(", {share:.2} × a copy's"));
    println!("{case}: {total} cycles ({each}), {sectors} sectors{share}");
}

/// The sectors as a multiple of those that a copy of the case's elements reads and writes, if it is like one.
fn of_copy(case: &str, sectors: u64) -> Option<f64> {
    let (_, elements) = LIKE_A_COPY
        .iter()
        .find(|(name, _)| case.starts_with(name))?;
    Some(sectors as f64 / (2 * elements / IN_SECTOR) as f64)
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

    #[test]
    fn the_last_sectors_count() {
        let after = |read: u64, written: u64| {
            format!(
                "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = 9\n\
                 \tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS] = {read}\n\
                 \tTotal_core_cache_stats_breakdown[GLOBAL_ACC_W][TOTAL_ACCESS] = {written}\n"
            )
        };
        assert_eq!(sectors(&(after(1, 2) + &after(30, 40))), Some(70));
        assert_eq!(sectors("no launch"), None);
        assert_eq!(of_copy("rows of [64, 4096] f32", 1 << 16), Some(1.0));
        assert_eq!(of_copy("sum of 2^18 - 1 f32", 1 << 16), None);
    }
}
