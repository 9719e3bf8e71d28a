//! Reads `kernels/tests/faults.txt`, and plants a fault in a file's text. The head of that list describes a fault.

use anyhow::{anyhow, bail};

use crate::Result;

/// A mistake, and the test that must notice it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Fault {
    pub(crate) name: String,
    /// Within `kernels/`.
    pub(crate) file: String,
    /// The test binary and the full name of the test.
    pub(crate) test: (String, String),
    pub(crate) driver: Option<String>,
    without: Vec<String>,
    with: Vec<String>,
}

/// The faults of a list, in order.
pub(crate) fn parse(text: &str) -> Result<Vec<Fault>> {
    let mut faults: Vec<Fault> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let error = |what: &str| Err(anyhow!("line {}: {what}: {line}", number + 1));
        if let Some(name) = line.strip_prefix("== ") {
            faults.push(Fault {
                name: name.trim().to_owned(),
                ..Fault::default()
            });
            continue;
        }
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        let Some(fault) = faults.last_mut() else {
            return error("no fault begins before");
        };
        if let Some(code) = line.strip_prefix('-') {
            fault.without.push(code.to_owned());
        } else if let Some(code) = line.strip_prefix('+') {
            fault.with.push(code.to_owned());
        } else {
            match *line.split_whitespace().collect::<Vec<_>>() {
                ["file", path] => fault.file = path.to_owned(),
                ["test", binary, filter] => fault.test = (binary.to_owned(), filter.to_owned()),
                ["driver", name] => fault.driver = Some(name.to_owned()),
                _ => return error("not understood"),
            }
        }
    }
    let whole = |fault: &Fault| {
        !fault.file.is_empty() && !fault.test.0.is_empty() && !fault.without.is_empty()
    };
    match faults.iter().find(|fault| !whole(fault)) {
        Some(fault) => bail!("`{}` lacks its file, test or lines", fault.name),
        None => Ok(faults),
    }
}

impl Fault {
    /// The text with the mistake in it. The text must have exactly one place for it.
    pub(crate) fn plant(&self, text: &str) -> Result<String> {
        let without = self.without.join("\n");
        match text.matches(&without).count() {
            1 => Ok(text.replacen(&without, &self.with.join("\n"), 1)),
            count => bail!("its lines stand in {count} places of {}", self.file),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code under `kernels/` changes, and each fault must still find its place there.
    #[test]
    fn every_fault_of_the_list_can_be_planted() {
        let kernels = crate::process::root().join("kernels");
        let read = |file: &str| std::fs::read_to_string(kernels.join(file)).unwrap_or_default();
        let faults = parse(&read("tests/faults.txt")).unwrap();
        assert!(!faults.is_empty());
        let lost = faults.iter().filter_map(|fault| {
            let error = fault.plant(&read(&fault.file)).err()?;
            Some(format!("`{}`: {error}", fault.name))
        });
        let lost: Vec<String> = lost.collect();
        assert!(lost.is_empty(), "\n{}\n", lost.join("\n"));
    }

    const LIST: &str = "\
# A comment.

== a barrier is dropped
file src/a.rs
test scan sums::all
driver swiftshader
-    one();
-    sync();
+    one();
";

    #[test]
    fn a_fault_is_read_and_planted() {
        let faults = parse(LIST).unwrap();
        let [fault] = faults.as_slice() else {
            panic!("{faults:?}");
        };
        assert_eq!(fault.name, "a barrier is dropped");
        assert_eq!(fault.file, "src/a.rs");
        assert_eq!(fault.test, ("scan".to_owned(), "sums::all".to_owned()));
        assert_eq!(fault.driver.as_deref(), Some("swiftshader"));
        let planted = fault.plant("f() {\n    one();\n    sync();\n    two();\n}\n");
        assert_eq!(planted.unwrap(), "f() {\n    one();\n    two();\n}\n");
    }

    #[test]
    fn a_place_that_is_gone_or_not_unique_is_an_error() {
        let fault = &parse(LIST).unwrap()[0];
        let error = |text| fault.plant(text).unwrap_err().to_string();
        assert!(error("").contains("0 places"));
        assert!(error(&"    one();\n    sync();\n".repeat(2)).contains("2 places"));
    }

    #[test]
    fn mistakes_in_the_list_are_named() {
        let error = |list| parse(list).unwrap_err().to_string();
        assert!(error("file a.rs\n").contains("line 1: no fault"));
        assert!(error("== a\ncolour red\n").contains("line 2: not understood"));
        assert!(error("== a\nfile a.rs\n").contains("`a` lacks"));
    }
}
