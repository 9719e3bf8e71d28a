//! What a figure depends on besides the code: processor, system, compiler, commit, date.

use std::time::SystemTime;

use fs_err as fs;

use super::record::Facts;
use crate::process::output;

/// The facts of this machine, of the checked-out commit and of today.
pub(crate) fn facts() -> Facts {
    let mut facts = Facts::default();
    facts.push("date", &today());
    facts.push("commit", &commit());
    facts.push("cpu", &cpu());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    facts.push("cores", &cores.to_string());
    facts.push("system", &system());
    facts.push(
        "rustc",
        output("rustc", &["--version"]).trim_start_matches("rustc "),
    );
    facts
}

/// A file name for the machine, such as `llvmpipe-2-cores`.
pub(crate) fn slug(facts: &Facts) -> String {
    let adapter = facts.get("adapter").unwrap_or("flex");
    let adapter = adapter.split(" (").next().unwrap_or(adapter);
    let cores = facts.get("cores").unwrap_or("unknown");
    let words = format!("{adapter} {cores} cores").to_lowercase();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

/// Software adapters by the names they give themselves.
pub(crate) fn is_software(adapter: &str) -> bool {
    ["llvmpipe", "SwiftShader", "Basic Render"]
        .iter()
        .any(|name| adapter.contains(name))
}

fn commit() -> String {
    // Without `--exclude` a tag would hide the hash.
    output(
        "git",
        &[
            "describe",
            "--always",
            "--dirty",
            "--abbrev=12",
            "--exclude=*",
        ],
    )
}

fn cpu() -> String {
    let of_linux = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.to_owned())
    });
    of_linux
        .or_else(|| std::env::var("PROCESSOR_IDENTIFIER").ok())
        .unwrap_or_else(
            || match output("sysctl", &["-n", "machdep.cpu.brand_string"]) {
                unknown if unknown.is_empty() => std::env::consts::ARCH.to_owned(),
                name => name,
            },
        )
}

fn system() -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let name = name.map_or(std::env::consts::OS, |name| name.trim_matches('"'));
    format!("{name}, {}", std::env::consts::ARCH)
}

fn today() -> String {
    let now = humantime::format_rfc3339(SystemTime::now()).to_string();
    now.split('T').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_adapter_and_cores() {
        let mut facts = Facts::default();
        facts.push("cores", "2");
        assert_eq!(slug(&facts), "flex-2-cores");
        let adapter = "llvmpipe (LLVM 15.0.6) (Vulkan, driver Mesa 22.3.6), plane size 8-8";
        facts.push("adapter", adapter);
        assert_eq!(slug(&facts), "llvmpipe-2-cores");
        assert!(is_software(adapter) && !is_software("NVIDIA H100"));
    }

    #[test]
    fn this_machine_has_every_fact() {
        let facts = facts();
        let date = facts.get("date").unwrap();
        assert!(date.len() == 10 && date > "2025-01-01", "{date}");
        for key in ["cpu", "cores", "system", "rustc"] {
            assert!(
                facts.get(key).is_some_and(|value| !value.is_empty()),
                "{key}"
            );
        }
    }
}
