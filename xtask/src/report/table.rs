//! The tables. Each operation and place has one, with a line for each of our contenders in each case.

use super::case::{Name, OPS, PLACES};
use super::record::{Measure, Run};

const NOT_MEASURED: &str = "not measured";

/// One of our contenders beside the others of its case.
pub(crate) struct Row<'a> {
    pub(crate) name: Name<'a>,
    pub(crate) ours: &'a Measure,
    /// The fastest contender that is neither ours nor a copy.
    pub(crate) peer: Option<&'a Measure>,
    pub(crate) burn: Option<&'a Measure>,
    /// The copy with the highest bandwidth.
    pub(crate) copy: Option<&'a Measure>,
}

impl<'a> Row<'a> {
    /// Every row of a run, in the page's order.
    pub(crate) fn all(run: &'a Run) -> Vec<Self> {
        let ours = run.measures.iter().filter(|m| m.is_ours());
        let rows = ours.filter_map(|ours| Self::of(ours, &run.measures));
        let mut rows: Vec<Self> = rows.collect();
        rows.sort_by_cached_key(|row| (row.name.order(), row.ours.contender.clone()));
        rows
    }

    fn of(ours: &'a Measure, measures: &'a [Measure]) -> Option<Self> {
        let case = || measures.iter().filter(|m| m.case == ours.case);
        let peers = case().filter(|m| !m.is_ours() && !m.is_copy());
        let copies = case().filter(|m| m.is_copy());
        Some(Self {
            name: Name::parse(&ours.case)?,
            ours,
            peer: peers.min_by(|a, b| a.median_ns.total_cmp(&b.median_ns)),
            burn: case().find(|m| m.contender == "burn"),
            copy: copies.max_by(|a, b| a.gb_per_s().total_cmp(&b.gb_per_s())),
        })
    }

    /// How many times faster it is than the best peer. Below 1 it is slower.
    pub(crate) fn speedup(&self) -> Option<f64> {
        Some(self.peer?.median_ns / self.ours.median_ns)
    }

    /// Our bandwidth as a share of the copy's.
    pub(crate) fn share_of_copy(&self) -> Option<f64> {
        Some(self.ours.gb_per_s() / self.copy?.gb_per_s())
    }

    pub(crate) fn label(&self) -> String {
        let variant = self.ours.contender.trim_start_matches("burn-scan");
        let variant = variant.replace('-', ", ");
        format!("{}{variant}", self.name.label())
    }

    fn line(&self) -> String {
        let or_not = |cell: Option<String>| cell.unwrap_or_else(|| NOT_MEASURED.to_owned());
        let cells = [
            self.label(),
            time(self.ours.median_ns),
            or_not(self.peer.map(cell_of)),
            or_not(self.speedup().map(speedup)),
            or_not(self.burn.map(|burn| time(burn.median_ns) + mark(burn))),
            or_not(
                self.share_of_copy()
                    .map(|share| format!("{:.0} %", share * 100.0)),
            ),
        ];
        format!("| {} |\n", cells.join(" | "))
    }
}

/// The tables of a run. An operation that it did not measure has a line that says so.
pub(crate) fn tables(run: &Run) -> String {
    let rows = Row::all(run);
    let mut text = String::new();
    for (op, title) in OPS {
        for (place, place_title) in PLACES {
            if !super::case::exists(op, place) {
                continue;
            }
            text += &format!("\n#### {title}, {place_title}\n\n");
            let of_group = |row: &&Row<'_>| (row.name.op, row.name.place) == (op, place);
            let lines: String = rows.iter().filter(of_group).map(Row::line).collect();
            if lines.is_empty() {
                text += "Not measured.\n";
                continue;
            }
            text +=
                "| case | ours | best peer | ours is | Burn's own | of the copy's bandwidth |\n";
            text += "|---|---|---|---|---|---|\n";
            text += &lines;
        }
    }
    text
}

/// The lines where a peer is faster, the worst first.
pub(crate) fn slower(run: &Run) -> String {
    let rows = Row::all(run);
    let compared = rows.iter().filter(|row| row.speedup().is_some()).count();
    let mut slower: Vec<(f64, String)> = rows
        .iter()
        .filter_map(|row| {
            let (by, peer) = (row.speedup()?, row.peer?);
            let what = format!("{} {}, {}", row.name.op, row.name.place, row.label());
            (by < 1.0).then(|| {
                (
                    by,
                    format!(
                        "- {what}: {} than {}{}\n",
                        speedup(by),
                        peer.contender,
                        mark(peer)
                    ),
                )
            })
        })
        .collect();
    slower.sort_by(|a, b| a.0.total_cmp(&b.0));
    match (compared, slower.len()) {
        (0, _) => "No peer was measured.\n".to_owned(),
        (_, 0) => format!("No peer is faster in any of {compared} lines.\n"),
        (_, count) => {
            let lines: String = slower.into_iter().map(|(_, line)| line).collect();
            format!("A peer is faster in {count} of {compared} lines:\n\n{lines}")
        }
    }
}

