//! Reads the files that the peers under `benches/peers` write beside criterion's figures: `peers-cpu.json` (run.py),
//! `peers-gpu.json` (gpu.py), `peers-PEER.json` (the crate `sorts`) and `cub.csv` (cub.cu). Each may be missing.
//!
//! Peers name a case without its place. Those of the CPU stand beside Flex, and those of a GPU beside Cube.

use std::path::Path;

use anyhow::Context;
use fs_err as fs;
use serde_json::Value;

use super::collect::json;
use super::record::{Facts, Measure};
use crate::Result;

pub(crate) const CPU: &str = "peers-cpu.json";
const GPU: &str = "peers-gpu.json";
/// Those of the crate `sorts`, with their places.
const SORTS: [(&str, &str); 3] = [
    ("peers-lampshade.json", "cube"),
    ("peers-massively.json", "cube"),
    ("peers-rdst.json", "flex"),
];
const CUB: &str = "cub.csv";

/// The arguments that make run.py measure these cases only.
pub(crate) fn filters(cases: &[&str]) -> Vec<String> {
    let on_cpu = cases.iter().filter(|case| case.contains("/flex/"));
    on_cpu
        .map(|case| format!("--filter={}", case.replace("/flex/", "/")))
        .collect()
}

/// The median of a peer in a case. The name of the case has no place.
#[derive(Debug, PartialEq)]
struct Row {
    case: String,
    peer: String,
    median_ns: f64,
}

/// Adds the peers to the cases of this crate. Their versions become facts, and so do the peers that are missing.
pub(crate) fn attach(folder: &Path, measures: &mut Vec<Measure>, facts: &mut Facts) -> Result<()> {
    for (file, place) in [(CPU, "flex"), (GPU, "cube")].into_iter().chain(SORTS) {
        let path = folder.join(file);
        if path.is_file() {
            let report = json(&path)?;
            push_facts(&report, facts);
            for result in report["results"].as_array().into_iter().flatten() {
                let row = row(result).with_context(|| format!("{file}: cannot read {result}"))?;
                put(row, place, measures);
            }
        }
    }
    if let Ok(text) = fs::read_to_string(folder.join(CUB)) {
        let head = text.lines().next().unwrap_or_default();
        facts.push("peers", head.trim_start_matches("# "));
        let rows = text.lines().filter_map(cub_row);
        rows.for_each(|row| put(row, "cube", measures));
    }
    Ok(())
}

fn push_facts(report: &Value, facts: &mut Facts) {
    let pairs = |key: &str| {
        let object = report[key].as_object().into_iter().flatten();
        object.map(|(name, value)| (name, value.as_str().unwrap_or_default()))
    };
    let versions: Vec<String> = pairs("versions")
        .map(|(peer, version)| format!("{peer} {version}"))
        .collect();
    facts.push("peers", &versions.join(", "));
    for (what, why) in pairs("left_out") {
        facts.push("left out", &format!("{what}: {why}"));
    }
}

/// A result of run.py or gpu.py.
fn row(result: &Value) -> Option<Row> {
    let seconds = result["median_s"].as_f64().map(|s| s * 1e9);
    Some(Row {
        case: result["case"].as_str()?.to_owned(),
        peer: result["peer"].as_str()?.to_owned(),
        median_ns: seconds.or_else(|| Some(result["median_us"].as_f64()? * 1e3))?,
    })
}

/// Adds a row to the measurements of its case, if there are any. A peer moves the bytes that we move.
fn put(row: Row, place: &str, measures: &mut Vec<Measure>) {
    let Some((op, axes)) = row.case.split_once('/') else {
        return;
    };
    let case = format!("{op}/{place}/{axes}");
    if let Some(last) = measures.iter().rposition(|m| m.case == case) {
        let bytes = measures
            .iter()
            .find(|m| m.case == case && m.contender == "burn-scan");
        let measure = Measure {
            case,
            contender: row.peer,
            median_ns: row.median_ns,
            low_ns: row.median_ns,
            high_ns: row.median_ns,
            bytes: bytes.map_or(0, |ours| ours.bytes),
            wrong: false,
        };
        measures.insert(last + 1, measure);
    }
}

/// A line `op,dtype,n,median_us,..` of cub.cu. Exclusive sums have no case.
fn cub_row(line: &str) -> Option<Row> {
    let fields: Vec<&str> = line.split(',').collect();
    let [op, dtype, n, median_us, ..] = fields[..] else {
        return None;
    };
    let (dtype, peer) = match dtype.strip_suffix("-f32acc") {
        Some(narrow) => (narrow, "CUB summed in f32"),
        None => (dtype, "CUB"),
    };
    let (case, peer) = match op {
        "inclusive_sum" => (format!("cumsum/{dtype}/1x{n}/dim1"), peer),
        "select_flagged" => (format!("compact/{dtype}/1x{n}/density0.5"), peer),
        "copy" => (format!("cumsum/{dtype}/1x{n}/dim1"), "copy-device"),
        _ => return None,
    };
    Some(Row {
        case,
        peer: peer.to_owned(),
        median_ns: median_us.parse::<f64>().ok()? * 1e3,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubs_lines_become_cases() {
        let row = |case: &str, peer: &str, median_ns| {
            Some(Row {
                case: case.to_owned(),
                peer: peer.to_owned(),
                median_ns,
            })
        };
        let scan = "cumsum/f16/1x65536/dim1";
        assert_eq!(
            cub_row("inclusive_sum,f16,65536,8.00,7.90,32.1,0.9"),
            row(scan, "CUB", 8e3)
        );
        assert_eq!(
            cub_row("inclusive_sum,f16-f32acc,65536,9.00,8.90,30.1,0.8"),
            row(scan, "CUB summed in f32", 9e3)
        );
        assert_eq!(
            cub_row("copy,f16,65536,5.00,4.90,50.0,1.0"),
            row(scan, "copy-device", 5e3)
        );
        assert_eq!(
            cub_row("select_flagged,f32,65536,8.00,7.90,32.1,0.9"),
            row("compact/f32/1x65536/density0.5", "CUB", 8e3)
        );
        assert_eq!(cub_row("exclusive_sum,f32,65536,8.00,7.90,32.1,0.9"), None);
        assert_eq!(
            cub_row("op,dtype,n,median_us,min_us,gb_per_s,share_of_copy"),
            None
        );
    }

    #[test]
    fn peers_name_cases_without_their_place() {
        let cases = ["cumsum/flex/f32/1x1/dim1", "cumsum/cube/f32/1x1/dim1"];
        assert_eq!(filters(&cases), ["--filter=cumsum/f32/1x1/dim1"]);
    }

    #[test]
    fn a_peer_without_a_case_of_ours_is_dropped() {
        let mut measures = Vec::new();
        let row = Row {
            case: "cumsum/f32/1x1/dim1".to_owned(),
            peer: "x".to_owned(),
            median_ns: 1.0,
        };
        put(row, "flex", &mut measures);
        assert_eq!(measures, []);
    }
}
