"""Recurrences and ragged data in NumPy, SciPy, JAX and Polars, with the data of `benches/recurrence.rs` and `benches/ragged.rs`.

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
