#!/usr/bin/env python3
"""torch.cumsum, cupy.cumsum, torch.masked_select, x[mask] of CuPy, torch.sort and torch.topk on a CUDA GPU, as far as
they can be imported.

Sizes as in `cub.cu`: n = 2^16, 2^20, 2^24, 2^28 for f32 and f16; two rows of 2^27 and the square of 4096 for f32. Times
are medians of CUDA event pairs around 8 calls, behind copies that keep the device busy until they are queued. Compaction waits for its
count on the host, so its time is by wall clock. The data are integers from -2 to 2, so f32 sums are exact. PyTorch does not
accumulate f16 in f32, so f16 answers are not checked.

    python benches/peers/gpu.py [--largest POWER] [--out FILE.json]
"""

import argparse
import json
import statistics
import sys
import time

ROUNDS, WARM, CALLS, FILLER_COPIES = 20, 3, 8, 16
BUDGET = 1.0  # seconds of a case, after which it gets fewer rounds, but no less than three


class Torch:
    name = "torch"

    def __init__(self):
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("torch.cuda.is_available() is false")
        self.lib, self.version, self.gpu = torch, torch.__version__, torch.cuda.get_device_name()
        self.types = {"f32": torch.float32, "f16": torch.float16}

    def steps(self, shape, dtype):
        self.lib.manual_seed(1)
        return self.lib.randint(-2, 3, shape, device="cuda", dtype=self.lib.int8).to(self.types[dtype])

    def mask(self, n):
        return self.lib.rand(n, device="cuda") < 0.5

    def cumsum(self, x, dim):
        return self.lib.cumsum(x, dim)

    def compact(self, x, mask):
        return self.lib.masked_select(x, mask)

    def exact(self, x, dim):
        return self.lib.cumsum(x.to(self.lib.float64), dim)

    def equal(self, found, expected):
        return found.shape == expected.shape and bool((found == expected).all())

    def event(self):
        event = self.lib.cuda.Event(enable_timing=True)
        event.record()
        return event

    def elapsed_ms(self, start, stop):
        stop.synchronize()
        return start.elapsed_time(stop)

    def sync(self):
        self.lib.cuda.synchronize()


class CuPy(Torch):
    name = "cupy"

    def __init__(self):
        import cupy

        self.lib, self.version = cupy, cupy.__version__
        self.gpu = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        self.types = {"f32": cupy.float32, "f16": cupy.float16}

    def steps(self, shape, dtype):
        self.lib.random.seed(1)
        return self.lib.random.randint(-2, 3, shape, dtype=self.lib.int32).astype(self.types[dtype])

    def mask(self, n):
        return self.lib.random.rand(n) < 0.5

    def compact(self, x, mask):
        return x[mask]

    def exact(self, x, dim):
        return self.lib.cumsum(x, dim, dtype=self.lib.float64)

    def event(self):
        event = self.lib.cuda.Event()
        event.record()
        return event

    def elapsed_ms(self, start, stop):
        stop.synchronize()
        return self.lib.cuda.get_elapsed_time(start, stop)

    def sync(self):
        self.lib.cuda.Device().synchronize()


def by_events(peer, work):
    filler = peer.steps((1 << 24,), "f32")
    times = []
    begun = time.perf_counter()
    while len(times) < WARM + 3 or len(times) < WARM + ROUNDS and time.perf_counter() - begun < BUDGET:
        for _ in range(FILLER_COPIES):
            filled = filler + 0
        start = peer.event()
        for _ in range(CALLS):
            result = work()
        stop = peer.event()
        times.append(peer.elapsed_ms(start, stop) / CALLS)
        del result, filled
    return statistics.median(times[WARM:])


def by_wall_clock(peer, work):
    times = []
    for _ in range(ROUNDS + WARM):
        peer.sync()
        start = time.perf_counter()
        result = work()
        peer.sync()
        times.append((time.perf_counter() - start) * 1e3)
        del result
    return statistics.median(times[WARM:])


def scans(largest):
    for power in (16, 20, 24, 28):
        for dtype in ("f32", "f16"):
            if power <= largest:
                yield (1, 1 << power), 1, dtype
    if largest >= 28:
        yield (2, 1 << 27), 1, "f32"
    yield (4096, 4096), 0, "f32"
    yield (4096, 4096), 1, "f32"


