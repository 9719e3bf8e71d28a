//! The exact pins of a manifest (`burn = { version = "=1.2.3", .. }`), and the versions that replace them.

use std::collections::BTreeMap;

use anyhow::Context;

use crate::Result;

/// The pinned packages with their versions.
pub(crate) fn pins(manifest: &str) -> BTreeMap<&str, &str> {
    manifest.lines().filter_map(pin).collect()
}

/// The name and the version of a line that pins a package.
fn pin(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(" = ")?;
    let (_, version) = rest.split_once("\"=")?;
    Some((name, version.split_once('"')?.0))
}

/// What a version after `pinned` fits: the next minor version, or else the next major one. `-0` admits pre-releases.
/// Cargo admits those of this one version only, and releases of all later versions.
pub(crate) fn requirements(pinned: &str) -> Result<Vec<String>> {
    let mut parts = pinned.split('.').map(str::parse::<u32>);
    let mut part = || parts.next()?.ok();
    let (major, minor) = part().zip(part()).context("the pin is no version")?;
    Ok(vec![
        format!(">={major}.{}.0-0", minor + 1),
        format!(">={}.0.0-0", major + 1),
    ])
}

/// The manifest with the locked versions as pins. A package that is not locked takes the version of its family: the
/// crates of Burn have one version, and so have those of CubeCL.
pub(crate) fn replace_pins(manifest: &str, lock: &Lock) -> String {
    let replaced = manifest.split_inclusive('\n').map(|line| {
        let new = pin(line).and_then(|(name, old)| {
            let family = name.split('-').next()?;
            let new = lock.version(name).or_else(|| lock.version(family))?;
            Some(line.replace(&format!("\"={old}\""), &format!("\"={new}\"")))
        });
        new.unwrap_or_else(|| line.to_owned())
    });
    replaced.collect()
}

/// The versions in a lock file.
pub(crate) struct Lock(BTreeMap<String, String>);

impl Lock {
    pub(crate) fn parse(text: &str) -> Self {
        let value = |line: &str, key: &str| {
            let value = line.strip_prefix(key)?.strip_prefix(" = \"")?;
            Some(value.strip_suffix('"')?.to_owned())
        };
        let lines: Vec<&str> = text.lines().collect();
        let pairs = lines.windows(2);
        let versions =
            pairs.filter_map(|pair| Some((value(pair[0], "name")?, value(pair[1], "version")?)));
        Self(versions.collect())
    }

    pub(crate) fn version(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "\
[workspace.dependencies]
burn = { version = \"=0.22.1\", default-features = false }
burn-std = { version = \"=0.22.1\" }
cubecl = \"=0.11.3\"
half = \"2\"
";

    #[test]
    fn exact_pins_are_replaced_and_nothing_else() {
        let lock = "[[package]]\nname = \"burn\"\nversion = \"0.23.0-pre.1\"\n\n\
                    [[package]]\nname = \"cubecl\"\nversion = \"0.12.0\"\n\n\
                    [[package]]\nname = \"half\"\nversion = \"2.4.1\"\n";
        let new = replace_pins(MANIFEST, &Lock::parse(lock));
        let new = pins(&new);
        assert_eq!(new["burn"], "0.23.0-pre.1");
        assert_eq!(new["burn-std"], "0.23.0-pre.1", "its family's");
        assert_eq!(new["cubecl"], "0.12.0");
        assert_eq!(new.len(), 3);
    }

    #[test]
    fn a_later_version_is_asked_for() {
        let wanted = requirements("0.22.1").unwrap();
        assert_eq!(wanted, [">=0.23.0-0", ">=1.0.0-0"]);
        assert!(requirements("new").is_err());
    }

    #[test]
    fn the_manifest_pins_burn_and_cubecl() {
        let manifest = include_str!("../../../Cargo.toml");
        let pins = pins(manifest);
        assert!(pins.contains_key("burn") && pins.contains_key("cubecl"));
        assert!(requirements(pins["burn"]).is_ok());
    }
}
