//! Reads what a kernel needs and does from the assembly that Clang writes for AMD's GPUs.

use anyhow::Context;

use crate::Result;
use crate::gpu_code::code::Code;

/// A multiprocessor as CubeCL counts them: on CDNA a compute unit, on RDNA two that share their memory. Both have four
/// SIMDs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Multiprocessor {
    /// Units of a plane.
    pub(crate) plane: u32,
    pub(crate) shared: u32,
}

/// SIMDs of a multiprocessor.
const SIMDS: u32 = 4;

/// Reads a kernel's assembly. The number is how many of its planes a SIMD holds.
pub(crate) fn read(text: &str) -> Result<(Code, u32)> {
    let fact = |name: &str| {
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix("; ")?.strip_prefix(name));
        let value = value.and_then(|rest| rest.trim_start_matches(':').split_whitespace().next());
        value
            .and_then(|value| value.parse().ok())
            .with_context(|| format!("the assembly does not say its {name}"))
    };
    let mut code = Code {
        registers: fact("NumVgprs")?,
        stack: fact("ScratchSize")?,
        ..Code::default()
    };
    text.lines().for_each(|line| count(&mut code, line));
    Ok((code, fact("Occupancy")?))
}

fn count(code: &mut Code, line: &str) {
    let Some(line) = line.strip_prefix('\t') else {
        return;
    };
    let op = line.split_whitespace().next().unwrap_or_default();
    let Some((kind, rest)) = op.split_once('_') else {
        return;
    };
    // These bits make an access bypass the caches.
    let strong = [" sc0", " sc1", " glc", " dlc"]
        .iter()
        .any(|bit| line.contains(bit));
    let is_load = rest.starts_with("load");
    let is_store = rest.starts_with("store");
    match kind {
        "global" | "flat" | "buffer" if is_load || is_store => {
            if strong {
                code.strong += 1;
            } else if is_load {
                *code.loads.entry(bits(rest)).or_default() += 1;
            } else {
                *code.stores.entry(bits(rest)).or_default() += 1;
            }
        }
        "scratch" => code.spills += 1,
        "s" if rest.starts_with("barrier") => code.barriers += 1,
        _ => {}
    }
}

/// `load_dwordx4` and `load_b128` are 128 bits wide.
fn bits(op: &str) -> u32 {
    let width = op.rsplit('_').next().unwrap_or_default();
    match width {
        "dword" => 32,
        "ubyte" | "sbyte" | "byte" => 8,
        "ushort" | "sshort" | "short" => 16,
        _ => match width.strip_prefix("dwordx") {
            Some(words) => words.parse().map_or(0, |words: u32| 32 * words),
            None => width
                .trim_start_matches(|c: char| c.is_ascii_alphabetic())
                .parse()
                .unwrap_or(0),
        },
    }
}

/// How many units a multiprocessor holds. A cube has `units` units and `shared` bytes of shared memory, and a SIMD
/// holds `planes` planes.
pub(crate) fn resident(planes: u32, units: u32, shared: u32, on: Multiprocessor) -> u32 {
    let cubes = planes * SIMDS / units.div_ceil(on.plane);
    let room = on.shared.checked_div(shared).unwrap_or(cubes);
    cubes.min(room) * units
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const ASSEMBLY: &str = "
scan:
\tglobal_load_dwordx4 v[2:5], v1, s[0:1]
\tglobal_load_ushort v6, v1, s[0:1]
\tglobal_load_dword v7, v1, s[0:1] sc1
\tbuffer_load_b64 v[6:7], off, s[0:3], 0
\ts_barrier
\tscratch_store_dword off, v7, s32
\tglobal_store_b128 v1, v[2:5], s[2:3]
\ts_endpgm
; NumVgprs: 80
; ScratchSize: 4
; Occupancy: 6
";

    #[test]
    fn an_assembly_is_counted() {
        let (code, planes) = read(ASSEMBLY).unwrap();
        assert_eq!((code.registers, code.stack, planes), (80, 4, 6));
        assert_eq!((code.barriers, code.spills, code.strong), (1, 1, 1));
        assert_eq!(code.loads, BTreeMap::from([(16, 1), (64, 1), (128, 1)]));
        assert_eq!(code.stores, BTreeMap::from([(128, 1)]));
        assert!(read("; NumVgprs: 80").is_err());
    }

    #[test]
    fn what_is_resident_is_bound_by_planes_and_shared_memory() {
        let cdna = Multiprocessor {
            plane: 64,
            shared: 64 << 10,
        };
        assert_eq!(resident(8, 512, 0, cdna), 2048);
        assert_eq!(resident(6, 512, 0, cdna), 1536);
        assert_eq!(resident(8, 512, 30 << 10, cdna), 1024);
    }
}
