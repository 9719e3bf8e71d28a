//! The parts of a GPU bundle that are text: cargo's messages, and the script that runs what is packed.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// One executable that cargo built.
#[derive(Debug, PartialEq)]
pub(crate) struct Binary {
    /// PACKAGE.KIND.NAME
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// The test or bench executable that a line of `cargo --message-format=json` reports.
pub(crate) fn binary_of(line: &str, root: &Path) -> Option<Binary> {
    let message: Value = serde_json::from_str(line).ok()?;
    let target = &message["target"];
    let path = message["executable"].as_str()?;
    let manifest = Path::new(message["manifest_path"].as_str()?);
    let in_root = manifest.parent() == Some(root);
    let package = if in_root { "burn-scan" } else { "cubecl-scan" };
    let kind = ["test", "bench"]
        .into_iter()
        .find(|kind| target["kind"][0] == *kind)?;
    Some(Binary {
        name: format!("{package}.{kind}.{}", target["name"].as_str()?),
        path: path.into(),
    })
}

/// The script of the bundle.
pub(crate) const RUN_SH: &str = include_str!("run.sh");

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{
        "reason": "compiler-artifact",
        "package_id": "path+file:///w/kernels#cubecl-scan@0.1.0",
        "manifest_path": "/w/kernels/Cargo.toml",
        "target": {"kind": ["bench"], "name": "scan", "src_path": "/w/kernels/benches/scan.rs"},
        "filenames": ["/w/t/scan-1"],
        "executable": "/w/t/a \"b\"/scan-1"
    }"#;

    #[test]
    fn an_executable_is_named_by_package_kind_and_target() {
        let bench = binary_of(LINE, Path::new("/w")).unwrap();
        assert_eq!(bench.name, "cubecl-scan.bench.scan");
        assert_eq!(bench.path, Path::new("/w/t/a \"b\"/scan-1"));
        let test = LINE
            .replace("/w/kernels/Cargo.toml", "/w/Cargo.toml")
            .replace("[\"bench\"]", "[\"test\"]");
        assert_eq!(
            binary_of(&test, Path::new("/w")).unwrap().name,
            "burn-scan.test.scan"
        );
    }

    #[test]
    fn other_messages_are_passed_over() {
        let of = |line: &str| binary_of(line, Path::new("/w"));
        assert_eq!(of(r#"{"reason":"build-finished","success":true}"#), None);
        assert_eq!(of(&LINE.replace("[\"bench\"]", "[\"bin\"]")), None);
        let library = r#"{"manifest_path":"/w/Cargo.toml","target":{"kind":["lib"],"name":"x"},"executable":null}"#;
        assert_eq!(of(library), None);
        assert_eq!(of("no JSON"), None);
    }
}
