#!/usr/bin/env python3
"""The same work in NumPy, SciPy, JAX (CPU), Polars and PyTorch (CPU), as far as they can be imported: scans and compactions, and what `more.py` has.

`cargo xtask peers` makes the environment and runs this. Data, shapes and axes in the names are the same as in
`benches/scan.rs` and `benches/compact.rs`. Each answer is checked before it is measured. A library is measured to the end
of its work (JAX: `block_until_ready`), and its result is freed outside of the measured time. Sums are taken in the type of
the input. No peer sums f16 in a wider type, so f16 is left out.

    python benches/peers/run.py [--out FILE.json] [--filter TEXT].. [--rounds N]
"""

import argparse
import importlib
import json
import os
import platform
import statistics
import sys
import time

import more

try:
    import numpy as np
except ImportError:
    np = None

# The constants of `hash` in the Rust benches. Its `steps` are integers from -2 to 2, so f32 holds their sums exactly.
GOLDEN, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def hashed(n):
    bits = np.arange(n, dtype=np.uint64) + np.uint64(GOLDEN)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(MIX_1)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(MIX_2)
    return (bits ^ (bits >> np.uint64(31))) & np.uint64(0xFFFFFFFF)


def numpy_peer():
    return {
        "version": np.__version__,
        "array": np.array,
        "cumsum": lambda x, axis: np.cumsum(x, axis=axis, dtype=x.dtype),
        "compact": lambda x, mask: x[mask],
        "host": np.asarray,
    }


def jax_peer():
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    jax = importlib.import_module("jax")
    jnp = importlib.import_module("jax.numpy")
    # Without this JAX has no i64.
    jax.config.update("jax_enable_x64", True)
    cumsum = jax.jit(jnp.cumsum, static_argnums=1)
    return {
        "version": jax.__version__,
        "array": jnp.asarray,
        "cumsum": lambda x, axis: cumsum(x, axis).block_until_ready(),
        "compact": lambda x, mask: x[mask].block_until_ready(),
        "host": np.asarray,
    }


def polars_peer():
    polars = importlib.import_module("polars")

    def cumsum(series, axis):
        # A series has one axis. A matrix is left out below.
        return series.cum_sum()

    return {
        "version": polars.__version__,
        "array": lambda values: polars.Series(values) if values.ndim == 1 else None,
        "cumsum": cumsum,
        "compact": lambda series, mask: series.filter(mask),
        "host": lambda series: series.to_numpy(),
    }


def torch_peer():
    torch = importlib.import_module("torch")
    return {
        "version": torch.__version__,
        "array": torch.from_numpy,
        "cumsum": lambda x, axis: torch.cumsum(x, axis, dtype=x.dtype),
        "compact": lambda x, mask: torch.masked_select(x, mask),
        "host": lambda x: x.numpy(),
    }


PEERS = {"numpy": numpy_peer, "jax": jax_peer, "polars": polars_peer, "torch": torch_peer}


TYPES = {"f32": "float32", "i32": "int32", "i64": "int64"}


def cases():
    """(name, type, shape, axis of the sum or None, density of the mask or None)."""
    for power in range(10, 25, 2):
        n = 1 << power
        yield f"cumsum/f32/1x{n}/dim1", "f32", (n,), 0, None
    for power in (20, 24):
        n = 1 << power
        for dtype in ("i32", "i64"):
            yield f"cumsum/{dtype}/1x{n}/dim1", dtype, (n,), 0, None
    for shape in ((2, 1 << 21), (1 << 11, 1 << 11), (4096, 4096)):
        for axis in (0, 1):
            yield f"cumsum/f32/{shape[0]}x{shape[1]}/dim{axis}", "f32", shape, axis, None
    yield f"cumsum/f32/{1 << 21}x2/dim1", "f32", (1 << 21, 2), 1, None
    yield f"cumsum/f32/16x{1 << 14}x16/dim1", "f32", (16, 1 << 14, 16), 1, None
    for power in (10, 16, 20, 22, 24):
        for density in (1.0, 0.5, 0.01) if power >= 20 else (0.5,):
            n = 1 << power
            yield f"compact/f32/1x{n}/density{density:g}", "f32", (n,), None, density
    yield f"compact/i64/1x{1 << 22}/density0.5", "i64", (1 << 22,), None, 0.5


def make(dtype, shape, density):
    bits = hashed(int(np.prod(shape)))
    values = ((bits % np.uint64(5)).astype(np.int64) - 2).astype(TYPES[dtype])
    mask = None if density is None else bits % np.uint64(10_000) < np.uint64(density * 10_000)
    return values.reshape(shape), mask


