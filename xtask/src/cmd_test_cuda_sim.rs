//! `cargo xtask test-cuda-sim`: the kernels as CUDA, in a cycle-level GPU simulator.
//!
//! 1. The test `cuda` of `cubecl-scan` writes down every module, launch and result, as for `cargo xtask gpu-code`.
//! 2. `xtask/gpu/simulate.py` runs that record, and compares the memory afterwards.

use crate::process::{root, run as run_to_success};
use crate::python::script;
use crate::steps::Steps;
use crate::{Result, record};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let (replay, args): (Vec<&String>, _) = args.iter().partition(|arg| *arg == "--replay");
    let mut steps = Steps::default();
    let is_recorded = !replay.is_empty()
        || steps.step("record what the kernels' callers ask of a device", || {
            record::write("cuda")
        });
    if is_recorded {
        steps.step("run it in the simulator", || {
            let mut command = script("xtask/gpu/simulate.py")?;
            command.arg("--record").arg(record::folder("cuda"));
            run_to_success(command.args(args).current_dir(root()))
        });
    }
    steps.finish()
}
