//! The table and the CSV file.

use crate::run::{Outcome, Record};
use crate::size;
use crate::subject::Kind;
use std::io::{self, Write};

/// Every algorithm at every size; inclusive and exclusive scans side by side.
pub fn table(out: &mut impl Write, records: &[Record]) -> io::Result<()> {
    let columns = format!("{:>12} {:>11}", "elements/s", "% of copy");
    writeln!(out, "\n{:32} {:^24}   {:^24}", "", "inclusive", "exclusive")?;
    writeln!(out, "{:22} {:>9} {columns}   {columns}", "algorithm", "n")?;
    for kind in Kind::all() {
        writeln!(out)?;
        let of_kind: Vec<&Record> = of_kind(records, kind).collect();
        if let [first, ..] = of_kind[..]
            && matches!(first.outcome, Outcome::Unsupported)
        {
            writeln!(out, "{:22} unsupported: no plane operations", kind.name())?;
            continue;
        }
        for one_size in of_kind.chunk_by(|a, b| a.n == b.n) {
            let n = size::spell(one_size[0].n);
            let cells: Vec<String> = one_size.iter().map(|one| cell(one, records)).collect();
            writeln!(out, "{:22} {n:>9} {}", kind.name(), cells.join("   "))?;
        }
    }
    Ok(())
}

fn cell(record: &Record, records: &[Record]) -> String {
    match &record.outcome {
        Outcome::Valid(_) => {
            let rate = record.elements_per_second().map(rate).unwrap_or_default();
            let percent = percent_of_copy(record, records).map(|percent| format!("{percent:.1}"));
            format!("{rate:>12} {:>11}", percent.unwrap_or_default())
        }
        Outcome::Wrong { runs, .. } => {
            format!("{:>24}", format!("WRONG in {runs} of {}", record.runs))
        }
        Outcome::Refused(_) => format!("{:>24}", "refused"),
        Outcome::Unsupported => format!("{:>24}", "unsupported"),
    }
}

/// One line for each subject and size.
pub fn csv(out: &mut impl Write, records: &[Record], device: &str) -> io::Result<()> {
    writeln!(
        out,
        "level,algorithm,scan,n,elements,runs,wrong_runs,outcome,seconds,elements_per_second,percent_of_copy,device"
    )?;
    for record in records {
        let subject = record.subject;
        let (outcome, reason, seconds) = match &record.outcome {
            Outcome::Valid(time) => ("valid", "", Some(time.as_secs_f64())),
            Outcome::Wrong { first, .. } => ("wrong", first.as_str(), None),
            Outcome::Refused(reason) => ("refused", reason.as_str(), None),
            Outcome::Unsupported => ("unsupported", "no plane operations", None),
        };
        let wrong_runs = match record.outcome {
            Outcome::Wrong { runs, .. } => runs,
            _ => 0,
        };
        let outcome = match reason {
            "" => outcome.to_owned(),
            _ => format!("{outcome}: {reason}"),
        };
        writeln!(
            out,
            "{},{},{},{},{},{},{wrong_runs},{},{},{},{},{}",
            subject.kind.level(),
            subject.kind.name(),
            subject.scan_name(),
            record.n,
            record.elements,
            record.runs,
            quoted(&outcome),
            number(seconds, 9),
            number(record.elements_per_second(), 0),
            number(percent_of_copy(record, records), 2),
            quoted(device),
        )?;
    }
    Ok(())
}

pub fn of_kind(records: &[Record], kind: Kind) -> impl Iterator<Item = &Record> {
    records
        .iter()
        .filter(move |record| record.subject.kind == kind)
}

/// The rate of a record in percent of the copy of as many elements.
fn percent_of_copy(record: &Record, records: &[Record]) -> Option<f64> {
    let copy = of_kind(records, Kind::Copy).find(|copy| copy.n == record.n)?;
    Some(100.0 * record.elements_per_second()? / copy.elements_per_second()?)
}

/// Three digits with a prefix: 4.56 M.
fn rate(per_second: f64) -> String {
    let (scaled, prefix) = match per_second {
        1e12.. => (per_second / 1e12, "T"),
        1e9.. => (per_second / 1e9, "G"),
        1e6.. => (per_second / 1e6, "M"),
        _ => (per_second / 1e3, "k"),
    };
    let decimals = match scaled {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$} {prefix}")
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or(String::new(), |value| format!("{value:.decimals$}"))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
