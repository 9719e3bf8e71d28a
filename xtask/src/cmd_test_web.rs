//! `cargo xtask test-web`: the crate itself in a browser, compiled to WebAssembly.
//!
//! 1. wasm-bindgen's test runner runs tests of `tests/` in headless Chromium on WebGPU and on the CPU of the page.
//!    `testing/src/tensors/browser.rs` says how a test waits there, `examples/web/Cargo.toml` which tests these are.
//! 2. The page checks itself, goes on after a panic and a lost GPU, draws and measures. The command takes a picture of
//!    it and reads its report. Without WebGPU the page says so.

use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use fs_err as fs;
use serde_json::Value;

use crate::Result;
use crate::args::{Args, Spec};
use crate::chromium::{self, Browser};
use crate::process::{root, run_reading, target_dir};
use crate::site::Site;
use crate::steps::Steps;
use crate::wasm::Wasm;

const SPEC: Spec = Spec {
    flags: &["--page", "--picture"],
    options: &[],
};

/// The page's test shares the tests' build of Burn.
const PROFILE: &str = "web-test";

/// If fewer tests pass, the build is wrong: without any one of the larger files there are fewer. The sources have 352;
/// each property is tested on WebGPU and on the CPU.
const LEAST: usize = 340;

/// A software adapter compiles some kernels for seconds, and the page reports at its end only.
const SILENCE: Duration = Duration::from_secs(600);

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    args.no_words("; arguments of the tests go after `--`")?;
    let mut steps = Steps::default();
    let (mut browser, mut wasm) = (None, None);
    steps.step("browser and compiler", || {
        browser = Some((chromium::get()?, chromium::driver()?));
        wasm = Some(Wasm::get()?);
        Ok(())
    });
    if let (Some((browser, driver)), Some(wasm)) = (browser, wasm) {
        if !args.flag("--page") {
            steps.step("tests", || tests(&wasm, driver, &args.rest));
        }
        if args.rest.is_empty() {
            steps.step("page", || page(&wasm, browser, args.flag("--picture")));
        }
    }
    steps.finish()
}

fn tests(wasm: &Wasm, driver: &str, rest: &[String]) -> Result<()> {
    let mut passed = 0;
    let mut command = wasm.cargo(&["test", "--locked", "--profile", PROFILE]);
    command
        .args(["--features", "browser", "--no-fail-fast"])
        .args(rest)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", wasm.program("wasm-bindgen-test-runner"))
        .env("CHROMEDRIVER", driver)
        // Seconds for a whole file of tests.
        .env("WASM_BINDGEN_TEST_TIMEOUT", "3600");
    run_reading(&mut command, true, |line| {
        let count = line.strip_prefix("test result: ok. ");
        let count = count.and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
        passed += count.unwrap_or(0);
    })?;
    println!("{passed} tests passed in the browser");
    ensure!(
        passed >= LEAST || !rest.is_empty(),
        "there are at least {LEAST}"
    );
    Ok(())
}

/// Opens the page where there is WebGPU and where there is none. The picture is taken once its report is there.
fn page(wasm: &Wasm, browser: &str, keep: bool) -> Result<()> {
    let folder = target_dir().join("web");
    let site = Site::open(0, &[&wasm.page(PROFILE)?])?;
    let page = format!("{}?test", site.url);
    let picture = folder.join("web.png");
    let _ = fs::remove_file(&picture);
    let take = format!("--screenshot={}", picture.display());
    let flags = [
        take.as_str(),
        "--window-size=1000,1720",
        "--hide-scrollbars",
    ];
    let mut visitor = Browser::open(browser, &page, &folder, &flags)?;
    let found = report(&site, &mut visitor)?;
    println!("{found:#}");
    let start = Instant::now();
    while visitor.is_alive() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(200));
    }
    verdict(&found)?;
    ensure!(picture.is_file(), "the browser took no picture");
    println!("{}", picture.display());
    if keep {
        let kept = root().join("docs/images/web.png");
        fs::copy(&picture, &kept)?;
        println!("{}", kept.display());
    }
    drop(visitor);

    // Browsers offer no WebGPU to a page that comes from another machine by http.
    let elsewhere = page.replace("127.0.0.1", "example.test");
    let map = "--host-resolver-rules=MAP example.test 127.0.0.1";
    let mut visitor = Browser::open(browser, &elsewhere, &folder, &[map])?;
    let found = report(&site, &mut visitor)?;
    let said = found["failed"].as_str().unwrap_or_default();
    println!("without WebGPU: {said}");
    ensure!(said.contains("Browsers offer WebGPU to"), "{found}");
    Ok(())
}

/// What the page reports of its own test.
fn report(site: &Site, visitor: &mut Browser) -> Result<Value> {
    let mut found = Value::Null;
    site.attend(visitor, SILENCE, |text| {
        found = serde_json::from_str(text).unwrap_or_default();
        true
    })?;
    Ok(found)
}

fn verdict(found: &Value) -> Result<()> {
    if let Some(reason) = found["failed"].as_str() {
        bail!("the page: {reason}");
    }
    let wrong = found["wrong"]
        .as_array()
        .context("the page reports what is wrong")?;
    ensure!(wrong.is_empty(), "the page's self-check: {wrong:?}");
    let faults = ["index out of bounds", "The browser lost the GPU"];
    for (number, fault) in faults.into_iter().enumerate() {
        let said = found["said"][number].as_str().unwrap_or_default();
        ensure!(said.contains(fault), "{fault}: the page said {said}");
    }
    let checks = found["checks"].as_u64().unwrap_or(0);
    ensure!(
        checks > 0 && found["frame"].is_number(),
        "the page checked or drew nothing"
    );
    Ok(())
}
