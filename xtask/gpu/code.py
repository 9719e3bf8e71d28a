"""What NVIDIA's and AMD's compilers make of the kernels. `cargo xtask gpu-code` calls it; it needs no GPU.

NVRTC compiles every CUDA module of the record for sm_90, and those at a GPU's own tuning for sm_80, too. Clang compiles
every HIP module for the device that it was lowered for. The table has the machine code of the modules at a GPU's own
tuning, with CUB's kernels next to them. It is a fault if a compiler refuses a module, or if a kernel spills, accesses
contiguous memory less widely than the GPU can, or has a plane operation that part of a plane may miss.
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys
from typing import NamedTuple

import amd
import nvidia
import reconvergence
from machine_code import CONTIGUOUS, HEAD, OTHER, faults, row

# CUB's kernels, each with its file and the units of its cubes.
CUB = {
    "CUB: DeviceScan::InclusiveSum of f32": ("cub_scan.cu", 128),
    "CUB: DeviceSelect::Flagged of f32": ("cub_select.cu", 384),
}

INTRODUCTION = """\
# Compiled, not measured

`cargo xtask gpu-code` lowers the kernels at the tuning of a GPU to CUDA C++ and to HIP C++, compiles them with NVRTC
12.9 and Clang 19, and reads the machine code. CUB's agents, with their policies for sm_90, stand beside them. On AMD's
gfx942 a plane has 64 units, on gfx1100 it has 32. CubeCL can also lower for AMD's GPUs through LLVM; the command does
not look at that. Loads and stores are those of global memory, by their bits, without those by which cubes communicate. Each
counts once, however often it runs. Threads are those that a multiprocessor holds. Spills are instructions that reach
the stack.

"""


class Module(NamedTuple):
    """A kernel of the record. `kernels/tests/recorded/jobs.rs` describes the form."""

    path: pathlib.Path
    # What it is compiled for.
    device: str
    # Its own name, without types and hashes.
    kernel: str
    units: int
    # Bytes that the launch asks for besides those that the code declares.
    shared: int
    # The case that launched it first: `GROUP, NAME`.
    case: str

    @staticmethod
    def read(folder, line):
        file, device, entry, x, y, z, shared, case = line.split(" ", 7)
        kernel = entry.split("_kernel")[0]
        return Module(folder / file, device, kernel, int(x) * int(y) * int(z), int(shared), case)

    @property
    def is_tuned(self):
        """Whether it is at a GPU's own tuning."""
        return self.case.startswith((CONTIGUOUS, OTHER))


def compiled(toolkit, files, arch, out):
    """The code of each file, or the message of the compiler that refused it. `files` are paths, and whether they are
    read, too."""

    def one(file):
        path, is_read = file
        try:
            binary = toolkit.compile(path, arch, out)
            return toolkit.read(binary) if is_read else None
        except ValueError as why:
            return f"{arch}, {path}: {why}"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, files))


def look(vendor, toolkit, record, words):
    """The rows of the table, and the faults."""
    lines = (record / "modules.txt").read_text().splitlines()
    modules = [Module.read(record / "modules", line) for line in lines]
    modules = [module for module in modules if not words or any(word in module.case for word in words)]
    rows, wrong = [], []
    if vendor is nvidia:
        operations = 0
        for module in modules:
            source = module.path.read_text()
            operations += len(reconvergence.PLANE_OPERATION.findall(source))
            wrong += [f"{module.case}, {module.kernel}: {why}" for why in reconvergence.faults(source)]
        print(f"units may miss {len(wrong)} of {operations} plane operations", flush=True)
    for arch, place in vendor.PLACES.items():
        cub = None
        if vendor is nvidia:
            # Of two architectures one is enough for the small cases.
            of_arch = [module for module in modules if module.is_tuned or arch == "sm_90"]
            here = pathlib.Path(__file__).parent
            found = compiled(toolkit, [(here / file, True) for file, _ in CUB.values()], arch, record / arch)
            for (name, (_, units)), code in zip(CUB.items(), found):
                rows.append(row(arch, name, "", code, 0, vendor.resident(code, units, 0, place)))
            cub = found[0]
        else:
            of_arch = [module for module in modules if module.device == arch]
        found = compiled(toolkit, [(module.path, module.is_tuned) for module in of_arch], arch, record / arch)
        refused = [code for code in found if isinstance(code, str)]
        print(f"{len(found) - len(refused)} of {len(found)} modules compile for {arch}", flush=True)
        wrong += refused
        for module, code in zip(of_arch, found):
            if not module.is_tuned or isinstance(code, str):
                continue
            resident = vendor.resident(code, module.units, module.shared, place)
            rows.append(row(arch, module.case, module.kernel, code, module.shared, resident))
            found_wrong = faults(module.case, module.kernel, code, resident, cub)
            wrong += [f"{arch}, {module.case}, {module.kernel}: {why}" for why in found_wrong]
    return rows, wrong


def main():
    parser = argparse.ArgumentParser(prog="cargo xtask gpu-code")
    parser.add_argument("--cuda", type=pathlib.Path, required=True, help="what the test `cuda` wrote")
    parser.add_argument("--wheels", type=pathlib.Path, required=True, help="where pip put NVIDIA's packages")
    parser.add_argument("--hip", type=pathlib.Path, required=True, help="what the test `hip` wrote")
    parser.add_argument("--clang", type=pathlib.Path, required=True, help="Debian's packages, unpacked")
    parser.add_argument("--write", type=pathlib.Path, help="put the table into this file")
    parser.add_argument("words", nargs="*", help="only cases with one of these in their names")
    given = parser.parse_args()
    if given.write and given.words:
        parser.error("--write is for the whole table")
    rows, wrong = look(nvidia, nvidia.Toolkit(given.wheels), given.cuda, given.words)
    more, worse = look(amd, amd.Toolkit(given.clang), given.hip, given.words)
    table = HEAD + "".join(rows + more)
    print(f"\n{table}")
    if given.write:
        given.write.write_text(INTRODUCTION + table)
    print(*wrong, *worse, sep="\n")
    return 1 if wrong or worse else 0


if __name__ == "__main__":
    sys.exit(main())
