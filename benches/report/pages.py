"""The pages of figures: docs/results has a page for each run, docs/performance.md a screen for each device.

A run is a CSV of `record`, or the JSON that the bench `gpu_check` wrote on a GPU. That program made a page of its own,
which stands here with the facts of its host.
"""

import json

import record

NOT_MEASURED = "not measured"
BEGIN = "<!-- What follows is written by `cargo xtask report`. -->"
END = "<!-- What precedes is written by `cargo xtask report`. -->"
# What the names of cases end with whose routine was not chosen but asked for.
FORCED = (", looking back", ", counted")
# Lines of the list "where it is slower" that docs/performance.md shows.
SHOWN = 12


def write(docs, results):
    """Writes the pages of all recorded runs into the folder `docs`."""
    folder = docs / "results"
    folder.mkdir(exist_ok=True)
    screens = []
    gpus = [json.loads(path.read_text()) | {"name": path.stem} for path in sorted(results.glob("gpu-*.json"))]
    for found in gpus:
        (folder / f"{found['name']}.md").write_text(gpu_page(found))
    for name in sorted({adapter(found) for found in gpus}):
        screens.append(gpu_screen(name, [found for found in gpus if adapter(found) == name]))
    for path in sorted(results.glob("*.csv")):
        run = record.Run.read(path)
        (folder / f"{run.name}.md").write_text(page(run))
        screens.append(screen(run))
    performance = docs / "performance.md"
    head, rest = performance.read_text().split(BEGIN)
    _, tail = rest.split(END)
    performance.write_text(f"{head}{BEGIN}\n\n{''.join(screens)}{END}{tail}")
    print(f"wrote {performance} and {folder}")


