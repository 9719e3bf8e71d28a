//! `cargo xtask gpu-code`: what NVIDIA's and AMD's compilers make of the kernels. It needs no GPU.
//!
//! 1. The tests `cuda` and `hip` of `cubecl-scan` call the crate on devices that lower every kernel to CUDA C++ or HIP
//!    C++ and run none.
//! 2. NVRTC compiles every CUDA module for sm_90, and those at a GPU's own tuning for sm_80, too. Clang compiles every
//!    HIP module for gfx942, and those at a GPU's own tuning for gfx1100, too.
//! 3. The command reads the machine code of the modules at a GPU's own tuning: registers, spills, widths of accesses,
//!    barriers. The table has CUB's kernels next to them.
//!
//! The command fails if a compiler refuses a module, if a kernel spills, or if it accesses contiguous memory less
//! widely than the GPU can.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use fs_err as fs;

use crate::Result;
use crate::args::{Args, Spec};
use crate::gpu_code::amd::isa;
use crate::gpu_code::amd::toolkit::{self as hip, Toolkit as Clang};
use crate::gpu_code::code::{Code, HEAD, is_tuned, narrow, row};
use crate::gpu_code::nvidia::sass::Multiprocessor;
use crate::gpu_code::nvidia::toolkit::Toolkit as Nvrtc;
use crate::gpu_code::record::{self, CUDA, HIP, Module};
use crate::process::root;
use crate::steps::Steps;

const SPEC: Spec = Spec {
    flags: &["--replay", "--write"],
    options: &[],
};

/// CUB's kernels, each with the units of its cubes.
const CUB: [(&str, &str, u32); 2] = [
    (
        "CUB: DeviceScan::InclusiveSum of f32",
        include_str!("gpu_code/nvidia/cub_scan.cu"),
        128,
    ),
    (
        "CUB: DeviceSelect::Flagged of f32",
        include_str!("gpu_code/nvidia/cub_select.cu"),
        384,
    ),
];

/// An A100 and an H100.
const PLACES: [(&str, Multiprocessor); 2] = [
    (
        "sm_80",
        Multiprocessor {
            threads: 2048,
            cubes: 32,
            shared: 164 << 10,
        },
    ),
    (
        "sm_90",
        Multiprocessor {
            threads: 2048,
            cubes: 32,
            shared: 228 << 10,
        },
    ),
];

/// An MI300X and a Radeon RX 7900.
const AMD_PLACES: [(&str, isa::Multiprocessor); 2] = [
    (
        "gfx942",
        isa::Multiprocessor {
            plane: 64,
            shared: 64 << 10,
        },
    ),
    (
        "gfx1100",
        isa::Multiprocessor {
            plane: 32,
            shared: 128 << 10,
        },
    ),
];

/// The rows of the table, and the faults.
struct Findings {
    table: String,
    faults: Vec<String>,
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    if args.flag("--write") {
        ensure!(args.words.is_empty(), "--write is for the whole table");
    }
    let mut steps = Steps::default();
    let mut findings = Findings {
        table: String::from(HEAD),
        faults: Vec::new(),
    };
    let mut is_complete = true;
    for (test, vendor) in [(CUDA, "NVIDIA"), (HIP, "AMD")] {
        let recorded = args.flag("--replay")
            || steps.step(
                &format!("record what the kernels' callers ask of a device of {vendor}"),
                || record::write(test),
            );
        is_complete &= recorded
            && steps.step(&format!("compile and read, {vendor}"), || {
                let modules = modules(test, &args.words)?;
                let before = findings.faults.len();
                match test {
                    CUDA => look_at_nvidia(&modules, &mut findings)?,
                    _ => look_at_amd(&modules, &mut findings)?,
                }
                let faults = &findings.faults[before..];
                ensure!(faults.is_empty(), "{}", faults.join("\n"));
                Ok(())
            });
    }
    println!("\n{}", findings.table);
    if is_complete && args.flag("--write") {
        steps.step("write the table", || {
            let text = format!("{INTRODUCTION}{}", findings.table);
            Ok(fs::write(root().join("docs/results/compiled.md"), text)?)
        });
    }
    steps.finish()
}

/// The modules with one of `words` in the name of their case.
fn modules(test: &str, words: &[String]) -> Result<Vec<Module>> {
    let mut modules = record::modules(test)?;
    modules
        .retain(|module| words.is_empty() || words.iter().any(|word| module.case.contains(word)));
    Ok(modules)
}

fn paths(modules: &[&Module]) -> Vec<PathBuf> {
    modules.iter().map(|module| module.path.clone()).collect()
}

/// The modules at a GPU's own tuning, and the others.
fn split(modules: &[Module]) -> (Vec<&Module>, Vec<&Module>) {
    modules.iter().partition(|module| is_tuned(&module.case))
}

