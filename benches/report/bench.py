"""Builds the benches of a tree, and runs those of their cases that a filter matches."""

import json
import os
import re
import subprocess

from record import HEADLINE

FEATURES = "flex,wgpu,fusion,autodiff"


def contenders(cases, of="[^/]+"):
    """Criterion's filter for contenders of `cases`: a regular expression. Without cases it is all of them."""
    return f"^({'|'.join(re.escape(case) for case in cases)})/({of})$" if cases else ""


def headline(device=None):
    """The headline cases of a device, or all."""
    return [case for case in HEADLINE if device is None or case.split("/")[1] == device]


class Benches:
    def __init__(self, tree, target, cargo=()):
        """`cargo` are arguments such as `--features cuda`."""
        self.tree = tree
        self.env = {**os.environ, "CARGO_TARGET_DIR": str(target), "BURN_SCAN_REQUIRE_CUBE": "1"}
        line = ["cargo", "bench", "--package", "burn-scan", "--features", FEATURES, "--bench", "*", "--no-run"]
        line += ["--message-format=json-render-diagnostics", *cargo]
        built = subprocess.run(line, cwd=tree, env=self.env, stdout=subprocess.PIPE, text=True, check=True)
        messages = [json.loads(text) for text in built.stdout.splitlines() if text.startswith("{")]
        self.programs = sorted(message["executable"] for message in messages if message.get("executable"))

    def run(self, filter, folder, *settings):
        """Measures into `folder`. Returns what the benches say as facts: `adapter`, and `wrong` for wrong answers."""
        chosen = [program for program in self.programs if self.has(program, filter)]
        if not chosen:
            raise SystemExit(f"no bench matches `{filter}`")
        facts = []
        for program in chosen:
            line = [program, "--bench", filter, *settings]
            env = {**self.env, "CRITERION_HOME": str(folder)}
            with subprocess.Popen(line, cwd=self.tree, env=env, stderr=subprocess.PIPE, text=True) as child:
                for said in child.stderr:
                    facts += [fact for fact in meaning(said) if fact not in facts]
            if child.returncode:
                raise SystemExit(f"{program} ended with {child.returncode}")
        return facts

    def has(self, program, filter):
        line = [program, "--bench", "--list", filter]
        listed = subprocess.run(line, cwd=self.tree, env=self.env, capture_output=True, text=True, check=True)
        return ": benchmark" in listed.stdout


def meaning(said):
    """The facts in a line of a bench's standard error. What criterion says of its progress is not shown."""
    if not said.startswith("Benchmarking "):
        print(said, end="", flush=True)
    if said.startswith("cube: "):
        return [("adapter", said.removeprefix("cube: ").strip())]
    wrong = re.match("WRONG ANSWER of ([^,]+)", said)
    return [("wrong", wrong.group(1))] if wrong else []
