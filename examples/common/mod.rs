//! What the examples share: the command line, the device, seeded data, checks, times, JSON and pictures.

#![allow(missing_docs, reason = "for the examples only")]

pub mod arguments;
pub mod device;
pub mod picture;
pub mod plot;
pub mod random;
pub mod timing;

use std::process::ExitCode;

use arguments::Arguments;

/// The `main` of an example. Its exit code is 0 if all results are right, 1 if any is not, 2 if the run could not
/// start.
pub fn run(usage: &str, example: impl FnOnce(&Arguments) -> Result<bool, String>) -> ExitCode {
    quiet_mesa();
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

/// On a machine without a display or a folder for sockets, Mesa complains on standard error once for each graphics API
/// that is asked for an adapter. It needs no such folder here.
fn quiet_mesa() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: the program has one thread yet.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", std::env::temp_dir()) };
    }
}

/// Whether every result so far was right.
pub struct Checks(bool);

impl Default for Checks {
    fn default() -> Self {
        Self(true)
    }
}

impl Checks {
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
