//! Compares the two sides of one run: does a headline case take more copies of its bytes than before?
//!
//! The copy is the same on both sides, so only the time now as a multiple of the time before counts. Each round
//! measures both sides in processes of their own, one right after the other. On two shared cores one such ratio may
//! well be 0.5 or 1.5 for unchanged code, because a process is fast or slow by where its memory lies. The median of the
//! ratios is steadier, and [`Interval`] says how much so. More rounds follow until that is enough.
//!
//! Ratios of another day are no help: for unchanged code the ratio to the copy has doubled from day to day. Nor are the
//! fastest samples: in twelve rounds they differed by 29 %.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use super::interval::Interval;
use super::record::Measure;

/// How much slower a case may become.
const TOLERANCE: f64 = 1.15;

/// What is known of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    Slower,
    NotSlower,
    /// More rounds would decide it.
    Open,
}

/// The medians of a case in each round, in nanoseconds.
#[derive(Debug, Default)]
struct Times {
    before: Vec<f64>,
    now: Vec<f64>,
    /// The fastest copy of either side.
    copy: Option<f64>,
}

impl Times {
    /// Now as a multiple of before.
    fn ratio(&self) -> Option<Interval> {
        let rounds = self.now.iter().zip(&self.before);
        Interval::of(rounds.map(|(now, before)| now / before).collect())
    }

    /// A case that is no longer measured counts as slower.
    fn verdict(&self) -> Verdict {
        match self.ratio() {
            None if self.before.is_empty() => Verdict::NotSlower,
            None => Verdict::Slower,
            Some(ratio) if ratio.high < TOLERANCE => Verdict::NotSlower,
            Some(ratio) if ratio.low > 1.0 && ratio.median > TOLERANCE => Verdict::Slower,
            Some(_) => Verdict::Open,
        }
    }
}

impl Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_copy = |times: &[f64]| {
            let median = Interval::of(times.to_vec()).map(|times| times.median);
            match (median, self.copy) {
                (Some(median), Some(copy)) => format!("{:.2} copies", median / copy),
                (Some(median), None) => format!("{:.3} ms", median * 1e-6),
                (None, _) => "not measured".to_owned(),
            }
        };
        write!(f, "{} -> {}", of_copy(&self.before), of_copy(&self.now))?;
        if let Some(ratio) = self.ratio() {
            let percent = |ratio: f64| (ratio - 1.0) * 100.0;
            let (low, high) = (percent(ratio.low), percent(ratio.high));
            write!(
                f,
                ", {:+.0} % ({low:+.0} to {high:+.0})",
                percent(ratio.median)
            )?;
        }
        Ok(())
    }
}

/// The headline cases on both sides.
#[derive(Debug)]
pub(crate) struct Comparison(BTreeMap<&'static str, Times>);

impl Comparison {
    pub(crate) fn of(cases: &[&'static str]) -> Self {
        Self(cases.iter().map(|&case| (case, Times::default())).collect())
    }

    /// Adds what one round measured on each side.
    pub(crate) fn add(&mut self, before: &[Measure], now: &[Measure]) {
        for (case, times) in &mut self.0 {
            times.before.extend(ours(before, case));
            times.now.extend(ours(now, case));
            let copies = before.iter().chain(now);
            let copies = copies.filter(|m| m.case == *case && m.is_copy());
            let known = times.copy.into_iter();
            times.copy = known.chain(copies.map(|m| m.median_ns)).reduce(f64::min);
        }
    }

    pub(crate) fn all(&self, verdict: Verdict) -> Vec<&'static str> {
        let of_verdict = self
            .0
            .iter()
            .filter(|(_, times)| times.verdict() == verdict);
        of_verdict.map(|(case, _)| *case).collect()
    }

    /// The lines of the cases that became slower. The median judges a case that is still open.
    pub(crate) fn slower(&self) -> Vec<String> {
        let slower = self.0.iter().filter(|(_, times)| match times.verdict() {
            Verdict::Open => times.ratio().is_some_and(|ratio| ratio.median > TOLERANCE),
            verdict => verdict == Verdict::Slower,
        });
        slower
            .map(|(case, times)| format!("{case}: {times}"))
            .collect()
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(case, times)| {
            let open = match times.verdict() {
                Verdict::Open => ", uncertain",
                _ => "",
            };
            writeln!(f, "{case}: {times}{open}")
        })
    }
}

