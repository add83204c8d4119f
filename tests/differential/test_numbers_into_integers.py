"""Python's numbers become integers as ``int(number)``, checked; NumPy's are cast, or checked too.

Regression: `b[0] = float(a[0, 3]) * 1000` into int8 stored a wrapped number where NumPy raises an
OverflowError: only integers were checked. Lists in which rows differ in length were an internal
error.
"""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, no_faults, run

FORMS = """
b[0] = {v}; b[i] = {v}; b[:2] = {v}; b[m] = {v}; b[[0, 1]] = {v}; b[idx] = {v}; b.fill({v});
np.put(b, 0, {v}); np.place(b, m, {v}); np.putmask(b, m, {v}); b.flat[0] = {v}; b[b > 0] = {v};
b[:] = [{v}, 1, 2]; b[:2] = ({v}, 1); b[i:i + 1] = [{v}]; b[::-1][0] = {v}; b[0] = b[1] = {v};
b = np.array([{v}], b.dtype); b = np.full(3, {v}, b.dtype); b = np.array({v}, dtype=b.dtype);
b = np.asarray([{v}, 1], b.dtype); b = b.dtype.type({v}); b = np.insert(b, 0, {v});
b = np.array([[{v}, 2], [3, {v}]], dtype=b.dtype); b = np.full_like(b, {v}); np.copyto(b, {v})
"""
VALUES = (
    *("float(a[0, 3]) * 1000", "-float(a[0, 3])", "float(a[1, 0])", "float(a[1, 1])"),
    *("float(a[0, 3]) / 2", "float(a[0, 3]) * 6e18", "k * 100", "v * 1000", "nan"),
    *("a[0, 3] * 1000", "int(a[0, 3]) * 1000", "complex(a[0, 1], 1)"),
)
DTYPES = ("i1", "u1", "i2", "u4", "i8", "u8", "?", "f4")
RAGGED = """
np.array([x, x[1:]]); np.array([x, y]); np.array([[1, [2]], [x[0], 3]]); np.asarray([x, 1.0]);
np.array([[[1], 2], x[:2]]); x + [1, [2]]; np.stack([x, y]); np.array([x, None]);
np.array([[x[0]], [x[0], x[1]]]); np.where(x > 0, [1, [2, 3], 4], x); np.array([x, y], dtype=float)
"""
AROUND = """
    return {form}
---
    z = x * 2
    w = {form}
    return z, w
---
    try:
        return {form}
    except ValueError as error:
        return str(error)
---
    x[0] = 5
    x[:3] = {form}
    return x
"""


def program(parameters: str, body: str) -> Callable[..., Any]:
    """A function whose lines are found."""
    text = f"def program({parameters}):\n{body}\n"
    name = f"<{text}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    found: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), found)
    return found["program"]  # type: ignore[no-any-return]


def compare(function: Callable[..., Any], args: tuple[Any, ...], where: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fused = decorate(function, jit=False)
        for _ in range(2):
            compare_outcomes(run(function, args), run(fused, args), where=where)


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_store_of_each_number(dtype: str) -> None:
    a = np.arange(8.0).reshape(2, 4)
    a[1, 0], a[1, 1] = np.nan, np.inf
    mask, places = np.array([True, False, True]), np.array([0, 2])
    forms = [form.strip() for form in FORMS.split(";")]
    with no_faults():
        for at, form in enumerate(forms):
            for value in VALUES[at % 2 :: 2]:
                made = form.format(v=value)
                body = f"    i = 1\n    {made}\n    return b"
                args = (a, np.arange(3).astype(dtype), mask, places, 5, 9.75, float("nan"))
                compare(program("a, b, m, idx, k, v, nan", body), args, made)


@pytest.mark.parametrize("around", AROUND.split("---\n"))
def test_rows_of_several_lengths(around: str) -> None:
    args = (np.array([1.0, -2.0, 3.0]), np.arange(4.0))
    with no_faults():
        for form in RAGGED.split(";"):
            body = around.strip("\n").format(form=form.strip())
            compare(program("x, y", body), args, body)
