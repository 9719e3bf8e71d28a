//! `cargo xtask gpu-bundle OUT`: test and bench binaries for a GPU host without Rust and without network.
//!
//! ```text
//! OUT/run.sh           ./run.sh FLAVOUR [tests | benches | NAME] [ARGS]
//! OUT/wgpu/*.xz        WGSL, what wgpu's own compiler takes
//! OUT/vulkan/*.xz      SPIR-V from CubeCL's compiler (--vulkan)
//! OUT/cuda/*.xz        CUDA C++ through NVRTC (--cuda), with libllvm_stub.so, see [`llvm_stub`]
//! OUT/lib/             this machine's Vulkan loader, for hosts that have a driver but no loader
//! ```
//! The name of a binary is PACKAGE.KIND.NAME, as in `cubecl-scan.bench.scan`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, ensure};
use fs_err as fs;
use walkdir::WalkDir;

use crate::Result;
use crate::args::{Args, Spec};
use crate::bundle_files::{Binary, RUN_SH, binary_of};
use crate::llvm_stub;
use crate::process::{cargo, root, run as run_to_success, run_reading, target_dir};

const SPEC: Spec = Spec {
    flags: &["--vulkan", "--cuda"],
    options: &["--test", "--bench"],
};

/// A mail, a slow link or an upload form commonly carries this much to a GPU host.
const LIMIT_MIB: u64 = 60;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    let [out] = args.words.as_slice() else {
        bail!("usage: cargo xtask gpu-bundle OUT [--vulkan] [--cuda] [--test N] [--bench N]");
    };
    let out = PathBuf::from(out);
    let is_source = out.join("Cargo.toml").exists();
    ensure!(
        !is_source,
        "{} is a source folder: name a new one",
        out.display()
    );
    let targets = targets(&args);
    let mut flavours = vec!["wgpu"];
    flavours.extend(args.flag("--vulkan").then_some("vulkan"));
    flavours.extend(args.flag("--cuda").then_some("cuda"));
    for flavour in flavours {
        let folder = out.join(flavour);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        pack(flavour, &targets, &folder)?;
    }
    write_script(&out.join("run.sh"))?;
    copy_loader(&out.join("lib"))?;
    check_size(&out)
}

/// The selection as arguments of cargo. Without a name, it is everything in tests/ and benches/.
fn targets(args: &Args) -> Vec<String> {
    let of_kind = |kind| args.all(kind).flat_map(move |name| [kind, name]);
    let named: Vec<_> = ["--test", "--bench"]
        .into_iter()
        .flat_map(of_kind)
        .collect();
    let all = vec!["--test", "*", "--bench", "*"];
    let chosen = if named.is_empty() { all } else { named };
    chosen.into_iter().map(str::to_owned).collect()
}

fn pack(flavour: &str, targets: &[String], folder: &Path) -> Result<()> {
    let features = match flavour {
        "vulkan" => "vulkan,cubecl-scan/vulkan",
        "cuda" => "cuda-cpp,cubecl-scan/cuda-cpp",
        _ => "cubecl-scan/wgpu",
    };
    let mut command = cargo(&["test", "--release", "--no-run"]);
    command.arg("--message-format=json-render-diagnostics");
    command.args(["-p", "burn-scan", "-p", "cubecl-scan"]);
    command.args(["--features", features]).args(targets);
    if flavour == "cuda" {
        llvm_stub::prepare(&mut command, &target_dir().join("cuda"));
    }
    let mut binaries = Vec::new();
    run_reading(&mut command, false, |line| {
        binaries.extend(binary_of(line, &root()))
    })?;
    ensure!(!binaries.is_empty(), "cargo built no test and no bench");
    if flavour == "cuda" {
        llvm_stub::build(binaries.iter().map(|b| b.path.as_path()), folder)?;
    }
    for Binary { name, path } in &binaries {
        let packed = folder.join(name);
        run_to_success(Command::new("strip").arg("-o").arg(&packed).arg(path))?;
        run_to_success(Command::new("xz").args(["-T0", "-f"]).arg(&packed))?;
    }
    Ok(())
}

fn write_script(path: &Path) -> Result<()> {
    fs::write(path, RUN_SH)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn copy_loader(folder: &Path) -> Result<()> {
    let Some(loader) = crate::libraries::loader_path() else {
        eprintln!("no Vulkan loader here to pack: the GPU host must have libvulkan.so.1");
        return Ok(());
    };
    fs::create_dir_all(folder)?;
    fs::copy(&loader, folder.join("libvulkan.so.1"))?;
    Ok(())
}

/// Lists the bundle and refuses one that is too large to carry.
fn check_size(out: &Path) -> Result<()> {
    let mut total = 0;
    for file in WalkDir::new(out).sort_by_file_name() {
        let file = file?;
        if file.file_type().is_file() {
            let size = file.metadata()?.len();
            println!("{:>9} KiB  {}", size.div_ceil(1024), file.path().display());
            total += size;
        }
    }
    let mib = total.div_ceil(1 << 20);
    println!("{mib} MiB in {} (limit {LIMIT_MIB})", out.display());
    ensure!(
        mib <= LIMIT_MIB,
        "the bundle is too large: pick binaries with --test and --bench"
    );
    Ok(())
}
