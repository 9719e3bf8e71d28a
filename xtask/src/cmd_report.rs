//! `cargo xtask report`: runs `benches/report` with the variables of a driver. Its other options are the script's own.

use anyhow::Context;

use crate::process::run as run_to_success;
use crate::python::script;
use crate::{Result, drivers};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    let end = args.iter().position(|arg| arg == "--");
    let asked = args.iter().take(end.unwrap_or(args.len()));
    let driver = match asked.into_iter().position(|arg| arg == "--driver") {
        Some(at) => {
            args.remove(at);
            (at < args.len()).then(|| args.remove(at))
        }
        None => Some("system".to_owned()),
    };
    let env = drivers::get(&driver.context("--driver needs a value")?)?;
    let mut command = script("benches/report")?;
    run_to_success(command.args(args).envs(env))
}
