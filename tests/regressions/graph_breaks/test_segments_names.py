"""Names between segments were lost or stale: `else`, `with` and shared lists were overlooked.

A ``break`` in the ``else`` of a loop belongs to the loop around it; functions made in a segment
have cells of their own; a ``with`` may end an exception, as a ``try`` may; the message of an assert
and the default values of a lambda are read; one list under two names is one list after a segment.

PYTEST_DONT_REWRITE: asserts of the programs stay as they are.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import PythonsList
from fusejit_testing.programs.segments_check import check_segments

X = np.arange(6.0) / 4 - 0.5


class Ending:
    """A context that ends exceptions."""

    def __init__(self, log: list[Any]) -> None:
        self.log = log

    def __enter__(self) -> Ending:
        self.log.append("enter")
        return self

    def __exit__(self, *error: object) -> bool:
        self.log.append("exit")
        return True


def break_in_else(x: Any, log: Any) -> Any:
    for i in range(4):
        log.append(i)
        for j in range(3):
            if x[j] > 100:
                break
        else:
            break
        x = x + 1
    return x, i


def continue_in_else(x: Any, log: Any) -> Any:
    for i in range(4):
        log.append(i)
        k = 0
        while k < 2:
            k += 1
            x = x + k
        else:
            continue
        x = x + 100
    return x, i


def lambda_behind_a_statement(x: Any, log: Any) -> Any:
    k = 1.0
    y = x * 2
    scaled = lambda t: t * k  # noqa: E731
    z = y + 1
    log.append(scaled(x))
    k = 3.0
    return scaled(x), y, z


def lambdas_of_a_loop(x: Any, log: Any) -> Any:
    functions = []
    for i in range(3):
        y = x * i
        functions.append(lambda t: t + y.sum() + i)  # noqa: B023
        log.append(functions[-1](x))
    return [f(x) for f in functions]


def lambdas_with_defaults(x: Any, log: Any) -> Any:
    functions = []
    for i in range(3):
        y = x * i
        functions.append(lambda t, y=y: t + y.sum())
        log.append(functions[-1](x))
    return [f(x) for f in functions]


def generator_that_waits(x: Any, log: Any) -> Any:
    g = (x * i for i in range(5))
    log.append(next(g))
    x = x + 100
    y = next(g) * 2
    log.append(y)
    return next(g), list(g)


def suppressed(x: Any, log: Any) -> Any:
    y = x * 2
    z = 0
    log.append(1)
    with contextlib.suppress(IndexError):
        y = y + 1
        z = 5
        y[100] = 2
        z = 7
    return y, z


def suppressed_and_unbound(x: Any, log: Any) -> Any:
    done = False
    with contextlib.suppress(ZeroDivisionError):
        q = 1 // (len(log) - len(log))
        y = x * q
        done = True
    log.append(1)
    return y if done else x * 2


def ended_by_a_class(x: Any, log: Any) -> Any:
    y = x * 2
    with Ending(log):
        y = y + 1
        y = y * 3
        raise ValueError("a")
    return y


def message(x: Any, log: Any) -> Any:
    log.append(x.sum())
    assert x.sum() < 0, f"sum {x.sum()} {log.append('x')}"
    return x


def one_list(x: Any, log: Any) -> Any:
    a = [x, x * 2]
    b = a
    log.append(a)
    b.append(x + 1)
    c = {"a": a, "n": x.sum()}
    log.append(c)
    a[0] = x + 7
    c["b"] = b
    return a, b, c, a is b, c["a"] is b


def annotated(x: Any, log: Any) -> Any:
    y: np.ndarray = x * 2
    k: Any
    log.append(1)
    k = y.sum()
    k: Any  # type: ignore[no-redef]
    z: Any = k + 1
    return y, k, z


@pytest.mark.parametrize(
    "function",
    [
        annotated,
        break_in_else,
        continue_in_else,
        lambda_behind_a_statement,
        lambdas_of_a_loop,
        lambdas_with_defaults,
        generator_that_waits,
        suppressed,
        suppressed_and_unbound,
        ended_by_a_class,
        message,
        one_list,
    ],
    ids=lambda f: f.__name__,
)
@pytest.mark.filterwarnings("ignore:Python runs a statement")
def test_names(function: Any) -> None:
    check_segments(function, (X, PythonsList()))


def test_one_list_in_a_result() -> None:
    from fusejit import fuse_jit

    def f(x: Any) -> Any:
        a = [x * 2]
        return a, {"a": a}, (a, x)

    one, table, (other, _) = fuse_jit(f)(X)
    assert one is table["a"]
    assert one is other


_segments = 3.0


def test_a_name_of_ours_that_the_user_has() -> None:
    """The opened function finds its segments under a name that the program does not mention."""
    kept = PythonsList()

    def program(x: Any, log: Any) -> Any:
        y = x * _segments
        log.append(y.sum())
        _part0 = y + 1
        log.append(_part0[0] * _segments)
        return _part0 * 2

    check_segments(program, (np.arange(4.0), kept))
