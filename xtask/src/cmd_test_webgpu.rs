//! `cargo xtask test-webgpu`: the kernels in a browser, where the validator (Tint) is stricter than naga.
//!
//! 1. The test `webgpu` of `cubecl-scan` calls the crate on a device that only writes down what it is told, as a browser's
//!    device would be told it: modules (WGSL), buffers, bindings, and the results that plain loops give. It also has naga write each
//!    module in the languages of Metal and DirectX.
//! 2. A page on 127.0.0.1 compiles every module, runs every launch, compares every result, and posts what it found.
//! 3. The findings are printed as a table; a module that is rejected or a result that is wrong fails the command.
//!
//! All of it stays in `target/webgpu`: the modules as files, `record.json`, and the browser's messages.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::Result;
use crate::args::{Args, Spec};
use crate::chromium::{self, Browser};
use crate::http::{Request, listen};
use crate::process::{Steps, cargo, run as run_to_success, target_dir};
use crate::webgpu_report::Report;

const SPEC: Spec = Spec {
    flags: &["--replay"],
    options: &[],
};

const PAGE: &str = include_str!("webgpu.html");
const SCRIPT: &str = include_str!("webgpu.js");

/// The page posts after every few modules and cases.
const SILENCE: Duration = Duration::from_secs(120);

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    if let Some(word) = args.words.first() {
        return Err(format!("unexpected `{word}`"));
    }
    let folder = target_dir().join("webgpu");
    let mut steps = Steps::default();
    let mut program = None;
    steps.step("browser", || {
        let name = chromium::get()?;
        println!("{}", chromium::version(name));
        program = Some(name);
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
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    // The features of `cargo xtask test`, of which the build is shared, and one.
    let features = "cubecl-scan/wgpu,cubecl-scan/lowering,xtask/report";
    let mut command = cargo(&["test", "--workspace", "--features", features]);
    command
        .args(["--test", "webgpu", "--", "--nocapture"])
        .env("BURN_SCAN_RECORD", folder);
    run_to_success(&mut command)
}

fn replay(program: &str, folder: &Path) -> Result<Report> {
    let (port, requests) = listen()?;
    let url = format!("http://127.0.0.1:{port}/");
    eprintln!("serving {} at {url}", folder.display());
    let mut browser = Browser::open(program, &url, folder)?;
    let mut report = Report::default();
    let mut heard = Instant::now();
    while !report.is_complete() {
        match next(&requests)? {
            Some(request) => {
                heard = Instant::now();
                answer(request, folder, &mut report);
            }
            None if !browser.is_alive() => {
                return Err(format!(
                    "{program} ended early: see {}/chromium.log",
                    folder.display()
                ));
            }
            None if heard.elapsed() > SILENCE => {
                print!("{report}");
                return Err(format!("the page said nothing for {} s", SILENCE.as_secs()));
            }
            None => {}
        }
    }
    Ok(report)
}

fn next(requests: &Receiver<Request>) -> Result<Option<Request>> {
    match requests.recv_timeout(Duration::from_millis(200)) {
        Ok(request) => Ok(Some(request)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err("the web server ended".into()),
    }
}

fn answer(request: Request, folder: &Path, report: &mut Report) {
    let file = request.path.trim_start_matches('/').to_owned();
    match file.as_str() {
        "" => request.answer("200 OK", "text/html", PAGE.as_bytes()),
        "webgpu.js" => request.answer("200 OK", "text/javascript", SCRIPT.as_bytes()),
        "report" => {
            report.add(&request.body);
            request.answer("200 OK", "text/plain", b"");
        }
        // A name, never a path.
        _ if !file.contains(['/', '\\']) && (file.ends_with(".wgsl") || file == "record.json") => {
            match fs::read(folder.join(&file)) {
                Ok(bytes) => request.answer("200 OK", "text/plain", &bytes),
                Err(error) => {
                    request.answer("404 Not Found", "text/plain", error.to_string().as_bytes())
                }
            }
        }
        _ => request.answer("404 Not Found", "text/plain", b"no such page"),
    }
}
