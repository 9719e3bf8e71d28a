//! The test of the supervisor: of two planted kernels one hangs and one is wrong. Both must be named, and what stands
//! after them must run.

use std::io;
use std::process::Command;
use std::time::Duration;

use crate::journal::Verdict;
use crate::planted::{HANGS, IS_RIGHT, IS_WRONG};
use crate::supervisor::{self, Shown, Stage};

/// Runs the planted cases on the device of `BURN_SCAN_DEVICE`, or the first one of the build.
pub fn run() -> io::Result<bool> {
    if scan_testing::tensors::devices::cube().is_none() {
        println!("test result: ok. 0 passed; 0 failed; 1 ignored");
        return Ok(true);
    }
    let work = std::env::temp_dir().join(format!("gpu_check-test-{}", std::process::id()));
    std::fs::create_dir_all(&work)?;
    let stage = Stage {
        name: "planted",
        shards: 1,
        limit: Duration::from_secs(60),
        case_seconds: 8.,
        extra: vec!["--plant".into()],
    };
    let own = std::env::current_exe()?;
    let shown = supervisor::run(&stage, &work, || Command::new(&own))?;
    std::fs::remove_dir_all(&work)?;
    let faults = faults(&shown);
    for fault in &faults {
        println!("{fault}: {:#?}", shown);
    }
    let (passed, failed) = (3 - faults.len(), faults.len());
    println!("test result: {passed} passed; {failed} failed");
    Ok(faults.is_empty())
}

/// What did not come about.
fn faults(shown: &Shown) -> Vec<&'static str> {
    let verdict = |case: &str| {
        let ended = shown.ended.iter().find(|ended| ended.case == case);
        ended.map(|ended| (ended.verdict, ended.detail.as_str()))
    };
    let is_named = |case, word: &str| {
        verdict(case)
            .is_some_and(|(verdict, detail)| verdict == Verdict::Wrong && detail.contains(word))
    };
    let mut faults = Vec::new();
    if !is_named(HANGS, "hung") {
        faults.push("the kernel that hangs was not named");
    }
    if !is_named(IS_WRONG, "24 of 1024 elements wrong") {
        faults.push("the kernel that is wrong was not named");
    }
    if verdict(IS_RIGHT) != Some((Verdict::Right, "")) || !shown.unfinished.is_empty() {
        faults.push("the cases after them did not run");
    }
    faults
}
