"""Loops over rows that are computed, stored, read again, and given to host calls, at random.

Each buffer is ``np.empty``, and each of its rows is stored, so that all elements are known.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check
from fusejit_testing.programs.grouped_check import function_of_text

NEAR = Bound(ulps=64, absolute=1e-12)

ROWS = (
    "np.sqrt({a})",
    "{a} + {b}",
    "np.maximum({a}, {b})",
    "{a} - {a}.max()",
    "np.cumsum({a})",
    "{a}[::-1]",
    "{a}.copy()",
)
HOST_CALLS = ("np.fft.fft({a}).real", "np.fft.ifft({a}).real * 8.0", "np.interp({a}, {b}, {b})")
STORES = ("b{k}[i] = {a}", "b{k}[i] = {a} + 1", "b{k}[i, ::-1] = {a}", "b{k}[-1 - i] = {a}")


def random_loop(seed: int) -> str:
    """A function of two arrays of one shape."""
    rng = random.Random(seed)
    rows, body = ["x[i]", "y[i]", "y[0]"], []
    stores = [rng.choice(STORES).replace("{k}", str(k)) for k in range(3)]
    kinds = ["row"] * rng.randint(2, 5) + ["host"] * rng.randint(0, 2) + ["sum"]
    rng.shuffle(kinds)
    for at, kind in enumerate(["row", *kinds]):
        if kind == "sum":
            body.append(f"total = total + {rng.choice(rows)}.sum()")
            continue
        form = rng.choice(ROWS if kind == "row" else HOST_CALLS)
        body.append(f"v{at} = {form.format(a=rng.choice(rows), b=rng.choice(rows))}")
        rows.append(f"v{at}")
        if stores and rng.random() < 0.6:
            body.append(stores.pop().format(a=rng.choice(rows[3:])))
    body += [store.format(a=rng.choice(rows[3:])) for store in stores]
    loop = rng.choice(["for i in range(len(x)):", "while i < len(x):"])
    body += ["i += 1"] if loop.startswith("while") else []
    lines = [*(f"b{k} = np.empty(x.shape)" for k in range(3)), "total = 0.0", "i = 0", loop]
    results = ", ".join(rng.choice(["b{}", "b{}.T", "b{}.copy()"]).format(k) for k in range(3))
    lines += [*(f"    {line}" for line in body), f"return {results}, total"]
    return "\n".join(["def program(x, y):", *(f"    {line}" for line in lines), ""])


def check_seeds(seeds: range, jit: bool = False) -> None:
    rng = np.random.default_rng(0)
    calls = [tuple(rng.random((2, n, 6)) + 0.5) for n in (4, 1)]
    for seed in seeds:
        text = random_loop(seed)
        function = function_of_text(text, f"<rows of loops {seed}>")
        try:
            check(function, *calls, jit=jit, bound=NEAR, inner_bound=NEAR, variants=None)
        except AssertionError as error:
            error.add_note(text)
            raise


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_unjitted(first: int) -> None:
    check_seeds(range(first, first + 20))


def test_jitted() -> None:
    check_seeds(range(100, 106), jit=True)
