"""``np.r_`` and its like, loops over places, orders of memory, single elements as numbers."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

X = np.random.default_rng(0).normal(size=9)
A = np.random.default_rng(1).normal(size=(5, 3))
VECTORS = {
    "r_": lambda x: (np.r_[x, 1.0, 2], np.r_[0, x], np.r_[x[-1:], x, 0 : len(x)], np.r_[x]),
    "r_ of lists": lambda x: (np.r_[x, [1, 2], 0:1:3j], np.r_[1 : len(x)], np.r_[1:3, 4]),
    "c_": lambda x: (np.c_[x, x], np.c_[np.ones(len(x)), x, x**2], np.c_[np.c_[x, x], x]),
    "mgrid": lambda x: (np.mgrid[0 : len(x), 0:3], np.mgrid[: len(x)], np.mgrid[0:3, 0:2]),
    "mgrid of steps": lambda x: (np.mgrid[1 : len(x) + 1, -1:1:3j], np.mgrid[0 : len(x) : 2, 0:4]),
    "ogrid": lambda x: (np.ogrid[: len(x), :3], np.ogrid[1 : len(x) + 1, -1:1:3j], np.ogrid[:3]),
    "fromfunction": lambda x: np.fromfunction(lambda i, j: i * 2 + j, (len(x), 3)),
    "fromfunction of ints": lambda x: np.fromfunction(lambda i: i * x, (len(x),), dtype=int),
    "where": lambda x: (np.where(x > 0), np.where(np.diff(np.sign(x)))[0], x[np.where(x > 0)]),
    "prod": lambda x: (np.prod(x), x.prod() * 2, np.prod(x[x > 0]), np.prod(x.shape)),
    "outer": lambda x: (np.add.outer(x, x), np.less.outer(x, [1, 2]), np.maximum.outer(x, x[:1])),
    "item": lambda x: ([v.item() for v in x], x.sum().item(), x[:1].item() if len(x) else None),
    "any": lambda x: (any(x > 0), all(x > 0), any(x), all(x)),
    "round": lambda x: ([round(v, 2) for v in x], [round(v) for v in x]),
    "copies": lambda x: (copy.copy(x), copy.deepcopy(x[::-1])),
    "broadcast": lambda x: np.broadcast_arrays(x, x[:, None])[0] + 1,
    "questions": lambda x: (np.isscalar(x), np.isscalar(x.sum()), np.iscomplexobj(x)),
    "C order": lambda x: np.ascontiguousarray(x[::2]),
    "already in order": lambda x: (np.ascontiguousarray(x), np.asfortranarray(x)),
}
MATRICES = {
    "prod": lambda a: (np.prod(a, axis=0), np.prod(a, axis=1, keepdims=True), a.prod()),
    "r_ and c_": lambda a: (np.r_[a, a], np.c_[a, a[:, 0]]),
    "C order": lambda a: np.ascontiguousarray(a.T),
    "Fortran order": lambda a: np.asfortranarray(a),
    "Fortran order already": lambda a: np.asfortranarray(a.T),
    "a column": lambda a: np.ascontiguousarray(a[:, 1]),
    "items": lambda a: (a.item(0), a.item((0, 1)), a.item(0, 2)),
    "copies": lambda a: copy.copy(a.T),
}


@pytest.mark.parametrize("name", VECTORS)
def test_of_vectors(name: str) -> None:
    check(VECTORS[name], (X,), (X[:6],), (X[:1],), (X[:0],), variants=None)


@pytest.mark.parametrize("name", MATRICES)
def test_of_matrices(name: str) -> None:
    check(MATRICES[name], (A,), (A[:1],), (A[:0],), (A[:, :3].T.copy().T,), variants=None)


@pytest.mark.parametrize("number", [2.5, 0.0, -1.5])
def test_arrays_without_axes(number: float) -> None:
    check(lambda x: (float(x), int(x), bool(x), x.item()), (np.array(number),))


def loops(a: Any) -> Any:
    out = np.zeros_like(a)
    for i, j in np.ndindex(a.shape):
        out[i, j] = a[i, j] * i - j
    for (i, j), v in np.ndenumerate(a):
        if v > 0:
            out[i, j] += v
    for place in np.ndindex(*a.shape):
        out[place] += 1
    return out, sum(v * i for (i, _), v in np.ndenumerate(a))


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
def test_loops_over_places(jit: bool) -> None:
    check(loops, (A,), (A[:4],), jit=jit)
    check(loops, (A[:0],), (A[:1, :1],), variants=None)


def powers(n: int) -> Any:
    return pow(n, 3, 7), pow(3, n, 7)


def test_powers_with_a_modulus() -> None:
    check(powers, (3,), (12,), variants=None)
