//! `cargo xtask report`: runs `benches/report` with the variables of a driver. Its other options are the script's own.

use std::process::Command;

use anyhow::Context;

use crate::process::{root, run as run_to_success};
use crate::python::interpreter;
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
    let mut command = Command::new(interpreter()?);
    command
        .arg("-B")
        .arg(root().join("benches/report"))
        .args(args);
    run_to_success(command.envs(env))
}
