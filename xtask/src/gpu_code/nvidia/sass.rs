//! Reads what a kernel needs and does from `cuobjdump --dump-resource-usage` and `nvdisasm -c`.

use crate::gpu_code::code::Code;

impl Code {
    /// `usage` has a line `REG:40 STACK:0 SHARED:128 LOCAL:0 …`, and `listing` has a line for each instruction.
    pub(crate) fn read(usage: &str, listing: &str) -> Self {
        let of = |name: &str| {
            let words = usage.split_whitespace();
            let values = words.filter_map(|word| word.strip_prefix(name)?.parse().ok());
            values.max().unwrap_or(0)
        };
        let mut code = Self {
            registers: of("REG:"),
            shared: of("SHARED:"),
            stack: of("STACK:").max(of("LOCAL:")),
            ..Self::default()
        };
        listing
            .lines()
            .filter_map(opcode)
            .for_each(|op| code.count(op));
        code
    }

    fn count(&mut self, op: &str) {
        let mut parts = op.split('.');
        let name = parts.next().unwrap_or_default();
        match name {
            "LDG" | "STG" | "LD" | "ST" if op.contains(".STRONG") => self.strong += 1,
            "LDG" | "LD" => *self.loads.entry(bits(op)).or_default() += 1,
            "STG" | "ST" => *self.stores.entry(bits(op)).or_default() += 1,
            "LDL" | "STL" => self.spills += 1,
            "BAR" => self.barriers += 1,
            _ => {}
        }
    }

    /// How many threads a multiprocessor of compute capability 8.0 or 9.0 holds. A cube has `units` units, and `shared`
    /// bytes besides those that the code declares.
    pub(crate) fn resident(&self, units: u32, shared: u32, on: Multiprocessor) -> u32 {
        let warps = units.div_ceil(32);
        // A warp gets registers 256 at a time. A cube gets shared memory 128 bytes at a time, and the system takes 1
        // KiB of it.
        let registers = (self.registers * 32).next_multiple_of(256).max(256) * warps;
        let shared = (self.shared + shared).next_multiple_of(128) + 1024;
        let cubes = [
            65_536 / registers,
            on.shared / shared,
            on.threads / (warps * 32),
            on.cubes,
        ];
        cubes.into_iter().min().unwrap_or(0) * units
    }
}

/// What a multiprocessor holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Multiprocessor {
    pub(crate) threads: u32,
    pub(crate) cubes: u32,
    pub(crate) shared: u32,
}

/// `/*0120*/  @!P0 LDG.E.128 R4, …` is `LDG.E.128`.
fn opcode(line: &str) -> Option<&str> {
    let (address, rest) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    if address.is_empty() || !address.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut words = rest.split_whitespace();
    let first = words.next()?;
    let op = if first.starts_with('@') {
        words.next()?
    } else {
        first
    };
    let op = op.trim_end_matches(';');
    op.starts_with(|c: char| c.is_ascii_uppercase())
        .then_some(op)
}

/// How wide an access is. It is 32 bits where the name says nothing.
fn bits(op: &str) -> u32 {
    let width = |part: &str| match part.trim_start_matches(['U', 'S']) {
        "8" => Some(8),
        "16" => Some(16),
        "64" => Some(64),
        "128" => Some(128),
        "256" => Some(256),
        _ => None,
    };
    op.split('.').skip(1).find_map(width).unwrap_or(32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const USAGE: &str =
        "Fatbin elf code:\n Function scan:\n  REG:40 STACK:0 SHARED:128 LOCAL:0 CONSTANT[0]:400\n";

    const LISTING: &str = "
.text.scan:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
        /*0020*/                   LDG.E.U16 R4, desc[UR4][R2.64] ;
        /*0030*/              @P1  LDG.E.64.STRONG.GPU R6, desc[UR4][R2.64] ;
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0050*/                   STL [R1], R0 ;
        /*0060*/                   STG.E desc[UR4][R8.64], R0 ;
        /*0070*/                   EXIT ;
";

    #[test]
    fn a_listing_is_counted() {
        let code = Code::read(USAGE, LISTING);
        assert_eq!((code.registers, code.shared, code.stack), (40, 128, 0));
        assert_eq!((code.barriers, code.spills, code.strong), (1, 1, 1));
        assert_eq!(code.loads, BTreeMap::from([(16, 1), (128, 1)]));
        assert_eq!(code.stores, BTreeMap::from([(32, 1)]));
    }

    #[test]
    fn what_is_resident_is_bound_by_the_scarcest() {
        let hopper = Multiprocessor {
            threads: 2048,
            cubes: 32,
            shared: 228 << 10,
        };
        let code = |registers, shared| Code {
            registers,
            shared,
            ..Code::default()
        };
        assert_eq!(code(32, 0).resident(512, 0, hopper), 2048, "threads");
        assert_eq!(code(56, 0).resident(512, 0, hopper), 1024, "registers");
        assert_eq!(
            code(33, 0).resident(256, 0, hopper),
            1536,
            "rounded up to 40"
        );
        assert_eq!(code(32, 0).resident(32, 0, hopper), 1024, "cubes");
        assert_eq!(
            code(32, 99 << 10).resident(256, 0, hopper),
            512,
            "shared memory"
        );
        assert_eq!(code(32, 1 << 10).resident(256, 98 << 10, hopper), 512);
    }
}
