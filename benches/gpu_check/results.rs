//! The results of a run as `results.json`.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::journal::{Ended, Verdict};
use crate::supervisor::Shown;
use crate::table;

/// A stage of a back end.
pub struct Part {
    pub flavour: String,
    pub stage: String,
    pub shown: Shown,
}

impl Part {
    fn to_json(&self) -> Value {
        let cases: Vec<Value> = self.shown.ended.iter().map(Ended::to_json).collect();
        json!({
            "back end": self.flavour,
            "stage": self.stage,
            "seconds": self.shown.seconds,
            "unfinished": self.shown.unfinished,
            "cases": cases,
        })
    }

    pub fn wrong(&self) -> impl Iterator<Item = &Ended> {
        let ended = self.shown.ended.iter();
        ended.filter(|ended| ended.verdict == Verdict::Wrong)
    }
}

/// `facts` are those of the build and the host.
pub fn save(path: &Path, facts: &Value, parts: &[Part]) -> io::Result<()> {
    let stages: Vec<Value> = parts.iter().map(Part::to_json).collect();
    let results = json!({
        "format": "burn-scan gpu_check 1",
        "facts": facts,
        "page": table::page(parts),
        "stages": stages,
    });
    fs::write(path, format!("{results:#}\n"))
}
