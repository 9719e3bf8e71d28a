//! The results as a page of Markdown: the last output of a run, and the section of docs/performance.md.

use std::fmt::Write;

use serde_json::Value;

use crate::compared::INVARIANT;
use crate::journal::{Ended, Verdict};
use crate::results::Part;

/// Faults that are listed one by one; more are counted.
const SHOWN_FAULTS: usize = 8;

/// The share of a copy's bandwidth that a case should reach.
const GOAL_OF_COPY: f64 = 0.85;

/// The times of CUB with run-to-run determinism that a case may take.
const GOAL_OF_CUB: f64 = 1.0;

/// The page, of at most 100 lines.
pub fn page(parts: &[Part]) -> String {
    let mut page = String::new();
    let mut line = |text: String| {
        page.push_str(&text);
        page.push('\n');
    };
    line("| back end | stage | seconds | right | wrong | left out | |".into());
    line("|---|---|---|---|---|---|---|".into());
    for part in parts {
        let count = |verdict| {
            let ended = part.shown.ended.iter();
            ended.filter(|ended| ended.verdict == verdict).count()
        };
        line(format!(
            "| {} | {} | {:.0} | {} | {} | {} | {} |",
            part.flavour,
            part.stage,
            part.shown.seconds,
            count(Verdict::Right),
            count(Verdict::Wrong),
            count(Verdict::LeftOut),
            part.shown.unfinished,
        ));
    }
    for fact in facts(parts).into_iter().chain(faults(parts)) {
        line(fact);
    }
    for part in parts {
        match part.stage.as_str() {
            "fast" | "sorting" => speeds(part, parts).into_iter().for_each(&mut line),
            "invariance" => invariance(part).into_iter().for_each(&mut line),
            _ => {}
        }
    }
    for part in parts.iter().filter(|part| part.stage == "tuning") {
        line(format!("\n- {}, tuning: {}", part.flavour, tuning(part)));
    }
    for part in parts {
        if ["installed", "burns-own"].contains(&part.stage.as_str()) {
            unmodified(part).into_iter().for_each(&mut line);
        }
    }
    page
}

fn facts(parts: &[Part]) -> Vec<String> {
    let mut lines = Vec::new();
    for part in parts.iter().filter(|part| part.stage == "facts") {
        let of = |ended: &Ended, name: &str| plain(&ended.figures[name]);
        for ended in &part.shown.ended {
            if ended.verdict != Verdict::Right {
                continue;
            }
            let text = if ended.case == "device" {
                let names = ["adapter", "compiler", "driver", "multiprocessors", "tile"];
                names.map(|name| of(ended, name)).join("; ")
            } else {
                format!(
                    "{}: {} GB/s",
                    ended.case,
                    rounded(&ended.figures["gb_per_s"])
                )
            };
            lines.push(format!("- {}: {text}", part.flavour));
        }
    }
    with_break(lines)
}

/// Every stage's wrong cases, by name.
fn faults(parts: &[Part]) -> Vec<String> {
    let mut lines = Vec::new();
    for part in parts {
        let wrong = |ended: &&Ended| ended.verdict == Verdict::Wrong;
        let wrong: Vec<&Ended> = part.shown.ended.iter().filter(wrong).collect();
        for ended in wrong.iter().take(SHOWN_FAULTS) {
            let detail: String = ended.detail.chars().take(160).collect();
            lines.push(format!(
                "- WRONG: {} {}, {}: {detail}",
                part.flavour, part.stage, ended.case
            ));
        }
        if wrong.len() > SHOWN_FAULTS {
            let more = wrong.len() - SHOWN_FAULTS;
            lines.push(format!(
                "- WRONG: {} {}: {more} more",
                part.flavour, part.stage
            ));
        }
    }
    with_break(lines)
}

