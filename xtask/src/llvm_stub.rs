//! CUDA binaries from a machine that has neither CUDA nor CubeCL's LLVM bundle.
//!
//! With the feature `cuda-cpp` CubeCL compiles kernels through NVRTC and calls no LLVM function. So this build leaves
//! the bundle out (`DOCS_RS=1`), and the linker accepts undefined symbols. On the GPU host a small preloaded library
//! gives each of these symbols a body that aborts. Such a build does not test CubeCL's other CUDA path, from LLVM to
//! PTX.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use fs_err as fs;

use crate::Result;
use crate::process::{output, run};

/// Sets up a cargo command for such a build. Its `RUSTFLAGS` differ, so it has a target folder of its own.
pub(crate) fn prepare(command: &mut Command, target_dir: &Path) {
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let flags =
        format!("{flags} -C link-arg=-Wl,--unresolved-symbols=ignore-all -C strip=debuginfo");
    command
        .env("DOCS_RS", "1")
        .env("RUSTFLAGS", flags.trim_start())
        .env("CARGO_TARGET_DIR", target_dir);
}

/// Builds `libllvm_stub.so` with the symbols that the executables leave undefined.
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
    fs::write(&source, stub_source(&symbols))?;
    let library = folder.join("libllvm_stub.so");
    run(Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(library)
        .arg(&source))?;
    Ok(fs::remove_file(&source)?)
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
