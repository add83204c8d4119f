"""Instances of subclasses of int and float in arithmetic: in promotion they are not weak.

Beside sizes and numbers of Python's they are the numbers that they are, beside arrays and NumPy's
scalars an int64 or float64; elements of arrays take them as they take Python's numbers.

Regression: ``np.where(m, I(2**63), 1)`` of an ``I(int)`` wrapped, and an enum member in a host call
gave a SyntaxError: instances of subclasses were emitted as literals.
"""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import decorate, no_faults


class Whole(int):
    pass


class Real(float):
    pass


class Mixed(int, enum.Enum):
    ONE = 1
    TWO = 2


class Flags(enum.IntFlag):
    ONE = 1
    TWO = 2


class Rates(float, enum.Enum):
    LOW = 1.5
    HIGH = 2.5


class Own(int):
    def __add__(self, other: Any) -> Any:
        return 100

    __radd__ = __add__

    def __rmul__(self, other: Any) -> Any:
        return Own(7)


class Converted(float):
    def __float__(self) -> float:
        return 9.0


PAIRS = {
    "subclass of int": (Whole(1), Whole(2)),
    "subclass of float": (Real(1), Real(2.5)),
    "enum of ints": (Mixed.ONE, Mixed.TWO),
    "flags": (Flags.ONE, Flags.ONE | Flags.TWO),
    "enum of floats": (Rates.LOW, Rates.HIGH),
    "operators of its own": (Own(1), Own(2)),
    "a conversion of its own": (Converted(1), Converted(2)),
    "large": (Whole(300), Whole(2**63)),
    "not finite": (Real("inf"), Real(-1e30)),
}


def with_sizes(x: Any, n: Any, g: Any) -> Any:
    return x.shape[0] * g, g * x.shape[0], x.shape[0] + g, x[: x.shape[0] - g]


def with_numbers(x: Any, n: Any, g: Any) -> Any:
    return n * g, g * n, n + g, n - g, n / g, n < g, g < n, divmod(n, g), min(n, g), max(n, g)


def of_numbers(x: Any, n: Any, g: Any) -> Any:
    return abs(n - g), round(n * g), int(n * g), float(g) * n, bool(n * g), -g * n


def with_elements(x: Any, n: Any, g: Any) -> Any:
    return x[0] * g, x[0] + g, x[0] < g, g - x.max()


def summed(x: Any, n: Any, g: Any) -> Any:
    total = 0
    for _ in x:
        total += g
    return total


def in_a_loop(x: Any, n: Any, g: Any) -> Any:
    total = 0.0
    for v in x:
        if v > g:
            total += v * g
    return total


def last_one(x: Any, n: Any, g: Any) -> Any:
    found = g
    for v in x:
        if v > 1:
            found = v
    return found


def chosen(x: Any, n: Any, g: Any) -> Any:
    return g if x[0] > 1 else 3


def bitwise(x: Any, n: Any, g: Any) -> Any:
    return x | g, n & g


def in_functions(x: Any, n: Any, g: Any) -> Any:
    return np.add(x, g), np.where(x > 1, x, g), np.clip(x, 0, g), np.maximum(x, g), np.append(x, g)


def of_scalars(x: Any, n: Any, g: Any) -> Any:
    return np.add(n, g), np.multiply(n, g)


def by_numpy(x: Any, n: Any, g: Any) -> Any:
    return np.sort(x, axis=g - 1), np.linalg.norm(x, ord=g), np.percentile(x, g)


def as_counts(x: Any, n: Any, g: Any) -> Any:
    return np.roll(x, g), np.repeat(x, g), np.tile(x, g), np.pad(x, g)


def stored(x: Any, n: Any, g: Any) -> Any:
    y, z, w = x.copy(), x.copy(), x.copy()
    y[0] = g
    z[1:] = g
    w[w > 1] = g
    return y, z, w


def scattered(x: Any, n: Any, g: Any) -> Any:
    y = x.copy()
    y[[0, 1]] = g
    return y


def stored_in_a_loop(x: Any, n: Any, g: Any) -> Any:
    y = x.copy()
    for i in range(len(y)):
        y[i] = y[i] * g if y[i] > 1 else g
    return y


def filled(x: Any, n: Any, g: Any) -> Any:
    y = x.copy()
    y.fill(g)
    return y, np.full(3, g, x.dtype), np.array([g, 1])


PROGRAMS = [
    *(with_sizes, with_numbers, of_numbers, with_elements, summed, in_a_loop, last_one, chosen),
    *(bitwise, in_functions, of_scalars, by_numpy, as_counts, stored, scattered),
    *(stored_in_a_loop, filled),
]
DTYPES = ("int8", "uint64", "float32")
NUMBERS = (3, np.float64(2))


def shown(function: Callable[..., Any], *args: Any) -> str:
    """What a call returns or raises, with all types."""
    with np.errstate(all="ignore"):
        try:
            result = function(*args)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    parts = result if isinstance(result, tuple) else (result,)
    return "; ".join(f"{type(p).__name__} {np.asarray(p).dtype} {p!r}" for p in parts)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_numpy(program: Callable[..., Any], pair: str) -> None:
    first, second = PAIRS[pair]
    with warnings.catch_warnings(), no_faults() as folder:
        warnings.simplefilter("ignore")
        for dtype in DTYPES:
            x = np.arange(4).astype(dtype)
            for number in NUMBERS:
                decorated = decorate(program, jit=False, reports=folder)
                for g in (first, second, first):
                    assert shown(decorated, x, number, g) == shown(program, x, number, g)


@pytest.mark.parametrize("g", [Whole(2), Mixed.TWO, Flags.TWO, Own(2)])
def test_sizes_beside_integers_of_other_classes_are_compiled(g: Any) -> None:
    """Each one was an internal error if the class had any operator of its own, such as ``|``."""

    def f(x: Any, g: Any) -> Any:
        n = x.shape[0]
        while n + 2 < g:
            n += 1
        return n * 2 - g, g - n, n < g, g <= n, x[: n // g] + 1, np.zeros(n - g) + 1

    x = np.arange(5.0)
    assert shown(decorate(f, jit=False, fullgraph=True), x, g) == shown(f, x, g)


def test_ranges_are_shapes_and_axes() -> None:
    def f(x: Any, shape: Any, axes: Any) -> Any:
        made = np.zeros(shape) + 1, np.full(shape, 2.5), x.reshape(shape) * 2
        return *made, x.reshape(1, 2, 3).transpose(axes) + 1

    x = np.arange(6.0)
    decorated = decorate(f, jit=False, fullgraph=True)
    for axes in (range(3), range(2, -1, -1)):
        assert shown(decorated, x, range(2, 4), axes) == shown(f, x, range(2, 4), axes)
