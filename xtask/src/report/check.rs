//! `report --check`: whether a headline case became slower since the baseline was written.
//!
//! What is compared is the time of a case as a multiple of the fastest copy of its bytes in the same run, never a time: two
//! machines of one class, or one machine on two days, differ in speed, and their copies with them. Of several [`ROUNDS`] the
//! fastest sample of either counts: what else a machine does makes both slower, and by different amounts; the ratio of two medians
//! of unchanged code was seen to differ by 30 %. On two shared cores the fastest samples of some cases still do.

use std::collections::BTreeMap;

use super::headline::HEADLINE;
use super::machine;
use super::record::{Facts, Measure, Run};
use super::table::Row;

/// How much slower a case may become.
pub(crate) const TOLERANCE: f64 = 1.15;

/// The ratio of a case, ours ÷ copy.
pub(crate) type Ratios = BTreeMap<String, f64>;

/// The ratios by class of device ([`machine::device_class`]), as the file has them.
pub(crate) type Baseline = BTreeMap<String, Ratios>;

/// How often each case is measured.
pub(crate) const ROUNDS: usize = 4;

/// The fastest of several rounds, by case and contender.
#[derive(Debug, Default)]
pub(crate) struct Rounds(BTreeMap<(String, String), Measure>);

impl Rounds {
    pub(crate) fn add(&mut self, measures: Vec<Measure>) {
        for measure in measures {
            let key = (measure.case.clone(), measure.contender.clone());
            match self.0.get(&key) {
                Some(before) if before.median_ns <= measure.median_ns => {}
                _ => drop(self.0.insert(key, measure)),
            }
        }
    }

    pub(crate) fn ratios(self) -> Ratios {
        ratios(self.0.into_values().collect())
    }
}

/// The ratios of the headline cases among `measures`.
fn ratios(measures: Vec<Measure>) -> Ratios {
    let run = Run {
        name: String::new(),
        facts: Facts::default(),
        measures,
    };
    let headline = |row: &Row<'_>| {
        let case = row.ours.case.clone();
        let named = row.ours.contender == "burn-scan" && HEADLINE.contains(&case.as_str());
        Some((case, 1.0 / row.share_of_copy()?)).filter(|_| named)
    };
    Row::all(&run).iter().filter_map(headline).collect()
}

/// What the baseline says of the devices of this run, and a line for each device it does not know.
pub(crate) fn known(baseline: &Baseline, facts: &Facts) -> (Ratios, Vec<String>) {
    let (mut ratios, mut unknown) = (Ratios::new(), Vec::new());
    for place in ["flex", "cube"] {
        let class = machine::device_class(facts, place);
        match class.as_ref().and_then(|class| baseline.get(class)) {
            Some(of_class) => ratios.extend(of_class.clone()),
            None => unknown.push(format!(
                "{place}: not compared, the baseline has no `{}`; `--write-baseline` adds it",
                class.unwrap_or_default()
            )),
        }
    }
    (ratios, unknown)
}

/// Puts ratios into the baseline under the classes of their devices.
pub(crate) fn update(baseline: &mut Baseline, facts: &Facts, found: &Ratios) {
    for place in ["flex", "cube"] {
        let of_place = |(case, _): &(&String, &f64)| case.split('/').nth(1) == Some(place);
        let ratios = found.iter().filter(of_place);
        let ratios: Ratios = ratios
            .map(|(case, ratio)| (case.clone(), (ratio * 1e3).round() / 1e3))
            .collect();
        if let (Some(class), false) = (machine::device_class(facts, place), ratios.is_empty()) {
            baseline.insert(class, ratios);
        }
    }
}

/// A case of the baseline that is slower now, or was not measured.
#[derive(Debug, PartialEq)]
pub(crate) struct Slower {
    pub(crate) case: String,
    pub(crate) message: String,
}