fn look_at_nvidia(modules: &[Module], findings: &mut Findings) -> Result<()> {
    let toolkit = Nvrtc::get()?;
    let (tuned, others) = split(modules);
    let out = |arch: &str| record::folder(CUDA).join(arch);
    let (last, _) = PLACES[PLACES.len() - 1];
    let refused = toolkit.compile(&paths(&others), last, &out(last))?;
    println!(
        "{} modules of small cases compile",
        others.len() - refused.len()
    );
    findings.faults.extend(refused);

    let mut paths = paths(&tuned);
    for (name, source, _) in CUB {
        paths.push(cub_file(name, source)?);
    }
    for (arch, multiprocessor) in PLACES {
        let refused = toolkit.compile(&paths, arch, &out(arch))?;
        let of_cub = |line: &&String| line.contains("/cub_");
        if let Some(why) = refused.iter().find(of_cub) {
            bail!("{why}");
        }
        findings.faults.extend(refused);
        let code = |path: &Path| read(&toolkit, &out(arch), path);
        let mut of_cub = Vec::new();
        for (name, _, units) in CUB {
            let code = code(&cub_path(name))?;
            let resident = code.resident(units, 0, multiprocessor);
            findings.table += &row(arch, name, "", &code, 0, resident);
            of_cub.push(code);
        }
        for module in &tuned {
            let Ok(code) = code(&module.path) else {
                continue; // The compiler refused it, and the faults say so.
            };
            let resident = code.resident(module.units, module.shared, multiprocessor);
            findings.see(arch, module, &code, resident, Some(&of_cub[0]));
        }
    }
    Ok(())
}

fn look_at_amd(modules: &[Module], findings: &mut Findings) -> Result<()> {
    let toolkit = Clang::get()?;
    for (arch, multiprocessor) in AMD_PLACES {
        let out = record::folder(HIP).join(arch);
        let of_arch: Vec<&Module> = (modules.iter())
            .filter(|module| module.device == arch)
            .collect();
        let refused = toolkit.compile(&paths(&of_arch), arch, &out)?;
        println!(
            "{} modules compile for {arch}",
            of_arch.len() - refused.len()
        );
        findings.faults.extend(refused);
        for module in of_arch.iter().filter(|module| is_tuned(&module.case)) {
            let Ok(text) = fs::read_to_string(hip::assembly(&module.path, &out)) else {
                continue; // The compiler refused it, and the faults say so.
            };
            let (code, planes) = isa::read(&text)?;
            let resident = isa::resident(planes, module.units, module.shared, multiprocessor);
            findings.see(arch, module, &code, resident, None);
        }
    }
    Ok(())
}

impl Findings {
    /// Adds a kernel to the table, and its faults. `cub` is CUB's scan, which the sums must match.
    fn see(&mut self, arch: &str, module: &Module, code: &Code, resident: u32, cub: Option<&Code>) {
        let Module { case, kernel, .. } = module;
        self.table += &row(arch, case, kernel, code, module.shared, resident);
        let mut wrong = narrow(case, kernel, code);
        let is_judged = JUDGED.iter().any(|of| case.contains(of));
        let may_spill = !is_judged || case.contains(MAY_SPILL);
        if code.spills > if may_spill { SPILLS } else { 0 } {
            wrong.push(format!(
                "{} spills, {} bytes of stack",
                code.spills, code.stack
            ));
        }
        if is_judged && ["single_pass", "column_tiles"].contains(&kernel.as_str()) {
            if resident < 1024 {
                wrong.push(format!("{resident} resident threads"));
            }
            if let Some(cub) = cub.filter(|cub| code.barriers > cub.barriers) {
                wrong.push(format!(
                    "{} barriers, CUB has {}",
                    code.barriers, cub.barriers
                ));
            }
        }
        let wrong = wrong.into_iter();
        self.faults
            .extend(wrong.map(|wrong| format!("{arch}, {case}, {kernel}: {wrong}")));
    }
}

const INTRODUCTION: &str = "\
# Compiled, not measured

`cargo xtask gpu-code` lowers the kernels at the tuning of a GPU to CUDA C++ and to HIP C++, compiles them with NVRTC
12.9 and Clang 19, and reads the machine code. CUB's agents, with their policies for sm_90, stand beside them. On AMD's
gfx942 a plane has 64 units, on gfx1100 it has 32. CubeCL can also lower for AMD's GPUs through LLVM; the command does
not look at that. Loads and stores are those of global memory that do not speak with other cubes, by their bits. Each
counts once, however often it runs. Threads are those that a multiprocessor holds. Spills are instructions that reach
the stack.

";

/// The sums that count most. None of them may spill but [`MAY_SPILL`].
const JUDGED: [&str; 5] = [
    "Pass of Float(F32) [1, 16777216] along 1, Sum",
    "Pass of Float(F16) [1, 16777216] along 1, Sum",
    "Pass of Int(I64) [1, 16777216] along 1, Sum",
    "ColumnTiles of Float(F",
    "ColumnTiles of Int(I64)",
];

/// On an H200 this row takes 79 µs with eight vectors a unit and 12 accesses to spilled words, and 89 µs with four and
/// none.
const MAY_SPILL: &str = "Pass of Int(I64) [1, 16777216] along 1, Sum";

/// How many accesses to spilled words others may have across a lookback: other operators, and f64 with 40 registers.
const SPILLS: u32 = 24;

fn cub_path(name: &str) -> PathBuf {
    let word = name.trim_start_matches("CUB: Device").split("::").next();
    let file = format!("cub_{}.cu", word.unwrap_or_default().to_lowercase());
    record::folder(CUDA).join(file)
}

fn cub_file(name: &str, source: &str) -> Result<PathBuf> {
    let path = cub_path(name);
    fs::write(&path, source)?;
    Ok(path)
}

fn read(toolkit: &Nvrtc, folder: &Path, source: &Path) -> Result<Code> {
    let stem = source.file_stem().context("a file without a name")?;
    let file = folder.join(stem).with_extension("cubin");
    let usage = toolkit.tool("cuobjdump", "--dump-resource-usage", &file)?;
    let listing = toolkit.tool("nvdisasm", "-c", &file)?;
    Ok(Code::read(&usage, &listing))
}
