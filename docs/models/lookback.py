#!/usr/bin/env python3
"""A discrete-event model of decoupled lookback on one GPU: the share of copy bandwidth that a chain of tiles lets through.

Tiles are taken in order by the first free destination. A tile is loaded (shared bandwidth, then a latency), publishes its
aggregate, looks back, and is stored (shared bandwidth). What a lookback costs is written out step by step, so that
designs can be compared. The tile and the block of the design "blocks" are read from this repository's sources.

    python3 docs/models/lookback.py

It is a model, not a measurement. Latencies are published figures of the GPUs; the time of the work between two trips to
memory is the number of dependent instructions of the sm_90 code times their latency.
"""
import heapq
import itertools
import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "kernels" / "src" / "scan"


class Gpu:
    """Bytes a microsecond, and microseconds. `l2`: a trip to the second-level cache; `fixed`: the scan of a tile; `share`: of
    the units that could be resident."""

    def __init__(self, name, bandwidth, sms, l2, share=1.0, dram=0.8, barrier=0.03, fixed=0.25):
        self.name, self.bandwidth, self.units = name, bandwidth, sms * 1024 * share
        self.l2, self.dram, self.barrier, self.fixed = l2, dram, barrier, fixed


class Design:
    """`units` of a cube; `tile`: bytes; `window`: tiles looked at by one trip; `look`, `item`: microseconds a look takes besides
    its trips, and a tile folded in order after the last one."""

    def __init__(self, name, units, tile, window=32, trips=1, look=0.0, item=0.0):
        self.name, self.units, self.tile, self.window = name, units, tile, window
        self.trips, self.look, self.item = trips, look, item

    def decide(self, seen, tile, end):
        """What a look at the window below `end` tells: ("done", cost), ("back", end of the next window) or ("again",)."""
        raise NotImplementedError


class EveryPrefix(Design):
    """Every tile publishes a prefix. A fold in order from the nearest prefix; windows walked back over are kept in registers,
    or else read a second time on the way forward."""

    def __init__(self, name, units, tile, keep, **costs):
        super().__init__(name, units, tile, **costs)
        self.keep = keep

    def decide(self, seen, tile, end):
        low = max(0, end - self.window)
        prefix = max((i for i in range(low, end) if seen.prefix(i)), default=None)
        begin = low if prefix is None else prefix + 1
        if not all(seen.aggregate(i) for i in range(begin, end)):
            return ("again",)
        if prefix is None:
            return ("back", low)
        cost = self.item * (tile - prefix)
        if not self.keep and end != tile:
            windows = -(-(tile - prefix) // self.window)
            cost += windows * (seen.gpu.l2 + 2 * seen.gpu.barrier)
        return ("done", cost)


class Blocks(Design):
    """Only the last tile of a block publishes a prefix. A look reads the aggregates of one block and the prefix before it, and
    reduces the block at once; `item` is a block folded in order."""

    def decide(self, seen, tile, end):
        begin = end // self.window * self.window
        if end != tile:
            begin = end - self.window
        if not all(seen.aggregate(i) for i in range(begin, end)):
            return ("again",)
        if begin == 0 or seen.prefix(begin - 1):
            return ("done", self.item * (1 + (tile - begin) // self.window))
        return ("back", begin)


class Seen:
    """What had been published half a trip before the words arrived."""

    def __init__(self, gpu, aggregates, prefixes, now):
        self.gpu, self.a, self.p, self.at = gpu, aggregates, prefixes, now - gpu.l2 / 2

    def aggregate(self, tile):
        return self.a[tile] is not None and self.a[tile] <= self.at

    def prefix(self, tile):
        return self.p[tile] is not None and self.p[tile] <= self.at


def run(gpu, design, tiles=12000):
    """Bytes a microsecond, and looks a tile."""
    aggregates, prefixes = [None] * tiles, [None] * tiles
    bus, last, taken, looks = 0.0, 0.0, 0, 0
    events, order = [], itertools.count()

    def push(time, tile, phase, end=None):
        heapq.heappush(events, (time, next(order), tile, phase, end))

    def take(time):
        nonlocal taken
        if taken < tiles:
            push(time, taken, "start")
            taken += 1

    for destination in range(min(int(gpu.units / design.units), tiles)):
        take(destination * 1e-3)
    trip = design.trips * gpu.l2
    while events:
        now, _, tile, phase, end = heapq.heappop(events)
        if phase == "start":
            bus = max(bus, now + gpu.l2) + design.tile / gpu.bandwidth
            push(bus + gpu.dram + gpu.fixed, tile, "loaded")
        elif phase == "loaded":
            aggregates[tile] = now
            if tile == 0:
                push(now, tile, "found")
            else:
                push(now + trip, tile, "look", tile)
        elif phase == "look":
            looks += 1
            decision = design.decide(Seen(gpu, aggregates, prefixes, now), tile, end)
            if decision[0] == "again":
                push(now + trip, tile, "look", end)
            elif decision[0] == "back":
                push(now + design.look + trip, tile, "look", decision[1])
            else:
                push(now + design.look + decision[1], tile, "found")
        elif phase == "found":
            prefixes[tile] = now
            bus = max(bus, now + gpu.barrier) + design.tile / gpu.bandwidth
            last = max(last, bus + gpu.dram)
            take(bus + 0.1)
    return 2 * design.tile * tiles / last, looks / tiles


def constant(file, pattern):
    """A number of the sources."""
    return int(re.search(pattern, (SOURCES / file).read_text()).group(1))


def designs():
    """The designs side by side, with the tile of the code: its bytes are the same for every element."""
    tuning = (SOURCES / "tuning.rs").read_text()
    planes = tuning[tuning.index("fn planes()"):]
    units = int(re.search(r"units: (\d+)", planes).group(1))
    vectors = int(re.search(r"vectors: (\d+)", planes).group(1))
    block = constant("components/tile_state.rs", r"MAX_BLOCK: usize = (\d+)")
    tile = units * vectors * 16
    # The first version of this crate: prefix and aggregate one after the other, folded by one unit in shared memory.
    first = EveryPrefix("serial fold in shared memory", 256, 16384, False, trips=2, look=0.7, item=0.03)
    kept = EveryPrefix("ordered fold in registers, windows kept", 256, 16384, True, look=0.06, item=0.004)
    # Five shuffles and additions and two ballots: about 190 dependent cycles; a block more: 30.
    costs = {"window": block, "look": 0.11, "item": 0.018}
    half = Blocks("blocks, tiles half as large", units // 2, tile // 2, **costs)
    blocks = Blocks("blocks (this crate)", units, tile, **costs)
    slow = Blocks("  the same, its work twice as slow", units, tile, window=block, look=0.22, item=0.036)
    return [first, kept, half, blocks, slow]


GPUS = [
    Gpu("H100, L2 0.35 us", 3.0e6, 132, 0.35),
    Gpu("H100, L2 0.6 us under load", 3.0e6, 132, 0.6),
    Gpu("H100, half of the units resident", 3.0e6, 132, 0.35, share=0.5),
    Gpu("H200", 4.4e6, 132, 0.5),
    Gpu("RTX 4090", 0.95e6, 128, 0.3),
]


def main():
    for gpu in GPUS:
        print(gpu.name)
        for design in designs():
            rate, looks = run(gpu, design)
            share = 100 * rate / gpu.bandwidth
            print(f"  {design.name:42s} {share:4.0f} % of copy   looks {looks:5.1f}")


if __name__ == "__main__":
    main()
