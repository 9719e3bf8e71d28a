"""Measures, records runs, and writes the pages of figures. `cargo xtask report` calls it with the variables of a driver.

1. `bench` builds the benches and runs them; criterion measures. `record` reads criterion's folder and the files of the
   peers (`cargo xtask peers`), and writes a CSV with the facts of the machine to `benches/results`.
2. `pages` makes docs/results and the results in docs/performance.md from all recorded runs.

`--check` measures the headline cases of this tree and of another revision in turn, and fails if one became slower
(`check`). `--gpu FILE` records what the bench `gpu_check` found on a GPU, and measures nothing.
"""

import argparse
import json
import shutil
import subprocess
import sys

import bench
import check
import pages
import record
from record import ROOT, TARGET


def arguments():
    parser = argparse.ArgumentParser(prog="cargo xtask report", description="Arguments for `cargo bench` go after `--`.")
    parser.add_argument("--quick", action="store_true", help="the headline cases only; the pages go to target/report")
    parser.add_argument("--check", action="store_true", help="whether a headline case became more than 15 %% slower")
    parser.add_argument("--against", metavar="REVISION", help="with --check: what this tree is compared with")
    parser.add_argument("--device", choices=["flex", "cube"], help="its cases only")
    parser.add_argument("--gpu", metavar="FILE", help="record the results.json of a GPU host")
    parser.add_argument("--criterion", metavar="FOLDER", help="measure nothing: record that folder of criterion")
    parser.add_argument("--name", help="of the run (default: adapter and cores)")
    parser.add_argument("--sorts", action="store_true", help="measure the sorts of other crates too")
    parser.add_argument("--torch", action="store_true", help="measure torch too")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    given = parser.parse_args(words[:end])
    given.cargo = words[end + 1 :]
    return given


def measure(given, folder):
    """Runs the benches and the peers into a fresh folder."""
    shutil.rmtree(folder, ignore_errors=True)
    cases = bench.headline(given.device) if given.quick else []
    filter = f"/{given.device}/" if given.device and not cases else bench.contenders(cases)
    said = bench.Benches(ROOT, TARGET, given.cargo).run(filter, folder)
    (folder / record.MACHINE).write_text("".join(f"{key}: {value}\n" for key, value in record.machine() + said))
    peers = ["cargo", "xtask", "peers"]
    peers += [f"--{flag}" for flag in ("sorts", "torch") if getattr(given, flag)]
    peers += ["--", "--out", str(folder / "peers-cpu.json")]
    peers += [f"--filter={case.replace('/flex/', '/')}" for case in cases if "/flex/" in case]
    if subprocess.run(peers, cwd=ROOT).returncode:
        # The measurements outlive the failure of a peer.
        with (folder / record.MACHINE).open("a") as facts:
            facts.write("left out: peers: the command failed\n")


def main():
    given = arguments()
    if given.check:
        return check.run(given)
    docs, results = ROOT / "docs", ROOT / "benches/results"
    if given.quick:
        # The figures of a reduced set replace nothing.
        docs, results = TARGET / "report/docs", TARGET / "report/results"
        docs.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "docs/performance.md", docs)
    results.mkdir(parents=True, exist_ok=True)
    if given.gpu:
        text = open(given.gpu, encoding="utf-8").read()
        (results / f"gpu-{pages.adapter(json.loads(text))}.json").write_text(text)
    else:
        folder = TARGET / "report/criterion" if given.criterion is None else ROOT / given.criterion
        if given.criterion is None:
            measure(given, folder)
        run = record.Run.of_criterion(folder, given.name)
        run.write(results / f"{run.name}.csv")
    pages.write(docs, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
