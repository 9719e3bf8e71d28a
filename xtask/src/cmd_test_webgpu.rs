//! `cargo xtask test-webgpu`: the kernels in a browser. Its validator (Tint) is stricter than naga.
//!
//! 1. The test `webgpu` of `cubecl-scan` calls the crate on a device that writes down everything that a browser's
//!    device would see: modules (WGSL), buffers, bindings, and the results that plain loops give. The test also makes
//!    naga write each module in the languages of Metal and DirectX.
//! 2. A page on 127.0.0.1 compiles every module, runs every launch, compares every result, and posts what it finds.
//! 3. The command prints a table of that. It fails if the browser rejects a module or if a result is wrong.
//!
//! All of it stays in `target/webgpu`: the modules as files, `record.json`, and the browser's messages.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use fs_err as fs;

use crate::Result;
use crate::args::{Args, Spec};
use crate::chromium::{self, Browser};
use crate::process::{cargo, root, run as run_to_success, target_dir};
use crate::site::Site;
use crate::steps::Steps;

const SPEC: Spec = Spec {
    flags: &["--replay"],
    options: &[],
};

/// The page posts after every few modules and cases.
const SILENCE: Duration = Duration::from_secs(120);

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    args.no_words("")?;
    let folder = target_dir().join("webgpu");
    let mut steps = Steps::default();
    let mut program = None;
    steps.step("browser", || {
        program = Some(chromium::get()?);
        Ok(())
    });
    let recorded = args.flag("--replay")
        || steps.step("record what the kernels' callers ask of a device", || {
            record(&folder)
        });
    if let (Some(program), true) = (program, recorded) {
        steps.step("compile and run it in the browser", || {
            replay(program, &folder)?.verdict()
        });
    }
    steps.finish()
}

fn record(folder: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    // The features of `cargo xtask test`, so that both share a build, and one more.
    let features = "cubecl-scan/wgpu,cubecl-scan/lowering";
    let mut command = cargo(&["test", "--workspace", "--features", features]);
    command
        .args(["--test", "webgpu", "--", "--nocapture"])
        .env("BURN_SCAN_RECORD", folder);
    run_to_success(&mut command)
}

fn replay(program: &str, folder: &Path) -> Result<Report> {
    let site = Site::open(0, &[&root().join("xtask/webgpu"), folder])?;
    let mut browser = Browser::open(program, &site.url, folder, &[])?;
    let mut report = Report::default();
    site.attend(&mut browser, SILENCE, |text| {
        report.add(text);
        report.is_complete
    })?;
    Ok(report)
}

/// What the page finds: lines of fields between tabs.
///
/// ```text
/// adapter  NAME
/// module   KERNEL   FILE    ok | rejected   MESSAGE
/// case     GROUP    NAME    ok | wrong      MESSAGE
/// done
/// ```
#[derive(Default)]
struct Report {
    /// How many passed and how many ran, by the kind of line, and by kernel or group.
    counts: BTreeMap<(String, String), (usize, usize)>,
    failures: usize,
    is_complete: bool,
}

impl Report {
    /// Adds what the page posted, and prints what failed.
    fn add(&mut self, text: &str) {
        for line in text.lines() {
            match *line.split('\t').collect::<Vec<_>>() {
                ["adapter", name] => println!("browser's adapter: {name}"),
                ["done"] => self.is_complete = true,
                [kind @ ("module" | "case"), group, name, state, message] => {
                    let key = (kind.to_owned(), group.to_owned());
                    let (good, all) = self.counts.entry(key).or_default();
                    *all += 1;
                    if state == "ok" {
                        *good += 1;
                    } else {
                        self.failures += 1;
                        println!("FAILED {kind} {group}, {name}: {message}");
                    }
                }
                _ => {
                    self.failures += 1;
                    println!("FAILED the page: {line}");
                }
            }
        }
    }

    /// An error if something failed, or if nothing ran.
    fn verdict(&self) -> Result<()> {
        for ((kind, group), (good, all)) in &self.counts {
            println!("  {good:>5} of {all:>5} right  {kind} {group}");
        }
        ensure!(
            self.failures == 0,
            "{} failures in the browser",
            self.failures
        );
        for kind in ["module", "case"] {
            let ran = self.counts.iter().filter(|((of, _), _)| of == kind);
            let ran: usize = ran.map(|(_, (_, all))| all).sum();
            println!("{ran} of the kind {kind}");
            ensure!(ran > 0, "the record has no {kind}: nothing was tried");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Report;

    #[test]
    fn rejected_wrong_strange_and_empty_fail() {
        let module = "module\tk\t0.wgsl\tok\t\n";
        let case = "case\tscan\ta\tok\t\n";
        for (text, passes) in [
            (format!("adapter\tx\n{module}{case}done\n"), true),
            (
                format!("{case}module\tk\t0.wgsl\trejected\tnot uniform\n"),
                false,
            ),
            (
                format!("{module}case\tscan\ta\twrong\t1 instead of 2\n"),
                false,
            ),
            (format!("{module}{case}TypeError: x is null\n"), false),
            (module.to_owned(), false),
            (String::new(), false),
        ] {
            let mut report = Report::default();
            report.add(&text);
            assert_eq!(report.verdict().is_ok(), passes, "{text}");
            assert_eq!(report.is_complete, passes, "{text}");
        }
    }
}
