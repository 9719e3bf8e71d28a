"""Clang with AMD's back end, HIP's headers and AMD's device library, from Debian's packages, and what it says of a kernel."""

import os
import pathlib
import re
import shutil
import subprocess

from machine_code import Code

# Units of a plane, and bytes of shared memory of a multiprocessor as CubeCL counts them: on CDNA a compute unit, on RDNA
# two that share their memory. Both have four SIMDs. An MI300X and a Radeon RX 7900.
PLACES = {"gfx942": (64, 64 << 10), "gfx1100": (32, 128 << 10)}
SIMDS = 4

# The device library has a constant for each architecture. It is too old for the first of each pair, and the second is of
# the same kind.
ISA_VERSIONS = {"942": "90a", "1100": "1030"}

# AMD's run-time compiler includes this unasked. The source gives the names of the system's 64-bit integers to types of
# its own, so the system's get other names here.
PRELUDE = """\
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#define int64_t kernel_int64_t
#define uint64_t kernel_uint64_t
"""


class Toolkit:
    def __init__(self, tree):
        """`tree` is where the packages are unpacked."""
        self.tree = tree
        self.include = tree / "usr/include"
        self.bitcode = tree / "usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
        for missing, kin in ISA_VERSIONS.items():
            missing, kin = (self.bitcode / f"oclc_isa_version_{version}.bc" for version in (missing, kin))
            if not missing.is_file():
                shutil.copy(kin, missing)
        shutil.copy(pathlib.Path(__file__).with_name("hip_bf16.h"), self.include / "hip")
        (self.include / "prelude.h").write_text(PRELUDE)

    def compile(self, path, arch, out):
        """Compiles a HIP source by the options of CubeCL, and returns the file. What the compiler refuses raises its
        message."""
        out.mkdir(parents=True, exist_ok=True)
        assembly = out / f"{path.stem}.s"
        libraries = [self.tree / "usr/lib/x86_64-linux-gnu", self.tree / "usr/lib/llvm-19/lib"]
        line = [self.tree / "usr/bin/clang++-19", "-x", "hip", "--cuda-device-only", "-S", "-w", "-std=c++17", "-O3"]
        line += ["-D__HIP_PLATFORM_AMD__", "-nogpuinc", f"--offload-arch={arch}"]
        line += [f"--rocm-device-lib-path={self.bitcode}", "-include", "__clang_hip_runtime_wrapper.h"]
        line += ["-include", self.include / "prelude.h", "-I", self.include, "-o", assembly, path]
        env = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries))}
        done = subprocess.run(list(map(str, line)), env=env, capture_output=True, text=True)
        if done.returncode:
            raise ValueError(done.stderr)
        return assembly

    def read(self, assembly):
        return read(assembly.read_text())


def read(text):
    """A kernel's assembly."""

    def fact(name):
        found = re.search(rf"^; {name}:\s*(\d+)", text, re.MULTILINE)
        if not found:
            raise ValueError(f"the assembly does not say its {name}")
        return int(found.group(1))

    code = Code(registers=fact("NumVgprs"), stack=fact("ScratchSize"), planes=fact("Occupancy"))
    for kind, op, rest in re.findall(r"^\t([a-z]+)_(\w+)(.*)$", text, re.MULTILINE):
        if kind in ("global", "flat", "buffer") and op.startswith(("load", "store")):
            # These bits make an access bypass the caches.
            is_strong = any(f" {bit}" in rest for bit in ("sc0", "sc1", "glc", "dlc"))
            code.access("load" if op.startswith("load") else "store", bits(op), is_strong)
        code.spills += kind == "scratch"
        code.barriers += kind == "s" and op.startswith("barrier")
    return code


def bits(op):
    """`load_dwordx4` and `load_b128` are 128 bits wide."""
    width = op.rsplit("_", 1)[-1]
    named = {"dword": 32, "ubyte": 8, "sbyte": 8, "byte": 8, "ushort": 16, "sshort": 16, "short": 16}
    if width in named:
        return named[width]
    count = int(re.search(r"\d*$", width).group() or 0)
    return 32 * count if width.startswith("dwordx") else count


def resident(code, units, shared, place):
    """How many units a multiprocessor holds. A cube has `units` and `shared` bytes."""
    plane, memory = place
    cubes = code.planes * SIMDS // -(-units // plane)
    return min(cubes, memory // shared if shared else cubes) * units
