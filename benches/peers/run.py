#!/usr/bin/env python3
"""The same scans and compactions in NumPy, JAX (CPU), Polars and PyTorch (CPU), as far as they can be imported.

`cargo xtask peers` makes the environment and runs this. Data and shapes are those of `benches/scan.rs` and
`benches/compact.rs`; names carry the same axes. Each answer is checked before it is measured; a library is measured to
the end of its work (JAX: `block_until_ready`), and its result is freed outside of the measured time.

    python benches/peers/run.py [--out FILE.json] [--filter TEXT] [--rounds N]
"""

import argparse
import importlib
import json
import os
import platform
import statistics
import sys
import time

try:
    import numpy as np
except ImportError:
    np = None

# What `hash` and `steps` of the Rust benches draw: integers from -2 to 2, whose sums f32 holds exactly.
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
        "cumsum": lambda x, axis: np.cumsum(x, axis=axis),
        "compact": lambda x, mask: x[mask],
        "host": np.asarray,
    }


def jax_peer():
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    jax = importlib.import_module("jax")
    jnp = importlib.import_module("jax.numpy")
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
        # A series has one axis; a matrix is left out below.
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
        "cumsum": lambda x, axis: torch.cumsum(x, axis),
        "compact": lambda x, mask: torch.masked_select(x, mask),
        "host": lambda x: x.numpy(),
    }


PEERS = {"numpy": numpy_peer, "jax": jax_peer, "polars": polars_peer, "torch": torch_peer}


def cases():
    """(name, shape, axis of the sum or None, density of the mask or None)."""
    for power in (20, 24):
        n = 1 << power
        yield f"cumsum/f32/1x{n}/dim1", (n,), 0, None
    yield "cumsum/f32/4096x4096/dim0", (4096, 4096), 0, None
    yield f"compact/f32/1x{1 << 24}/density0.5", (1 << 24,), None, 0.5


def make(shape, density):
    bits = hashed(int(np.prod(shape)))
    values = (bits % np.uint64(5)).astype(np.float32) - np.float32(2)
    mask = None if density is None else bits % np.uint64(10_000) < np.uint64(density * 10_000)
    return values.reshape(shape), mask


def median_time(work, rounds):
    """Seconds, minimum and median over `rounds`, after three that warm up and compile."""
    times = []
    for index in range(rounds + 3):
        start = time.perf_counter()
        result = work()
        stop = time.perf_counter()
        del result
        if index >= 3:
            times.append(stop - start)
    return min(times), statistics.median(times)


def measure(peer, values, axis, mask, rounds):
    x = peer["array"](values)
    if x is None:
        raise NotImplementedError("has no matrices")
    if mask is None:
        work = lambda: peer["cumsum"](x, axis)
        expected = np.cumsum(values, axis=axis, dtype=np.int64).astype(np.float32)
    else:
        device_mask = peer["array"](mask)
        work = lambda: peer["compact"](x, device_mask)
        expected = values[mask]
    found = peer["host"](work())
    if found.dtype != np.float32 or not np.array_equal(found, expected):
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


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="write the results as JSON to this file")
    parser.add_argument("--filter", default="", help="only cases whose name contains this")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    if np is None:
        sys.exit("NumPy cannot be imported; the data and the answers are made with it: `cargo xtask peers` installs it")

    peers, left_out = {}, {}
    for name, start in PEERS.items():
        try:
            peers[name] = start()
        except Exception as error:  # an unusable installation fails in its own way
            left_out[name] = f"not importable: {error}"

    results = []
    print(f"{'case':<36}{'peer':<10}{'median ms':>12}{'min ms':>12}{'GB/s':>9}")
    for name, shape, axis, density in cases():
        if args.filter not in name:
            continue
        values, mask = make(shape, density)
        for peer_name, peer in peers.items():
            try:
                row = measure(peer, values, axis, mask, args.rounds)
            except Exception as error:
                left_out[f"{peer_name} {name}"] = str(error) or type(error).__name__
                continue
            results.append({"case": name, "peer": peer_name, **row})
            ms = row["median_s"] * 1e3, row["min_s"] * 1e3
            print(f"{name:<36}{peer_name:<10}{ms[0]:>12.3f}{ms[1]:>12.3f}{row['gb_per_s']:>9.2f}")
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
