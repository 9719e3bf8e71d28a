//! `cargo xtask web`: builds the page of `examples/web` into `target/web/page`, and serves it to a browser here.

use anyhow::ensure;
use fs_err as fs;

use crate::Result;
use crate::args::{Args, Spec};
use crate::process::output;
use crate::site::Site;
use crate::wasm::Wasm;

const SPEC: Spec = Spec {
    flags: &["--build"],
    options: &["--port"],
};

/// What a visitor loads, at most: bytes of WebAssembly that gzip packed.
const MOST: usize = 8 << 20;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    args.no_words("")?;
    let page = Wasm::get()?.page("web")?;
    let module = page.join("pkg/burn_scan_web_bg.wasm");
    let path = module.to_string_lossy();
    let packed = output("sh", &["-c", &format!("gzip -9c '{path}' | wc -c")]);
    let packed: usize = packed.trim().parse()?;
    let bytes = fs::metadata(&module)?.len();
    println!(
        "{}: {bytes} bytes of WebAssembly, {packed} by gzip -9",
        page.display()
    );
    ensure!(packed <= MOST, "more than {MOST} bytes");
    if args.flag("--build") {
        return Ok(());
    }
    Site::open(args.last("--port").unwrap_or("8080").parse()?, &[&page])?.serve()
}
