//! A recorded run: what was measured and on which machine, as a CSV that is committed and diffs line by line.
//!
//! ```text
//! # cores: 2
//! # commit: 0123456789ab
//! case,contender,median_ns,low_ns,high_ns,bytes,answer
//! cumsum/flex/f32/1x1024/dim1,burn-scan,310.2,308.0,313.9,8192,
//! ```
//! Low and high are the ends of criterion's confidence interval for the median. Peers outside of criterion repeat the
//! median. `answer` is `wrong` for a peer that computes something else. It is measured all the same.

use std::fmt::{self, Display};
use std::path::Path;

use anyhow::{Context, ensure};
use fs_err as fs;

use super::case::Name;
use crate::Result;

const HEADER: &str = "case,contender,median_ns,low_ns,high_ns,bytes,answer";

/// The facts of a run beside its figures, in `key: value` lines. A key may repeat.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Facts(Vec<(String, String)>);

impl Facts {
    pub(crate) fn push(&mut self, key: &str, value: &str) {
        // A value has one line, whatever a program printed.
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        self.0.push((key.to_owned(), value));
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    pub(crate) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let of_key = self.0.iter().filter(move |(name, _)| name == key);
        of_key.map(|(_, value)| value.as_str())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let pairs = lines.filter_map(|line| line.split_once(": "));
        Self(
            pairs
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
        )
    }

    /// The facts without those of the given keys.
    pub(crate) fn without(mut self, keys: &[&str]) -> Self {
        self.0.retain(|(key, _)| !keys.contains(&key.as_str()));
        self
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

impl Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter()
            .try_for_each(|(key, value)| writeln!(f, "{key}: {value}"))
    }
}

/// One contender in one case.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measure {
    pub(crate) case: String,
    pub(crate) contender: String,
    pub(crate) median_ns: f64,
    pub(crate) low_ns: f64,
    pub(crate) high_ns: f64,
    /// What the operation must read and write.
    pub(crate) bytes: u64,
    pub(crate) wrong: bool,
}

impl Measure {
    /// Whether it is `burn-scan`, `burn-scan-padded`, ..
    pub(crate) fn is_ours(&self) -> bool {
        self.contender.starts_with("burn-scan")
    }

    pub(crate) fn is_copy(&self) -> bool {
        self.contender.starts_with("copy-")
    }

    pub(crate) fn gb_per_s(&self) -> f64 {
        self.bytes as f64 / self.median_ns
    }

    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        let [case, contender, median, low, high, bytes, answer] = fields[..] else {
            return None;
        };
        Name::parse(case)?;
        Some(Self {
            case: case.to_owned(),
            contender: contender.to_owned(),
            median_ns: median.parse().ok()?,
            low_ns: low.parse().ok()?,
            high_ns: high.parse().ok()?,
            bytes: bytes.parse().ok()?,
            wrong: answer == "wrong",
        })
    }
}

impl Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            case,
            contender,
            median_ns,
            low_ns,
            high_ns,
            bytes,
            wrong,
        } = self;
        let answer = if *wrong { "wrong" } else { "" };
        write!(
            f,
            "{case},{contender},{median_ns:.1},{low_ns:.1},{high_ns:.1},{bytes},{answer}"
        )
    }
}

/// A run under the name of its file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) facts: Facts,
    pub(crate) measures: Vec<Measure>,
}

impl Run {
    pub(crate) fn to_csv(&self) -> String {
        let facts = self
            .facts
            .iter()
            .map(|(key, value)| format!("# {key}: {value}"));
        let measures = self.measures.iter().map(ToString::to_string);
        let lines: Vec<String> = facts.chain([HEADER.to_owned()]).chain(measures).collect();
        lines.join("\n") + "\n"
    }

    pub(crate) fn from_csv(name: &str, text: &str) -> Result<Self> {
        let facts = Facts::parse(text.lines().filter_map(|line| line.strip_prefix("# ")));
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        ensure!(
            lines.next() == Some(HEADER),
            "{name}.csv: the first line without `#` is not `{HEADER}`"
        );
        let measure = |line| {
            let measure = Measure::parse(line);
            measure.with_context(|| format!("{name}.csv: cannot read `{line}`"))
        };
        let measures: Result<Vec<Measure>> = lines.map(measure).collect();
        Ok(Self {
            name: name.to_owned(),
            facts,
            measures: measures?,
        })
    }

    /// Every run in a folder, by name. A missing folder has none.
    pub(crate) fn all(folder: &Path) -> Result<Vec<Self>> {
        let mut runs = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "csv") {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                runs.push(Self::from_csv(&name, &fs::read_to_string(&path)?)?);
            }
        }
        runs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_read_as_it_was_written() {
        let mut facts = Facts::default();
        facts.push("cpu", "Some CPU: 2 GHz");
        facts.push("left out", "torch: not\nimportable");
        let measure = |contender: &str, wrong| Measure {
            case: "cumsum/flex/f32/1x1024/dim1".to_owned(),
            contender: contender.to_owned(),
            median_ns: 310.5,
            low_ns: 300.0,
            high_ns: 320.0,
            bytes: 8192,
            wrong,
        };
        let measures = vec![measure("burn-scan", false), measure("burn", true)];
        let run = Run {
            name: "x".to_owned(),
            facts,
            measures,
        };
        assert_eq!(run.facts.get("left out"), Some("torch: not importable"));
        assert_eq!(Run::from_csv("x", &run.to_csv()).unwrap(), run);
    }

    #[test]
    fn a_damaged_line_is_named() {
        let read = |line: &str| Run::from_csv("x", &format!("{HEADER}\n{line}\n"));
        assert!(read("cumsum/flex/f32/1x1/dim1,burn,1,1,1,8,").is_ok());
        for line in [
            "scan,burn,1,1,1,8,",
            "cumsum/flex/f32/1x1/dim1,burn,one,1,1,8,",
            "x",
        ] {
            assert!(read(line).unwrap_err().to_string().contains(line));
        }
        assert!(Run::from_csv("x", "").is_err());
    }
}
