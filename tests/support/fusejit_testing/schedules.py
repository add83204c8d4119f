"""Schedules of small functions, compared with NumPy on sizes of any kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusejit import linalg
from fusejit.transform import Handle, Schedule, ScheduleError, schedule

DTYPES = ("f8", "f4", "i4", "u1")
SIZES = (
    (23, 17, 14),
    (8, 9, 10),
    (1, 5, 3),
    (3, 1, 2),
    (5, 3, 1),
    (0, 4, 3),
    (4, 0, 2),
    (31, 2, 40),
)

Recipe = Callable[[Schedule], Handle]


def arrays(axes: str, sizes: Sequence[int], dtype: str, seed: int = 0) -> list[Any]:
    """Arrays of these axes, ``"mk kn"``, with the three sizes of m, n and k."""
    rng = np.random.default_rng(seed)
    extents = dict(zip("mnk", sizes, strict=True))
    shapes = [tuple(extents[axis] for axis in word) for word in axes.split()]
    kind = np.dtype(dtype).kind
    if kind == "f":
        return [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    return [rng.integers(0, 9, shape).astype(dtype) for shape in shapes]


def check(
    function: Callable[..., Any],
    axes: str,
    recipe: Recipe,
    *,
    dtypes: Sequence[str] = DTYPES,
    tag: str = "bits",
) -> Handle:
    """The schedule computes what NumPy does, for sizes of any kind; return it for the last dtype.

    ``bits``: the bits are those of the function without a schedule.
    """
    for dtype in dtypes:
        s = schedule(function, *arrays(axes, SIZES[0], dtype))
        h = recipe(s)
        exact = tag == "bits" or dtype[0] != "f"
        if exact:
            assert {step.tag for step in h.schedule.steps} == {"bits"}
        else:
            assert "reassoc" in {step.tag for step in h.schedule.steps}
        plain, found = s.compile(), h.schedule.compile()
        served = 0
        for sizes in SIZES:
            args = arrays(axes, sizes, dtype, 1)
            try:
                expected = plain(*args)
            except ScheduleError:  # another variant serves such sizes
                continue
            served += 1
            _same(found(*args), expected, exact, f"{dtype} {sizes}\n{h.schedule}")
            tolerance = 1e-4 if dtype == "f4" else 1e-10
            for x, y in zip(_each(expected), _each(function(*args)), strict=True):
                np.testing.assert_allclose(x, y, tolerance, tolerance)
        assert served > 2
    return h


def _each(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def _same(found: Any, expected: Any, exact: bool, message: str) -> None:
    for x, y in zip(_each(found), _each(expected), strict=True):
        assert x.dtype == y.dtype, message
        assert x.shape == y.shape, message
        if exact:
            np.testing.assert_array_equal(x, y, err_msg=message)
        else:
            tolerance = 1e-4 if x.dtype.itemsize < 8 else 1e-10
            np.testing.assert_allclose(x, y, tolerance, tolerance, err_msg=message)


def outer(a: Any, b: Any) -> Any:
    return a.T * 2 + b


def total(a: Any) -> Any:
    return (a * 3).sum(axis=0)


def whole(a: Any) -> Any:
    return a.sum()


def largest(a: Any) -> Any:
    return np.where(np.arange(a.shape[1]) > 1, a, 0).max(axis=1, initial=1)


def windows(a: Any) -> Any:
    """Sums of three neighbours in rows and two in columns, with weights."""
    weights = np.arange(1, 4)
    return (a[:, :, None, None] * weights[:, None] * np.arange(2, 4)).sum(axis=(2, 3))


def product(a: Any, b: Any) -> Any:
    return a @ b


def loops(s: Schedule) -> Handle:
    """The matrix product of a schedule as loops: that of integers is not one of BLAS."""
    h = s["matmul"]
    return h.generalize() if h.op.library_call else h


def elementwise(a: Any) -> Any:
    return np.maximum(a * 2, 1)


def column(a: Any) -> Any:
    """A dim of extent 1 is added to each row."""
    return a.sum(axis=1, keepdims=True) * 2


def pair(a: Any) -> Any:
    return a * 2, np.maximum(a, 1)


def kept(a: Any) -> Any:
    doubled = a * 2
    return doubled, np.maximum(doubled, 1)


def extremes(a: Any) -> Any:
    return a.max(axis=1), a.min(axis=1)


def convolution(a: Any) -> Any:
    """A 2-D convolution of integers with a window of 1 x 3, of an image that is one row high."""
    window = np.arange(6).reshape(1, 3, 1, 2)
    return linalg.conv_2d_nhwc_hwcf(a[:, None, :, None].astype("i8"), window)
