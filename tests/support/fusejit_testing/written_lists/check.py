"""Arguments for the programs of this folder, and their comparison with Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from fusejit_testing.against_python import check_against_python
from fusejit_testing.compare import Bound
from fusejit_testing.written_lists import searches, sequences, series, tables

MODULES = (series, searches, sequences, tables)
LENGTHS = (12, 30, 12, 1, 5)
_CLOSE = Bound(absolute=1e-12)


def programs(module: ModuleType) -> Iterator[Callable[..., Any]]:
    """The functions of a module whose parameters have names that say what to give them."""
    for function in list(vars(module).values()):
        is_own = inspect.isfunction(function) and function.__module__ == module.__name__
        if is_own and _NAMES.issuperset(inspect.signature(function).parameters):
            yield function


def arguments(function: Callable[..., Any], call: int) -> tuple[Any, ...]:
    """The arguments of a call."""
    rng = np.random.default_rng(call)
    length = LENGTHS[call]
    made = {
        "x": rng.random(length),
        "k": rng.integers(0, 10, length),
        "m": rng.integers(0, 10, length + call),
        "links": rng.random((length, length)) < 0.25,
        "edges": rng.integers(0, 20, (length, 2)),
        "grid": rng.integers(0, 6, (length, length // 2 + 1)),
        "n": 3 + call % 3,
    }
    return tuple(made[name] for name in inspect.signature(function).parameters)


_NAMES = frozenset(("x", "k", "m", "links", "edges", "grid", "n"))


def check_program(function: Callable[..., Any], *, jit: bool = False) -> str:
    """Compare some calls with Python; why Python runs a part of it, or all."""
    calls = [arguments(function, call) for call in range(len(LENGTHS))]
    variants = check_against_python(function, calls, jit=jit, bound=_CLOSE).variants
    if variants.newest_segmented is not None:
        return "; ".join(str(b.reason) for b in variants.newest_segmented.boundaries)
    return "; ".join(variants.fallbacks)
