//! What the page of `test-webgpu` finds: lines of fields between tabs.
//!
//! ```text
//! adapter  NAME
//! module   KERNEL   FILE    ok | rejected   MESSAGE
//! case     GROUP    NAME    ok | wrong      MESSAGE
//! done
//! ```

use std::collections::BTreeMap;
use std::fmt;

use anyhow::ensure;

use crate::Result;

/// This many messages are printed in full. The rest are only counted.
const SHOWN: usize = 20;

#[derive(Default)]
pub(crate) struct Report {
    adapter: String,
    modules: Tally,
    cases: Tally,
    complete: bool,
    /// Lines of no known form: the page itself failed.
    strange: Vec<String>,
}

/// How many passed and how many ran, by kernel or by group, and the messages of those that failed.
#[derive(Default)]
struct Tally {
    groups: BTreeMap<String, (usize, usize)>,
    failures: Vec<String>,
}

impl Tally {
    fn add(&mut self, group: &str, name: &str, passed: bool, message: &str) {
        let (good, all) = self.groups.entry(group.to_owned()).or_default();
        *all += 1;
        *good += usize::from(passed);
        if !passed {
            self.failures.push(format!("{group}, {name}: {message}"));
        }
    }

    fn total(&self) -> usize {
        self.groups.values().map(|(_, all)| all).sum()
    }

    fn print(&self, f: &mut fmt::Formatter<'_>, verb: &str) -> fmt::Result {
        for (group, (good, all)) in &self.groups {
            writeln!(f, "  {good:>5} of {all:>5} {verb}  {group}")?;
        }
        for failure in self.failures.iter().take(SHOWN) {
            writeln!(f, "  FAILED {failure}")?;
        }
        let rest = self.failures.len().saturating_sub(SHOWN);
        if rest > 0 {
            writeln!(f, "  … and {rest} more")?;
        }
        Ok(())
    }
}

impl Report {
    /// Adds what the page posted.
    pub(crate) fn add(&mut self, text: &str) {
        for line in text.lines() {
            match *line.split('\t').collect::<Vec<_>>() {
                ["adapter", name] => name.clone_into(&mut self.adapter),
                ["module", kernel, file, state, message] => {
                    self.modules.add(kernel, file, state == "ok", message);
                }
                ["case", group, name, state, message] => {
                    self.cases.add(group, name, state == "ok", message);
                }
                ["done"] => self.complete = true,
                _ => self.strange.push(line.to_owned()),
            }
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// An error if something failed, or if nothing ran.
    pub(crate) fn verdict(&self) -> Result<()> {
        let failures = self.modules.failures.len() + self.cases.failures.len() + self.strange.len();
        ensure!(failures == 0, "{failures} failures in the browser");
        let tried = self.modules.total() > 0 && self.cases.total() > 0;
        ensure!(tried, "the record is empty: nothing was tried");
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nbrowser's adapter: {}", self.adapter)?;
        writeln!(f, "{} modules", self.modules.total())?;
        self.modules.print(f, "accepted")?;
        writeln!(f, "{} cases", self.cases.total())?;
        self.cases.print(f, "correct")?;
        for line in &self.strange {
            writeln!(f, "  the page: {line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Report;

    fn report(text: &str) -> Report {
        let mut report = Report::default();
        report.add(text);
        report
    }

    #[test]
    fn what_is_accepted_and_correct_passes() {
        let good = report("adapter\tx\nmodule\tk\t0.wgsl\tok\t\ncase\tscan\ta\tok\t\ndone\n");
        assert!(good.is_complete());
        assert!(good.verdict().is_ok());
        assert!(good.to_string().contains("1 of     1 accepted  k"));
    }

    #[test]
    fn rejected_wrong_strange_and_empty_fail() {
        let module = "module\tk\t0.wgsl\tok\t\n";
        let case = "case\tscan\ta\tok\t\n";
        for text in [
            format!("{case}module\tk\t0.wgsl\trejected\tnot uniform\n"),
            format!("{module}case\tscan\ta\twrong\t1 instead of 2\n"),
            format!("{module}{case}TypeError: x is null\n"),
            module.to_owned(),
            String::new(),
        ] {
            let report = report(&text);
            assert!(report.verdict().is_err(), "{text}");
            assert!(!report.is_complete());
        }
    }
}
