//! Reads the lists of faults, and plants a fault in a file's text. The head of `kernels/tests/faults.txt` describes a
//! fault.

use anyhow::{anyhow, bail};

use crate::Result;

/// A package that has a list of faults.
#[derive(Debug, PartialEq)]
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) folder: &'static str,
    /// The features with which its tests are built.
    pub(crate) features: &'static str,
    /// Whether the tests run on a Vulkan device.
    pub(crate) needs_driver: bool,
}

/// The kernels need nothing of Burn. The tests of the tensors run on the CPU, and each of their faults builds the CPU
/// engine again, so they are built without kernels and unoptimised.
pub(crate) const PACKAGES: [Package; 2] = [
    Package {
        name: "cubecl-scan",
        folder: "kernels",
        features: "wgpu",
        needs_driver: true,
    },
    Package {
        name: "burn-scan",
        folder: ".",
        features: "flex,autodiff",
        needs_driver: false,
    },
];

impl Package {
    /// The path of its list in the workspace.
    pub(crate) fn list(&self) -> String {
        format!("{}/tests/faults.txt", self.folder)
    }
}

/// A mistake, and the test that must notice it.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) name: String,
    pub(crate) package: &'static Package,
    /// Within the package's folder.
    pub(crate) file: String,
    /// The test binary and the full name of the test.
    pub(crate) test: (String, String),
    pub(crate) driver: Option<String>,
    without: Vec<String>,
    with: Vec<String>,
}

/// The faults of a package's list, in order.
pub(crate) fn parse(package: &'static Package, text: &str) -> Result<Vec<Fault>> {
    let mut faults: Vec<Fault> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let error = |what: &str| Err(anyhow!("line {}: {what}: {line}", number + 1));
        if let Some(name) = line.strip_prefix("== ") {
            faults.push(Fault {
                name: name.trim().to_owned(),
                package,
                file: String::new(),
                test: Default::default(),
                driver: None,
                without: Vec::new(),
                with: Vec::new(),
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

    /// The code changes, and each fault must still find its place there.
    #[test]
    fn every_fault_of_the_lists_can_be_planted() {
        for package in &PACKAGES {
            let root = crate::process::root();
            let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap_or_default();
            let faults = parse(package, &read(&package.list())).unwrap();
            assert!(!faults.is_empty());
            let lost = faults.iter().filter_map(|fault| {
                let text = read(&format!("{}/{}", package.folder, fault.file));
                let error = fault.plant(&text).err()?;
                Some(format!("`{}`: {error}", fault.name))
            });
            let lost: Vec<String> = lost.collect();
            assert!(lost.is_empty(), "\n{}\n", lost.join("\n"));
        }
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
        let faults = parse(&PACKAGES[0], LIST).unwrap();
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
        let fault = &parse(&PACKAGES[0], LIST).unwrap()[0];
        let error = |text| fault.plant(text).unwrap_err().to_string();
        assert!(error("").contains("0 places"));
        assert!(error(&"    one();\n    sync();\n".repeat(2)).contains("2 places"));
    }

    #[test]
    fn mistakes_in_the_list_are_named() {
        let error = |list| parse(&PACKAGES[0], list).unwrap_err().to_string();
        assert!(error("file a.rs\n").contains("line 1: no fault"));
        assert!(error("== a\ncolour red\n").contains("line 2: not understood"));
        assert!(error("== a\nfile a.rs\n").contains("`a` lacks"));
    }
}
