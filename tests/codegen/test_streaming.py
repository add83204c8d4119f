"""`stream_for`: the same bits as a plain loop, whatever the alignment, dtype, size and cut."""

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.codegen.backend.compile import ArgType, compile_kernel
from fusejit.codegen.intrinsics import streaming
from fusejit.codegen.intrinsics.intrinsic_table import DTYPE_TOKENS
from fusejit.codegen.intrinsics_jit import streaming as streaming_jit
from fusejit.codegen.machine.pool import start_pool

SOURCE = """
def chunk0(lo, hi, p_o, p_a):
    for i in range(lo, hi):
        put(p_o, i, {token}(get(p_a, i) + {token}(1)))


def kernel(o, a, work):
    n = a.shape[0]
    stream_for(chunk0, n, work, {size} * n, 0, flat_scoped(o, 1), flat_scoped(a, 2))
    return 0
"""


def kernel_for(token, monkeypatch):
    monkeypatch.setattr(streaming_jit, "stream_from_bytes", lambda: 0)
    dtype = DTYPE_TOKENS[token]
    array = ArgType("array", dtype, 1)
    source = SOURCE.format(token=token, size=2 * dtype.itemsize)
    signature = (array, array, ArgType("scalar", np.dtype(np.int64)))
    return compile_kernel(source, signature, cache_enabled=False)


@pytest.mark.parametrize("token", ["u8", "i16", "f32", "f64"])
def test_streamed_results_are_whole_and_nothing_else_is_written(token, monkeypatch):
    kernel = kernel_for(token, monkeypatch)
    start_pool()
    dtype = DTYPE_TOKENS[token]
    tile = streaming.TILE_BYTES // dtype.itemsize
    for n in (0, 1, 7, tile - 1, tile, tile + 1, 3 * tile + 5, 40 * tile + 3):
        a = (np.arange(n) % 100).astype(dtype)
        for offset in (0, 1, 5, 64 // dtype.itemsize):
            for work in (0, 10**9):
                for call in (kernel.call, kernel.python):
                    memory = np.full(n + 2 * tile, 111, dtype)
                    assert call(memory[offset : offset + n], a, np.int64(work)) == 0
                    np.testing.assert_array_equal(memory[offset : offset + n], a + dtype.type(1))
                    assert (memory[:offset] == 111).all()
                    assert (memory[offset + n :] == 111).all()


PEEK = """
def chunk0(lo, hi, p_o, p_seen):
    put(p_seen, 0, get(p_seen, 0) + 1)
    for i in range(lo, hi):
        put(p_o, i, 1.0)


def kernel(o, seen):
    n = o.shape[0]
    stream_for(chunk0, n, 0, 8 * n, {fresh}, flat_scoped(o, 1), flat_scoped(seen, 2))
    return 0
"""


@pytest.mark.parametrize(
    ("limit", "fresh", "is_streamed"),
    [
        (80_000, "8 * n", True),
        (80_001, "8 * n", False),
        (0, str(streaming.FRESH_BELOW_BYTES), False),
    ],
)
def test_what_decides_at_run_time(limit, fresh, is_streamed, monkeypatch):
    monkeypatch.setattr(streaming_jit, "stream_from_bytes", lambda: limit)
    signature = (ArgType("array", np.dtype("f8"), 1), ArgType("array", np.dtype("i8"), 1))
    kernel = compile_kernel(PEEK.format(fresh=fresh), signature, cache_enabled=False)
    out, seen = np.zeros(10_000), np.zeros(1, np.int64)
    assert kernel.call(out, seen) == 0
    assert (out == 1).all()
    assert (seen[0] > 1) == is_streamed  # one call of the body per tile


def source_of(function, *arguments) -> str:
    return str(fuse_jit(function).trace(*arguments).fuse().lower().source)


def store_into(out, a):
    out[:] = a * 2.0 + 1.0


def accumulate(out, a):
    out += a * 2.0


def shifted(out, a):
    out[1:] = a[1:] * 2.0


def transcendental(out, a):
    out[:] = np.exp(a)


def kept_inside(out, a):
    t = a * 2.0
    out[:] = t / t.sum()


def test_which_nests_stream():
    a = np.ones(100)
    assert "stream_for(chunk0, s0" in source_of(store_into, a.copy(), a)
    assert "stream_for" not in source_of(accumulate, a.copy(), a)
    assert "stream_for" not in source_of(shifted, a.copy(), a)
    assert "stream_for" not in source_of(transcendental, a.copy(), a)
    image = np.ones((10, 10))
    assert "stream_for" in source_of(store_into, image.copy(), image)
    assert "stream_for" not in source_of(store_into, image.T.copy().T[::2], image[::2])


def test_a_result_larger_than_the_cache_end_to_end():
    n = streaming.stream_from_bytes() // 32 + 12_345
    if n > 5_000_000:
        pytest.skip("the last-level cache is too large for a test")
    a, b, c = (np.random.default_rng(k).random(n) for k in range(3))

    def chain(a, b, c):
        t = a * b + c
        return (t * t - a) * 0.5 + b * t - c

    def chain_out(a, b, c, out):
        out[:] = chain(a, b, c)

    expected = chain(a, b, c)
    np.testing.assert_array_equal(fuse_jit(chain)(a, b, c), expected)
    out = np.zeros(n)
    fuse_jit(chain_out)(a, b, c, out)
    np.testing.assert_array_equal(out, expected)
