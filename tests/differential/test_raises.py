"""``raise`` and ``try`` where only the kernel knows whether an exception is raised."""

from __future__ import annotations

import math
import traceback
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run

GOOD, BAD = np.arange(1.0, 9.0), np.array([1.0, 2.0, -3.0, 4.0, -5.0, 6.0])


class Negative(RuntimeError):
    """An exception with a constructor of its own."""

    def __init__(self, at: Any, code: int = 3) -> None:
        super().__init__(f"at {at}, code {code}")


def of_arrays(x: Any) -> Any:
    if np.any(x < 0):
        raise ValueError("negative")
    return np.sqrt(x)


def with_a_computed_text(x: Any) -> Any:
    if np.any(x < 0):
        raise ValueError(f"negative: {x.min():.3f} at {np.argmin(x)}")
    return np.sqrt(x)


def of_a_class_of_the_program(x: Any) -> Any:
    s = 0.0
    for i, v in enumerate(x):
        if v < 0:
            raise Negative(i)
        s += math.sqrt(v)
    return s


def behind_stores(x: Any) -> Any:
    for i in range(len(x)):
        x[i] = x[i] * 2
        if x[i] < 0:
            raise ValueError("negative")
    return x


def without_a_text(x: Any) -> Any:
    for i in range(len(x)):
        x[i] = x[i] * 2
        if x[i] < 0:
            raise np.linalg.LinAlgError
    return x


def in_a_helper(x: Any) -> Any:
    def root(v: Any) -> Any:
        if v < 0:
            raise ValueError("root of a negative number")
        return v**0.5

    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = root(x[i])
    return y


def nested(x: Any) -> Any:
    for v in x:
        if v <= 0:
            if v < 0:
                raise ArithmeticError("negative")
            else:
                raise LookupError("zero")
    return x.sum()


def in_the_other_branch(x: Any) -> Any:
    s = x.min()
    if s > 10:
        k = 2.0
    elif s > 0:
        k = 3.0
    else:
        raise RuntimeError
    return x * k


def on_a_way_without_result(x: Any) -> Any:
    if x.min() > 0:
        return x + 1
    elif x.max() < 0:
        return x - 1
    raise ValueError("mixed") from KeyError("cause")


def when_a_loop_ends(x: Any) -> Any:
    y = x[0]
    for k in range(200):  # noqa: B007
        z = y - (y * y - x.min()) / (2 * y)
        if abs(z - y) < 1e-12:
            break
        y = z
    else:
        raise RuntimeError(f"no convergence after {k} steps: {y}")
    return z, k


PROGRAMS = [
    of_arrays,
    with_a_computed_text,
    of_a_class_of_the_program,
    behind_stores,
    without_a_text,
    in_a_helper,
    nested,
    in_the_other_branch,
    on_a_way_without_result,
    when_a_loop_ends,
]


def last_line(error: BaseException | None) -> str | None:
    assert error is not None
    frames = traceback.extract_tb(error.__traceback__)
    return [f.line for f in frames if f.filename == __file__][-1]


@pytest.mark.parametrize("program", PROGRAMS)
def test_raises(program: Any) -> None:
    """One variant serves calls that raise and calls that do not: nothing is declined at once."""
    decorated = decorate(program, jit=False)
    for x in (GOOD, BAD, GOOD[:6]):
        expected, actual = run(program, (x,)), run(decorated, (x,))
        compare_outcomes(expected, actual)
        assert (expected.error is None) == (x is not BAD)
        if expected.error is not None:
            assert last_line(actual.error) == last_line(expected.error)
    assert len(decorated.variants) == 1


@pytest.mark.parametrize("program", [with_a_computed_text, behind_stores, nested])
def test_jitted(program: Any) -> None:
    decorated = decorate(program, jit=True)
    for x in (GOOD, BAD):
        compare_outcomes(run(program, (x,)), run(decorated, (x,)))


# ------------------------------------------------------------------------------------------- try
def an_index_behind_a_store(x: Any) -> Any:
    x[0] = 7
    try:
        y = x[x.astype(int)[2] + 5]
    except IndexError:
        y = np.float64(-1)
    return y


def a_raise_that_is_caught(x: Any) -> Any:
    try:
        if x.min() < 0:
            raise ValueError("negative")
        y = x + 1
    except ValueError:
        y = -x
    return y


def a_helper_in_a_try(x: Any) -> Any:
    try:
        y = of_arrays(x)
    except ValueError as error:
        y = x * len(str(error))
    return y


def one_of_many(x: Any) -> Any:
    x += 0
    bad = 0
    for v in x:
        try:
            math.sqrt(float(v))
        except ValueError:
            bad += 1
    return bad


def a_key_in_a_branch(x: Any) -> Any:
    try:
        y = 1.0
        if x.min() < 0:
            y = {"a": 2.0}["b"]
    except KeyError:
        y = 3.0
    return y


def finally_behind_a_store(x: Any) -> Any:
    try:
        x += 1
        x[0] = x[int(x[2]) + 5]
    finally:
        x[:] = 0
    return x


@pytest.mark.filterwarnings("ignore:.*runs as plain NumPy:fusejit.FuseWarning")
@pytest.mark.parametrize(
    "program",
    [
        an_index_behind_a_store,
        a_raise_that_is_caught,
        a_helper_in_a_try,
        one_of_many,
        a_key_in_a_branch,
        finally_behind_a_store,
    ],
)
def test_what_is_caught(program: Any) -> None:
    """The ``except`` runs where NumPy runs it, and only there."""
    decorated = decorate(program, jit=False)
    for x in (GOOD, BAD, GOOD[:6]):
        compare_outcomes(run(program, (x,)), run(decorated, (x,)))
