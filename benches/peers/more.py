"""Recurrences, ragged data and sorts in NumPy, SciPy, JAX and Polars, with the data of `benches/recurrence.rs`, `ragged.rs` and
`sort.rs`.

A case is a name and a function that makes it. The function returns the bytes that the work reads, the answer, and for each
peer its work, which returns the answer as something that `numpy.asarray` takes.
"""

import importlib


def module(name):
    try:
        return importlib.import_module(name)
    except Exception:  # a broken installation may fail with any exception
        return None


def recurrence(np, hashed, shape, axis, constant):
    n = shape[0] * shape[1]
    x = ((hashed(n) % np.uint64(5)).astype(np.int64) - 2).astype(np.float32).reshape(shape)
    drawn = hashed(n + 1)[1:]
    a = ((drawn % np.uint64(3)).astype(np.int64) - 1).astype(np.float32).reshape(shape)
    if constant:
        a[:] = -1
    expected, lines, decays = np.moveaxis(x.copy(), axis, 0), None, np.moveaxis(a, axis, 0)
    for t in range(1, expected.shape[0]):
        expected[t] += decays[t] * expected[t - 1]
    expected = np.moveaxis(expected, 0, axis)
    works = {}
    jax = module("jax")
    if jax:
        jnp = jax.numpy
        device_x, device_a = jnp.asarray(x), jnp.asarray(a)

        def compose(left, right):
            return left[0] * right[0], right[0] * left[1] + right[1]

        scan = jax.jit(lambda a, x: jax.lax.associative_scan(compose, (a, x), axis=axis)[1])
        works["jax"] = lambda: scan(device_a, device_x).block_until_ready()
    signal = module("scipy.signal")
    if signal and constant:
        # With f64 coefficients SciPy would compute in f64.
        b, minus_decay = np.array([1], np.float32), np.array([1, 1], np.float32)
        works["scipy"] = lambda: signal.lfilter(b, minus_decay, x, axis=axis)
    return x.nbytes + a.nbytes, expected, works


