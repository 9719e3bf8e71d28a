"""NVIDIA's run-time compiler and disassembler, from PyPI, and what they say of a kernel. This needs no GPU."""

import ctypes
import os
import re
import subprocess

from machine_code import Code


# What a multiprocessor holds: threads, cubes, bytes of shared memory. An A100 and an H100.
PLACES = {"sm_80": (2048, 32, 164 << 10), "sm_90": (2048, 32, 228 << 10)}


class Toolkit:
    def __init__(self, packages):
        """`packages` is where pip put them."""
        nvidia = packages / "nvidia"
        library = nvidia / "cuda_nvrtc/lib"
        ctypes.CDLL(str(next(library.glob("libnvrtc-builtins.so*"))), mode=ctypes.RTLD_GLOBAL)
        self.nvrtc = ctypes.CDLL(str(next(path for path in library.glob("libnvrtc.so*") if "alt" not in path.name)))
        self.includes = sorted(nvidia.glob("*/include"))
        self.tools = next(nvidia.glob("*/bin/nvdisasm")).parent

    def compile(self, path, arch, out):
        """Compiles a CUDA source, and returns the file. What the compiler refuses raises its message."""
        out.mkdir(parents=True, exist_ok=True)
        # CUB includes a header of the host, and uses nothing of it here.
        (out / "iterator").touch()
        folders = [f"--include-path={folder}" for folder in [*self.includes, out]]
        binary = out / f"{path.stem}.cubin"
        binary.write_bytes(self.compiled(path.read_bytes(), [f"--gpu-architecture={arch}", "--std=c++17", *folders]))
        return binary

    def read(self, binary):
        return read(self.said("cuobjdump", "--dump-resource-usage", binary), self.said("nvdisasm", "-c", binary))

    def compiled(self, source, options):
        program = ctypes.c_void_p()
        self.nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None)
        array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        failed = self.nvrtc.nvrtcCompileProgram(program, len(options), array)

        def fetch(name):
            size = ctypes.c_size_t()
            getattr(self.nvrtc, f"nvrtcGet{name}Size")(program, ctypes.byref(size))
            text = ctypes.create_string_buffer(size.value)
            getattr(self.nvrtc, f"nvrtcGet{name}")(program, text)
            return text.raw

        result = fetch("ProgramLog" if failed else "CUBIN")
        self.nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        if failed:
            raise ValueError(" ".join(result.rstrip(b"\0").decode().split()))
        return result

    def said(self, tool, argument, file):
        env = {**os.environ, "PATH": f"{self.tools}{os.pathsep}{os.environ.get('PATH', '')}"}
        line = [str(self.tools / tool), argument, str(file)]
        return subprocess.run(line, env=env, capture_output=True, text=True, check=True).stdout


def read(usage, listing):
    """`usage` has a line `REG:40 STACK:0 SHARED:128 LOCAL:0 …`, and `listing` has a line for each instruction."""

    def of(name):
        return max(map(int, re.findall(rf"\b{name}:(\d+)", usage)), default=0)

    code = Code(registers=of("REG"), shared=of("SHARED"), stack=max(of("STACK"), of("LOCAL")))
    # `/*0120*/  @!P0 LDG.E.128 R4, …`
    for op in re.findall(r"^\s*/\*[0-9a-f]+\*/\s+(?:@\S+\s+)?([A-Z][\w.]*)", listing, re.MULTILINE):
        name, *parts = op.split(".")
        if name in ("LDG", "STG", "LD", "ST"):
            # It is 32 bits where the name says nothing.
            widths = [int(part.lstrip("US")) for part in parts if part.lstrip("US") in ("8", "16", "64", "128", "256")]
            code.access("load" if name.startswith("L") else "store", (widths or [32])[0], "STRONG" in parts)
        code.spills += name in ("LDL", "STL")
        code.barriers += name == "BAR"
    return code


def resident(code, units, shared, place):
    """How many threads a multiprocessor holds. A cube has `units`, and `shared` bytes besides those of its code."""
    threads, most_cubes, memory = place
    warps = -(-units // 32)
    # A warp gets registers 256 at a time. A cube gets shared memory 128 bytes at a time, and the system takes 1 KiB.
    registers = max(-(-code.registers * 32 // 256), 1) * 256 * warps
    bytes_of_cube = -(-(code.shared + shared) // 128) * 128 + 1024
    return min(65_536 // registers, memory // bytes_of_cube, threads // (warps * 32), most_cubes) * units
