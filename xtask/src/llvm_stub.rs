//! CUDA binaries built on a machine without CUDA and without CubeCL's LLVM bundle.
//!
//! With the feature `cuda-cpp` CubeCL compiles kernels through NVRTC and calls no LLVM function, so the
//! bundle is left out (`DOCS_RS=1`), the linker is told to accept the symbols that are then undefined, and
//! one small library, preloaded on the GPU host, gives each of them a body that aborts. CubeCL's other CUDA
//! path (LLVM to PTX) is not what such a build tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::process::{output, run};

/// Sets up a cargo command for such a build, in a target folder of its own since `RUSTFLAGS` differ.
pub(crate) fn prepare(command: &mut Command, target_dir: &Path) {
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let flags =
        format!("{flags} -C link-arg=-Wl,--unresolved-symbols=ignore-all -C strip=debuginfo");
    command
        .env("DOCS_RS", "1")
        .env("RUSTFLAGS", flags.trim_start())
        .env("CARGO_TARGET_DIR", target_dir);
}

/// Builds `libllvm_stub.so` for what the executables leave undefined.
pub(crate) fn build<'a>(executables: impl Iterator<Item = &'a Path>, folder: &Path) -> Result<()> {
    let mut symbols = BTreeSet::new();
    for executable in executables {
        let path = executable.to_string_lossy();
        symbols.extend(llvm_symbols(&output(
            "nm",
            &["-D", "--undefined-only", &path],
        )));
    }
    let source = folder.join("stub.c");
    fs::write(&source, stub_source(&symbols)).map_err(|e| format!("{}: {e}", source.display()))?;
    let library = folder.join("libllvm_stub.so");
    run(Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(library)
        .arg(&source))?;
    fs::remove_file(&source).map_err(|e| e.to_string())
}

/// The symbols of the bundle in the output of `nm`.
fn llvm_symbols(nm: &str) -> Vec<String> {
    nm.lines()
        .filter_map(|line| line.split_whitespace().last())
        .filter(|name| name.starts_with("LLVM") || name.starts_with("cubecl_"))
        .map(str::to_owned)
        .collect()
}

fn stub_source(symbols: &BTreeSet<String>) -> String {
    let bodies = symbols
        .iter()
        .map(|name| format!("void {name}(void) {{ abort(); }}\n"));
    std::iter::once("#include <stdlib.h>\n".to_owned())
        .chain(bodies)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stubs_cover_the_bundle_and_nothing_else() {
        let nm = "                 U LLVMAddFunction\n                 w __gmon_start__\n\
                  U cubecl_init\n                 U malloc@GLIBC_2.2.5\n";
        let symbols: BTreeSet<_> = llvm_symbols(nm).into_iter().collect();
        let source = stub_source(&symbols);
        assert!(source.contains("void LLVMAddFunction(void) { abort(); }"));
        assert!(source.contains("cubecl_init") && !source.contains("malloc"));
    }
}