def lengths_of(np, hashed, power):
    drawn = (hashed(1 << (power - 8)) % np.uint64(1000)).astype(np.int64)
    lengths = np.minimum(800 * drawn * drawn // 1_000_000, 512)
    lengths[77] = 0
    lengths[77] = (1 << power) - lengths.sum()
    return lengths


def steps(np, hashed, n):
    return ((hashed(n) % np.uint64(5)).astype(np.int64) - 2).astype(np.float32)


def segment_reduce(np, hashed, power):
    lengths = lengths_of(np, hashed, power)
    total = int(lengths.sum())
    x = steps(np, hashed, total)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    filled = lengths > 0
    starts = offsets[:-1][filled]
    expected = np.zeros(len(lengths), np.float32)
    expected[filled] = np.add.reduceat(x.astype(np.float64), starts)

    def reduceat():
        sums = np.zeros(len(lengths), np.float32)
        sums[filled] = np.add.reduceat(x, starts)
        return sums

    works = {"numpy": reduceat}
    ids = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    jax = module("jax")
    if jax:
        device_x, device_ids = jax.numpy.asarray(x), jax.numpy.asarray(ids)
        sums = jax.jit(lambda x, ids: jax.ops.segment_sum(x, ids, len(lengths), indices_are_sorted=True))
        works["jax"] = lambda: sums(device_x, device_ids).block_until_ready()
    polars = module("polars")
    if polars:
        frame = polars.DataFrame({"row": ids, "x": x}).with_columns(polars.col("row").set_sorted())

        def group_by():
            sums = frame.group_by("row", maintain_order=True).agg(polars.col("x").sum())
            all_sums = np.zeros(len(lengths), np.float32)
            all_sums[sums["row"].to_numpy()] = sums["x"].to_numpy()
            return all_sums

        works["polars"] = group_by
    return x.nbytes + 4 * len(offsets), expected, works


def repeat(np, hashed, power):
    lengths = lengths_of(np, hashed, power)
    total = int(lengths.sum())
    x = steps(np, hashed, len(lengths))
    expected = np.repeat(x, lengths)
    works = {"numpy": lambda: np.repeat(x, lengths)}
    jax = module("jax")
    if jax:
        device_x, by = jax.numpy.asarray(x), jax.numpy.asarray(lengths)
        repeated = jax.jit(lambda x, by: jax.numpy.repeat(x, by, total_repeat_length=total))
        works["jax"] = lambda: repeated(device_x, by).block_until_ready()
    return 2 * x.nbytes, expected, works


def run_lengths(np, hashed, n):
    x = (np.cumsum(hashed(n) % np.uint64(4) == 0) % 100).astype(np.int32)
    heads = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
    expected = np.stack([x[heads], np.diff(np.append(heads, n))])

    def encode():
        heads = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
        return x[heads], np.diff(np.append(heads, n))

    works = {"numpy": encode}
    polars = module("polars")
    if polars:
        series = polars.Series(x)

        def rle():
            runs = series.rle().struct.unnest()
            return runs["value"].to_numpy(), runs["len"].to_numpy()

        works["polars"] = rle
    return x.nbytes, expected, works


def keys(np, hashed, shape, dtype):
    bits = hashed(shape[0] * shape[1])
    if dtype == "u32":
        return bits.astype(np.uint32).reshape(shape)
    return (bits.astype(np.float32) - np.float32(2**31)).reshape(shape)


def sort(np, hashed, shape, dtype):
    x = keys(np, hashed, shape, dtype)
    expected = np.sort(x, axis=1)
    works = {
        "numpy": lambda: np.sort(x, axis=1),
        "numpy stable": lambda: np.sort(x, axis=1, kind="stable"),
    }
    jax = module("jax")
    if jax:
        device_x, work = jax.numpy.asarray(x), jax.jit(lambda x: jax.numpy.sort(x, axis=1))
        works["jax"] = lambda: work(device_x).block_until_ready()
    polars = module("polars")
    if polars and shape[0] == 1:
        series = polars.Series(x[0])
        works["polars"] = lambda: series.sort().to_numpy()[None]
    return x.nbytes, expected, works


def argsort(np, hashed, shape):
    x = keys(np, hashed, shape, "f32")
    expected = np.argsort(x, axis=1, kind="stable")
    works = {"numpy": lambda: np.argsort(x, axis=1, kind="stable")}
    jax = module("jax")
    if jax:
        device_x, work = jax.numpy.asarray(x), jax.jit(lambda x: jax.numpy.argsort(x, axis=1, stable=True))
        works["jax"] = lambda: work(device_x).block_until_ready()
    polars = module("polars")
    if polars and shape[0] == 1:
        # `arg_sort` need not be stable. Its answer is compared all the same: equal keys are rare here.
        series = polars.Series(x[0])
        works["polars"] = lambda: series.arg_sort().to_numpy()[None]
    return x.nbytes, expected, works


def largest(np, hashed, shape, k):
    x = keys(np, hashed, shape, "f32")
    expected = -np.sort(-x, axis=1)[:, :k]

    def partitioned():
        front = np.take_along_axis(x, np.argpartition(-x, k, axis=1)[:, :k], axis=1)
        return -np.sort(-front, axis=1)

    works = {"numpy": partitioned}
    jax = module("jax")
    if jax:
        device_x, work = jax.numpy.asarray(x), jax.jit(lambda x: jax.lax.top_k(x, k))
        works["jax"] = lambda: work(device_x)[0].block_until_ready()
    return x.nbytes, expected, works


def sort_pairs(np, hashed, n):
    x = keys(np, hashed, (1, n), "u32")[0]
    payload = np.arange(n, dtype=np.int32)
    order = np.argsort(x, kind="stable")
    expected = np.stack([x[order].astype(np.int64), payload[order].astype(np.int64)])

    def by_argsort():
        order = np.argsort(x, kind="stable")
        return x[order], payload[order]

    works = {"numpy": by_argsort}
    jax = module("jax")
    if jax:
        device_x, device_payload = jax.numpy.asarray(x), jax.numpy.asarray(payload)
        work = jax.jit(lambda x, payload: jax.lax.sort((x, payload), num_keys=1, is_stable=True))
        works["jax"] = lambda: jax.block_until_ready(work(device_x, device_payload))
    polars = module("polars")
    if polars:
        frame = polars.DataFrame({"key": x, "payload": payload})

        def by_frame():
            done = frame.sort("key", maintain_order=True)
            return done["key"].to_numpy(), done["payload"].to_numpy()

        works["polars"] = by_frame
    return x.nbytes + payload.nbytes, expected, works


def cases(np, hashed):
    """(name, what makes it)."""
    for shape, axis in (((16, 1 << 18), 1), ((1 << 16, 64), 0)):
        name = f"recurrence/f32/{shape[0]}x{shape[1]}/dim{axis}"
        yield name, lambda s=shape, a=axis: recurrence(np, hashed, s, a, False)
        yield f"{name}-constant", lambda s=shape, a=axis: recurrence(np, hashed, s, a, True)
    total, rows = 1 << 24, 1 << 16
    yield f"segment-reduce/f32/1x{total}/rows{rows}", lambda: segment_reduce(np, hashed, 24)
    yield f"repeat-by-lengths/f32/1x{total}/rows{rows}", lambda: repeat(np, hashed, 24)
    yield f"run-length-encode/i32/1x{1 << 24}/runs4", lambda: run_lengths(np, hashed, 1 << 24)
    row = (1, 1 << 22)
    for shape in (row, (1 << 16, 64), (4096, 4096)):
        yield f"sort/f32/{shape[0]}x{shape[1]}/dim1", lambda s=shape: sort(np, hashed, s, "f32")
    yield f"argsort/f32/1x{1 << 22}/dim1", lambda: argsort(np, hashed, row)
    yield "topk/f32/8x151936/k64", lambda: largest(np, hashed, (8, 151_936), 64)
    for power in (20, 22):
        n = 1 << power
        yield f"sort/u32/1x{n}/dim1", lambda n=n: sort(np, hashed, (1, n), "u32")
        yield f"sort-pairs/u32/1x{n}/dim1", lambda n=n: sort_pairs(np, hashed, n)
