"""Which results own their memory: ``flags.owndata``, ``base`` and ``flags.writeable`` are NumPy's.

A view of all elements is another object than a fresh array: ``(x + 1).reshape(-1)`` has a base,
``x.flatten()`` has none, in whatever order it lies in memory.

Regression: Arguments came back as copies and ``owndata`` differed: views of whole arrays counted as
owners, and other orders were allocated as transposes. ``np.float64(x)`` of a float64 array and
arrays whose ``shape`` was set had the same fault, as had ``np.linspace(0, x, n, axis=1, dtype=..)``
and ``np.geomspace(axis=-1)``.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import arrays_in, assert_same_ownership, clone
from fusejit_testing.oracle import decorate

EXPRESSIONS = {
    "itself": "x; x[...]; x[:]; x.view(); x.T; x[1:]; x[::-1]; x[None]; x[0]; x.transpose(0, 1)",
    "asked for": "np.asarray(x); np.asanyarray(x); np.ascontiguousarray(x); np.atleast_1d(x);"
    "np.atleast_2d(x); np.atleast_3d(x); x.astype(x.dtype, copy=False); np.squeeze(x); np.real(x);"
    "np.array(x, copy=None); np.broadcast_arrays(x, x); np.broadcast_arrays(x, x[:1])[0]",
    "views of fresh": "(x + 1)[...]; (x + 1)[:]; (x + 1).T; (x + 1)[1:]; (x + 1)[None]; (x + 1)[0];"
    "(x + 1).transpose(0, 1); np.flip(x + 1); np.rot90(x + 1); np.expand_dims(x + 1, 0);"
    "np.diagonal(x + 1); np.atleast_3d(x + 1); np.asarray(x + 1); np.squeeze((x + 1)[None])",
    "reshapes": "x.reshape(-1); x.T.reshape(-1); (x + 1).reshape(-1); (x + 1).reshape(x.shape);"
    "(x + 1).reshape(4, -1); np.reshape(x, -1, order='F'); np.cumsum(x).reshape(x.shape);"
    "np.arange(x.size).reshape(x.shape); x.sum(0).reshape(2, 2); x.sum(0)[None]",
    "types that are called": "np.float64(x); np.float64(x.T); np.float64(x + 1); np.float32(x);"
    "np.int64(x); np.int64(np.int64(x)); np.bool_(x > 1); np.float64(x[:, ::2]); np.int64(x)[1:]",
    "flat": "x.ravel(); x.T.ravel(); (x + 1).ravel(); x.flatten(); x.T.flatten(); np.ravel(x[0])",
    "copies": "x.copy(); np.array(x); x.T.copy(); x.copy(order='F'); x.T + 1; x.astype(np.float32);"
    "np.asfortranarray(x); np.ascontiguousarray(x.T); np.copy(x); x.T.copy(order='K')",
    "orders": "y + 1; y.transpose(1, 2, 0) * 2; np.sqrt(y.transpose(2, 0, 1)); y.transpose(1, 0, 2)"
    ".copy(order='K'); np.concatenate([y.transpose(1, 0, 2), y.transpose(1, 0, 2)]); y.swapaxes(1,"
    "2).astype(np.float32); np.where(y.transpose(2, 0, 1) > 1, 1.0, 0.0)",
    "created": "np.zeros(x.shape); np.ones_like(x); np.full(x.shape, 2.0); np.arange(x.size);"
    "np.linspace(0, 1, x.shape[0]); np.linspace(0, 1, 5); np.linspace(0, 1, x.size, dtype='f4');"
    "np.linspace(0, x, 3, axis=1); np.linspace(0, x, 3, axis=-1, dtype='i4'); np.linspace(0, x, 2);"
    "np.geomspace(1, 8, len(x), axis=-1); np.geomspace(1, 8, len(x)); np.linspace(0, x[0, 0], 4);"
    "np.linspace(0, x[0, 0], 1, axis=-1); np.linspace(0, x[0, 0], 4, axis=-1, dtype='f4');"
    "np.eye(len(x)); np.tri(len(x)); np.indices(x.shape); np.indices(x.shape, sparse=True);"
    "np.meshgrid(x[0], x[:, 0]); np.meshgrid(x[0], x[:, 0], sparse=True); np.diag(x[0])",
    "joined": "np.stack([x, x]); np.vstack([x, x]); np.column_stack([x[0], x[1]]); np.append(x, x);"
    "np.tile(x, 2); np.tile(x, (1, 1)); np.tile(x, (1, 1, 1)); np.repeat(x, 2); np.roll(x, 1);"
    "np.repeat(x, 2, axis=0); np.roll(x, 1, axis=0); np.pad(x, 1); np.split(x + 1, 2, axis=1);"
    "np.r_[x[0], x[1]]; np.c_[x[0], x[1]]; np.block([[x, x], [x, x]]); np.kron(x, x)",
    "reduced": "x.sum(0); x.sum(0, keepdims=True); x.mean(1, keepdims=True); np.median(x, axis=0);"
    "np.argmax(x, keepdims=True); np.argmin(x, axis=0, keepdims=True); np.std(x, axis=0);"
    "np.linalg.norm(x, axis=0); np.linalg.norm(x, keepdims=True); np.ptp(x, axis=0); np.diff(x);"
    "np.linalg.norm(x, 1, axis=(0, 1), keepdims=True); np.average(x, axis=1, keepdims=True)",
    "products": "x @ x.T; np.outer(x[0], x[1]); np.tensordot(x, x, axes=0); np.vecdot(x, x);"
    "np.cross(x[:, :3], x[:, :3]); np.inner(x, x); np.convolve(x[0], x[1])",
    "picked": "x[[0, 1]]; x[:, [0, 1]]; x[[0, 1], [1, 2]]; np.take(x, [0, 1], axis=1); x[x > 2];"
    "y[:, [0, 1], 1:]; y[0, [0, 1]]; np.isclose(x, x); np.clip(x, 1, 3); np.sort(x); np.sort(x).T;"
    "np.nonzero(x[0]); np.nonzero(x); np.where(x > 2, x, 0); np.argwhere(x > 2)",
    "complex": "(x + 1j).real; (x + 1j).imag; (x + 1j).imag.ravel(); (x + 1j).T",
}


def _program(text: str, name: str) -> Callable[..., Any]:
    source = f"def program(x, y):\n    return ({text.replace(';', ', ')},)\n"
    file = f"<ownership {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    program: Callable[..., Any] = namespace["program"]
    return program


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_results_own_memory_as_in_numpy(name: str) -> None:
    program = _program(EXPRESSIONS[name], name)
    fused = decorate(program, jit=False)
    for rows in (3, 4):
        args = (np.arange(rows * 4.0).reshape(rows, 4), np.arange(24.0).reshape(2, 3, 4))
        expected, actual = program(*clone(args)), fused(*clone(args))
        assert_same_ownership(expected, actual)
        for e, a in zip(arrays_in(expected), arrays_in(actual), strict=True):
            assert e.flags.writeable == a.flags.writeable


def test_the_base_of_a_view_is_the_array_that_is_returned_beside_it() -> None:
    def both(x: Any) -> Any:
        y = x + 1
        return y.reshape(-1), y, y[...]

    def first(x: Any) -> Any:
        return x[...], x, x.reshape(-1), x[::-1].T

    x = np.ones((3, 4))
    flat, y, other = decorate(both, jit=False)(x)
    assert y.base is None
    assert [a.base is y for a in (flat, other)] == [True, True]
    view, same, *others = decorate(first, jit=False)(x)
    assert same is x
    assert [a.base is x for a in (view, *others)] == [True] * 3


def test_copies_that_are_stored_into_own_their_memory() -> None:
    def stored(x: Any) -> Any:
        flat, other = x.flatten(), x.T.ravel()
        flat[0] = other[0] = 7
        return flat, other

    x = np.arange(12.0).reshape(3, 4)
    assert_same_ownership(stored(x), decorate(stored, jit=False)(x))


def test_what_loops_and_branches_leave() -> None:
    def rows(p: Any, n: Any) -> Any:
        for k in range(n):
            p = (np.outer(p, p) * 0.5 + k)[0]
        return p

    def fresh(p: Any, n: Any) -> Any:
        for k in range(n):
            p = p[::-1] * 0.5 + k
        return p

    def either(p: Any, n: Any) -> Any:
        q = (p + n)[...] if p[0] > 0 else (p - n)[...]
        r = p * 2 if p[0] > 0 else p * 3
        return q, r

    x = np.array([1.0, -0.5, 2.0])
    for program in (rows, fresh, either):
        fused = decorate(program, jit=False)
        for n in (3, 5):
            assert_same_ownership(program(x, n), fused(x, n), program.__name__)


# ---------------------------------------------------------------------- arrays whose shape was set
MADE = ("x.copy()", "x + 1", "np.zeros(x.shape)", "np.concatenate([x, x])", "np.ones((2, 6))")
SHAPED = {
    "split": "r.shape = (2, -1); r[0] = 1",
    "one axis": "r.shape = (-1,); r[:2] = 1",
    "an axis of length 1": "r.shape = (1, -1); r[0] = 1",
    "before": "r[0] = 1; r.shape = (2, 2, -1)",
    "twice": "r.shape = (-1,); r[1:] = 2; r.shape = (4, -1); r[0] = 3",
    "a view beside it": "q = r[0]; r.shape = (-1,); q[0] = 5; r = (r, q, r[1:])",
    "transposed": "r.shape = (-1, 2); r.T[0] = 4",
}


@pytest.mark.parametrize("name", SHAPED)
def test_arrays_whose_shape_is_set_own_their_memory(name: str) -> None:
    """An array that had another shape when it was made became a view once it was stored into."""
    for made in MADE:
        source = f"def program(x):\n    r = {made}; {SHAPED[name]}\n    return r\n"
        file = f"<shaped {name} {made}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        namespace: dict[str, Any] = {"np": np}
        exec(compile(source, file, "exec"), namespace)
        for jit in (False, made == MADE[0]):
            fused = decorate(namespace["program"], jit=jit, fullgraph=True)
            for rows in (2, 4):
                x = np.arange(rows * 6.0).reshape(rows, 6)
                expected, actual = namespace["program"](x), fused(x)
                assert_same_ownership(expected, actual)
                for e, a in zip(arrays_in(expected), arrays_in(actual), strict=True):
                    np.testing.assert_array_equal(e, a, strict=True)
                    assert e.strides == a.strides


def test_results_can_be_resized() -> None:
    """``resize`` needs an array that owns its memory and that nobody else refers to."""

    def shaped(x: Any) -> Any:
        r = x.copy()
        r.shape = (2, -1)
        r[0] = 1
        return r

    for program in (shaped, lambda x: x + 1, lambda x: np.sort(x) * 2, lambda x: np.zeros(len(x))):
        result = decorate(program, jit=True)(np.arange(8.0))
        result.resize((3, 4))
        assert result.shape == (3, 4)
        assert not result[2:].any()
