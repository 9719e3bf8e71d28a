//! What `cargo check` says: errors and warnings by file, and the packages that it did not reach.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use serde_json::Value;

use crate::Result;
use crate::metadata::packages;

/// This many messages of a file are printed. The rest are only counted.
const SHOWN: usize = 10;

/// A line, and the message with its code.
type Message = (u64, String);

/// Messages by file. A set, because cargo compiles a file of a library twice: alone and with its unit tests.
#[derive(Default)]
struct Messages(BTreeMap<String, BTreeSet<Message>>);

pub(crate) struct Findings {
    errors: Messages,
    /// With the pinned versions there are none, so the next version causes each.
    warnings: Messages,
    /// The packages of the workspace whose libraries cargo has not mentioned, by the path of their manifests.
    unmentioned: BTreeMap<String, String>,
}

impl Findings {
    /// Nothing yet, for the workspace in `tree`.
    pub(crate) fn of(tree: &Path) -> Result<Self> {
        let name = |package: &Value| {
            let path = package["manifest_path"].as_str()?.to_owned();
            Some((path, package["name"].as_str()?.to_owned()))
        };
        let packages = packages(tree)?;
        let libraries = packages.iter().filter(|package| has_library(package));
        Ok(Self {
            errors: Messages::default(),
            warnings: Messages::default(),
            unmentioned: libraries.filter_map(name).collect(),
        })
    }

    /// Adds a line of `cargo check --message-format=json`.
    pub(crate) fn add(&mut self, line: &str) {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            return;
        };
        if let Some(path) = line["manifest_path"].as_str() {
            self.unmentioned.remove(path);
        }
        let message = &line["message"];
        let messages = match message["level"].as_str() {
            Some("error") => &mut self.errors,
            Some("warning") => &mut self.warnings,
            _ => return,
        };
        if let Some((file, message)) = message_of(message) {
            messages.0.entry(file).or_default().insert(message);
        }
    }

    pub(crate) fn errors(&self) -> usize {
        self.errors.count()
    }
}

impl Messages {
    fn count(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }
}

fn has_library(package: &Value) -> bool {
    let targets = package["targets"].as_array().into_iter().flatten();
    targets.into_iter().any(|target| target["kind"][0] == "lib")
}

/// The file of a message, and the message. The closing line that counts the errors has none.
fn message_of(message: &Value) -> Option<(String, Message)> {
    let mut spans = message["spans"].as_array()?.iter();
    let span = spans.find(|span| span["is_primary"] == true)?;
    let text = message["message"].as_str()?;
    let text = text.lines().next().unwrap_or_default();
    let text = match message["code"]["code"].as_str() {
        Some(code) => format!("{code} {text}"),
        None => text.to_owned(),
    };
    let file = span["file_name"].as_str()?.to_owned();
    Some((file, (span["line_start"].as_u64()?, text)))
}

impl fmt::Display for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (file, messages) in &self.0 {
            write!(f, "\n{:>6}  {file}", messages.len())?;
            for (line, text) in messages.iter().take(SHOWN) {
                write!(f, "\n{line:>12}: {text}")?;
            }
            let rest = messages.len().saturating_sub(SHOWN);
            if rest > 0 {
                write!(f, "\n              … and {rest} more")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, messages) in [("errors", &self.errors), ("warnings", &self.warnings)] {
            let (count, files) = (messages.count(), messages.0.len());
            writeln!(f, "{count} {kind} in {files} files{messages}")?;
        }
        for package in self.unmentioned.values() {
            writeln!(f, "not compiled: {package}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(level: &str, line: u32) -> String {
        format!(
            r#"{{"reason":"compiler-message","manifest_path":"/w/kernels/Cargo.toml","message":{{
            "level":"{level}","message":"no `x`\nmore","code":{{"code":"E0432"}},"spans":[
            {{"file_name":"b.rs","line_start":1,"is_primary":false}},
            {{"file_name":"a.rs","line_start":{line},"is_primary":true}}]}}}}"#
        )
    }

    #[test]
    fn errors_are_counted_once_by_file() {
        let packages = [("/w/Cargo.toml", "top"), ("/w/kernels/Cargo.toml", "low")];
        let packages = packages.map(|(path, name)| (path.to_owned(), name.to_owned()));
        let mut findings = Findings {
            errors: Messages::default(),
            warnings: Messages::default(),
            unmentioned: packages.into(),
        };
        for (level, line) in [("error", 7), ("error", 7), ("error", 3), ("warning", 1)] {
            findings.add(&message(level, line));
        }
        findings.add(r#"{"message":{"level":"error","message":"aborting","spans":[]}}"#);
        findings.add("no JSON");
        assert_eq!(findings.errors(), 2);
        let expected = "2 errors in 1 files\n     2  a.rs\n           3: E0432 no `x`\n\
                        \x20          7: E0432 no `x`\n1 warnings in 1 files\n     1  a.rs\n\
                        \x20          1: E0432 no `x`\nnot compiled: top\n";
        assert_eq!(findings.to_string(), expected);
    }
}