def table(titles, rows):
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def three(value):
    """Three digits."""
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def time(ns):
    unit = next((size, name) for size, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")) if ns >= size or size == 1)
    return f"{three(ns / unit[0])} {unit[1]}"


def speed(by):
    """`3.20× faster`, or in bold how much slower."""
    return f"{three(by)}× faster" if by >= 1 else f"**{three(1 / by)}× slower**"


def number(size):
    is_power = size > 999 and size & (size - 1) == 0
    return f"2^{size.bit_length() - 1}" if is_power else str(size)


class Line:
    """One of our contenders beside the others of its case."""

    def __init__(self, ours, measures):
        of_case = [m for m in measures if m.case == ours.case]
        peers = [m for m in of_case if not (m.is_ours or m.is_copy or m.is_limit)]
        self.ours = ours
        self.op, self.place, self.dtype, shape, self.rest = ours.case.split("/")
        self.shape = [int(size) for size in shape.split("x")]
        self.peer = min(peers, key=lambda m: m.median_ns, default=None)
        self.burn = next((m for m in of_case if m.contender == "burn"), None)
        self.copy = max((m for m in of_case if m.is_copy), key=lambda m: m.gb_per_s, default=None)
        self.by = self.peer and self.peer.median_ns / ours.median_ns

    @property
    def label(self):
        variant = self.ours.contender.removeprefix("burn-scan").replace("-", ", ")
        return f"{self.dtype} {' × '.join(map(number, self.shape))} {self.rest}{variant}"

    @property
    def cells(self):
        def cell(m, name=""):
            return f"{name}{time(m.median_ns)}{' †' if m.answer else ''}" if m else NOT_MEASURED

        peer = self.peer and f"{self.peer.contender} "
        share = f"{100 * self.ours.gb_per_s / self.copy.gb_per_s:.0f} %" if self.copy else NOT_MEASURED
        by = speed(self.by) if self.by else NOT_MEASURED
        return [self.label, time(self.ours.median_ns), cell(self.peer, peer), by, cell(self.burn), share]


TITLES = ["case", "ours", "best peer", "ours is", "Burn's own", "of the copy's bandwidth"]


def lines_of(run):
    lines = [Line(m, run.measures) for m in run.measures if m.is_ours and m.case not in limited(run)]
    return sorted(lines, key=lambda line: (line.dtype != "f32", line.dtype, len(line.shape), line.shape, line.label))


def slower(lines, most=None):
    """The lines where a peer is faster, the worst first."""
    compared = [line for line in lines if line.by]
    worse = sorted((line for line in compared if line.by < 1), key=lambda line: line.by)
    texts = [f"- {line.op} {line.place}, {line.label}: {speed(line.by)} than {line.peer.contender}\n" for line in worse]
    if most and len(texts) > most:
        texts[most:] = [f"- {len(texts) - most} more on the page of the run\n"]
    return f"A peer is faster in {len(worse)} of {len(compared)} lines{':' if worse else '.'}\n\n{''.join(texts)}"


def limited(run):
    """The cases with a limit."""
    return {m.case for m in run.measures if m.is_limit}


def limits(run, only_exceeded=False):
    """How many limits hold, and a table of them: operations beside the work that bounds them."""
    rows, exceeded = [], 0
    for limit in (m for m in run.measures if m.is_limit):
        ours = next(m for m in run.measures if m.case == limit.case and m.is_ours)
        _, most, what = limit.contender.split("-", 2)
        times = ours.median_ns / limit.median_ns
        is_exceeded = times > float(most)
        exceeded += is_exceeded
        if is_exceeded or not only_exceeded:
            line = Line(ours, [])
            taken = f"**{three(times)}**" if is_exceeded else three(times)
            rows.append([line.label, time(ours.median_ns), f"{what.replace('-', ' ')} {time(limit.median_ns)}", taken, most])
    total = sum(m.is_limit for m in run.measures)
    text = f"{total - exceeded} of {total} limits hold{'.' if not rows else ':'}\n\n"
    return text + (table(["case", "ours", "beside", "times as long", "at most"], rows) + "\n" if rows else "")


def page(run):
    lines = lines_of(run)
    text = f"# {run.name}\n\n{table(['fact', 'value'], run.facts)}\n## Where it is slower\n\n{slower(lines)}"
    if limited(run):
        text += f"\n## Limits\n\n{limits(run).rstrip()}\n"
    for op, place in dict.fromkeys((line.op, line.place) for line in lines):
        rows = [line.cells for line in lines if (line.op, line.place) == (op, place)]
        text += f"\n## {op}, {place}\n\n{table(TITLES, rows)}"
    if any(m.answer for m in run.measures):
        text += "\n† computes something else, such as sums rounded at every step, and is measured all the same.\n"
    return text


def screen(run):
    facts = dict(run.facts)
    headline = [line for line in lines_of(run) if line.ours.case in record.HEADLINE and line.place == "flex"]
    rows = [[line.op, *line.cells] for line in headline]
    about = f"{facts['date']}, commit {facts['commit'][:12]}, {facts['cpu']}, {facts['cores']} cores, rustc {facts['rustc']}"
    here = f"[The whole run](results/{run.name}.md)."
    return (
        f"### Flex, {run.name}\n\n{about}. {here}\n\n{table(['operation', *TITLES], rows)}\n"
        + slower([line for line in lines_of(run) if line.place == "flex"], SHOWN)
        + "\n"
        + (limits(run, only_exceeded=True) if limited(run) else "")
    )


def of_stage(found, *stages):
    return [case for stage in found["stages"] if stage["stage"] in stages for case in stage["cases"]]


def adapter(found):
    """The GPU of these results, as a part of a file's name."""
    if found.get("format") != "burn-scan gpu_check 1":
        raise SystemExit("the format is not `burn-scan gpu_check 1`")
    devices = [case["figures"]["adapter"] for case in of_stage(found, "facts") if case["end"] == "device"]
    return record.slug(devices[0].split("(")[0])


def build(found):
    """The commit, the date and the compiler."""
    return dict(line.split(": ", 1) for line in found["facts"]["build"].splitlines())


def gpu_page(found):
    facts = [[key, str(value).replace("\n", "; ")] for key, value in found["facts"].items()]
    return f"# {found['name']}\n\n{table(['fact', 'value'], facts)}\n{found['page'].strip()}\n"


def gpu_screen(name, runs):
    """The cases with peers of the first back end, each as it was last measured."""
    newest, peers = {}, {}
    for found in sorted(runs, key=lambda found: found["facts"]["seconds since 1970"]):
        back_end = found["stages"][0]["back end"]
        found = found | {"stages": [stage for stage in found["stages"] if stage["back end"] == back_end]}
        commit = build(found)["commit"][:7]
        for case in of_stage(found, "peers"):
            for row in case["figures"].get("rows", []):
                peers.setdefault(commit, {}).setdefault(row["case"], []).append((row["median_us"], row["peer"]))
        for case in of_stage(found, "fast", "sorting"):
            if "median_us" in case["figures"] and not case["end"].endswith(FORCED):
                newest[case["end"]] = (commit, case["figures"])
    rows, worse = [], []
    for case, (commit, figures) in newest.items():
        us, rivals = figures["median_us"], sorted(peers.get(commit, {}).get(figures["peer"], []))
        if not rivals:
            continue
        by = rivals[0][0] / us
        worse += [(by, f"- {case}: {speed(by)} than {rivals[0][1]}\n")] if by < 1 else []
        share = f"{100 * figures['copy_us'] / us:.0f} %" if figures.get("copy_us") else NOT_MEASURED
        rows.append([case, time(us * 1e3), f"{rivals[0][1]} {time(rivals[0][0] * 1e3)}", speed(by), share, commit])
    links = ", ".join(f"[{build(found)['commit'][:7]}](results/{found['name']}.md)" for found in runs)
    driver = next(c["figures"]["driver"] for c in of_stage(runs[-1], "facts") if c["end"] == "device")
    about = f"{driver}, CUDA C++ through NVRTC; {build(runs[-1])['built']}, {build(runs[-1])['rustc']}. Whole runs: {links}."
    titles = ["case", "ours", "best peer", "ours is", "of the copy's bandwidth", "commit"]
    texts = "".join(text for _, text in sorted(worse))
    return f"### {name}\n\n{about}\n\n{table(titles, rows)}\nA peer is faster in {len(worse)} of {len(rows)} lines:\n\n{texts}\n"
