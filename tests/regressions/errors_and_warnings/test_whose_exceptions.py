"""An internal KeyError read "NumPy raises KeyError": exceptions were sorted by type, not origin.

Calls that succeeded "were expected to fail". An exception that the program itself may catch was
taken for the end of the call.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning
from fusejit.outcome import FAULT
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.program.fallback import numpy_raises
from fusejit_testing.oracle import check, decorate
from fusejit_testing.programs.segments_check import check_segments

X = np.arange(6.0)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """`np.cumsum` has a handler that looks for what its table lacks."""
    decorate(lambda x: np.cumsum(x), jit=False)(X)  # which loads the tables
    monkeypatch.setitem(PRIMITIVES, np.cumsum, lambda *args: {}["complex"])
    code = PRIMITIVES[np.cumsum].__code__
    ours = code.replace(co_filename="<fusejit made up>")
    monkeypatch.setattr(PRIMITIVES[np.cumsum], "__code__", ours)


@pytest.mark.usefixtures("broken")
def test_a_fault_of_ours_is_shown_as_ours() -> None:
    fused = decorate(lambda x: np.cumsum(x), jit=False)
    with pytest.warns(FuseWarning, match=FAULT) as found:
        np.testing.assert_array_equal(fused(X), np.cumsum(X))
    assert "KeyError: 'complex'" in str(found[0].message)
    assert "NumPy raises" not in str(found[0].message)


def test_an_exception_of_numpys_is_shown_by_numpy_alone() -> None:
    fused = decorate(lambda x: x.reshape(4, 4), jit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="cannot reshape array of size 6"):
            fused(X)


def test_a_step_taken_for_one_that_raises_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any) -> Any:
        raise numpy_raises("ValueError: made up")

    monkeypatch.setitem(PRIMITIVES, np.cumsum, refuse)
    fused = decorate(lambda x: np.cumsum(x), jit=False)
    with pytest.warns(FuseWarning, match=f"{FAULT}: .*made up"):
        fused(X)


def caught(x: Any) -> Any:
    try:
        return np.zeros(4).reshape(len(x), 2), "reshaped"
    except ValueError as error:
        return x * 2, str(error)


def caught_further_out(x: Any) -> Any:
    def inner(y: Any) -> Any:
        return y[len(y)]

    try:
        return inner(x)
    except IndexError as error:
        return x + 1, str(error)


def suppressed(x: Any) -> Any:
    result = x * 3
    with Suppressing():
        result = x.reshape(4, 4)
    return result


class Suppressing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> bool:
        return True


@pytest.mark.parametrize("program", [caught, caught_further_out, suppressed])
def test_what_the_program_catches_does_not_end_the_call(program: Any) -> None:
    check_segments(program, (X,), (np.arange(2.0),))


def test_texts_of_errors_decide_nothing() -> None:
    """The text of an exception with stand-ins in it is no text of the program."""

    def failing(x: Any) -> Any:
        raise ValueError("bad shape", x.shape)

    fused = decorate(failing, jit=False)
    for n in (3, 4):
        with pytest.raises(ValueError, match="bad shape") as info:
            fused(np.ones(n))
        assert info.value.args == ("bad shape", (n,))


def test_numbers_that_a_function_is_tried_with_are_no_fault() -> None:
    fused = decorate(lambda i: np.ravel_multi_index((i, i), (4, 4)) * 2, jit=False)
    with pytest.warns(FuseWarning, match="was tried with other numbers"):
        np.testing.assert_array_equal(fused(np.array([3, 1])), [30, 10])


def test_copies_of_containers_of_numbers_and_arrays() -> None:
    def copies(x: Any, k: Any) -> Any:
        held = {"x": x, "sizes": [x.shape, k]}
        deep, flat = copy.deepcopy(held), copy.copy([x, k])
        deep["x"] += 1
        return deep, flat, copy.copy(x.shape), held["x"] is x

    check(copies, (X, 2.0), (np.arange(3.0), 4.0))


def test_sizes_that_equal_those_of_constants() -> None:
    def solved(x: Any) -> Any:
        return np.linalg.solve(np.eye(4) * 2, x)

    fused = check(solved, (np.arange(4.0),), (np.arange(1.0, 5.0),))
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        fused(np.ones(3))


def test_exceptions_in_contexts_that_end_none() -> None:
    def failing(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return x.reshape(4, 4)

    for fullgraph in (False, True):
        fused = decorate(failing, jit=False, fullgraph=fullgraph)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match="cannot reshape array of size 6"):
                fused(X)