# Short work is repeated for this long: a median of a few rounds of microseconds is noise.
SHORTEST_S = 0.2
MOST_ROUNDS = 2000


def median_time(work, rounds):
    """Seconds, minimum and median over at least `rounds`, after three that warm up and compile."""
    times = []
    warm = 3
    while len(times) < rounds or (sum(times) < SHORTEST_S and len(times) < MOST_ROUNDS):
        start = time.perf_counter()
        result = work()
        stop = time.perf_counter()
        del result
        if warm > 0:
            warm -= 1
        else:
            times.append(stop - start)
    return min(times), statistics.median(times)


def measure(peer, values, axis, mask, rounds):
    x = peer["array"](values)
    if x is None:
        raise NotImplementedError("has no matrices: only its rows are here")
    if mask is None:
        work = lambda: peer["cumsum"](x, axis)
        expected = np.cumsum(values, axis=axis, dtype=np.int64).astype(values.dtype)
    else:
        device_mask = peer["array"](mask)
        work = lambda: peer["compact"](x, device_mask)
        expected = values[mask]
    found = peer["host"](work())
    if found.dtype != values.dtype or not np.array_equal(found, expected):
        raise ValueError(f"WRONG ANSWER ({found.dtype}, {found.shape})")
    read = values.nbytes + (0 if mask is None else mask.nbytes)
    minimum, median = median_time(work, rounds)
    return {
        "min_s": minimum,
        "median_s": median,
        "bytes_read": read,
        "bytes_written": expected.nbytes,
        "gb_per_s": (read + expected.nbytes) / median / 1e9,
    }


def measure_more(expected, read, work, rounds):
    """A case of `more.py`."""
    found = work()
    found = np.stack(found) if isinstance(found, tuple) else np.asarray(found)
    if not np.array_equal(found, expected):
        raise ValueError(f"WRONG ANSWER ({found.dtype}, {found.shape})")
    minimum, median = median_time(work, rounds)
    return {
        "min_s": minimum,
        "median_s": median,
        "bytes_read": read,
        "bytes_written": expected.nbytes,
        "gb_per_s": (read + expected.nbytes) / median / 1e9,
    }


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="write the results as JSON to this file")
    parser.add_argument("--filter", action="append", help="only cases whose name contains this; repeatable")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    if np is None:
        sys.exit("NumPy cannot be imported; the data and the answers are made with it: `cargo xtask peers` installs it")

    peers, left_out = {}, {}
    for name, start in PEERS.items():
        try:
            peers[name] = start()
        except Exception as error:  # a broken installation may fail with any exception
            left_out[name] = f"not importable: {error}"

    results = []

    def take(name, peer_name, row):
        results.append({"case": name, "peer": peer_name, **row})
        ms = row["median_s"] * 1e3, row["min_s"] * 1e3
        print(f"{name:<52}{peer_name:<10}{ms[0]:>12.3f}{ms[1]:>12.3f}{row['gb_per_s']:>9.2f}")

    print(f"{'case':<52}{'peer':<10}{'median ms':>12}{'min ms':>12}{'GB/s':>9}")
    for name, dtype, shape, axis, density in cases():
        if args.filter and not any(text in name for text in args.filter):
            continue
        values, mask = make(dtype, shape, density)
        for peer_name, peer in peers.items():
            try:
                row = measure(peer, values, axis, mask, args.rounds)
            except NotImplementedError as error:
                left_out[peer_name] = str(error)
                continue
            except Exception as error:
                left_out[f"{peer_name} {name}"] = str(error) or type(error).__name__
                continue
            take(name, peer_name, row)
    if scipy := more.module("scipy"):
        peers["scipy"] = {"version": scipy.__version__}
    for name, make_case in more.cases(np, hashed):
        if args.filter and not any(text in name for text in args.filter):
            continue
        read, expected, works = make_case()
        for peer_name, work in works.items():
            try:
                row = measure_more(expected, read, work, args.rounds)
            except Exception as error:
                left_out[f"{peer_name} {name}"] = str(error) or type(error).__name__
                continue
            take(name, peer_name, row)
    for name, reason in left_out.items():
        print(f"left out: {name}: {reason}")

    if args.out:
        report = {
            "machine": {"cpu": cpu_name(), "cores": os.cpu_count()},
            "python": platform.python_version(),
            "versions": {name: peer["version"] for name, peer in peers.items()},
            "rounds": args.rounds,
            "results": results,
            "left_out": left_out,
        }
        with open(args.out, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)
            file.write("\n")
    if any("WRONG ANSWER" in reason for reason in left_out.values()):
        sys.exit("a peer gave a wrong answer")


if __name__ == "__main__":
    main()
