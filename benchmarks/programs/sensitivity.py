"""How far two right answers of a program may be apart: what NumPy's own answer shows.

Every float that goes in is moved by one unit in the last place, up, down or not at all, by a few
random patterns. A result may differ from NumPy's by ten times the largest change that any pattern
makes in it, and by a few units of its largest number. Integers and conditions have no such floor:
they may differ only where NumPy's own do.

That says nothing about errors NumPy makes on the way, as when it adds 30,000 numbers one by one; at
the sizes that are timed, `own_errors` measures them by the same program in wider numbers.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.programs.program import Program

PATTERNS = 3
TIMES = 10.0
FLOOR_ULPS = 16.0


def leaves(value: Any, where: str = "result") -> Iterator[tuple[str, Any]]:
    """The arrays, numbers and texts of nested containers and objects, each with its place.

    A random generator counts as its state, an object of the program's own classes as its
    attributes, a set as its sorted items. None has no leaves, nor has a function.
    """
    if isinstance(value, np.random.Generator):
        value = dict(value.bit_generator.state)
    if isinstance(value, set | frozenset):
        value = sorted(value)
    if type(value).__module__.startswith("benchmarks."):
        value = attributes(value)
    if callable(value):
        return
    if isinstance(value, tuple | list | deque):
        for at, item in enumerate(value):
            yield from leaves(item, f"{where}[{at}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{where}[{key!r}]")
    elif value is not None:
        yield where, value


def attributes(value: Any) -> dict[str, Any]:
    """What an object holds: in its ``__dict__`` or in its slots."""
    slots = getattr(type(value), "__slots__", ())
    return {**getattr(value, "__dict__", {}), **{s: getattr(value, s) for s in slots}}


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[tuple[str, Any]]:
    """Leaves of what a function returns and of its arguments afterwards."""
    result = function(*arguments)
    return [*leaves(result), *leaves(arguments, "arguments")]


def moved(value: Any, rng: np.random.Generator) -> Any:
    """`value` with each float one unit up, one down, or as it was.

    >>> moved((2, np.arange(2)), np.random.default_rng(0))
    (2, array([0, 1]))
    """
    if isinstance(value, tuple | list):
        make = getattr(type(value), "_make", type(value))  # a named tuple
        return make(moved(item, rng) for item in value)
    if isinstance(value, dict):
        return {key: moved(item, rng) for key, item in value.items()}
    if isinstance(value, float):
        return math.nextafter(value, rng.choice([-math.inf, value, math.inf]))
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
        return value
    parts = value.copy(order="K")
    real = parts.dtype.type(0).real.dtype
    flat = parts.ravel(order="K").view(real)
    targets = rng.choice(np.array([-np.inf, 0.0, np.inf], real), flat.size)
    flat = np.nextafter(flat, np.where(targets == 0, flat, targets))
    parts.ravel(order="K").view(real)[:] = flat
    return parts


def allowances(program: Program, size: int, seed: int = 0) -> list[float]:
    """For each leaf of `outcome` the largest difference that is allowed.

    Raises
    ------
    ValueError
        A result changes its shape: nothing could be said about its elements.
    """
    expected = outcome(program.function, program.build(size, seed))
    changes = [0.0] * len(expected)
    if not program.exact:
        for pattern in range(PATTERNS):
            rng = np.random.default_rng([seed, pattern])
            arguments = moved(program.build(size, seed), rng)
            found = outcome(program.function, arguments)
            changes = [max(c, d) for c, d in zip(changes, distances(expected, found), strict=True)]
        changes = [
            TIMES * change + floor(value)
            for change, (_, value) in zip(changes, expected, strict=True)
        ]
    return changes


def own_errors(program: Program, size: int, seed: int = 0) -> list[float]:
    """For each leaf of `outcome` how far NumPy's answer is from that in long doubles.

    Zero for exact programs, for those that do not run in long doubles, and for leaves whose numbers
    are no doubles.
    """
    expected = outcome(program.function, program.build(size, seed))
    nothing = [0.0] * len(expected)
    if program.exact:
        return nothing
    try:
        with np.errstate(all="ignore"):
            found = outcome(program.function, widened(program.build(size, seed)))
        return [
            d if np.asarray(value).dtype == np.float64 and np.isfinite(d) else 0.0
            for d, (_, value) in zip(distances(expected, found), expected, strict=True)
        ]
    except (TypeError, ValueError, np.linalg.LinAlgError):
        return nothing


def widened(value: Any) -> Any:
    """`value` with each array of doubles as one of long doubles.

    >>> widened((1.5, np.zeros(2)))[1].dtype == np.longdouble
    True
    """
    if isinstance(value, tuple | list):
        return type(value)(widened(item) for item in value)
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value.astype(np.longdouble)
    return value


def distances(
    expected: Sequence[tuple[str, Any]], found: Sequence[tuple[str, Any]]
) -> Iterator[float]:
    """The largest difference within each leaf; NaN and infinities must be in the same places."""
    for (where, e), (_, f) in zip(expected, found, strict=True):
        if np.shape(e) != np.shape(f):
            raise ValueError(f"{where} has shape {np.shape(f)} instead of {np.shape(e)}")
        yield distance(e, f)


def distance(expected: Any, found: Any) -> float:
    """The largest difference of two arrays; infinite if one is finite where the other is not."""
    e, f = np.asarray(expected), np.asarray(found)
    if e.dtype.kind in "USO" or not e.size:
        return 0.0 if np.array_equal(e, f) else math.inf
    wide = np.complex128 if e.dtype.kind == "c" else np.longdouble
    with np.errstate(all="ignore"):
        differences = np.abs(e.astype(wide) - f.astype(wide))
    same = (e == f) | ((e != e) & (f != f))
    differences = np.where(same, 0.0, np.where(np.isnan(differences), np.inf, differences))
    return float(differences.max())


def floor(value: Any) -> float:
    """A few units in the last place of the largest finite number."""
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        return 0.0
    with np.errstate(all="ignore"):
        sizes = np.abs(array)
    largest = float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))
    return FLOOR_ULPS * float(np.finfo(array.dtype).eps) * largest
