//! What the examples share: the command line, the device, seeded data, checks, times, JSON and pictures.

#![allow(dead_code, reason = "every example uses its own part")]

pub mod arguments;
pub mod device;
pub mod plot;
pub mod random;
pub mod timing;

use std::process::ExitCode;

use arguments::Arguments;

/// The `main` of an example. Its exit code is 0 if all results are right, 1 if any is not, 2 if the run could not
/// start.
pub fn run(usage: &str, example: impl FnOnce(&Arguments) -> Result<bool, String>) -> ExitCode {
    let name = usage.split(' ').next().unwrap_or_default();
    let given: Vec<_> = std::env::args_os().skip(1).collect();
    if given.iter().any(|word| word == "--help" || word == "-h") {
        println!("usage: {usage}");
        return ExitCode::SUCCESS;
    }
    match Arguments::parse(usage, given).and_then(|arguments| example(&arguments)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("{name}: {message}");
            ExitCode::from(2)
        }
    }
}

/// Whether every result so far was right.
pub struct Checks(bool);

impl Checks {
    pub fn new() -> Self {
        Self(true)
    }

    /// Prints the name of the result if it is wrong. Returns `right`.
    pub fn check(&mut self, what: &str, right: bool) -> bool {
        if !right {
            println!("{what}: WRONG");
        }
        self.0 &= right;
        right
    }

    pub fn passed(&self) -> bool {
        self.0
    }
}
