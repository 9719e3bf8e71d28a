//! The packages of which a manifest admits only patches (`burn = { version = "~1.2.3", .. }`), and the versions that
//! replace theirs.

use std::collections::BTreeMap;

use anyhow::Context;

use crate::Result;

/// These packages with their versions.
pub(crate) fn pins(manifest: &str) -> BTreeMap<&str, &str> {
    manifest.lines().filter_map(pin).collect()
}

/// The name and the version of a line that admits only patches of a package.
fn pin(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(" = ")?;
    let (_, version) = rest.split_once("\"~")?;
    Some((name, version.split_once('"')?.0))
}

/// The requirements for a version after `pinned`: the next minor version, or else the next major one. `-0` admits
/// pre-releases. Cargo admits those of this one version only, and releases of all later versions.
pub(crate) fn requirements(pinned: &str) -> Result<Vec<String>> {
    let mut parts = pinned.split('.').map(str::parse::<u32>);
    let mut part = || parts.next()?.ok();
    let (major, minor) = part().zip(part()).context("the pin is no version")?;
    Ok(vec![
        format!(">={major}.{}.0-0", minor + 1),
        format!(">={}.0.0-0", major + 1),
    ])
}

/// The manifest with exactly the locked versions. A package that is not locked takes the version of its family: the
/// crates of Burn have one version, and so have those of CubeCL.
pub(crate) fn replace_pins(manifest: &str, lock: &Lock) -> String {
    let replaced = manifest.split_inclusive('\n').map(|line| {
        let new = pin(line).and_then(|(name, old)| {
            let family = name.split('-').next()?;
            let new = lock.version(name).or_else(|| lock.version(family))?;
            Some(line.replace(&format!("\"~{old}\""), &format!("\"={new}\"")))
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

    /// The packages of which `later` has another version, with both versions.
    pub(crate) fn moved<'a>(&'a self, later: &'a Self) -> Vec<(&'a str, &'a str, &'a str)> {
        let moved = self.0.iter().filter_map(|(name, version)| {
            let new = later.version(name)?;
            (new != version).then_some((name.as_str(), version.as_str(), new))
        });
        moved.collect()
    }

    /// The locked packages of which the manifest admits only patches.
    pub(crate) fn pinned<'a>(&'a self, manifest: &'a str) -> impl Iterator<Item = &'a str> {
        pins(manifest)
            .into_keys()
            .filter(|name| self.version(name).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "\
[workspace.dependencies]
burn = { version = \"~0.22.1\", default-features = false }
burn-std = { version = \"~0.22.1\" }
cubecl = \"~0.11.3\"
half = \"2\"
";

    #[test]
    fn versions_of_patches_are_replaced_and_nothing_else() {
        let lock = "[[package]]\nname = \"burn\"\nversion = \"0.23.0-pre.1\"\n\n\
                    [[package]]\nname = \"cubecl\"\nversion = \"0.12.0\"\n\n\
                    [[package]]\nname = \"half\"\nversion = \"2.4.1\"\n";
        let new = "\
[workspace.dependencies]
burn = { version = \"=0.23.0-pre.1\", default-features = false }
burn-std = { version = \"=0.23.0-pre.1\" }
cubecl = \"=0.12.0\"
half = \"2\"
";
        assert_eq!(replace_pins(MANIFEST, &Lock::parse(lock)), new);
    }

    #[test]
    fn what_moved_is_told() {
        let lock = |version| Lock::parse(&format!("name = \"burn\"\nversion = \"{version}\"\n"));
        let (old, new) = (lock("0.22.1"), lock("0.22.2"));
        assert_eq!(old.moved(&new), [("burn", "0.22.1", "0.22.2")]);
        assert!(old.moved(&old).is_empty());
        assert_eq!(old.pinned(MANIFEST).collect::<Vec<_>>(), ["burn"]);
    }

    #[test]
    fn a_later_version_is_asked_for() {
        let wanted = requirements("0.22.1").unwrap();
        assert_eq!(wanted, [">=0.23.0-0", ">=1.0.0-0"]);
        assert!(requirements("new").is_err());
    }

    #[test]
    fn the_manifest_admits_patches_of_burn_and_cubecl() {
        let manifest = include_str!("../../../Cargo.toml");
        let pins = pins(manifest);
        assert!(pins.contains_key("burn") && pins.contains_key("cubecl"));
        assert!(requirements(pins["burn"]).is_ok());
    }
}
