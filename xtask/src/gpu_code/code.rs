//! What a kernel's machine code needs and does, and the table of it.

use std::collections::BTreeMap;
use std::fmt::Write;

/// The machine code of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Code {
    /// Registers of a unit.
    pub(crate) registers: u32,
    /// Bytes of shared memory that the code declares.
    pub(crate) shared: u32,
    /// Bytes on the stack. A kernel has none if it spills nothing and indexes no array at run time.
    pub(crate) stack: u32,
    /// Instructions that reach the stack's memory.
    pub(crate) spills: u32,
    /// Loads and stores of global memory that wait for no other cube, by their bits.
    pub(crate) loads: BTreeMap<u32, u32>,
    pub(crate) stores: BTreeMap<u32, u32>,
    /// Loads and stores that speak with other cubes.
    pub(crate) strong: u32,
    pub(crate) barriers: u32,
}

/// Groups of cases at a GPU's own tuning, as `kernels/tests/recorded/code.rs` names them.
const CONTIGUOUS: &str = "contiguous, ";
const OTHER: &str = "other, ";

/// Whether a case is at a GPU's own tuning.
pub(crate) fn is_tuned(case: &str) -> bool {
    case.starts_with(CONTIGUOUS) || case.starts_with(OTHER)
}

pub(crate) const HEAD: &str = "\
| code | case | kernel | registers | spills | shared bytes | threads | loads | stores | barriers |
|---|---|---|---|---|---|---|---|---|---|
";

/// A line of the table. It leaves out the case's group. A launch asks for `shared` bytes besides those of the code.
pub(crate) fn row(
    arch: &str,
    case: &str,
    kernel: &str,
    code: &Code,
    shared: u32,
    resident: u32,
) -> String {
    let case = case.split_once(", ").map_or(case, |(_, name)| name);
    let widths = |counts: &BTreeMap<u32, u32>| {
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

/// Describes the accesses to contiguous memory that should be wider.
pub(crate) fn narrow(case: &str, kernel: &str, code: &Code) -> Vec<String> {
    if !case.starts_with(CONTIGUOUS) {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for (what, counts) in [("loads", &code.loads), ("stores", &code.stores)] {
        let narrow: u32 = counts.range(..128).map(|(_, count)| count).sum();
        if narrow > narrow_accesses(kernel, what, case) {
            wrong.push(format!("{narrow} narrow {what}"));
        }
    }
    wrong
}

/// How many single values a kernel reads or writes besides its tile.
fn narrow_accesses(kernel: &str, what: &str, case: &str) -> u32 {
    match (kernel, what) {
        // Totals are words, and a cube reads all totals of a line.
        ("prefixes", _) => u32::MAX,
        // Each element reads whether a segment begins there.
        (_, "loads") if case.contains("Segmented") => u32::MAX,
        // One state for each lane.
        ("column_totals", "stores") | ("column_scan", "loads") => 8,
        // A survivor goes to the place that its number gives, and a key to that of its rank. Neighbours stay next to
        // one another.
        ("compact" | "move_keys" | "select_keys" | "sort_in_cube", "stores") => u32::MAX,
        // Counts of digits and flags of passes are words.
        ("count_passes" | "count_turn", "stores") | ("schedule", _) => u32::MAX,
        // The pass of a line, the one before it, and where a digit begins.
        ("move_keys" | "count_turn", "loads") => 4,
        // The total of a part or of what precedes it, and the count of survivors.
        _ => 2,
    }
}
