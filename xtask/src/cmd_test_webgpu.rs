//! `cargo xtask test-webgpu`: the kernels in a browser. Its validator (Tint) is stricter than naga.
//!
//! 1. The test `webgpu` of `cubecl-scan` calls the crate on a device that writes down everything that a browser's
//!    device would see: modules (WGSL), buffers, bindings, and the results that plain loops give. The test also makes
//!    naga write each module in the languages of Metal and DirectX.
//! 2. A page on 127.0.0.1 compiles every module, runs every launch, compares every result, and posts what it finds.
//! 3. The command prints a table of that. It fails if the browser rejects a module or if a result is wrong.
//!
//! All of it stays in `target/webgpu`: the modules as files, `record.json`, and the browser's messages.

use std::path::Path;
use std::time::Duration;

use fs_err as fs;

use crate::Result;
use crate::args::{Args, Spec};
use crate::chromium::{self, Browser};
use crate::process::{cargo, root, run as run_to_success, target_dir};
use crate::site::Site;
use crate::steps::Steps;
use crate::webgpu_report::Report;

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
            let report = replay(program, &folder)?;
            print!("{report}");
            report.verdict()
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
    let ended = site.attend(&mut browser, SILENCE, |text| {
        report.add(text);
        report.is_complete()
    });
    if ended.is_err() {
        print!("{report}");
    }
    ended.map(|()| report)
}
