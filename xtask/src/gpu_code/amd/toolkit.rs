//! Clang with AMD's back end, HIP's headers and AMD's device library, from Debian's packages. They go under `target/`,
//! and nothing is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use fs_err as fs;

use crate::Result;
use crate::debian;
use crate::process::{in_parallel, target_dir};

/// Debian 12 has these. Its HIP is 5.2, and its Clang is newer than the GPUs.
const PACKAGES: [&str; 7] = [
    "clang-19",
    "libclang-common-19-dev",
    "libclang-cpp19",
    "libllvm19",
    "libz3-4",
    "rocm-device-libs",
    "libamdhip64-dev",
];

/// The device library has a constant for each architecture. It is too old for the first of each pair, and the second is
/// of the same kind.
const ISA_VERSIONS: [(&str, &str); 2] = [("942", "90a"), ("1100", "1030")];

const BF16: &str = include_str!("hip_bf16.h");

/// AMD's run-time compiler includes this unasked. The source gives the names of the system's 64-bit integers to types
/// of its own, so the system's get other names here.
const PRELUDE: &str = "\
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#define int64_t kernel_int64_t
#define uint64_t kernel_uint64_t
";

pub(crate) struct Toolkit {
    tree: PathBuf,
}

impl Toolkit {
    pub(crate) fn get() -> Result<Self> {
        let folder = target_dir().join("hip-toolkit");
        let tree = debian::unpack(&folder, &PACKAGES)?;
        let this = Self { tree };
        let bitcode = this.bitcode();
        for (missing, kin) in ISA_VERSIONS {
            let file = |version| bitcode.join(format!("oclc_isa_version_{version}.bc"));
            if !file(missing).is_file() {
                fs::copy(file(kin), file(missing))?;
            }
        }
        let header = this.include().join("hip/hip_bf16.h");
        if !header.is_file() {
            fs::write(header, BF16)?;
        }
        fs::write(this.prelude(), PRELUDE)?;
        Ok(this)
    }

    fn include(&self) -> PathBuf {
        self.tree.join("usr/include")
    }

    fn prelude(&self) -> PathBuf {
        self.include().join("prelude.h")
    }

    fn bitcode(&self) -> PathBuf {
        self.tree.join("usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
    }

    /// Compiles files to assembly in the folder `out`. Returns a message for each file that the compiler refuses.
    pub(crate) fn compile(&self, files: &[PathBuf], arch: &str, out: &Path) -> Result<Vec<String>> {
        fs::create_dir_all(out)?;
        let results = in_parallel(files, |file| self.compile_one(file, arch, out));
        results.into_iter().filter_map(Result::transpose).collect()
    }

    /// Compiles with the options of CubeCL. Returns a message if the compiler refuses the file.
    fn compile_one(&self, file: &Path, arch: &str, out: &Path) -> Result<Option<String>> {
        let libraries = ["usr/lib/x86_64-linux-gnu", "usr/lib/llvm-19/lib"];
        let libraries = std::env::join_paths(libraries.map(|folder| self.tree.join(folder)));
        let mut command = Command::new(self.tree.join("usr/bin/clang++-19"));
        command
            .env("LD_LIBRARY_PATH", libraries?)
            .args(["-x", "hip", "--cuda-device-only", "-S", "-w"])
            .args(["-std=c++17", "-O3", "-D__HIP_PLATFORM_AMD__", "-nogpuinc"])
            .arg(format!("--offload-arch={arch}"))
            .arg(format!(
                "--rocm-device-lib-path={}",
                self.bitcode().display()
            ))
            .args(["-include", "__clang_hip_runtime_wrapper.h", "-include"])
            .arg(self.prelude())
            .arg("-I")
            .arg(self.include())
            .arg("-o")
            .arg(assembly(file, out))
            .arg(file);
        let done = command.output();
        let done = done.with_context(|| command.get_program().display().to_string())?;
        let why = String::from_utf8_lossy(&done.stderr);
        let message = format!("{arch}, {}: {why}", file.display());
        Ok((!done.status.success()).then_some(message))
    }
}

/// The assembly of a source.
pub(crate) fn assembly(file: &Path, out: &Path) -> PathBuf {
    out.join(file.with_extension("s").file_name().unwrap_or_default())
}
