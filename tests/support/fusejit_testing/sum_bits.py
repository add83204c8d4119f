"""Sums, means and variances of random arrays beside NumPy's, byte by byte.

    python -m fusejit_testing.sum_bits FIRST COUNT [JIT_EVERY]

A case is a function, axes, a dtype and a kind of memory layout; several arrays of other shapes go
through one decorated function. Every ``JIT_EVERY``-th one is jitted (none by default).
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fusejit_testing.compare import relevant_strides
from fusejit_testing.oracle import decorate

SIZES = (1, 2, 3, 5, 9, 17, 40, 150, 700)
MOST = 40_000  # numbers of an array
ARRAYS = 6  # of a case

LAYOUTS = ("C", "F", "permuted", "stepped", "reversed", "sliced", "broadcast")


def total(x: Any, axis: Any) -> Any:
    return x.sum(axis=axis), np.sum(x, axis=axis, keepdims=True)


def of_squares(x: Any, axis: Any) -> Any:
    return (x * x + 1).sum(axis=axis)


def mean(x: Any, axis: Any) -> Any:
    return np.mean(x - 0.5, axis=axis)


def spread(x: Any, axis: Any) -> Any:
    return x.var(axis=axis, ddof=0), np.std(abs(x), axis=axis)


def beside_an_extremum(x: Any, axis: Any) -> Any:
    return x.sum(axis=axis) + abs(x).max(axis=axis), (x * 2).mean(axis)


def with_a_row(x: Any, axis: Any) -> Any:
    return (x + np.arange(x.shape[-1])).sum(axis=axis)


def cast(x: Any, axis: Any) -> Any:
    return x.sum(axis=axis, dtype=np.float64), x.mean(axis, dtype=np.float32)


def of_integers(x: Any, axis: Any) -> Any:
    return (x * 100).astype(np.int32).mean(axis=axis), (x > 0).mean(axis=axis)


def transposed(x: Any, axis: Any) -> Any:
    return (x.T * 3).sum(axis=axis), (x + x.T.T).T.mean(axis=axis)


def without_nan(x: Any, axis: Any) -> Any:
    y = np.where(x > 1, np.nan, x)
    return np.nansum(y, axis=axis), np.nanmean(y, axis=axis)


def products(x: Any, axis: Any) -> Any:
    return np.prod(x + 1, axis=axis), x.prod(axis, dtype=np.float64)


def weighted(x: Any, axis: Any) -> Any:
    return np.average(x, axis=axis), np.sum(x[::2] - x[::2] ** 2, axis=axis)


FUNCTIONS: tuple[Callable[..., Any], ...] = (
    total,
    of_squares,
    mean,
    spread,
    beside_an_extremum,
    with_a_row,
    cast,
    of_integers,
    transposed,
    without_nan,
    products,
    weighted,
)


def laid_out(values: np.ndarray, layout: str, rng: np.random.Generator) -> np.ndarray:
    """The numbers in memory of some layout."""
    shape = values.shape
    if layout == "F":
        return np.asfortranarray(values)
    if layout == "permuted":
        order = rng.permutation(values.ndim)
        return np.ascontiguousarray(values.transpose(order)).transpose(np.argsort(order))
    if layout == "reversed":
        return values[tuple(slice(None, None, int(rng.choice([1, -1]))) for _ in shape)]
    if layout in ("stepped", "sliced"):
        step, start = (2, 0) if layout == "stepped" else (1, 1)
        wide = np.zeros([step * n + 2 * start for n in shape], values.dtype)
        view = wide[tuple(slice(start, start + step * n, step) for n in shape)]
        view[...] = values
        return view
    if layout == "broadcast":
        axis = int(rng.integers(values.ndim))
        return np.broadcast_to(np.take(values, [0], axis), shape)
    return values


def merges_beyond_the_buffer(x: np.ndarray) -> bool:
    """Whether three axes or more stay apart in memory, and NumPy's buffer is too small for all."""
    axes = sorted((a for a in range(x.ndim) if x.shape[a] != 1), key=lambda a: -abs(x.strides[a]))
    gaps = sum(x.strides[a] != x.strides[b] * x.shape[b] for a, b in itertools.pairwise(axes))
    return gaps > 1 and x.size > np.getbufsize()


def arrays(
    rank: int, dtype: str, layout: str, rng: np.random.Generator, count: int
) -> Iterator[np.ndarray]:
    """Arrays of one rank, dtype and layout."""
    while count:
        shape = [int(rng.choice(SIZES)) for _ in range(rank)]
        if np.prod(shape) > MOST:
            continue
        x = laid_out(rng.standard_normal(shape).astype(dtype), layout, rng)
        if not merges_beyond_the_buffer(x):
            count -= 1
            yield x


def differences(number: int, *, jit: bool = False, count: int = ARRAYS) -> list[str]:
    """Run a case; what differs."""
    rng = np.random.default_rng(number)
    function = FUNCTIONS[int(rng.integers(len(FUNCTIONS)))]
    rank = int(rng.integers(1, 5))
    dtype, layout = str(rng.choice(["f4", "f8"])), str(rng.choice(LAYOUTS))
    every = [None, *range(rank)]
    every += [c for k in range(2, rank + 1) for c in itertools.combinations(range(rank), k)]
    axis = every[int(rng.integers(len(every)))]
    fused = decorate(function, jit=jit)
    found = []
    for x in arrays(rank, dtype, layout, rng, count):
        with np.errstate(all="ignore"):
            pairs = zip(_listed(function(x, axis)), _listed(fused(x, axis)), strict=True)
        for at, (expected, actual) in enumerate(pairs):
            if _bytes(expected) != _bytes(actual):
                found.append(
                    f"{number}: {function.__name__}[{at}] of {layout} {x.shape} {x.dtype} "
                    f"{x.strides} along {axis}: {actual!r} instead of {expected!r}"[:400]
                )
    if not fused.variants.compiled:
        found.append(f"{number}: {function.__name__} along {axis} is not compiled")
    return found


def _listed(results: Any) -> list[np.ndarray]:
    return [*map(np.asarray, results if isinstance(results, tuple) else [results])]


def _bytes(array: np.ndarray) -> tuple[Any, ...]:
    return array.dtype, array.shape, relevant_strides(array), array.tobytes()


def main(first: int, count: int, jit_every: int = 0) -> int:
    """Run cases and print what differs; how many did."""
    failed = 0
    for number in range(first, first + count):
        found = differences(number, jit=bool(jit_every) and number % jit_every == 0)
        failed += bool(found)
        print(*found, sep="\n", end="\n" if found else "", flush=True)
    print(f"{failed} of {count} cases, of {ARRAYS} arrays each, differ from NumPy {np.__version__}")
    return failed


if __name__ == "__main__":
    sys.exit(min(1, main(*map(int, sys.argv[1:]))))
