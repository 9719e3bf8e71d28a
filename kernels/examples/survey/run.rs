//! The run: at every size, validates and then times every subject.

use crate::data::Data;
use crate::device::Opened;
use crate::size;
use crate::subject::{Buffers, Kind, Subject, capacity};
use crate::validate::{Oracle, Trial, UNWRITTEN};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use scan_testing::kernels::upload;
use std::io::{IsTerminal, stderr};
use std::time::Duration;

/// What became of one subject at one size.
pub struct Record {
    pub subject: Subject,
    pub n: usize,
    /// The elements that it scans: n, rounded to its layout.
    pub elements: usize,
    /// How often it was validated.
    pub runs: usize,
    pub outcome: Outcome,
}

pub enum Outcome {
    /// The median time of a launch.
    Valid(Duration),
    /// The number of wrong runs, and what was wrong first.
    Wrong { runs: usize, first: String },
    /// Why the routine does not serve the size.
    Refused(String),
    /// The device has no plane operations.
    Unsupported,
}

impl Record {
    pub fn elements_per_second(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Valid(time) => Some(self.elements as f64 / time.as_secs_f64()),
            _ => None,
        }
    }
}

pub struct Survey {
    pub device: Opened,
    pub sizes: Vec<usize>,
    /// Validations of each subject at each size.
    pub rounds: usize,
    /// Samples of a time.
    pub samples: usize,
}

impl Survey {
    pub fn run(&self) -> Vec<Record> {
        let runs_here = |kind: &Kind| kind.runs_on(&self.device.client);
        let (able, unable): (Vec<_>, Vec<_>) = Kind::all().partition(runs_here);
        for kind in &unable {
            println!(
                "Unsupported: {} needs plane operations, which this device does not advertise",
                kind.name()
            );
        }
        let able: Vec<Subject> = able.into_iter().flat_map(Kind::subjects).collect();
        let unable: Vec<Subject> = unable.into_iter().flat_map(Kind::subjects).collect();

        let bar = progress_bar(self.sizes.len() * able.len() * (self.rounds + 1));
        let mut records = Vec::new();
        for &n in &self.sizes {
            records.extend(self.size(n, &able, &bar));
            records.extend(unable.iter().map(|&subject| Record {
                subject,
                n,
                elements: 0,
                runs: 0,
                outcome: Outcome::Unsupported,
            }));
        }
        bar.finish_and_clear();
        records
    }

    fn size(&self, n: usize, subjects: &[Subject], bar: &ProgressBar) -> Vec<Record> {
        let client = &self.device.client;
        let mut trials: Vec<Trial> = subjects
            .iter()
            .map(|&subject| Trial::new(client, subject, n))
            .collect();
        let blank = upload(client, &vec![UNWRITTEN; capacity(n)]);
        let mut buffers = Buffers {
            input: blank.clone(),
            output: client.empty(capacity(n) * size_of::<i32>()),
            capacity: capacity(n),
        };
        bar.set_message(format!("n = {}: validating", size::spell(n)));
        for round in 0..self.rounds {
            let data = Data::ALL[round % Data::ALL.len()];
            let mut values = data.values(n, round as u64);
            values.resize(capacity(n), 0);
            buffers.input = upload(client, &values);
            let mut oracle = Oracle::new(values);
            for trial in &mut trials {
                let name = trial.subject.name();
                if let Some(wrong) = trial.validate(client, &blank, &buffers, &mut oracle) {
                    let n = size::spell(n);
                    bar.suspend(|| eprintln!("WRONG: {name}, n = {n}, {data:?} data: {wrong}"));
                }
                bar.inc(1);
            }
        }
        bar.set_message(format!("n = {}: timing", size::spell(n)));
        let record = |trial: Trial| {
            let outcome = trial.finish(client, &buffers, self.samples);
            bar.inc(1);
            Record {
                subject: trial.subject,
                n,
                elements: trial.layout.elements,
                runs: trial.runs,
                outcome,
            }
        };
        trials.into_iter().map(record).collect()
    }
}

/// On standard error, and only where that is a terminal.
fn progress_bar(steps: usize) -> ProgressBar {
    let target = if stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{elapsed_precise} {bar:40} {percent:>3} %  {msg}")
        .expect("a valid template");
    ProgressBar::with_draw_target(Some(steps as u64), target).with_style(style)
}
