//! `cargo xtask gpu-code`: what NVIDIA's compiler makes of the kernels, without a GPU.
//!
//! 1. The test `cuda` of `cubecl-scan` calls the crate on a device that lowers every kernel to CUDA C++ and runs none.
//! 2. NVRTC compiles every module for sm_90, and those at a GPU's own tuning for sm_80 too.
//! 3. The machine code of the latter is disassembled: registers, spills, widths of accesses, barriers; CUB's beside it.
//!
//! A module that is refused, a spill, or an access to contiguous memory that is not as wide as the GPU has them fails the command.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::args::{Args, Spec};
use crate::cuda::record::{self, Module};
use crate::cuda::sass::{Code, Multiprocessor};
use crate::cuda::toolkit::Toolkit;
use crate::process::{Steps, root};

const SPEC: Spec = Spec {
    flags: &["--replay", "--write"],
    options: &[],
};

/// CUB's kernels, each with its units.
const CUB: [(&str, &str, u32); 2] = [
    (
        "CUB: DeviceScan::InclusiveSum of f32",
        include_str!("cuda/cub_scan.cu"),
        128,
    ),
    (
        "CUB: DeviceSelect::Flagged of f32",
        include_str!("cuda/cub_select.cu"),
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

/// Groups of cases at a GPU's own tuning, as `kernels/tests/recorded/code.rs` names them.
const CONTIGUOUS: &str = "contiguous, ";
const OTHER: &str = "other, ";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    if !args.words.is_empty() && args.flag("--write") {
        return Err("--write is for the whole table".into());
    }
    let mut steps = Steps::default();
    let mut toolkit = None;
    steps.step("NVIDIA's compiler and disassembler", || {
        toolkit = Some(Toolkit::get()?);
        Ok(())
    });
    let recorded = args.flag("--replay")
        || steps.step(
            "record what the kernels' callers ask of a device",
            record::write,
        );
    if let (Some(toolkit), true) = (toolkit, recorded) {
        steps.step("compile and disassemble", || look(&toolkit, &args));
    }
    steps.finish()
}

fn look(toolkit: &Toolkit, args: &Args) -> Result<()> {
    let mut modules = record::modules()?;
    modules.retain(|module| {
        args.words.is_empty() || args.words.iter().any(|word| module.case.contains(word))
    });
    let (tuned, others): (Vec<_>, Vec<_>) = (modules.iter()).partition(|module| {
        [CONTIGUOUS, OTHER]
            .iter()
            .any(|group| module.case.starts_with(group))
    });
    let mut faults = Vec::new();
    let out = |arch: &str| record::folder().join(arch);
    let (last, _) = PLACES[PLACES.len() - 1];
    let paths: Vec<PathBuf> = others.iter().map(|module| module.path.clone()).collect();
    faults.extend(toolkit.compile(&paths, last, &out(last))?);
    println!(
        "{} modules of small cases compile",
        paths.len() - faults.len()
    );

    let mut paths: Vec<PathBuf> = tuned.iter().map(|module| module.path.clone()).collect();
    for (name, source, _) in CUB {
        paths.push(cub_file(name, source)?);
    }
    let mut table = String::from(HEAD);
    for (arch, multiprocessor) in PLACES {
        let refused = toolkit.compile(&paths, arch, &out(arch))?;
        let of_cub = |line: &&String| line.contains("/cub_");
        if let Some(why) = refused.iter().find(of_cub) {
            return Err(why.clone());
        }
        faults.extend(refused);
        let code = |path: &Path| read(toolkit, &out(arch), path);
        let mut of_cub = Vec::new();
        for (name, _, units) in CUB {
            let code = code(&cub_path(name))?;
            table += &row(
                arch,
                name,
                "",
                &code,
                0,
                code.resident(units, 0, multiprocessor),
            );
            of_cub.push(code);
        }
        for module in &tuned {
            let Ok(code) = code(&module.path) else {
                continue; // refused, and said so
            };
            let resident = code.resident(module.units, module.shared, multiprocessor);
            let case = module.case.split_once(", ").map_or("", |(_, name)| name);
            table += &row(arch, case, &module.kernel, &code, module.shared, resident);
            let wrong = wrong(module, &code, resident, &of_cub[0]);
            faults.extend(
                wrong
                    .into_iter()
                    .map(|wrong| format!("{arch}, {case}, {}: {wrong}", module.kernel)),
            );
        }
    }
    println!("\n{table}");
    if args.flag("--write") {
        let path = root().join("benches/results/compiled.md");
        fs::write(&path, format!("{INTRODUCTION}{table}")).map_err(|e| e.to_string())?;
        println!("wrote {}", path.display());
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults.join("\n")),
    }
}

