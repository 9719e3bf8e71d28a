//! The steps of a command, and their summary at its end.

use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::ensure;

use crate::Result;
use crate::process::{line_of, run_printing_to};

/// A step: its name, how it ended, and how long it took.
type Done = (String, Result<()>, Duration);

/// Steps that run one by one, in parallel with others. [`Steps::join`] shows what they print.
pub(crate) struct Background(JoinHandle<Vec<(Done, Vec<u8>)>>);

impl Background {
    /// A step without a command fails.
    pub(crate) fn start(steps: Vec<(&str, Result<Command>)>) -> Self {
        let steps: Vec<_> = (steps.into_iter())
            .map(|(name, command)| (name.to_owned(), command))
            .collect();
        for (name, command) in &steps {
            eprintln!("\n== {name}, beside what follows");
            if let Ok(command) = command {
                eprintln!("$ {}", line_of(command));
            }
        }
        Self(thread::spawn(|| {
            let run = |(name, command): (String, Result<Command>)| {
                let start = Instant::now();
                let mut printed = Vec::new();
                let result = command.and_then(|command| run_printing_to(command, &mut printed));
                ((name, result, start.elapsed()), printed)
            };
            steps.into_iter().map(run).collect()
        }))
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

    /// Waits for the steps that run in parallel with the others, and shows what they printed.
    pub(crate) fn join(&mut self, background: Background) {
        let done = background.0.join().expect("steps return their errors");
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
