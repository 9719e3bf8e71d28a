"""Whether a change made a headline case slower.

The benches of this tree and those of the revision that it stands on run in turn, each in a process of its own, one right
after the other; criterion keeps each as a baseline. Only the ratio of the two medians of a round counts. On two shared
cores one such ratio may well be 0.5 or 1.5 for unchanged code, because a process is fast or slow by where its memory
lies. The median of the ratios is steadier, and an interval says how much so: its ends are order statistics (the sign
test, Thompson 1936), which assumes nothing of the distribution. Rounds follow until that is enough.

Ratios of another day are no help: for unchanged code the ratio to a copy has doubled from day to day. Nor are the
fastest samples: in twelve rounds they differed by 29 %.
"""

import math
import shutil
import statistics
import subprocess

import bench
import record
from record import ROOT, TARGET

# How much slower a case may become.
TOLERANCE = 1.15
# The interval misses the median once in a hundred times.
RISK = 0.01
# Rounds of every case before the first look. On two shared cores they decided 5 of 19 cases. All rounds decided 16.
ROUNDS = 12
# Rounds between two looks at the open cases, and the number of looks.
ROUNDS_MORE, LOOKS = 6, 8
# They are short, because processes differ by more than the samples of one process do.
SETTINGS = ["--warm-up-time", "0.1", "--measurement-time", "0.2"]


def interval(values):
    """Low, median and high. With fewer than eight values both ends are infinite."""
    values, n = sorted(values), len(values)
    outside = next(k for k in range(n + 1) if 2 * sum(math.comb(n, i) for i in range(k + 1)) > RISK * 2**n)
    low, high = (values[outside - 1], values[n - outside]) if outside else (-math.inf, math.inf)
    return low, statistics.median(values), high


def slowdown(before, now):
    """The interval of now as a multiple of before, round by round."""
    return interval([b / a for a, b in zip(before, now)])


def verdict(before, now):
    """`slower`, `not slower`, or `open` where more rounds would decide. `before` and `now` are the times of the rounds."""
    if not now:
        # What is no longer measured counts as slower.
        return "slower" if before else "not slower"
    if not before:
        return "not slower"
    low, median, high = slowdown(before, now)
    if high < TOLERANCE:
        return "not slower"
    return "slower" if low > 1 and median > TOLERANCE else "open"


def is_slower(before, now):
    """The median judges a case that stayed open."""
    judged = verdict(before, now)
    if judged == "open":
        return slowdown(before, now)[1] > TOLERANCE
    return judged == "slower"


def told(before, now):
    def ms(times):
        return f"{statistics.median(times) * 1e-6:.4g} ms" if times else "not measured"

    ends = ""
    if before and now:
        low, median, high = ((ratio - 1) * 100 for ratio in slowdown(before, now))
        ends = f", {median:+.0f} % ({low:+.0f} to {high:+.0f})"
    return f"{ms(before)} -> {ms(now)}{ends}, {verdict(before, now)}"


def git(*words):
    return record.output("git", *words)


def revision(given):
    """The commit given, or that on which the change stands: where the branch left main, or on main the last one."""
    mains = [name for name in ("origin/HEAD", "origin/main", "main") if git("rev-parse", "--verify", "--quiet", name)]
    left = git("merge-base", "HEAD", mains[0]) if mains else ""
    is_branch = left not in ("", git("rev-parse", "HEAD"))
    stands_on = left if is_branch else "HEAD" if git("status", "--porcelain") else "HEAD~1"
    commit = git("rev-parse", "--verify", "--quiet", f"{given or stands_on}^{{commit}}")
    if not commit:
        raise SystemExit(f"git knows no revision `{given or stands_on}` (a shallow clone?)")
    return commit


def checkout(commit):
    """The sources of a commit, in a clone that shares the objects of this repository."""
    tree = TARGET / "report/base"
    if not (tree / ".git").is_dir():
        clone = ["git", "clone", "--shared", "--no-checkout", "--quiet", str(ROOT), str(tree)]
        subprocess.run(clone, check=True)
    checkout = ["git", "-C", str(tree), "checkout", "--force", "--quiet", "--detach", commit]
    subprocess.run(checkout, check=True)
    return tree


def run(given):
    """The exit status: 1 if a headline case is slower than allowed."""
    cases, commit = bench.headline(given.device), revision(given.against)
    now = bench.Benches(ROOT, TARGET, given.cargo)
    before = bench.Benches(checkout(commit), TARGET / "report/base-target", given.cargo)
    sides = {"before": before, "now": now}
    times = {case: {side: [] for side in sides} for case in cases}
    folder = TARGET / "report/check"

    def rounds(cases, count):
        for number in range(count):
            # The sides take turns in beginning.
            for side in sorted(sides, reverse=number % 2 == 0):
                shutil.rmtree(folder, ignore_errors=True)
                filter = bench.contenders(cases, "burn-scan")
                sides[side].run(filter, folder, *SETTINGS, "--save-baseline", side)
                for found in record.criterion(folder, side):
                    times[found.case][side].append(found.median_ns)

    rounds(cases, ROUNDS)
    for _ in range(LOOKS):
        still = [case for case in cases if verdict(**times[case]) == "open"]
        if still:
            print("still open:", *still, flush=True)
            rounds(still, ROUNDS_MORE)
    print(f"before ({commit[:12]}) and now:")
    for case in cases:
        print(f"{case}: {told(**times[case])}")
    slower = [case for case in cases if is_slower(**times[case])]
    print("slower:", *slower or ["none"])
    return 1 if slower else 0
