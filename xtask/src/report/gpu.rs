//! The results of the bench `gpu_check`, from a GPU of this project or of a reader: `report --gpu results.json`.
//!
//! The program has made its own page, which says what falls short of the goals. Here it becomes a section of
//! docs/performance.md, with the build and the host that gave it. Results of other commits stay where their files have
//! names of their own.

use std::path::Path;

use anyhow::{Context, ensure};
use fs_err as fs;
use serde_json::Value;

use super::collect::json;
use crate::Result;

const FORMAT: &str = "burn-scan gpu_check 1";

/// What the names of recorded files begin with.
const PREFIX: &str = "gpu-";

/// Records the results in a folder. They replace those of the same adapter.
pub(crate) fn record(results: &Path, runs: &Path) -> Result<()> {
    let value = json(results)?;
    let name = name_of(&value).with_context(|| results.display().to_string())?;
    fs::create_dir_all(runs)?;
    fs::copy(results, runs.join(format!("{PREFIX}{name}.json")))?;
    Ok(())
}

/// The sections of all recorded results, by name.
pub(crate) fn sections(runs: &Path) -> Result<String> {
    let mut sections = Vec::new();
    for entry in fs::read_dir(runs).into_iter().flatten() {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(PREFIX) && name.ends_with(".json") {
            sections.push(section(&json(&path)?)?);
        }
    }
    sections.sort();
    Ok(sections.concat())
}

/// The adapter as a name of a file.
fn name_of(results: &Value) -> Result<String> {
    ensure!(results["format"] == FORMAT, "the format is not `{FORMAT}`");
    let stages = results["stages"].as_array().into_iter().flatten();
    let cases = stages.filter_map(|stage| stage["cases"].as_array());
    let mut devices = cases.flatten().filter(|case| case["end"] == "device");
    let adapter = devices.find_map(|case| case["figures"]["adapter"].as_str());
    let adapter = adapter.context("no device in these results")?;
    let name = adapter.split('(').next().unwrap_or(adapter).to_lowercase();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    Ok(words.join("-"))
}

fn section(results: &Value) -> Result<String> {
    let name = name_of(results)?;
    let page = results["page"].as_str().context("no page")?;
    let facts = results["facts"].as_object().into_iter().flatten();
    let facts = facts.map(|(key, value)| {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), |text| text.replace('\n', "; "));
        format!("| {key} | {value} |\n")
    });
    let facts: String = facts.collect();
    let build = results["facts"]["build"].as_str().unwrap_or_default();
    let commit = build.lines().find_map(|line| line.strip_prefix("commit: "));
    Ok(format!(
        "\n### {name}, commit {}\n\n| | |\n|---|---|\n{facts}\n{}\n",
        commit.unwrap_or("unknown"),
        page.trim()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULTS: &str = r#"{
        "format": "burn-scan gpu_check 1",
        "facts": {"build": "commit: 1\nbuilt: today", "cores": 16},
        "page": "| a table |\n",
        "stages": [{"stage": "facts", "cases": [
            {"end": "copy of 2^22 bytes", "figures": {}},
            {"end": "device", "figures": {"adapter": "NVIDIA H100 80GB (CUDA), plane size 32-32"}}
        ]}]
    }"#;

    #[test]
    fn results_become_a_section() {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("results.json");
        fs::write(&results, RESULTS).unwrap();
        let runs = folder.path().join("runs");
        record(&results, &runs).unwrap();
        assert!(runs.join("gpu-nvidia-h100-80gb.json").is_file());
        let sections = sections(&runs).unwrap();
        assert!(
            sections.starts_with("\n### nvidia-h100-80gb, commit 1\n"),
            "{sections}"
        );
        for part in [
            "| build | commit: 1; built: today |",
            "| cores | 16 |",
            "| a table |",
        ] {
            assert!(sections.contains(part), "{sections}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("results.json");
        fs::write(&results, "{}").unwrap();
        let error = format!("{:#}", record(&results, folder.path()).unwrap_err());
        assert!(error.contains("format"), "{error}");
    }
}