pub(crate) fn slower(baseline: &Ratios, now: &Ratios) -> Vec<Slower> {
    let judge = |(case, &was): (&String, &f64)| {
        let message = match now.get(case) {
            None => format!("{case}: in the baseline, and not measured"),
            Some(&is) if is > was * TOLERANCE => format!(
                "{case}: {is:.2} times the copy, {was:.2} in the baseline: {:.0} % slower",
                (is / was - 1.0) * 100.0
            ),
            Some(_) => return None,
        };
        Some(Slower {
            case: case.clone(),
            message,
        })
    };
    baseline.iter().filter_map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::tests::run_of;

    const SCAN: &str = HEADLINE[2];
    const CUBE: &str = HEADLINE[9];

    fn of(pairs: &[(&str, f64)]) -> Ratios {
        pairs
            .iter()
            .map(|(case, ratio)| ((*case).to_owned(), *ratio))
            .collect()
    }

    /// The times on a machine `speed` times as fast, with our code slowed down by `planted`.
    fn measured(speed: f64, planted: f64) -> Vec<Measure> {
        run_of(&[
            (SCAN, "burn-scan", 400.0 * planted / speed),
            (SCAN, "burn", 900.0 / speed),
            (SCAN, "copy-by-add", 300.0 / speed),
            (SCAN, "copy-parallel", 200.0 / speed),
        ])
        .measures
    }

    fn run(speed: f64, planted: f64) -> Ratios {
        ratios(measured(speed, planted))
    }

    #[test]
    fn a_slowdown_of_20_percent_is_caught_and_one_of_10_is_not() {
        let baseline = run(1.0, 1.0);
        assert_eq!(baseline, of(&[(SCAN, 2.0)]));
        for speed in [0.1, 1.0, 7.0] {
            assert_eq!(slower(&baseline, &run(speed, 1.0)), []);
            assert_eq!(slower(&baseline, &run(speed, 1.1)), []);
            let caught = slower(&baseline, &run(speed, 1.2));
            assert_eq!(caught.len(), 1);
            assert_eq!(caught[0].case, SCAN);
            let message = "2.40 times the copy, 2.00 in the baseline: 20 % slower";
            assert!(
                caught[0].message.ends_with(message),
                "{}",
                caught[0].message
            );
        }
        assert_eq!(slower(&baseline, &run(1.0, 0.5)), []);
    }

    /// A disturbance makes everything slower, or one contender alone.
    #[test]
    fn disturbed_rounds_do_not_decide() {
        let slower_than_baseline = |rounds: [(f64, f64); 3]| {
            let mut all = Rounds::default();
            for (speed, planted) in rounds {
                all.add(measured(speed, planted));
            }
            slower(&run(1.0, 1.0), &all.ratios()).len()
        };
        assert_eq!(
            slower_than_baseline([(1.0, 3.0), (0.2, 1.0), (1.0, 1.1)]),
            0
        );
        assert_eq!(
            slower_than_baseline([(1.0, 1.2), (0.2, 0.9), (0.5, 1.2)]),
            1
        );
    }

    #[test]
    fn a_case_that_vanished_is_said() {
        let found = slower(&of(&[(SCAN, 2.0)]), &Ratios::new());
        assert!(found[0].message.contains("not measured"));
    }

    #[test]
    fn other_cases_and_contenders_have_no_ratio() {
        let other = "cumsum/flex/f32/1x2048/dim1";
        let compact = HEADLINE[6];
        let run = run_of(&[
            (other, "burn-scan", 4.0),
            (other, "copy-by-add", 2.0),
            (compact, "burn-scan-padded", 4.0),
            (compact, "copy-by-add", 2.0),
            (SCAN, "burn-scan", 4.0),
        ]);
        assert_eq!(ratios(run.measures), Ratios::new());
    }

    #[test]
    fn a_baseline_knows_its_devices_only() {
        let mut facts = Facts::default();
        facts.push("cpu", "Some CPU");
        facts.push("cores", "2");
        facts.push("adapter", "llvmpipe (Vulkan)");
        let mut baseline = Baseline::new();
        update(&mut baseline, &facts, &of(&[(SCAN, 2.0), (CUBE, 3.00049)]));
        assert_eq!(
            known(&baseline, &facts),
            (of(&[(SCAN, 2.0), (CUBE, 3.0)]), Vec::new())
        );
        let text = toml::to_string_pretty(&baseline).unwrap();
        assert_eq!(toml::from_str(&text), Ok(baseline.clone()));

        let mut other = facts.without(&["adapter"]);
        other.push("adapter", "SwiftShader Device (Subzero)");
        let (ratios, unknown) = known(&baseline, &other);
        assert_eq!(ratios, of(&[(SCAN, 2.0)]));
        assert!(
            unknown[0].contains("SwiftShader Device on Some CPU, 2 cores"),
            "{unknown:?}"
        );
    }
}
