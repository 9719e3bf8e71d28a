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
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use fs_err as fs;
use tiny_http::{Header, Request, Response, Server};

use crate::Result;
use crate::args::{Args, Spec};
use crate::chromium::{self, Browser};
use crate::process::{cargo, run as run_to_success, target_dir};
use crate::steps::Steps;
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
    args.no_words("")?;
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
    fs::create_dir_all(folder)?;
    // The features of `cargo xtask test`, so that both share a build, and one more.
    let features = "cubecl-scan/wgpu,cubecl-scan/lowering,xtask/report";
    let mut command = cargo(&["test", "--workspace", "--features", features]);
    command
        .args(["--test", "webgpu", "--", "--nocapture"])
        .env("BURN_SCAN_RECORD", folder);
    run_to_success(&mut command)
}

fn replay(program: &str, folder: &Path) -> Result<Report> {
    let server = Server::http("127.0.0.1:0").map_err(|e| anyhow!("cannot listen: {e}"))?;
    let url = format!("http://{}/", server.server_addr());
    eprintln!("serving {} at {url}", folder.display());
    let mut browser = Browser::open(program, &url, folder)?;
    let mut report = Report::default();
    let mut heard = Instant::now();
    while !report.is_complete() {
        match server.recv_timeout(Duration::from_millis(200))? {
            Some(request) => {
                heard = Instant::now();
                answer(request, folder, &mut report);
            }
            None if !browser.is_alive() => {
                let folder = folder.display();
                bail!("{program} ended early: see {folder}/chromium.log");
            }
            None if heard.elapsed() > SILENCE => {
                print!("{report}");
                bail!("the page said nothing for {} s", SILENCE.as_secs());
            }
            None => {}
        }
    }
    Ok(report)
}

fn answer(mut request: Request, folder: &Path, report: &mut Report) {
    let file = request.url().trim_start_matches('/').to_owned();
    let (status, kind, body) = match file.as_str() {
        "" => (200, "text/html", PAGE.into()),
        "webgpu.js" => (200, "text/javascript", SCRIPT.into()),
        "report" => {
            let mut text = String::new();
            // The page's own failure to send is noticed by its silence.
            let _ = request.as_reader().read_to_string(&mut text);
            report.add(&text);
            (200, "text/plain", Vec::new())
        }
        // A name, never a path.
        _ if !file.contains(['/', '\\']) && (file.ends_with(".wgsl") || file == "record.json") => {
            match fs::read(folder.join(&file)) {
                Ok(bytes) => (200, "text/plain", bytes),
                Err(error) => (404, "text/plain", error.to_string().into()),
            }
        }
        _ => (404, "text/plain", b"no such page".into()),
    };
    let header = |name: &str, value: &str| {
        Header::from_bytes(name, value).expect("the header is plain ASCII")
    };
    let response = Response::from_data(body)
        .with_status_code(status)
        .with_header(header("Content-Type", kind))
        .with_header(header("Cache-Control", "no-store"));
    // A browser that went away is noticed by its silence.
    let _ = request.respond(response);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    /// Sends a request and returns the answer.
    fn exchange(line: &str, body: &str, report: &mut Report) -> String {
        let server = Server::http("127.0.0.1:0").unwrap();
        let address = server.server_addr().to_ip().unwrap();
        // Browsers open connections that they never use. Such a one does not block the others.
        let _unused = TcpStream::connect(address).unwrap();
        let mut client = TcpStream::connect(address).unwrap();
        let head = format!("{line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n");
        write!(client, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let request = server.recv_timeout(Duration::from_secs(10)).unwrap();
        answer(request.unwrap(), &crate::process::root(), report);
        let mut text = String::new();
        client.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn the_page_and_its_report_are_exchanged() {
        let mut report = Report::default();
        let page = exchange("GET /", "", &mut report);
        assert!(page.starts_with("HTTP/1.1 200 ") && page.ends_with(PAGE));
        exchange("POST /report", "done", &mut report);
        assert!(report.is_complete());
        for line in ["GET /Cargo.toml", "GET /src/../record.json", "GET /0.wgsl"] {
            let answer = exchange(line, "", &mut report);
            assert!(answer.starts_with("HTTP/1.1 404 "), "{line}: {answer}");
        }
    }
}
