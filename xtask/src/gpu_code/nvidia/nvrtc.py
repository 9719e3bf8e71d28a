"""Compiles CUDA C++ with NVIDIA's run-time compiler. This needs no GPU.

usage: nvrtc.py PACKAGES ARCH LIST OUT

LIST names files, one a line. ARCH is sm_90 or the like. Machine code goes to OUT/NAME.cubin. For each file that the
compiler refuses, the script prints a line `FILE: MESSAGE`, and the exit status is 1.
"""
import ctypes
import glob
import os
import sys


def compiler(packages):
    folder = packages + "/nvidia/cuda_nvrtc/lib/"
    [builtins] = glob.glob(folder + "libnvrtc-builtins.so*")
    ctypes.CDLL(builtins, mode=ctypes.RTLD_GLOBAL)
    [library] = [name for name in glob.glob(folder + "libnvrtc.so*") if "alt" not in name]
    return ctypes.CDLL(library)


def compiled(nvrtc, source, options):
    """The code, or an error message."""
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None)
    array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    failed = nvrtc.nvrtcCompileProgram(program, len(options), array)

    def fetch(name):
        size = ctypes.c_size_t()
        getattr(nvrtc, "nvrtcGet%sSize" % name)(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, "nvrtcGet" + name)(program, text)
        return text.raw

    code, error = (None, fetch("ProgramLog")) if failed else (fetch("CUBIN"), None)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code, error


def main(packages, arch, list_of_files, out):
    nvrtc = compiler(packages)
    options = ["--gpu-architecture=" + arch, "--std=c++17"]
    options += ["--include-path=" + folder for folder in sorted(glob.glob(packages + "/nvidia/*/include"))]
    options.append("--include-path=" + out)
    with open(list_of_files) as file:
        paths = file.read().split("\n")
    refused = 0
    for path in paths:
        with open(path, "rb") as file:
            code, error = compiled(nvrtc, file.read(), options)
        if error:
            refused += 1
            print("%s: %s" % (path, " ".join(error.rstrip(b"\0").decode().split())))
            continue
        name = os.path.splitext(os.path.basename(path))[0]
        with open(os.path.join(out, name + ".cubin"), "wb") as file:
            file.write(code)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
