"""Inner functions were traced again at each call: their compiled form was not kept.

The fused form of a recursive function was made again at every level, that of an inner function at
every call; one that nothing of could be compiled was called with keyword parameters by position.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.segments.fused_functions import MAX_PER_CODE
from fusejit.stages import Lowered
from fusejit_testing.compare import PythonsList
from fusejit_testing.oracle import decorate
from fusejit_testing.programs.segments_check import check_segments

X = np.arange(6.0) / 4 - 0.5


@dataclass
class History:
    items: list[Any]


def descended(x: Any, n: int, log: Any) -> Any:
    log.append(n)
    if n == 0:
        return x
    y = descended(x * 2, n - 1, log)
    return y + x


def names_of(x: Any, *more: Any, k: float = 2.0, **options: Any) -> Any:
    return sorted(locals()), len(more), x * k, sorted(options)


def test_recursion_is_fused_once() -> None:
    def program(x: Any, log: Any) -> Any:
        log.append("start")
        return descended(x, 12, log)

    fused = check_segments(program, (X, PythonsList()))
    state = fused.__fusejit_state__.dispatcher
    assert list(state.state.fused.by_function) == [descended]


def test_inner_functions_are_not_kept() -> None:
    log: list[Any] = []

    def program(x: Any) -> Any:
        def noted(t: Any) -> Any:
            log.append(1)
            return np.abs(t) * 2

        y = noted(x) + 1
        return noted(y)

    fused: Any = fuse_jit(program)
    for _ in range(3 * MAX_PER_CODE):
        np.testing.assert_array_equal(fused(X), program(X))
    assert len(fused.__fusejit_state__.dispatcher.state.fused.by_function) == MAX_PER_CODE
    assert len(log) == 12 * MAX_PER_CODE


def test_functions_that_look_at_their_names() -> None:
    def program(x: Any, log: Any) -> Any:
        log.append(names_of(x, 2.0, 3.0, k=x.sum(), name="a"))
        return names_of(x * 2)

    check_segments(program, (X, PythonsList()))


def test_a_function_that_looks_at_the_names_of_an_object() -> None:
    def program(x: Any, log: Any) -> Any:
        y = x * 2
        log.append(sorted(vars(state)))
        return y + state.k

    state = SimpleNamespace(k=2.0)
    check_segments(program, (X, PythonsList()))


def test_a_global_list_that_grows_is_no_variant() -> None:
    log: list[Any] = []

    def program(x: Any) -> Any:
        k = len(log) * 2
        y = x * k
        log.append(y.sum())
        return y

    fused: Any = fuse_jit(program)
    for _ in range(12):
        expected = X * (len(log) * 2)
        np.testing.assert_array_equal(fused(X), expected)
    first = fused.variants.newest_segmented.segments[0].state
    assert len(first.variants) < 6
    assert first.variants.newest_segmented is not None


def test_a_list_of_an_object_that_grows_is_no_variant() -> None:
    def program(x: Any, log: Any, n: int) -> Any:
        for i in range(n):
            x = x * 0.5 + i
            log.items.append(x.max())
            if len(log.items) > 3 and abs(log.items[-1] - x[0]) < -1:
                break
        return x

    fused: Any = fuse_jit(program)
    one, other = (History([]) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(fused(X, one, 50), program(X, other, 50))
    assert one == other


def test_what_was_compiled_whole_stays_whole() -> None:
    log: list[Any] = []

    def program(x: Any, name: Any) -> Any:
        y = x * 2
        if name is not None:
            log.append(name)
        return y + 1

    fused: Any = fuse_jit(program)
    for name in (None, "a", None, "b", None):
        np.testing.assert_array_equal(fused(X, name), program(X, name))
    assert log == ["a", "a", "b", "b"]
    assert len(fused.variants) == 1
    launched = fused.variants.compiled[0]
    assert fused.__fusejit_state__.dispatcher.entry_stub.first == launched.launch


def test_classes_made_anew_do_not_become_variants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call has made variants for its own class, until there were 32."""
    log: list[Any] = []
    made = 0
    compile_one = Lowered.compile

    def counted(lowered: Lowered) -> Any:
        nonlocal made
        made += 1
        return compile_one(lowered)

    def program(x: Any) -> Any:
        class Counter:
            def __init__(self, a: Any) -> None:
                self.a = a

            def up(self) -> None:
                self.a = self.a * 2 + 1

        p = Counter(x)
        for _ in range(3):
            p.up()
            log.append(p.a[0])
        return p.a

    monkeypatch.setattr(Lowered, "compile", counted)
    fused = decorate(program, jit=False)
    counts = []
    for _ in range(10):
        np.testing.assert_array_equal(fused(X), program(X))
        counts.append(made)
    assert counts[-1] == counts[7] <= 10