/// The speeds of a back end, each beside the copy of the same bytes and the peers of that case.
fn speeds(part: &Part, parts: &[Part]) -> Vec<String> {
    if part.shown.ended.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![
        format!(
            "| {}, f32 if not said | µs (low to high) | GB/s | of the copy | peers, µs |",
            part.flavour
        ),
        "|---|---|---|---|---|".into(),
    ];
    let mut short = Vec::new();
    for ended in &part.shown.ended {
        let figures = &ended.figures;
        let number = |name: &str| figures.get(name).and_then(Value::as_f64);
        let (Some(median), Some(copy)) = (number("median_us"), number("copy_us")) else {
            lines.push(format!(
                "| {} | {}: {} | | | |",
                ended.case,
                ended.verdict.name(),
                ended.detail
            ));
            continue;
        };
        let share = copy / median;
        let peers = peers(&plain(&figures["peer"]), parts);
        if share < GOAL_OF_COPY {
            short.push(format!("{} at {share:.2} of the copy", ended.case));
        }
        let rival = peers.iter().filter(|(name, _)| name.contains("cub"));
        let rival = rival.max_by(|a, b| a.0.len().cmp(&b.0.len()));
        if let Some((name, peer)) = rival.filter(|(_, peer)| median > peer / GOAL_OF_CUB) {
            short.push(format!(
                "{} takes {:.2} × {name}",
                ended.case,
                median / peer
            ));
        }
        let mut all = String::new();
        for (name, peer) in &peers {
            write!(all, "{name} {peer:.1} ").expect("a string takes everything");
        }
        lines.push(format!(
            "| {} | {median:.1} ({} to {}) | {} | {share:.2} | {all}|",
            ended.case,
            rounded(&figures["low_us"]),
            rounded(&figures["high_us"]),
            rounded(&figures["gb_per_s"]),
        ));
    }
    lines.push(String::new());
    lines.push(if short.is_empty() {
        format!("{}: every case that ran reaches the goals.", part.flavour)
    } else {
        format!(
            "{}, short of the goals: {}.",
            part.flavour,
            short.join("; ")
        )
    });
    with_break(lines)
}

/// The peers' times of a case, by name.
fn peers(case: &str, parts: &[Part]) -> Vec<(String, f64)> {
    let stages = parts.iter().filter(|part| part.stage == "peers");
    let ended = stages.flat_map(|part| &part.shown.ended);
    let rows = ended.flat_map(|ended| ended.figures.get("rows").and_then(Value::as_array));
    let rows = rows.flatten().filter_map(|row| {
        let found = row["case"].as_str()?;
        let names = [case.to_owned(), format!("{case}/deterministic")];
        let is_of_case = !case.is_empty() && names.iter().any(|name| name == found);
        let suffix = found
            .strip_prefix(case)
            .unwrap_or_default()
            .replace('/', " ");
        let name = format!("{}{suffix}", row["peer"].as_str()?);
        is_of_case.then_some((name, row["median_us"].as_f64()?))
    });
    rows.collect()
}

/// What batch invariance costs each case.
fn invariance(part: &Part) -> Vec<String> {
    let time = |ended: &Ended| ended.figures.get("median_us").and_then(Value::as_f64);
    let all = &part.shown.ended;
    let costs = all.iter().filter_map(|ended| {
        let case = ended.case.strip_suffix(INVARIANT)?;
        let plain = time(all.iter().find(|plain| plain.case == case)?)?;
        let cost = time(ended)? / plain;
        Some(format!("{case}: {plain:.1} µs, {cost:.2} ×"))
    });
    let costs: Vec<String> = costs.collect();
    with_break(vec![format!(
        "- {}, with batch invariance: {}",
        part.flavour,
        costs.join("; ")
    )])
}

/// The times of a stage in one line.
fn tuning(part: &Part) -> String {
    let time = |ended: &Ended| match ended.figures.get("median_us") {
        Some(median) => format!("{}: {} µs", ended.case, rounded(median)),
        None => format!("{}: {}", ended.case, ended.verdict.name()),
    };
    let times: Vec<String> = part.shown.ended.iter().map(time).collect();
    times.join("; ")
}

fn unmodified(part: &Part) -> Vec<String> {
    let lines = part.shown.ended.iter().map(|ended| {
        let of = |name: &str| ended.figures.get(name).map(rounded).unwrap_or_default();
        match ended.verdict {
            Verdict::Right => format!(
                "- {}: {}: {} µs, with backward {} µs, plan {}",
                part.flavour,
                ended.case,
                of("forward_us"),
                of("forward_and_backward_us"),
                plain(&ended.figures["plan"]),
            ),
            _ => format!("- {}: {}: {}", part.flavour, ended.case, ended.detail),
        }
    });
    with_break(lines.collect())
}

fn with_break(mut lines: Vec<String>) -> Vec<String> {
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn rounded(value: &Value) -> String {
    value
        .as_f64()
        .map_or_else(String::new, |number| format!("{number:.1}"))
}
