"""Arguments for the programs of this folder, and their comparison with Python."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from fusejit.api import FuseWarning
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import compare_outcomes, decorate, no_faults, run
from fusejit_testing.programs.list_programs import identities_of
from fusejit_testing.written_lists import searches, sequences, series, tables

MODULES = (series, searches, sequences, tables)
LENGTHS = (12, 30, 12, 1, 5)
_CLOSE = Bound(absolute=1e-12)


def programs(module: ModuleType) -> Iterator[Callable[..., Any]]:
    """The functions of a module whose parameters have names that say what to give them."""
    for function in vars(module).values():
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
    """Compare some calls with Python; what Python runs of it, or why it is not compiled.

    Raises
    ------
    AssertionError
        If a call differs, or a fault of fusejit was met.
    """
    with warnings.catch_warnings(), no_faults() as reports:
        warnings.simplefilter("ignore", FuseWarning)
        fused = decorate(function, jit=jit, reports=reports)
        for call in range(len(LENGTHS)):
            args = arguments(function, call)
            expected, actual = run(function, args), run(fused, args)
            where = f"{function.__name__}, call {call}"
            compare_outcomes(expected, actual, _CLOSE, where)
            ours, theirs = (identities_of((o.result, o.args)) for o in (actual, expected))
            assert ours == theirs, f"{where}: identities {ours} instead of {theirs}"
    if fused.variants.newest_segmented is not None:
        return "; ".join(str(b.reason) for b in fused.variants.newest_segmented.boundaries)
    return "; ".join(fused.variants.fallbacks)
