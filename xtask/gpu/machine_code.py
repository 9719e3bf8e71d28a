"""What a kernel's machine code needs and does, the table of it, and what is wrong with it."""

import collections
import dataclasses

# Groups of cases at a GPU's own tuning, as `kernels/tests/recorded/code.rs` names them.
CONTIGUOUS, OTHER = "contiguous, ", "other, "

HEAD = """\
| code | case | kernel | registers | spills | shared bytes | threads | loads | stores | barriers |
|---|---|---|---|---|---|---|---|---|---|
"""

# The sums that count most. None of them may spill but one: on an H200 that row takes 79 µs with eight vectors a unit and
# 12 accesses to spilled words, and 89 µs with four and none.
JUDGED = [
    "Pass of Float(F32) [1, 16777216] along 1, Sum",
    "Pass of Float(F16) [1, 16777216] along 1, Sum",
    "Pass of Int(I64) [1, 16777216] along 1, Sum",
    "ColumnTiles of Float(F",
    "ColumnTiles of Int(I64)",
]
MAY_SPILL = "Pass of Int(I64) [1, 16777216] along 1, Sum"
# How many accesses to spilled words others may have across a lookback: other operators, and f64 with 40 registers.
SPILLS = 24
# A survivor goes to the place that its number gives, and a key to that of its rank. Neighbours stay next to one another.
SCATTERED = ("compact", "move_keys", "select_keys", "sort_in_cube")


@dataclasses.dataclass
class Code:
    registers: int = 0
    # Bytes that the code declares.
    shared: int = 0
    # Bytes. A kernel has none if it spills nothing and indexes no array at run time.
    stack: int = 0
    # Instructions that reach the stack's memory.
    spills: int = 0
    barriers: int = 0
    # Planes that an AMD SIMD holds.
    planes: int = 0
    # Accesses of global memory that wait for no other cube, by their bits.
    loads: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    stores: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def access(self, kind, bits, is_strong):
        """A strong access speaks with other cubes."""
        if not is_strong:
            (self.loads if kind == "load" else self.stores)[bits] += 1


def row(arch, case, kernel, code, shared, resident):
    """A line of the table. It leaves out the case's group. A launch asks for `shared` bytes besides those of the code."""

    def widths(counts):
        return ", ".join(f"{count} × {bits}" for bits, count in sorted(counts.items(), reverse=True))

    name = case.split(", ", 1)[-1]
    cells = [arch, name, kernel, code.registers, code.spills, code.shared + shared, resident]
    cells += [widths(code.loads), widths(code.stores), code.barriers]
    return f"| {' | '.join(map(str, cells))} |\n"


def may_be_narrow(kernel, what, case):
    """How many single values a kernel reads or writes besides its tile. `None` is any number."""
    # Totals are words, and a cube reads all totals of a line. Flags of passes are words.
    if kernel in ("prefixes", "schedule"):
        return None
    # Each element reads whether a segment begins there.
    if what == "loads" and "Segments<" in case:
        return None
    # One state for each lane. The form for totals writes them, that for the scan reads them.
    if kernel == "columns":
        return 8
    # The other are counts of digits.
    if what == "stores" and kernel in (*SCATTERED, "count_passes", "count_turn"):
        return None
    # A unit reads the keys that it ranks, which lie a plane apart. Those of a plane are neighbours.
    if what == "loads" and kernel in ("move_keys", "select_keys", "sort_in_cube"):
        return None
    # The pass of a line, the one before it, and where a digit begins.
    if (kernel, what) == ("count_turn", "loads"):
        return 4
    # The total of a part or of what precedes it, and the count of survivors.
    return 2


def faults(case, kernel, code, resident, cub):
    """What is wrong. `cub` is CUB's scan, which the sums must match."""
    wrong = []
    for what, counts in (("loads", code.loads), ("stores", code.stores)):
        narrow, most = sum(count for bits, count in counts.items() if bits < 128), may_be_narrow(kernel, what, case)
        if case.startswith(CONTIGUOUS) and most is not None and narrow > most:
            wrong.append(f"{narrow} narrow {what}")
    is_judged = any(name in case for name in JUDGED)
    if code.spills > (0 if is_judged and MAY_SPILL not in case else SPILLS):
        wrong.append(f"{code.spills} spills, {code.stack} bytes of stack")
    if is_judged and kernel in ("single_pass", "column_tiles"):
        if resident < 1024:
            wrong.append(f"{resident} resident threads")
        if cub and code.barriers > cub.barriers:
            wrong.append(f"{code.barriers} barriers, CUB has {cub.barriers}")
    return wrong