def scan(peer, shape, dim, dtype):
    x = peer.steps(shape, dtype)
    work = lambda: peer.cumsum(x, dim)
    if dtype == "f32" and not peer.equal(work(), peer.exact(x, dim)):
        raise ValueError("WRONG ANSWER")
    size = 4 if dtype == "f32" else 2
    return by_events(peer, work), 2 * shape[0] * shape[1] * size


def compact(peer, n):
    x, mask = peer.steps((n,), "f32"), peer.mask(n)
    kept = peer.compact(x, mask)
    survivors = int(mask.sum())
    if kept.shape != (survivors,) or float(kept.sum()) != float((x * mask).sum()):
        raise ValueError("WRONG ANSWER")
    # A loop checks the order where it is quick.
    if n <= 1 << 20 and kept.tolist() != [v for v, m in zip(x.tolist(), mask.tolist()) if m]:
        raise ValueError("WRONG ANSWER")
    return by_wall_clock(peer, lambda: peer.compact(x, mask)), 5 * n + 4 * survivors


# Rows and keys of each row to sort, and the number of largest ones.
SORTS = [(1, 1 << 20), (1, 1 << 24), (8, 151936), (1 << 16, 64), (4096, 4096), (1 << 20, 4)]
LARGEST = [(8, 151936, 64), (1, 1 << 24, 64), (4096, 4096, 64)]


def keys(peer, shape):
    peer.lib.manual_seed(1)
    return peer.lib.randint(-(1 << 31), 1 << 31, shape, device="cuda", dtype=peer.lib.int32)


def sort(peer, shape):
    x = keys(peer, shape)
    found, at = peer.lib.sort(x, dim=1, stable=True)
    if bool((found[:, 1:] < found[:, :-1]).any()) or not peer.equal(x.gather(1, at), found):
        raise ValueError("WRONG ANSWER")
    return by_events(peer, lambda: peer.lib.sort(x, dim=1, stable=True)), 8 * x.numel()


def top_k(peer, shape, k):
    x = keys(peer, shape)
    found, _ = peer.lib.topk(x, k, dim=1)
    if not peer.equal(found, peer.lib.sort(x, dim=1, descending=True).values[:, :k]):
        raise ValueError("WRONG ANSWER")
    return by_events(peer, lambda: peer.lib.topk(x, k, dim=1)), 4 * x.numel()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=28, help="largest power of two of the row length")
    parser.add_argument("--out", help="write the results as JSON to this file")
    args = parser.parse_args()
    results, versions, left_out = [], {}, {}
    print("peer,case,median_us,gb_per_s")

    def take(peer, name, measure):
        try:
            ms, moved = measure()
        except Exception as error:  # each library has its own type for out of memory
            left_out[f"{peer.name} {name}"] = str(error) or type(error).__name__
            return
        row = {"peer": peer.name, "case": name, "median_us": ms * 1e3, "gb_per_s": moved / ms / 1e6}
        results.append(row)
        print(f"{peer.name},{name},{row['median_us']:.2f},{row['gb_per_s']:.1f}")

    for start in (Torch, CuPy):
        try:
            peer = start()
            peer.sync()
        except Exception as error:
            left_out[start.name] = f"not usable: {error}"
            continue
        versions[peer.name] = f"{peer.version} on {peer.gpu}"
        for shape, dim, dtype in scans(args.largest):
            name = f"cumsum/{dtype}/{shape[0]}x{shape[1]}/dim{dim}"
            take(peer, name, lambda: scan(peer, shape, dim, dtype))
        for power in (16, 20, 24, 28):
            if power <= args.largest:
                name = f"compact/f32/1x{1 << power}/density0.5"
                take(peer, name, lambda: compact(peer, 1 << power))
        if peer.name != "torch":
            continue
        for rows, length in SORTS:
            take(peer, f"sort_pairs/i32/{rows}x{length}", lambda: sort(peer, (rows, length)))
        for rows, length, k in LARGEST:
            take(peer, f"top_k/i32/{rows}x{length}/{k}", lambda: top_k(peer, (rows, length), k))
    for name, reason in left_out.items():
        print(f"left out: {name}: {reason}", file=sys.stderr)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            json.dump({"versions": versions, "results": results, "left_out": left_out}, file, indent=2)
            file.write("\n")
    if any("WRONG ANSWER" in reason for reason in left_out.values()):
        sys.exit("a peer gave a wrong answer")


if __name__ == "__main__":
    main()
