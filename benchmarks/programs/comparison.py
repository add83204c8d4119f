"""Outcomes of a program of a corpus, compared: kinds exactly, numbers as far as they are exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.program import Program
from benchmarks.programs.sensitivity import allowances, distance, leaves
from fusejit_testing.compare import Bound, assert_same, assert_same_aliasing


def compare(
    program: Program,
    size: int,
    expected: Any,
    actual: Any,
    *,
    exact_integers: bool = False,
    kinds_by_name: bool = False,
) -> None:
    """Raise AssertionError unless two outcomes of a program are the same.

    Parameters
    ----------
    program : Program
        Tells how far its numbers may be apart: `allowances`.
    size : int
        What its arguments were built with.
    expected, actual : object
        Results and arguments afterwards.
    exact_integers : bool
        Whether integers are equal even where NumPy's own rounding may change them.
    kinds_by_name : bool
        Whether a class is told by its name: that of a module which was executed twice is two.
    """
    assert_same_kinds(expected, actual, by_name=kinds_by_name)
    pairs = zip(leaves(expected), leaves(actual), strict=True)
    for pair, allowed in zip(pairs, allowances(program, size), strict=True):
        (where, want), (_, have) = pair
        place = f"size {size}: {where}"
        kind = np.asarray(want).dtype.kind
        if kind == "f":
            assert_same(want, have, Bound(absolute=allowed), place)
        elif allowed == 0.0 or (exact_integers and kind != "c"):
            assert_same(want, have, where=place)
        else:
            assert_same(np.zeros_like(want), np.zeros_like(have), where=place)
            apart = distance(want, have)
            assert apart <= allowed, f"{place}: {apart:.3g} apart, allowed {allowed:.3g}"
    assert_same_aliasing(expected, actual, f"size {size}: ")


def assert_same_kinds(
    expected: Any, actual: Any, where: str = "outcome", *, by_name: bool = False
) -> None:
    """Nested containers have the same types, keys and texts, leaves the same types."""
    kinds = [_name(type(v)) if by_name else type(v) for v in (expected, actual)]
    assert kinds[0] == kinds[1], f"{where}: {kinds[1]} {actual!r} instead of {kinds[0]}"
    if isinstance(expected, str) or expected is None:
        assert expected == actual, f"{where}: {actual!r} instead of {expected!r}"
    elif isinstance(expected, tuple | list):
        assert len(expected) == len(actual), f"{where}: {actual!r} instead of {expected!r}"
        for at, (e, a) in enumerate(zip(expected, actual, strict=True)):
            assert_same_kinds(e, a, f"{where}[{at}]", by_name=by_name)
    elif isinstance(expected, dict):
        keys = [*expected], [*actual]
        assert keys[0] == keys[1], f"{where}: keys {keys[1]} instead of {keys[0]}"
        for key in expected:
            assert_same_kinds(expected[key], actual[key], f"{where}[{key!r}]", by_name=by_name)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