fn cell_of(peer: &Measure) -> String {
    format!("{} {}{}", peer.contender, time(peer.median_ns), mark(peer))
}

fn mark(measure: &Measure) -> &'static str {
    if measure.wrong { " †" } else { "" }
}

/// `3.20× faster`, or in bold how much slower.
fn speedup(by: f64) -> String {
    let digits = |by: f64| {
        if by < 9.95 {
            format!("{by:.2}")
        } else {
            format!("{by:.0}")
        }
    };
    if by < 1.0 {
        format!("**{}× slower**", digits(1.0 / by))
    } else {
        format!("{}× faster", digits(by))
    }
}

/// Three digits and a unit.
fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ..1e3 => (ns, "ns"),
        1e3..1e6 => (ns / 1e3, "µs"),
        1e6..1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let decimals = match value {
        ..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::report::record::Facts;

    /// A run of (case, contender, median in ns), all of 8,192 bytes.
    pub(crate) fn run_of(measured: &[(&str, &str, f64)]) -> Run {
        let measure = |&(case, contender, median_ns): &(&str, &str, f64)| Measure {
            case: case.to_owned(),
            contender: contender.to_owned(),
            median_ns,
            low_ns: median_ns,
            high_ns: median_ns,
            bytes: 8192,
            wrong: false,
        };
        Run {
            name: "test".to_owned(),
            facts: Facts::default(),
            measures: measured.iter().map(measure).collect(),
        }
    }

    const SCAN: &str = "cumsum/flex/f32/1x1024/dim1";
    const COMPACT: &str = "compact/flex/f32/1x1024/density0.5";

    #[test]
    fn a_line_has_the_best_peer_and_the_fastest_copy() {
        let mut run = run_of(&[
            (SCAN, "burn", 900.0),
            (SCAN, "burn-scan", 400.0),
            (SCAN, "copy-by-add", 300.0),
            (SCAN, "copy-parallel", 200.0),
            (SCAN, "numpy", 1_800.0),
        ]);
        run.measures[0].wrong = true;
        let line =
            "| f32 1 × 2^10 dim1 | 400 ns | burn 900 ns † | 2.25× faster | 900 ns † | 50 % |\n";
        assert_eq!(Row::all(&run)[0].line(), line);
        let tables = tables(&run);
        assert!(tables.contains(line), "{tables}");
        assert!(
            tables.contains("`partition_by_key`, Flex\n\nNot measured."),
            "{tables}"
        );
        assert_eq!(slower(&run), "No peer is faster in any of 1 lines.\n");
    }

    #[test]
    fn a_peer_that_is_faster_is_said() {
        let run = run_of(&[
            (SCAN, "burn-scan", 400.0),
            (SCAN, "burn", 300.0),
            (COMPACT, "burn-scan", 100.0),
            (COMPACT, "burn-scan-padded", 1_000.0),
            (COMPACT, "numpy", 500.0),
        ]);
        let expected = "A peer is faster in 2 of 3 lines:\n\n\
            - compact flex, f32 1 × 2^10 density0.5, padded: **2.00× slower** than numpy\n\
            - cumsum flex, f32 1 × 2^10 dim1: **1.33× slower** than burn\n";
        assert_eq!(slower(&run), expected);
    }

    #[test]
    fn what_was_not_measured_is_not_made_up() {
        let run = run_of(&[(SCAN, "burn-scan", 400.0)]);
        let line = "| 400 ns | not measured | not measured | not measured | not measured |";
        assert!(tables(&run).contains(line));
        assert_eq!(slower(&run), "No peer was measured.\n");
    }

    #[test]
    fn times_have_three_digits() {
        let times = [0.5, 12.34, 310.0, 1_234.0, 56_700.0, 4.8e6, 1.5e9].map(time);
        assert_eq!(
            times,
            [
                "0.50 ns", "12.3 ns", "310 ns", "1.23 µs", "56.7 µs", "4.80 ms", "1.50 s"
            ]
        );
    }
}