const INTRODUCTION: &str = "\
## Compiled, not measured

`cargo xtask gpu-code` lowers the kernels at the tuning of an NVIDIA GPU to CUDA C++, compiles them with NVRTC 12.9, and reads the machine
code; CUB's agents, with their policies for sm_90, beside them. Loads and stores are those of global memory by bits that do not speak
with other cubes, each counted once however often it runs; threads are those that a multiprocessor holds.

";

const HEAD: &str = "\
| code | case | kernel | registers | spills | shared bytes | threads | loads | stores | barriers |
|---|---|---|---|---|---|---|---|---|---|
";

/// A line of the table; a launch asks for `shared` bytes beside those of the code.
fn row(arch: &str, case: &str, kernel: &str, code: &Code, shared: u32, resident: u32) -> String {
    let widths = |counts: &std::collections::BTreeMap<u32, u32>| {
        let mut text = String::new();
        for (bits, count) in counts.iter().rev() {
            let space = if text.is_empty() { "" } else { ", " };
            write!(text, "{space}{count} × {bits}").expect("a string takes everything");
        }
        text
    };
    format!(
        "| {arch} | {case} | {kernel} | {} | {} | {} | {resident} | {} | {} | {} |\n",
        code.registers,
        code.spills,
        code.shared + shared,
        widths(&code.loads),
        widths(&code.stores),
        code.barriers,
    )
}

/// What must not be, in words.
fn wrong(module: &Module, code: &Code, resident: u32, cub: &Code) -> Vec<String> {
    let mut wrong = Vec::new();
    let kernel = module.kernel.as_str();
    let is_judged = JUDGED.iter().any(|of| module.case.contains(of));
    if code.spills > if is_judged { 0 } else { SPILLS } {
        wrong.push(format!(
            "{} spills, {} bytes of stack",
            code.spills, code.stack
        ));
    }
    if module.case.starts_with(CONTIGUOUS) {
        for (what, counts) in [("loads", &code.loads), ("stores", &code.stores)] {
            let narrow: u32 = counts.range(..128).map(|(_, count)| count).sum();
            if narrow > narrow_accesses(kernel, what, &module.case) {
                wrong.push(format!("{narrow} narrow {what}"));
            }
        }
    }
    if is_judged && ["single_pass", "column_tiles"].contains(&kernel) {
        if resident < 1024 {
            wrong.push(format!("{resident} resident threads"));
        }
        if code.barriers > cub.barriers {
            wrong.push(format!(
                "{} barriers, CUB has {}",
                code.barriers, cub.barriers
            ));
        }
    }
    wrong
}

/// The sums that a scan is judged by: none spills.
const JUDGED: [&str; 5] = [
    "Pass of Float(F32) [1, 16777216] along 1, Sum",
    "Pass of Float(F16) [1, 16777216] along 1, Sum",
    "Pass of Int(I64) [1, 16777216] along 1, Sum",
    "ColumnTiles of Float(F",
    "ColumnTiles of Int(I64)",
];

/// Accesses to spilled words that other operators, and f64 with 40 registers, may have across a lookback.
const SPILLS: u32 = 24;

/// How many single values a kernel reads or writes beside its tile.
fn narrow_accesses(kernel: &str, what: &str, case: &str) -> u32 {
    match (kernel, what) {
        // Totals are words, and a cube reads those of a line.
        ("prefixes", _) => u32::MAX,
        // Where segments begin is read for each element.
        (_, "loads") if case.contains("Segmented") => u32::MAX,
        // A state for each lane.
        ("column_totals", "stores") | ("column_scan", "loads") => 8,
        // Survivors go where their number says, neighbours beside one another.
        ("compact", "stores") => u32::MAX,
        // What precedes a part, or its total; the count of survivors.
        _ => 2,
    }
}

fn cub_path(name: &str) -> PathBuf {
    let word = name.trim_start_matches("CUB: Device").split("::").next();
    let file = format!("cub_{}.cu", word.unwrap_or_default().to_lowercase());
    record::folder().join(file)
}

fn cub_file(name: &str, source: &str) -> Result<PathBuf> {
    let path = cub_path(name);
    fs::write(&path, source).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}

fn read(toolkit: &Toolkit, folder: &Path, source: &Path) -> Result<Code> {
    let stem = source.file_stem().ok_or("a file without a name")?;
    let file = folder.join(stem).with_extension("cubin");
    let usage = toolkit.tool("cuobjdump", "--dump-resource-usage", &file)?;
    let listing = toolkit.tool("nvdisasm", "-c", &file)?;
    Ok(Code::read(&usage, &listing))
}
