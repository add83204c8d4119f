"""Functions that read their caller's frame raised NameError: they saw a frame of fusejit.

On its first call it was run below fusejit's own frames, and raised a NameError or told the name of
one of our functions. Found by reading what numexpr does (it takes names from ``sys._getframe``).
"""

# ruff: noqa: F841 (the functions called read these names)
from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning, fuse_jit
from fusejit_testing.oracle import check

pytestmark = pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")


def evaluated(text: str) -> Any:
    return eval(text, globals(), sys._getframe(1).f_locals)


def evaluated_behind(text: str) -> Any:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return eval(text, globals(), frame.f_back.f_locals)


def evaluated_by_the_stack(text: str) -> Any:
    return eval(text, globals(), inspect.stack()[1].frame.f_locals)


def caller() -> str:
    return sys._getframe(1).f_code.co_name


READERS = (evaluated, evaluated_behind, evaluated_by_the_stack)


@pytest.mark.parametrize("reader", READERS)
def test_helpers_that_read_the_frame_of_a_decorated_function(reader: Any) -> None:
    def weighted(a: Any, b: Any) -> Any:
        c = a * 2
        d = c + b
        return reader("c + d + b")

    check(weighted, (np.arange(3.0), np.ones(3)), (np.ones(4), np.arange(4.0)), variants=None)


def test_helpers_that_tell_who_calls() -> None:
    def traced(a: Any) -> Any:
        c = a * 2
        name = caller()
        return c + 1, name

    check(traced, (np.arange(3.0),), (np.ones(4),), variants=None)


@pytest.mark.parametrize("reader", READERS)
def test_decorated_functions_that_read_their_callers_frame(reader: Any) -> None:
    decorated = fuse_jit(reader)
    for size in (2, 3, 4):
        x = np.arange(float(size))
        np.testing.assert_array_equal(decorated("x + 1"), x + 1)


def test_they_are_told_and_explained() -> None:
    with pytest.warns(FuseWarning, match="^caller runs as plain NumPy: it reads its"):
        decorated = fuse_jit(caller)
    assert decorated() == "test_they_are_told_and_explained"
    assert "it reads its caller's frame" in decorated.explain()
    assert "it reads its caller's frame" in repr(decorated.variants)


def test_default_values_and_cells_are_the_functions_own() -> None:
    base = 2.0

    @fuse_jit
    def scaled(x: Any, *, by: float = 3.0) -> Any:
        return x * by * base, sys._getframe(1).f_code.co_name

    assert scaled(1.0) == (6.0, "test_default_values_and_cells_are_the_functions_own")
    scaled.__kwdefaults__ = {"by": 4.0}
    base = 5.0
    assert scaled(1.0)[0] == 20.0


def test_a_function_that_stacks_arrays_reads_no_frames() -> None:
    def stacked(a: Any) -> Any:
        return np.stack((a, a * 2))

    check(stacked, (np.arange(3.0),), (np.ones(4),), variants=1)


def test_they_are_pickled() -> None:
    decorated = fuse_jit(caller)
    state = decorated.__fusejit_state__  # type: ignore[attr-defined]
    _, (_, _), parts = state.__reduce__()
    make, given = parts["entry_stub"].__reduce__()
    again = make(*given)
    again.connect(state.dispatch_miss, state.recover)
    again.install_launcher(lambda: None)
    assert again.function() == "test_they_are_pickled"
