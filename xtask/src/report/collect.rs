//! Reads criterion's folder: `**/new/benchmark.json` names a measurement, and `estimates.json` beside it has the times.
//!
//! Two more kinds of file may lie at its top: `machine.txt` ([`Facts`], with a line `wrong: CASE/CONTENDER` for each
//! wrong answer), and the files of the peers ([`peers`]). So the folder is a whole run, and a person can carry it to
//! another machine.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use fs_err as fs;
use serde_json::Value;
use walkdir::WalkDir;

use super::case::{self, Name};
use super::machine;
use super::peers;
use super::record::{Facts, Measure, Run};
use crate::Result;

pub(crate) const MACHINE: &str = "machine.txt";

/// The run in criterion's folder. Without a `name`, the machine gives it one.
pub(crate) fn run(folder: &Path, name: Option<&str>) -> Result<Run> {
    let mut facts = Facts::parse(fs::read_to_string(folder.join(MACHINE))?.lines());
    let mut measures = measures(folder)?;
    ensure!(
        !measures.is_empty(),
        "no measurement in {}",
        folder.display()
    );
    let op_of = |measure: &Measure| Name::parse(&measure.case).map(|name| name.op.to_owned());
    if let Some(op) = measures
        .iter()
        .filter_map(op_of)
        .find(|op| !case::is_known(op))
    {
        bail!("`{op}` has no place on the page: see OPS in case.rs");
    }
    for id in facts.all("wrong") {
        let wrong = measures
            .iter_mut()
            .find(|m| format!("{}/{}", m.case, m.contender) == id);
        wrong.into_iter().for_each(|measure| measure.wrong = true);
    }
    peers::attach(folder, &mut measures, &mut facts)?;
    Ok(Run {
        name: name.map_or_else(|| machine::slug(&facts), str::to_owned),
        facts: facts.without(&["wrong"]),
        measures,
    })
}

/// The measurements of all cases, in the page's order.
pub(crate) fn measures(folder: &Path) -> Result<Vec<Measure>> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for entry in WalkDir::new(folder) {
        let folder = entry?.into_path();
        let (benchmark, estimates) = (folder.join("benchmark.json"), folder.join("estimates.json"));
        if folder.ends_with("new") && benchmark.is_file() && estimates.is_file() {
            found.extend(measure(&json(&benchmark)?, &json(&estimates)?));
        }
    }
    found.sort_by_cached_key(|m| {
        let order = Name::parse(&m.case).map(|name| name.order());
        (order, m.case.clone(), m.contender.clone())
    });
    Ok(found)
}

/// `None` if it is not a case of this crate: criterion's folder may hold other benches.
fn measure(benchmark: &Value, estimates: &Value) -> Option<Measure> {
    let case = benchmark["group_id"].as_str()?;
    Name::parse(case)?;
    let median = &estimates["median"];
    let interval = &median["confidence_interval"];
    Some(Measure {
        case: case.to_owned(),
        contender: benchmark["function_id"].as_str()?.to_owned(),
        median_ns: median["point_estimate"].as_f64()?,
        low_ns: interval["lower_bound"].as_f64()?,
        high_ns: interval["upper_bound"].as_f64()?,
        bytes: benchmark["throughput"]["Bytes"].as_u64()?,
        wrong: false,
    })
}

pub(crate) fn json(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path)?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// A folder as criterion leaves it, of (case, contender, median).
    fn criterion_folder(measured: &[(&str, &str, f64)]) -> TempDir {
        let root = tempfile::tempdir().unwrap();
        for (case, contender, median) in measured {
            let folder = root
                .path()
                .join(case.replace('/', "_"))
                .join(contender)
                .join("new");
            fs::create_dir_all(&folder).unwrap();
            let benchmark = format!(
                r#"{{"group_id":"{case}","function_id":"{contender}","throughput":{{"Bytes":8192}}}}"#
            );
            let estimates = format!(
                r#"{{"median":{{"confidence_interval":{{"lower_bound":1.0,"upper_bound":9.0}},
                "point_estimate":{median}}},"slope":null}}"#
            );
            fs::write(folder.join("benchmark.json"), benchmark).unwrap();
            fs::write(folder.join("estimates.json"), estimates).unwrap();
        }
        root
    }

    const CASE: &str = "cumsum/flex/f32/1x1024/dim1";

    #[test]
    fn a_run_is_figures_facts_and_peers() {
        let measured = [
            (CASE, "burn-scan", 5.0),
            (CASE, "burn", 6.0),
            ("other", "burn", 1.0),
        ];
        let folder = criterion_folder(&measured);
        let folder = folder.path();
        let error = run(folder, None).unwrap_err().to_string();
        assert!(error.contains(MACHINE), "{error}");
        let facts = format!("cores: 2\nwrong: {CASE}/burn\n");
        fs::write(folder.join(MACHINE), facts).unwrap();
        let peers = r#"{"versions":{"numpy":"2.0"},"left_out":{"jax":"not importable"},
            "results":[{"case":"cumsum/f32/1x1024/dim1","peer":"numpy","median_s":7e-9}]}"#;
        fs::write(folder.join("peers-cpu.json"), peers).unwrap();

        let run = run(folder, None).unwrap();
        assert_eq!(run.name, "flex-2-cores");
        let found = run
            .measures
            .iter()
            .map(|m| (m.contender.as_str(), m.median_ns.round(), m.wrong));
        let expected = [
            ("burn", 6.0, true),
            ("burn-scan", 5.0, false),
            ("numpy", 7.0, false),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!(run.facts.get("peers"), Some("numpy 2.0"));
        assert_eq!(run.facts.get("left out"), Some("jax: not importable"));
        assert_eq!(run.facts.get("wrong"), None);
    }

    #[test]
    fn an_operation_without_a_title_is_not_dropped() {
        let folder = criterion_folder(&[("novel/flex/f32/1x1/dim1", "burn", 1.0)]);
        fs::write(folder.path().join(MACHINE), "cores: 2\n").unwrap();
        let error = run(folder.path(), None).unwrap_err().to_string();
        assert!(error.contains("`novel`"), "{error}");
    }

    #[test]
    fn nothing_is_no_run() {
        let folder = criterion_folder(&[("other", "burn", 1.0)]);
        fs::write(folder.path().join(MACHINE), "cores: 2\n").unwrap();
        let error = run(folder.path(), None).unwrap_err().to_string();
        assert!(error.contains("no measurement"), "{error}");
        assert_eq!(measures(&folder.path().join("missing")).unwrap(), []);
    }
}
