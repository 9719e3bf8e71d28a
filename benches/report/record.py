"""A recorded run: the facts of a machine, and what each contender took in each case, as a CSV that diffs line by line.

    # cores: 2
    case,contender,median_ns,low_ns,high_ns,bytes,answer
    cumsum/flex/f32/1x1024/dim1,burn-scan,310.2,308.0,313.9,8192,

A case is OP/PLACE/DTYPE/SHAPE/REST. Low and high are the ends of criterion's confidence interval for the median; peers
outside of criterion repeat the median. `answer` is `wrong` for a peer that computes something else.
"""

import csv
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")

# The facts of a run, beside criterion's folders: `key: value` lines.
MACHINE = "machine.txt"

# One case for each path through the code: each engine, class of size, layout and operation.
HEADLINE = [
    "cumsum/flex/f32/1x1024/dim1",
    "cumsum/flex/f32/1x1048576/dim1",
    "cumsum/flex/f32/1x16777216/dim1",
    "cumsum/flex/f32/4096x4096/dim0",
    "cumsum/flex/f16/1x16777216/dim1",
    "cumsum/flex/i64/1x16777216/dim1",
    "compact/flex/f32/1x16777216/density0.5",
    "partition/flex/f32/1048576/keys256",
    "gradient-sum/flex/f32/1x1048576/dim1",
    "cumsum/cube/f32/1x1024/dim1",
    "cumsum/cube/f32/1x65536/dim1",
    "cumsum/cube/f32/1x4194304/dim1",
    "cumsum/cube/f32/2x2097152/dim1",
    "cumsum/cube/f32/2048x2048/dim0",
    "cumsum/cube/f32/2048x2048/dim1",
    "compact/cube/f32/1x4194304/density0.5",
    "partition/cube/f32/1048576/keys256",
    "gradient-sum/cube/f32/1x1048576/dim1",
    "cumsum-installed/cube/f32/1x1024/dim1",
]

# The files of the peers, and the place beside which theirs stand.
PEERS = {"cpu": "flex", "gpu": "cube", "lampshade": "cube", "massively": "cube", "rdst": "flex"}


class Measure(NamedTuple):
    """One contender in one case."""

    case: str
    contender: str
    median_ns: float
    low_ns: float
    high_ns: float
    bytes: int
    answer: str = ""

    @property
    def gb_per_s(self):
        return self.bytes / self.median_ns

    @property
    def is_ours(self):
        return self.contender.startswith("burn-scan")

    @property
    def is_copy(self):
        return self.contender.startswith("copy-")

    @property
    def is_limit(self):
        """`limit-4-sum` is the sum of the same input, and ours may take four times as long."""
        return self.contender.startswith("limit-")


class Run(NamedTuple):
    name: str
    facts: list  # of (key, value); a key may repeat
    measures: list

    @staticmethod
    def of_criterion(folder, name=None):
        """The run in a folder of criterion, with the peers beside it."""
        facts = facts_of((folder / MACHINE).read_text().splitlines())
        measures = criterion(folder, "new")
        if not measures:
            raise SystemExit(f"no measurement in {folder}")
        wrong = {value for key, value in facts if key == "wrong"}
        measures = [m._replace(answer="wrong") if f"{m.case}/{m.contender}" in wrong else m for m in measures]
        for file, place in PEERS.items():
            path = folder / f"peers-{file}.json"
            if path.is_file():
                attach(json.loads(path.read_text()), place, measures, facts)
        of = dict(facts)
        name = name or slug(f"{of.get('adapter', 'flex').split(' (')[0]} {of['cores']} cores")
        return Run(name, [fact for fact in facts if fact[0] != "wrong"], sorted(measures))

    @staticmethod
    def read(path):
        lines = path.read_text().splitlines()
        facts = facts_of(line[2:] for line in lines if line.startswith("# "))
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        types = Measure.__annotations__
        measures = [Measure(**{key: types[key](value) for key, value in row.items()}) for row in rows]
        return Run(path.stem, facts, measures)

    def write(self, path):
        with path.open("w", newline="") as file:
            file.writelines(f"# {key}: {value}\n" for key, value in self.facts)
            out = csv.writer(file, lineterminator="\n")
            out.writerow(Measure._fields)
            for m in self.measures:
                times = [f"{ns:.1f}" for ns in (m.median_ns, m.low_ns, m.high_ns)]
                out.writerow([m.case, m.contender, *times, m.bytes, m.answer])


def facts_of(lines):
    return [tuple(line.split(": ", 1)) for line in lines if ": " in line]


def criterion(folder, baseline):
    """What criterion saved under the name of a baseline."""
    measures = []
    for path in folder.rglob(f"{baseline}/benchmark.json"):
        named = json.loads(path.read_text())
        median = json.loads(path.with_name("estimates.json").read_text())["median"]
        interval = median["confidence_interval"]
        times = [median["point_estimate"], interval["lower_bound"], interval["upper_bound"]]
        # Criterion's folder may hold benches without cases of this form.
        if named["group_id"].count("/") == 4:
            measures.append(Measure(named["group_id"], named["function_id"], *times, named["throughput"]["Bytes"]))
    return measures


def attach(peers, place, measures, facts):
    """Adds peers to the cases that we have. They name a case without its place, and move the bytes that we move."""
    facts.append(("peers", ", ".join(f"{peer} {version}" for peer, version in peers["versions"].items())))
    facts += [("left out", f"{peer}: {why}") for peer, why in peers["left_out"].items()]
    sizes = {m.case: m.bytes for m in measures if m.contender == "burn-scan"}
    for row in peers["results"]:
        op, rest = row["case"].split("/", 1)
        case = f"{op}/{place}/{rest}"
        if case in sizes:
            median = row["median_s"] * 1e9 if "median_s" in row else row["median_us"] * 1e3
            measures.append(Measure(case, row["peer"], median, median, median, sizes[case]))


def output(*line):
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True).stdout.strip()


def machine():
    """What a figure depends on besides the code."""
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", cpuinfo.read_text()) if cpuinfo.is_file() else None
    return [
        ("date", datetime.date.today().isoformat()),
        ("commit", output("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")),
        ("cpu", model.group(1) if model else platform.processor() or platform.machine()),
        ("cores", str(os.cpu_count())),
        ("system", platform.platform()),
        ("rustc", output("rustc", "--version").removeprefix("rustc ")),
    ]


def slug(text):
    return "-".join(re.findall("[a-z0-9]+", text.lower()))
