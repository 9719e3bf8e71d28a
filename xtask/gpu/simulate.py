"""Runs the record of the test `cuda` in a cycle-level GPU simulator. `cargo xtask test-cuda-sim` calls it.

The simulator is not part of this repository. It is a folder with `sim.py` and `build.sh`, made of GPGPU-Sim
(gpgpu-sim.org, with support for PTX 7.8), NVRTC and a runner of launches; `kernels/tests/recorded/jobs.rs` describes the text file of launches.

The simulator's own script compiles each module to the PTX that it can parse; cases with other modules are named and left
out. After a case the memory is compared with the results of plain loops. The headline cases print cycles, which compare
programs on a machine that does not exist, and sectors, the pieces of 32 bytes that the accesses of all warps touch.
Strided accesses touch more than a copy of the same bytes does.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import threading

# The headline cases that read and write as much as a copy does, in full tiles: the beginnings of their names, and their
# elements.
LIKE_A_COPY = {
    "sum of 2^18 f32": 1 << 18,
    "sum of 2^20 f32": 1 << 20,
    "rows of [64, 4096] f32": 1 << 18,
    "rows of [1024, 256] f32": 1 << 18,
    "rows of [16384, 16] f32": 1 << 18,
    "columns of [1024, 1024] f32": 1 << 20,
}
# Elements of f32 in a sector.
IN_SECTOR = 8
# The most sectors of such a case, as a multiple of a copy's.
MOST_SECTORS = 1.25
# A case may take this many seconds.
PATIENCE = "1200"


class LeftOut(Exception):
    """The simulator cannot run a module of the case."""


class Case:
    def __init__(self, folder):
        self.folder = folder
        self.group, _, self.name = (folder / "name").read_text().strip().partition("\n")

    def __str__(self):
        return f"{self.group}: {self.name}"


class Simulator:
    def __init__(self, scripts, built):
        self.scripts, self.built = scripts, built
        self.locks = collections.defaultdict(threading.Lock)

    def command(self, *words):
        line = [sys.executable, str(self.scripts / "sim.py"), *map(str, words)]
        env = {**os.environ, "SIM_DIR": str(self.built)}
        return subprocess.run(line, env=env, capture_output=True, text=True)

    def run(self, case):
        """The cycles of each launch, by kernel, and the sectors of all."""
        job, log = case.folder / "job", case.folder / "log"
        for line in job.read_text().splitlines():
            if line.startswith("ptx "):
                self.compile(case.folder / line.removeprefix("ptx "))
        done = self.command("run", job, "--log", log, "--config", "h100q", "--timeout", PATIENCE)
        if done.returncode:
            raise ValueError(next((line for line in done.stdout.splitlines() if "JOB failed" in line), "the simulator ended"))
        compare(case.folder)
        touched = sectors(log.read_text())
        log.unlink()
        return [found for line in done.stdout.splitlines() if (found := launch(line))], touched

    def compile(self, module):
        """Makes `N.ptx` from `N.cu`. `N.againI.ptx` is the same with another name of its kernel."""
        first, _, again = module.name.removesuffix(".ptx").partition(".")
        # Cases name the same module by paths through their own folders.
        ptx = module.resolve().with_name(f"{first}.ptx")
        with self.locks[ptx]:
            if not ptx.is_file():
                unfinished = ptx.with_suffix(".unfinished")
                done = self.command("compile", ptx.with_suffix(".cu"), unfinished, "--schedule")
                if done.returncode:
                    raise LeftOut((done.stderr.splitlines() or ["no reason"])[-1])
                unfinished.rename(ptx)
        if again:
            text = ptx.read_text()
            entry = re.search(r"\.entry\s+(\w+)", text).group(1)
            module.write_text(text.replace(entry, f"{entry}_{again}"))


def launch(line):
    """Reads a line `LAUNCH kernel cycles=C …`."""
    found = re.match(r"LAUNCH (\w+?)_kernel\S* .*?cycles=(\d+)", line)
    return found and (found.group(1), int(found.group(2)))


def sectors(log):
    """The sectors of all reads and writes. The log has the counts so far after each launch."""
    count = 0
    for access in "RW":
        name = f"Total_core_cache_stats_breakdown[GLOBAL_ACC_{access}][TOTAL_ACCESS] = "
        count += int(log.rpartition(name)[2].split("\n")[0])
    return count


def compare(folder):
    """Compares the memory after a case with the wanted bytes."""
    for line in (folder / "wanted").read_text().splitlines():
        name, start, wanted = line.split(" ")
        wanted = (folder / wanted).read_bytes()
        found = (folder / name).read_bytes()[int(start) :][: len(wanted)]
        if found != wanted:
            wrong = [at for at, byte in enumerate(wanted) if found[at : at + 1] != bytes([byte])]
            raise ValueError(f"{len(wrong)} of {len(wanted)} bytes, the first at {wrong[0]}")


def share_of_copy(case, count):
    """The sectors as a multiple of those that a copy of the case's elements reads and writes, if it is like one."""
    elements = next((elements for name, elements in LIKE_A_COPY.items() if case.startswith(name)), None)
    return elements and count / (2 * elements / IN_SECTOR)


def main():
    parser = argparse.ArgumentParser(prog="cargo xtask test-cuda-sim")
    parser.add_argument("--record", type=pathlib.Path, required=True, help="what the test `cuda` wrote")
    parser.add_argument("--simulator", type=pathlib.Path, required=True, help="the folder with its sim.py")
    parser.add_argument("--built", type=pathlib.Path, default=os.environ.get("SIM_DIR"), help="what its build.sh filled")
    parser.add_argument("--headlines", action="store_true", help="the cases whose cycles count, and no others")
    parser.add_argument("words", nargs="*", help="only cases with one of these in their names")
    given = parser.parse_args()
    if not (given.simulator / "sim.py").is_file() or not given.built or not (pathlib.Path(given.built) / "bin").is_dir():
        parser.error("--simulator or --built names no simulator (see the head of xtask/gpu/simulate.py)")
    simulator = Simulator(given.simulator, given.built)
    folders = sorted((given.record / "cases").iterdir(), key=lambda folder: int(folder.name))
    cases = [case for case in map(Case, folders) if (case.group == "headline") == given.headlines]
    cases = [case for case in cases if not given.words or any(word in str(case) for word in given.words)]
    if not cases:
        parser.error("no such case")

    counts = collections.defaultdict(lambda: [0, 0, 0])
    wrong = []

    def one(case):
        try:
            launches, touched = simulator.run(case)
        except LeftOut as why:
            return 2, f"left out: {why}"
        except Exception as why:
            wrong.append(f"{case}: {why}")
            return 1, f"WRONG: {why}"
        if not given.headlines:
            return 0, "right"
        share = share_of_copy(case.name, touched)
        if share and share > MOST_SECTORS:
            wrong.append(f"{case}: {share:.2f} × the sectors of a copy")
        each = ", ".join(f"{kernel} {cycles}" for kernel, cycles in launches)
        of_copy = f", {share:.2f} × a copy's" if share else ""
        total = sum(cycles for _, cycles in launches)
        return 0, f"{total} cycles ({each}), {touched} sectors{of_copy}"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, (state, said) in zip(cases, pool.map(one, cases)):
            counts[case.group][state] += 1
            print(f"{case}: {said}", flush=True)
    print(f"\n{'right':>6} {'wrong':>6} {'left out':>8}  group")
    for group, (right, bad, unknown) in sorted(counts.items()):
        print(f"{right:>6} {bad:>6} {unknown:>8}  {group}")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
