//! The steps of a command, and their summary at its end.

use std::collections::VecDeque;
use std::iter;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::ensure;

use crate::Result;
use crate::process::{line_of, run, run_printing_to};

/// A step: its name, how it ended, and how long it took.
type Done = (String, Result<()>, Duration);

/// Steps that run one by one, in parallel with others. [`Steps::join`] helps with them, and shows what they printed.
pub(crate) struct Background {
    waiting: Arc<Mutex<VecDeque<Waiting>>>,
    thread: JoinHandle<Vec<(Done, Vec<u8>)>>,
}

/// A step that has not started. Without a command it fails.
type Waiting = (&'static str, Result<Command>);

fn next(waiting: &Mutex<VecDeque<Waiting>>) -> Option<Waiting> {
    waiting.lock().expect("no step panics").pop_front()
}

impl Background {
    pub(crate) fn start(steps: Vec<Waiting>) -> Self {
        for (name, command) in &steps {
            eprintln!("\n== {name}, beside what follows or after it");
            if let Ok(command) = command {
                eprintln!("$ {}", line_of(command));
            }
        }
        let waiting = Arc::new(Mutex::new(VecDeque::from(steps)));
        let of_thread = waiting.clone();
        let run = |(name, command): Waiting| {
            let start = Instant::now();
            let mut printed = Vec::new();
            let result = command.and_then(|command| run_printing_to(command, &mut printed));
            ((name.to_owned(), result, start.elapsed()), printed)
        };
        let thread = thread::spawn(move || iter::from_fn(|| next(&of_thread)).map(run).collect());
        Self { waiting, thread }
    }
}

/// Steps that all run, even after one failed. The summary has one line for each.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Done>,
}

impl Steps {
    /// Whether the step succeeded.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> Result<()>) -> bool {
        eprintln!("\n== {name}");
        let start = Instant::now();
        let result = work();
        self.note(name, result, start.elapsed())
    }

    /// Runs the steps in the background that have not started, one by one, waits for those that have, and shows what
    /// they printed.
    pub(crate) fn join(&mut self, background: Background) {
        while let Some((name, command)) = next(&background.waiting) {
            self.step(name, || run(&mut command?));
        }
        let done = background.thread.join().expect("steps return their errors");
        for ((name, result, took), printed) in done {
            eprintln!("\n== {name}, beside the steps above");
            eprint!("{}", String::from_utf8_lossy(&printed));
            self.note(&name, result, took);
        }
    }

    fn note(&mut self, name: &str, result: Result<()>, took: Duration) -> bool {
        let ok = result.is_ok();
        if let Err(error) = &result {
            eprintln!("{error:#}");
        }
        self.done.push((name.to_owned(), result, took));
        ok
    }

    /// Prints the summary. A failed step is an error.
    pub(crate) fn finish(self) -> Result<()> {
        println!();
        for (name, result, took) in &self.done {
            let state = if result.is_ok() { "ok" } else { "FAILED" };
            println!("{state:>6} {:>7.1} s  {name}", took.as_secs_f64());
        }
        let failed = self.done.iter().filter(|(_, r, _)| r.is_err()).count();
        ensure!(failed == 0, "{failed} of {} steps failed", self.done.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn steps_that_have_not_started_run_where_there_is_time() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            Ok(command)
        };
        let folder = tempfile::tempdir().unwrap();
        let [started, over] = ["started", "over"].map(|name| folder.path().join(name));
        let (at, until) = (started.display(), over.display());
        let mut steps = Steps::default();
        // The first step ends after the third, so another thread must run that.
        let background = Background::start(vec![
            (
                "first",
                shell(&format!(
                    "touch {at}; until [ -e {until} ]; do sleep 0.1; done"
                )),
            ),
            ("second", shell("true")),
            ("third", shell(&format!("touch {until}; exit 1"))),
        ]);
        while !started.exists() {
            thread::sleep(Duration::from_millis(10));
        }
        steps.join(background);
        let done: Vec<_> = steps
            .done
            .iter()
            .map(|(name, r, _)| (name.as_str(), r.is_ok()))
            .collect();
        assert_eq!(done, [("second", true), ("third", false), ("first", true)]);
    }
}
