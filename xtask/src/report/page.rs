//! docs/performance.md. The files beside this one describe method and tuning. Every recorded run adds its results.

use std::path::{Path, PathBuf};

use fs_err as fs;

use super::machine::is_software;
use super::record::Run;
use super::{gpu, plot, table};
use crate::Result;
use crate::process::root;

/// The places of a page and of what belongs to it.
pub(crate) struct Home {
    page: PathBuf,
    images: PathBuf,
    runs: PathBuf,
}

impl Home {
    /// The page of the repository.
    pub(crate) fn of_repository() -> Self {
        let root = root();
        Self {
            page: root.join("docs/performance.md"),
            images: root.join("docs/images"),
            runs: root.join("benches/results"),
        }
    }

    /// A page in a folder of its own.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self {
            page: folder.join("performance.md"),
            images: folder.join("images"),
            runs: folder.join("results"),
        }
    }

    /// Records a run. It replaces the last run of its name.
    pub(crate) fn record(&self, run: &Run) -> Result<()> {
        fs::create_dir_all(&self.runs)?;
        let path = self.runs.join(format!("{}.csv", run.name));
        Ok(fs::write(path, run.to_csv())?)
    }

    /// Records the results of `gpu_check`.
    pub(crate) fn record_gpu(&self, results: &Path) -> Result<()> {
        gpu::record(results, &self.runs)
    }

    /// Writes the page and its plots, from all recorded runs.
    pub(crate) fn write(&self) -> Result<()> {
        let runs = Run::all(&self.runs)?;
        self.remove_plots()?;
        let mut sections = String::new();
        for run in &runs {
            let plots = plot::plots(run, &self.images)?;
            sections += &section(run, &plots);
        }
        let gpus = gpu::sections(&self.runs)?;
        fs::write(&self.page, page(&runs, &gpus, &sections))?;
        println!("wrote {}", self.page.display());
        Ok(())
    }

    /// Removes all plots. Otherwise that of a run that is no longer recorded would stay.
    fn remove_plots(&self) -> Result<()> {
        for entry in fs::read_dir(&self.images).into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("perf-") && name.ends_with(".svg") {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// `gpus` are the sections of `gpu_check`, `sections` those of the benches.
fn page(runs: &[Run], gpus: &str, sections: &str) -> String {
    let adapters: Vec<&str> = runs
        .iter()
        .filter_map(|run| run.facts.get("adapter"))
        .collect();
    let mut results = String::from("\n## Results\n");
    if runs.is_empty() {
        results += "\nNot measured.\n";
    }
    if gpus.is_empty() && adapters.iter().all(|adapter| is_software(adapter)) {
        results += "\nOn a GPU: not measured.\n";
    }
    [
        include_str!("head.md"),
        &results,
        gpus,
        sections,
        "\n",
        include_str!("tail.md"),
        "\n",
        include_str!("../../../benches/results/compiled.md"),
    ]
    .concat()
}

/// The results of one run.
fn section(run: &Run, plots: &[(String, String)]) -> String {
    let facts = run
        .facts
        .iter()
        .map(|(key, value)| format!("| {key} | {value} |\n"));
    let facts: String = facts.collect();
    let images = plots
        .iter()
        .map(|(file, title)| format!("\n![{title}](images/{file})\n"));
    let images: String = images.collect();
    let slower = table::slower(run);
    let tables = table::tables(run);
    let wrong = if run.measures.iter().any(|measure| measure.wrong) {
        "\n† computes something else, such as sums rounded at every step, and is measured all the same.\n"
    } else {
        ""
    };
    format!(
        "\n### {}\n\n| | |\n|---|---|\n{facts}\n#### Where it is slower\n\n{slower}{images}{tables}{wrong}",
        run.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::tests::run_of;

    #[test]
    fn a_page_without_runs_says_so() {
        let page = page(&[], "", "");
        assert!(page.contains("## Results\n\nNot measured.\n\nOn a GPU: not measured.\n"));
        for heading in ["# Performance\n", "\n## Method\n", "\n## Tuning\n"] {
            assert_eq!(page.matches(heading).count(), 1, "{heading}");
        }
    }

    #[test]
    fn a_run_is_shown_with_its_machine() {
        let mut run = run_of(&[("cumsum/flex/f32/1x1024/dim1", "burn-scan", 400.0)]);
        run.facts.push("adapter", "NVIDIA H100 (CUDA)");
        let plots = [("perf-test-cumsum-flex.svg".to_owned(), "sums".to_owned())];
        let section = section(&run, &plots);
        assert!(section.starts_with("\n### test\n"), "{section}");
        for part in [
            "| adapter | NVIDIA H100 (CUDA) |",
            "![sums](images/perf-test-cumsum-flex.svg)",
        ] {
            assert!(section.contains(part), "{section}");
        }
        assert!(!page(&[run], "", &section).contains("On a GPU: not measured"));
    }
}
