//! rdst, on all threads of the CPU. It sorts in place and is not stable, so it sorts a copy of the keys alone.

use rdst::{RadixKey, RadixSort};

use super::{Outcome, Report, hash};

pub fn run(report: &mut Report) -> Outcome<&'static str> {
    let float = |i| hash(i) as f32 - 2_147_483_648.0;
    rows(report, "f32", [1, 1 << 22], float, f32::total_cmp)?;
    rows(report, "f32", [4096, 4096], float, f32::total_cmp)?;
    rows(report, "f32", [1 << 16, 64], float, f32::total_cmp)?;
    for n in [1 << 20, 1 << 22] {
        rows(report, "u32", [1, n], hash, u32::cmp)?;
    }
    Ok("0.20.14")
}

fn rows<T: RadixKey + Copy + Send + Sync + PartialEq>(
    report: &mut Report,
    dtype: &str,
    [rows, len]: [usize; 2],
    key: impl Fn(usize) -> T,
    order: fn(&T, &T) -> std::cmp::Ordering,
) -> Outcome<()> {
    let keys: Vec<T> = (0..rows * len).map(key).collect();
    let mut expected = keys.clone();
    for row in expected.chunks_mut(len) {
        row.sort_by(order);
    }
    let sorted = || {
        let mut keys = keys.clone();
        for row in keys.chunks_mut(len) {
            row.radix_sort_unstable();
        }
        Ok(keys)
    };
    let name = format!("sort/{dtype}/{rows}x{len}/dim1");
    report.case("rdst", &name, sorted, |found| Ok(found == expected))
}
