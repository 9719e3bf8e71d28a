//! `cargo xtask gpu-code`: what NVIDIA's and AMD's compilers make of the kernels. It needs no GPU.
//!
//! 1. The tests `cuda` and `hip` of `cubecl-scan` call the crate on devices that lower every kernel to CUDA C++ or HIP
//!    C++ and run none.
//! 2. `xtask/gpu/code.py` compiles what they recorded, reads the machine code, and fails if it is not as it must be.

use crate::args::{Args, Spec};
use crate::process::{root, run as run_to_success, target_dir};
use crate::python::Venv;
use crate::steps::Steps;
use crate::{Result, debian, record};

const SPEC: Spec = Spec {
    flags: &["--replay", "--write"],
    options: &[],
};

/// The compiler is from the CUDA release that is looked at. The disassembler is newer and reads its code.
const WHEELS: [&str; 5] = [
    "nvidia-cuda-nvrtc-cu12==12.9.86",
    "nvidia-cuda-runtime-cu12==12.9.79",
    "nvidia-cuda-cccl-cu12==12.9.27",
    "nvidia-cuda-nvdisasm==13.5.37",
    "nvidia-cuda-cuobjdump==13.5.37",
];

/// Clang with AMD's back end, HIP's headers and AMD's device library. Debian 12 has these. Its HIP is 5.2, and its Clang
/// is newer than the GPUs.
const PACKAGES: [&str; 7] = [
    "clang-19",
    "libclang-common-19-dev",
    "libclang-cpp19",
    "libllvm19",
    "libz3-4",
    "rocm-device-libs",
    "libamdhip64-dev",
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    let mut steps = Steps::default();
    let is_recorded = args.flag("--replay")
        || ["cuda", "hip"].into_iter().all(|test| {
            let name = format!("record what the kernels' callers ask of a device: {test}");
            steps.step(&name, || record::write(test))
        });
    if is_recorded {
        steps.step("compile and read", || {
            let venv = Venv::get("cuda")?;
            venv.install(&WHEELS)?;
            let clang = debian::unpack(&target_dir().join("hip-toolkit"), &PACKAGES)?;
            let mut command = venv.command();
            command.arg("-B").arg(root().join("xtask/gpu/code.py"));
            for (option, path) in [
                ("--cuda", record::folder("cuda")),
                ("--hip", record::folder("hip")),
                ("--wheels", venv.packages()),
                ("--clang", clang),
            ] {
                command.arg(option).arg(path);
            }
            if args.flag("--write") {
                let table = root().join("docs/results/compiled.md");
                command.arg("--write").arg(table);
            }
            run_to_success(command.args(&args.words))
        });
    }
    steps.finish()
}
