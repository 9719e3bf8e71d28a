//! What the process of a stage writes while it runs, a line of JSON a fact, so that nothing is lost if it dies.
//!
//! ```text
//! {"begin": CASE}
//! {"end": CASE, "verdict": "right" | "wrong" | "left out", "detail": TEXT, "seconds": S, "figures": {..}}
//! {"done": true}
//! ```

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Right,
    Wrong,
    LeftOut,
}

impl Verdict {
    const ALL: [Verdict; 3] = [Verdict::Right, Verdict::Wrong, Verdict::LeftOut];

    pub fn name(self) -> &'static str {
        match self {
            Verdict::Right => "right",
            Verdict::Wrong => "wrong",
            Verdict::LeftOut => "left out",
        }
    }
}

/// A case that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub case: String,
    pub verdict: Verdict,
    /// What was wrong, or why the case was left out.
    pub detail: String,
    pub seconds: f64,
    pub figures: Map<String, Value>,
}

impl Ended {
    pub fn without_result(case: &str, verdict: Verdict, detail: String, seconds: f64) -> Self {
        Self {
            case: case.to_owned(),
            verdict,
            detail,
            seconds,
            figures: Map::new(),
        }
    }

    pub fn to_json(&self) -> Value {
        json!({
            "end": self.case,
            "verdict": self.verdict.name(),
            "detail": self.detail,
            "seconds": self.seconds,
            "figures": self.figures,
        })
    }

    fn from_json(line: &Value) -> Option<Self> {
        let verdict = line["verdict"].as_str()?;
        Some(Self {
            case: line["end"].as_str()?.to_owned(),
            verdict: Verdict::ALL.into_iter().find(|one| one.name() == verdict)?,
            detail: line["detail"].as_str()?.to_owned(),
            seconds: line["seconds"].as_f64()?,
            figures: line["figures"].as_object()?.clone(),
        })
    }
}

/// The writing end.
pub struct Journal(File);

impl Journal {
    pub fn append_to(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self(file))
    }

    pub fn begin(&mut self, case: &str) {
        self.line(&json!({ "begin": case }));
    }

    pub fn end(&mut self, ended: &Ended) {
        self.line(&ended.to_json());
    }

    pub fn done(&mut self) {
        self.line(&json!({ "done": true }));
    }

    /// One write, so that a process that dies leaves whole lines.
    fn line(&mut self, line: &Value) {
        let written = self.0.write_all(format!("{line}\n").as_bytes());
        written.expect("the journal can be written");
    }
}

/// What a journal says.
#[derive(Debug, Default, PartialEq)]
pub struct Story {
    pub ended: Vec<Ended>,
    /// The case that has begun and not ended.
    pub open: Option<String>,
    pub is_done: bool,
}

/// Reads a journal. A missing one is empty.
pub fn read(path: &Path) -> Story {
    let mut story = Story::default();
    let text = std::fs::read_to_string(path).unwrap_or_default();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        if let Some(case) = line["begin"].as_str() {
            story.open = Some(case.to_owned());
        } else if let Some(ended) = Ended::from_json(&line) {
            story.open = None;
            story.ended.push(ended);
        } else if line["done"] == true {
            story.is_done = true;
        }
    }
    story
}
