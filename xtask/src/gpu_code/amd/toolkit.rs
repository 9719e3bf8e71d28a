//! Clang with AMD's back end, HIP's headers and AMD's device library, from Debian's packages. They are unpacked under `target/` and nothing is
//! installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::Result;
use crate::debian;
use crate::process::target_dir;

/// Debian 12's. Its HIP is 5.2, its Clang is newer than the GPUs.
const PACKAGES: [&str; 7] = [
    "clang-19",
    "libclang-common-19-dev",
    "libclang-cpp19",
    "libllvm19",
    "libz3-4",
    "rocm-device-libs",
    "libamdhip64-dev",
];

/// Of the architectures that the device library is too old for, one of the same kind; it has a constant for each.
const ISA_VERSIONS: [(&str, &str); 2] = [("942", "90a"), ("1100", "1030")];

const BF16: &str = include_str!("hip_bf16.h");

/// What AMD's run-time compiler includes unasked. It has its own 64-bit integers; those of the system have the names that the source gives to
/// others.
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
        let io = |error: std::io::Error| format!("{}: {error}", folder.display());
        let bitcode = this.bitcode();
        for (missing, kin) in ISA_VERSIONS {
            let file = |version| bitcode.join(format!("oclc_isa_version_{version}.bc"));
            if !file(missing).is_file() {
                fs::copy(file(kin), file(missing)).map_err(io)?;
            }
        }
        let header = this.include().join("hip/hip_bf16.h");
        if !header.is_file() {
            fs::write(header, BF16).map_err(io)?;
        }
        fs::write(this.prelude(), PRELUDE).map_err(io)?;
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

    /// Compiles files to assembly in a folder, as many at once as there are processors; a message for each that the compiler refuses.
    pub(crate) fn compile(&self, files: &[PathBuf], arch: &str, out: &Path) -> Result<Vec<String>> {
        fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
        let next = AtomicUsize::new(0);
        let refused = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
                scope.spawn(|| {
                    while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if let Err(why) = self.compile_one(file, arch, out) {
                            let why = format!("{arch}, {}: {why}", file.display());
                            refused.lock().expect("no thread panicked").push(why);
                        }
                    }
                });
            }
        });
        Ok(refused.into_inner().expect("no thread panicked"))
    }

    /// With the options of CubeCL.
    fn compile_one(&self, file: &Path, arch: &str, out: &Path) -> Result<()> {
        let libraries = ["usr/lib/x86_64-linux-gnu", "usr/lib/llvm-19/lib"];
        let libraries = std::env::join_paths(libraries.map(|folder| self.tree.join(folder)));
        let mut command = Command::new(self.tree.join("usr/bin/clang++-19"));
        command
            .env("LD_LIBRARY_PATH", libraries.map_err(|e| e.to_string())?)
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
        let done = command
            .output()
            .map_err(|e| format!("{}: {e}", command.get_program().display()))?;
        match done.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        }
    }
}

/// The file that a source becomes.
pub(crate) fn assembly(file: &Path, out: &Path) -> PathBuf {
    out.join(file.with_extension("s").file_name().unwrap_or_default())
}
