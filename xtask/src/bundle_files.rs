//! The parts of a GPU bundle that are text: cargo's messages, and the run script.

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

/// `run.sh` of the bundle.
pub(crate) const RUN_SH: &str = r#"#!/usr/bin/env bash
# Run the packed test and bench binaries. Needs bash, xz (or python3) and a GPU driver; no Rust, no network.
#   ./run.sh                      list what is here
#   ./run.sh FLAVOUR [tests]      every test of wgpu, vulkan or cuda; exit status 1 if one failed
#   ./run.sh FLAVOUR benches      every bench
#   ./run.sh FLAVOUR NAME ARGS..  one binary
# The tests read BURN_SCAN_DEVICE (set here to the flavour) and fail where that device does not start.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ $# = 0 ]; then (cd "$here" && ls -- */*.xz | sed 's/\.xz$//; s,/, ,'); exit; fi
flavour=$1 what=${2:-tests}
shift $(($# > 1 ? 2 : 1))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Containers with a GPU often lack the Vulkan loader, or have the driver's manifest in an unusual place.
if [ -e "$here/lib/libvulkan.so.1" ] && ! ldconfig -p 2>/dev/null | grep -q libvulkan.so.1; then
  export LD_LIBRARY_PATH="$here/lib:${LD_LIBRARY_PATH:-}"
fi
cloud=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
if [ -e "$cloud" ] && ! ls /etc/vulkan/icd.d/*.json /usr/share/vulkan/icd.d/*.json >/dev/null 2>&1; then
  export VK_DRIVER_FILES=${VK_DRIVER_FILES:-$cloud}
fi
export BURN_SCAN_REQUIRE_CUBE=1 BURN_SCAN_DEVICE=$flavour

python='import lzma,shutil,sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)'
unpack() { xz -dc "$1" 2>/dev/null || python3 -c "$python" "$1"; }

run_one() {
  local name=$1; shift
  unpack "$here/$flavour/$name.xz" > "$work/$name"
  chmod +x "$work/$name"
  # Criterion measures only when told so, as `cargo bench` does; otherwise it tries each bench once.
  case $name in *.bench.*) set -- --bench "$@" ;; esac
  echo "== $flavour $name"
  local status=0
  if [ "$flavour" = cuda ]; then
    local lib
    for lib in /usr/local/cuda/lib64 /usr/local/cuda/targets/x86_64-linux/lib; do
      if [ -d "$lib" ]; then export LD_LIBRARY_PATH="$lib:${LD_LIBRARY_PATH:-}"; fi
    done
    CUDA_PATH=${CUDA_PATH:-/usr/local/cuda} LD_PRELOAD="$here/cuda/libllvm_stub.so" "$work/$name" "$@" || status=$?
  else
    "$work/$name" "$@" || status=$?
  fi
  rm -f "$work/$name"
  return "$status"
}

case $what in
  tests | benches)
    failed=()
    kind=test
    if [ "$what" = benches ]; then kind=bench; fi
    for file in "$here/$flavour"/*."$kind".*.xz; do
      [ -e "$file" ] || continue
      name=$(basename "$file" .xz)
      run_one "$name" "$@" || failed+=("$name")
    done
    if [ ${#failed[@]} -gt 0 ]; then echo "FAILED: ${failed[*]}"; exit 1; fi
    echo "all $what of $flavour passed"
    ;;
  *) run_one "$what" "$@" ;;
esac
"#;

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
