//! `cargo xtask gpu-bundle OUT`: test and bench binaries for a GPU host without Rust and without network.
//!
//! ```text
//! OUT/run.sh           ./run.sh check, or ./run.sh FLAVOUR [tests | benches | NAME] [ARGS]
//! OUT/wgpu/*.xz        WGSL, what wgpu's own compiler takes
//! OUT/vulkan/*.xz      SPIR-V from CubeCL's compiler (--vulkan)
//! OUT/cuda/*.xz        CUDA C++ through NVRTC, and SPIR-V (--cuda), with libllvm_stub.so, see [`llvm_stub`]
//! OUT/lib/             this machine's Vulkan loader, for hosts that have a driver but no loader
//! OUT/peers/           the sources of the peers that run on a GPU
//! OUT/binaries.txt     FLAVOUR NAME, a line each
//! OUT/build.txt        commit, date and compiler of this build
//! ```
//!
//! `--check` packs what `./run.sh check` runs: the bench `gpu_check` for wgpu and for CUDA, and the tests that it
//! starts.
//!
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
use crate::process::{cargo, output, root, run as run_to_success, run_reading, target_dir};

const SPEC: Spec = Spec {
    flags: &["--check", "--vulkan", "--cuda"],
    options: &["--test", "--bench"],
};

/// A mail, a slow link or an upload form commonly carries this much to a GPU host.
const LIMIT_MIB: u64 = 60;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    let [out] = args.words.as_slice() else {
        bail!(
            "usage: cargo xtask gpu-bundle OUT [--check] [--vulkan] [--cuda] [--test N] [--bench N]"
        );
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
    let is_check = args.flag("--check");
    flavours.extend(args.flag("--vulkan").then_some("vulkan"));
    flavours.extend((is_check || args.flag("--cuda")).then_some("cuda"));
    let mut listed = String::new();
    for flavour in flavours {
        let folder = out.join(flavour);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        // The tests run on the first back end only, and all of them twice would be too large to carry.
        let of_flavour = if is_check && flavour != "cuda" {
            &targets[..2]
        } else {
            &targets[..]
        };
        for name in pack(flavour, of_flavour, &folder)? {
            listed += &format!("{flavour} {name}\n");
        }
    }
    fs::write(out.join("binaries.txt"), listed)?;
    fs::write(out.join("build.txt"), build_facts())?;
    write_script(&out.join("run.sh"))?;
    copy_loader(&out.join("lib"))?;
    copy_peers(&out.join("peers"))?;
    check_size(&out)?;
    if is_check {
        println!("on the GPU host: ./run.sh check");
    }
    Ok(())
}

/// What `./run.sh check` runs.
const CHECKED: [&str; 8] = [
    "--bench",
    "gpu_check",
    "--test",
    "scan",
    "--test",
    "guards",
    "--test",
    "contract",
];

/// The selection as arguments of cargo. Without a name, it is everything in tests/ and benches/.
fn targets(args: &Args) -> Vec<String> {
    let of_kind = |kind| args.all(kind).flat_map(move |name| [kind, name]);
    let named: Vec<_> = ["--test", "--bench"]
        .into_iter()
        .flat_map(of_kind)
        .collect();
    let all = ["--test", "*", "--bench", "*"].to_vec();
    let chosen = if args.flag("--check") {
        [&CHECKED[..], &named].concat()
    } else if named.is_empty() {
        all
    } else {
        named
    };
    chosen.into_iter().map(str::to_owned).collect()
}

/// The features of a build. The CPU engine takes minutes to compile, and needs no GPU.
fn features(runtimes: &[&str]) -> String {
    let common = "burn-scan/std,burn-scan/fusion,burn-scan/autodiff,cubecl-scan/std";
    let of_both = |runtime: &&str| format!(",burn-scan/{runtime},cubecl-scan/{runtime}");
    let runtimes: String = runtimes.iter().map(of_both).collect();
    format!("{common}{runtimes}")
}

/// Builds and packs the binaries of a flavour. Returns their names.
fn pack(flavour: &str, targets: &[String], folder: &Path) -> Result<Vec<String>> {
    let runtimes: &[&str] = match flavour {
        "vulkan" => &["vulkan"],
        "cuda" => &["cuda-cpp", "vulkan"],
        _ => &["wgpu"],
    };
    let mut command = cargo(&["test", "--profile", "bench", "--no-run"]);
    command.arg("--message-format=json-render-diagnostics");
    command.args([
        "-p",
        "burn-scan",
        "-p",
        "cubecl-scan",
        "--no-default-features",
    ]);
    command.args(["--features", &features(runtimes)]);
    command.args(targets);
    // In one folder and with one set of flags all flavours share most of their dependencies.
    llvm_stub::prepare(&mut command, &target_dir().join("cuda"));
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
    Ok(binaries.into_iter().map(|binary| binary.name).collect())
}

/// What results belong to: `key: value` lines.
fn build_facts() -> String {
    let line = |key: &str, value: String| format!("{key}: {}\n", value.trim());
    [
        line(
            "commit",
            output("git", &["describe", "--always", "--dirty", "--abbrev=12"]),
        ),
        line("built", output("date", &["-u", "+%Y-%m-%d"])),
        line("rustc", output("rustc", &["--version"])),
    ]
    .concat()
}

fn copy_peers(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for name in ["cub.cu", "gpu.py"] {
        fs::copy(root().join("benches/peers").join(name), folder.join(name))?;
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
    let Some(loader) = crate::libraries::Libraries::look().path("libvulkan.so.1") else {
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
