//! The process of one stage: it takes case after case until its time is up.
//!
//! A case that panics is wrong, and ends the process: a device that has failed would fail every case after it. The
//! supervisor starts the next process after that case.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use scan_testing::tensors::panic_message;
use serde_json::{Map, Value};

use crate::journal::{Ended, Journal, Verdict};

/// The exit status of a process that a case has ended.
const FAILED_CASE: i32 = 3;

/// What came of a case.
pub enum Outcome {
    Right(Map<String, Value>),
    Wrong(String),
    LeftOut(String),
}

/// Figures under their names.
pub fn figures<const N: usize>(named: [(&str, Value); N]) -> Map<String, Value> {
    named
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// The cases that are this process's.
pub struct Turn {
    pub seconds: f64,
    /// Which of how many processes it is: they take cases in turn.
    pub shard: (usize, usize),
    /// An earlier process of the same shard has taken all cases up to and with this one.
    pub after: Option<String>,
}

struct Stage {
    journal: Journal,
    turn: Turn,
    begun: Instant,
    seen: usize,
}

static STAGE: Mutex<Option<Stage>> = Mutex::new(None);

fn stage() -> MutexGuard<'static, Option<Stage>> {
    STAGE.lock().expect("no case panics with the stage")
}

pub fn start(journal: &Path, turn: Turn) {
    *stage() = Some(Stage {
        journal: Journal::append_to(journal).expect("the journal can be written"),
        turn,
        begun: Instant::now(),
        seen: 0,
    });
}

pub fn finish() {
    if let Some(mut stage) = stage().take() {
        stage.journal.done();
    }
}

/// Runs a case, if it is this process's turn and there is time.
pub fn case(name: &str, run: impl FnOnce() -> Outcome) {
    if !begin(name) {
        return;
    }
    let begun = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(run));
    let has_failed = outcome.is_err();
    let outcome = outcome
        .unwrap_or_else(|panic| Outcome::Wrong(format!("panicked: {}", panic_message(&*panic))));
    end(name, outcome, begun.elapsed());
    if has_failed {
        std::process::exit(FAILED_CASE);
    }
}

fn begin(name: &str) -> bool {
    let mut stage = stage();
    let stage = stage.as_mut().expect("a stage has been started");
    let (of_shard, shards) = stage.turn.shard;
    let is_ours = stage.seen % shards == of_shard;
    stage.seen += 1;
    if !is_ours {
        return false;
    }
    if let Some(after) = &stage.turn.after {
        if after == name {
            stage.turn.after = None;
        }
        return false;
    }
    if stage.begun.elapsed() > Duration::from_secs_f64(stage.turn.seconds) {
        let ended = ended(name, Outcome::LeftOut("no time left".into()), 0.);
        stage.journal.end(&ended);
        return false;
    }
    stage.journal.begin(name);
    true
}

fn end(name: &str, outcome: Outcome, took: Duration) {
    let ended = ended(name, outcome, took.as_secs_f64());
    if let Some(stage) = stage().as_mut() {
        stage.journal.end(&ended);
    }
}

fn ended(name: &str, outcome: Outcome, seconds: f64) -> Ended {
    let (verdict, detail, figures) = match outcome {
        Outcome::Right(figures) => (Verdict::Right, String::new(), figures),
        Outcome::Wrong(detail) => (Verdict::Wrong, detail, Map::new()),
        Outcome::LeftOut(detail) => (Verdict::LeftOut, detail, Map::new()),
    };
    Ended {
        case: name.to_owned(),
        verdict,
        // One line, whatever a device says.
        detail: detail.split_whitespace().collect::<Vec<_>>().join(" "),
        seconds,
        figures,
    }
}