fn ours(measures: &[Measure], case: &str) -> Option<f64> {
    let ours = measures
        .iter()
        .find(|m| m.case == case && m.contender == "burn-scan");
    Some(ours?.median_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::headline::HEADLINE;
    use crate::report::table::tests::run_of;

    const CASE: &str = HEADLINE[2];

    fn measured(ours: f64) -> Vec<Measure> {
        run_of(&[
            (CASE, "burn-scan", ours),
            (CASE, "burn", 9.0),
            (CASE, "copy-by-add", 300.0),
            (CASE, "copy-parallel", 200.0),
        ])
        .measures
    }

    /// As many rounds as `noise` has factors, on a machine that is twice as slow in every second round.
    fn compared(slowdown: f64, noise: &[f64]) -> Times {
        let mut all = Comparison::of(&HEADLINE);
        for (round, noise) in noise.iter().enumerate() {
            let speed = [400.0, 800.0][round % 2];
            all.add(&measured(speed), &measured(speed * slowdown * noise));
        }
        assert_eq!(all.0.len(), HEADLINE.len());
        all.0.remove(CASE).unwrap()
    }

    /// Unchanged code gave such ratios: most are within a quarter, and some are far away.
    const NOISE: [f64; 12] = [
        1.26, 0.98, 0.74, 1.03, 0.41, 1.01, 0.97, 1.05, 0.93, 2.1, 0.99, 1.02,
    ];

    #[test]
    fn a_slowdown_of_more_than_15_percent_is_caught() {
        for (slowdown, verdict) in [
            (0.5, Verdict::NotSlower),
            (1.0, Verdict::NotSlower),
            (1.08, Verdict::NotSlower),
            (1.2, Verdict::Slower),
            (3.0, Verdict::Slower),
        ] {
            let steady = compared(slowdown, &[1.0; 8]);
            assert_eq!(steady.verdict(), verdict, "{slowdown}");
        }
    }

    #[test]
    fn noise_needs_rounds() {
        assert_eq!(compared(1.0, &NOISE[..7]).verdict(), Verdict::Open);
        assert_eq!(compared(1.0, &NOISE).verdict(), Verdict::Open);
        assert_eq!(
            compared(1.0, &NOISE.repeat(3)).verdict(),
            Verdict::NotSlower
        );
        assert_eq!(compared(1.2, &NOISE.repeat(3)).verdict(), Verdict::Slower);
    }

    #[test]
    fn what_stays_open_is_judged_by_its_median() {
        for (slowdown, slower) in [(1.0, 0), (1.2, 1)] {
            let mut all = Comparison::of(&HEADLINE);
            for noise in [0.6, 1.0, 1.4] {
                all.add(&measured(100.0), &measured(100.0 * slowdown * noise));
            }
            assert_eq!(all.all(Verdict::Open), [CASE]);
            assert_eq!(all.slower().len(), slower, "{slowdown}");
            assert!(all.to_string().contains("uncertain"));
        }
    }

    #[test]
    fn ratios_are_told_as_multiples_of_the_copy() {
        let text = compared(1.2, &[1.0; 8]).to_string();
        assert_eq!(text, "3.00 copies -> 3.60 copies, +20 % (+20 to +20)");
    }

    #[test]
    fn what_is_missing_is_said() {
        let mut gone = Comparison::of(&HEADLINE);
        gone.add(&measured(400.0), &[]);
        assert_eq!(gone.all(Verdict::Slower), [CASE]);
        let line = format!("{CASE}: 2.00 copies -> not measured");
        assert_eq!(gone.slower(), [line]);

        let mut new = Comparison::of(&HEADLINE);
        new.add(&[], &measured(400.0));
        assert_eq!(new.slower(), Vec::<String>::new());
        assert!(new.to_string().contains("not measured -> 2.00 copies"));
        assert!(new.to_string().contains("not measured -> not measured"));
    }
}
