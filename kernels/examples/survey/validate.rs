//! One subject at one size: run on the device, compared with the host.

use crate::common::download;
use crate::run::Outcome;
use crate::subject::{Buffers, Layout, Subject};
use crate::timing::batches;
use cubecl::client::Client;
use cubecl::server::Handle;
use cubecl_scan::scan::ScanOptions;
use std::iter;

/// What the output holds before each launch, so that results of an earlier launch do not pass.
pub const UNWRITTEN: i32 = 0x5ca1_ab1e;

/// Scans on the host. Each is computed once for all subjects with the same layout.
pub struct Oracle {
    values: Vec<i32>,
    known: Vec<(Layout, Option<ScanOptions>, Vec<i32>)>,
}

impl Oracle {
    /// Scans of these input values.
    pub fn new(values: Vec<i32>) -> Self {
        Self {
            values,
            known: Vec::new(),
        }
    }

    fn expected(&mut self, layout: &Layout, scan: Option<ScanOptions>) -> &[i32] {
        let same = |known: &(Layout, Option<ScanOptions>, _)| known.0 == *layout && known.1 == scan;
        let at = self.known.iter().position(same).unwrap_or_else(|| {
            let expected = layout.expected(&self.values, scan);
            self.known.push((layout.clone(), scan, expected));
            self.known.len() - 1
        });
        &self.known[at].2
    }
}

/// A subject at a size, and its results so far.
pub struct Trial {
    pub subject: Subject,
    pub layout: Layout,
    pub runs: usize,
    refused: Option<String>,
    /// The first mistake, and the number of wrong runs.
    wrong: Option<(String, usize)>,
}

impl Trial {
    pub fn new(client: &Client, subject: Subject, n: usize) -> Self {
        Self {
            subject,
            layout: subject.layout(client, n),
            runs: 0,
            refused: None,
            wrong: None,
        }
    }

    /// Runs the subject once. Returns the first mistake of all runs, when it happens.
    pub fn validate(
        &mut self,
        client: &Client,
        blank: &Handle,
        buffers: &Buffers,
        oracle: &mut Oracle,
    ) -> Option<&str> {
        if self.refused.is_some() {
            return None;
        }
        buffers.blank(client, blank);
        if let Err(error) = self.subject.launch(client, buffers, &self.layout) {
            self.refused = Some(error.to_string());
            return None;
        }
        self.runs += 1;
        let found = download::<i32>(client, buffers.output.clone());
        let expected = oracle.expected(&self.layout, self.subject.scan());
        let mistake = match found {
            Ok(found) => mistake(&found, expected)?,
            Err(error) => error.to_string(),
        };
        match &mut self.wrong {
            Some((_, runs)) => {
                *runs += 1;
                None
            }
            wrong @ None => Some(&wrong.insert((mistake, 1)).0),
        }
    }

    /// Times the subject, unless it was refused or wrong.
    pub fn finish(&self, client: &Client, buffers: &Buffers, samples: usize) -> Outcome {
        if let Some(reason) = &self.refused {
            return Outcome::Refused(reason.clone());
        }
        if let Some((first, runs)) = &self.wrong {
            return Outcome::Wrong {
                runs: *runs,
                first: first.clone(),
            };
        }
        let times = batches(client, samples, || {
            let launched = self.subject.launch(client, buffers, &self.layout);
            launched.expect("what was served before is served again");
        });
        Outcome::Valid(times.median)
    }
}

/// How `found` differs from `expected` with nothing written after it.
fn mistake(found: &[i32], expected: &[i32]) -> Option<String> {
    let (head, tail) = found.split_at(expected.len());
    if head == expected && tail.iter().all(|value| *value == UNWRITTEN) {
        return None;
    }
    let right = expected.iter().copied().chain(iter::repeat(UNWRITTEN));
    let pairs = found.iter().copied().zip(right).enumerate();
    let wrong: Vec<_> = pairs.filter(|(_, (found, right))| found != right).collect();
    let (at, (found, right)) = wrong[0];
    Some(format!(
        "{} of {} wrong, first at {at}: {} instead of {}",
        wrong.len(),
        expected.len(),
        spell(found),
        spell(right)
    ))
}

fn spell(value: i32) -> String {
    match value {
        UNWRITTEN => "nothing".into(),
        _ => value.to_string(),
    }
}
