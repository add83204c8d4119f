"""Names had other values after a failure in a `try`: each statement was its own segment.

Each statement in such a block was a segment, and loops in it were Python's: now whole runs are
compiled, and where one raises, NumPy runs it and the names that it has bound are read from its
frame. What a ``with`` binds may be unbound after it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.compare import Bound, PythonsList
from fusejit_testing.programs.segments_check import check_segments

X = np.arange(12.0) / 4 - 1
CLOSE = Bound(ulps=32, absolute=1e-12)


def boom(x: Any) -> Any:
    raise ValueError("boom")


@contextlib.contextmanager
def noted(log: Any) -> Iterator[int]:
    log.append("in")
    yield 3
    log.append("out")


class Ends:
    """A context that ends all exceptions."""

    def __init__(self, log: Any) -> None:
        self.log = log

    def __enter__(self) -> Ends:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        self.log.append(kind and kind.__name__)
        return True


def try_loop_name(x: Any, log: Any) -> Any:
    i = -1
    try:
        for i in range(20):
            x[i] = x[i] * 2 + 1
        log.append("never")
    except IndexError as e:
        log.append((i, str(e)))
    return x, i


def try_loop_totals(x: Any, log: Any) -> Any:
    s = 0.0
    n = 0
    try:
        log.append("start")
        for i in range(20):
            s += x[i] * 2
            n += 1
            last = s
    except IndexError as e:
        log.append((i, s, n, last, str(e)))
    return s, n


def with_quietly_loop(x: Any, log: Any) -> Any:
    s = 0.0
    with Ends(log):
        log.append("start")
        for i in range(20):
            s += x[i] * 2
            x[i] = s
            t = i
    return s, i, t, x


def bound_in_a_loop_before_an_end(x: Any, log: Any) -> Any:
    """The value was None: a loop that may bind nothing was given a name without a value."""
    rows = x[None]
    log.append(1)
    w = None
    with Ends(log):
        for i in range(rows.shape[0]):
            w = rows[i] + 1
        raise IndexError(str(np.size(x)))
    return w, rows


def walrus_fails(x: Any, log: Any) -> Any:
    a = 0
    try:
        log.append(1)
        z = (a := x * 2).sum() + x[100]  # noqa: F841
    except IndexError:
        log.append(a)
    return a


def two_targets(x: Any, log: Any) -> Any:
    y = [1]
    try:
        log.append(1)
        a = y[5] = x * 2
    except IndexError:
        log.append(a)
    return a


def unpack_fails(x: Any, log: Any) -> Any:
    a = b = 0
    try:
        log.append(1)
        a, (b, c) = x[0] + 1, x[:3]  # noqa: F841
    except ValueError:
        log.append((a, b))
    return a, b


def return_in_with(x: Any, log: Any) -> Any:
    with Ends(log):
        log.append(1)
        y = x * 2
        return np.exp(y).sum() + y


def return_in_with_fails(x: Any, log: Any) -> Any:
    y = z = 0
    with Ends(log):
        log.append(1)
        y = x * 2
        z = y + 1
        return z[30] + y
    return y, z


def return_in_try_finally(x: Any, log: Any) -> Any:
    y = 0
    try:
        log.append(1)
        y = x * 2
        y = y + 1
        return y.reshape(7, 7)
    except ValueError:
        return y * 10
    finally:
        log.append(y)


def reraise(x: Any, log: Any) -> Any:
    y = x
    try:
        try:
            for k in range(5):
                y = y + 1
                if k == 3:
                    log.append(k)
                    y = y.reshape(k, 100)
        except ValueError as e:
            log.append(("inner", k, y))
            raise KeyError("other") from e
    except KeyError as e:
        log.append(("outer", k, type(e.__cause__).__name__))
        y = y * 2
    return y, k


def raise_in_loop(x: Any, log: Any) -> Any:
    k = 0
    t = 0.0
    try:
        log.append(1)
        for k in range(12):
            t += x[k]
            if x[k] > 1:
                raise ValueError("large")
    except ValueError as e:
        log.append((k, t, str(e)))
    return x, k, t


def while_in_try(x: Any, log: Any) -> Any:
    n = 0
    try:
        log.append("w")
        while True:
            x[n] = x[n] / 2 + n
            n += 1
    except IndexError:
        log.append(n)
    return x, n


def with_after_del(x: Any, log: Any) -> Any:
    with Ends(log):
        log.append(1)
        y = x * 2
        del y
        y = x[50]
    try:
        return y
    except UnboundLocalError as e:
        log.append(str(e))
    return x


def unbound_in_handler(x: Any, log: Any) -> Any:
    try:
        log.append(1)
        q = x.reshape(5, 5)
        w = q * 2
    except ValueError:
        log.append(2)
    return w


def in_loop_continue(x: Any, log: Any) -> Any:
    found = []
    for i in range(5):
        try:
            y = x * i
            z = y[i * 4]
            x = x + z
            found.append(z)
        except IndexError:
            log.append((i, y))
            continue
        finally:
            x = x * 0.5
        log.append(z)
    return x, found, y, z


def printed_in_try(x: Any, log: Any) -> Any:
    y = z = None
    try:
        y = x + 1
        log.append(0)
        z = y * 2
        print(end="")
        y = y.reshape(5, 5)
    except ValueError:
        log.append((y, z))
    return y, z


def unbound_behind(x: Any, log: Any) -> Any:
    with Ends(log):
        x = x.reshape(5, 5)
        y = x * 2
    log.append("after")
    z = x + 1
    if log[0] is None:
        z = y
    return z


def loop_with_contexts(x: Any, log: Any) -> Any:
    out = []
    for i in range(6):
        with Ends(log):
            if i == 1:
                continue
            y = x * i
            if i == 3:
                x[99] = 0
            if i == 5:
                break
        log.append(y[1])
        out.append(y + i)
    return out, y


def caught_outside(x: Any, log: Any) -> Any:
    y = x
    for i in range(5):
        try:
            with noted(log) as k:
                y = y + i * k
                if i == 2:
                    y = y.reshape(5, 5)
                w = y * 2
        except ValueError:
            log.append("bad")
        else:
            log.append(w.sum())
        log.append(y[0])
    return y, w


def bound_again_later(x: Any, log: Any) -> Any:
    if x[0] > 0:
        y = x
    log.append(1)
    y = x + 1
    return y


def raised_again_with_names(x: Any, log: Any) -> Any:
    b = x
    try:
        try:
            log.append(1)
            x.reshape(5, 5)
        except ValueError:
            b = b * 2
            raise
    except ValueError:
        log.append(b)
    return b


PROGRAMS = [
    try_loop_name,
    try_loop_totals,
    with_quietly_loop,
    bound_in_a_loop_before_an_end,
    walrus_fails,
    two_targets,
    unpack_fails,
    return_in_with,
    return_in_with_fails,
    return_in_try_finally,
    reraise,
    raise_in_loop,
    while_in_try,
    with_after_del,
    unbound_in_handler,
    in_loop_continue,
    printed_in_try,
    unbound_behind,
    loop_with_contexts,
    caught_outside,
    bound_again_later,
    raised_again_with_names,
]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_names(function: Any) -> None:
    check_segments(function, (X, PythonsList()), bound=CLOSE)


def test_a_loop_in_a_block_is_one_segment() -> None:
    """It was Python's, with each of its statements a segment."""

    def in_with(x: Any, log: Any) -> Any:
        with noted(log):
            s = 0.0
            for i in range(len(x)):
                for j in range(i):
                    s += x[i] * x[j]
        return s

    def in_try(x: Any, log: Any) -> Any:
        s = 0.0
        try:
            for i in range(len(x)):
                for j in range(i):
                    s += x[i] * x[j]
            log.append(s)
        except ValueError:
            s = -1.0
        return s

    for function in (in_with, in_try):
        fused = check_segments(function, (X, PythonsList()), bound=CLOSE)
        parts = [
            s for s in fused.variants.newest_segmented.segments if s.lines[1] - s.lines[0] >= 2
        ]
        assert len(parts) == 1
        assert len(parts[0].state.variants) == 1
        assert not parts[0].state.variants.fallbacks


def test_stores_are_undone_in_front_of_an_error() -> None:
    """The kernel finds the index after stores: NumPy runs the loop again, and tells the names."""

    def program(x: Any, places: Any, log: Any) -> Any:
        i = -1
        try:
            for i in range(len(places)):
                x[places[i]] += 1
            log.append("all")
        except IndexError as error:
            log.append((i, str(error)))
        return x

    fused = check_segments(
        program,
        (X, np.array([1, 2, 1]), PythonsList()),
        (X, np.array([1, 1, 40, 2]), PythonsList()),
    )
    (loop,) = (s for s in fused.variants.newest_segmented.segments if s.lines[0] != s.lines[1])
    assert len(loop.state.variants) == 1
    for call in range(2):
        x, log = X.copy(), PythonsList()  # type: ignore[var-annotated]
        fused(x, np.array([3, 40]), log)
        assert log == [(1, "index 40 is out of bounds for axis 0 with size 12")], call
        assert x[3] == X[3] + 1


def test_text_of_boundaries() -> None:
    def program(x: Any, log: Any) -> Any:
        with noted(log):
            y = np.exp(x)
            z = y * 2 + 1
        return z - y

    fused = fuse_jit(program)
    fused(X, PythonsList())
    text = fused.explain(X, PythonsList(), detail=True)
    first = program.__code__.co_firstlineno
    assert f"segment, lines {first + 2} to {first + 3}:" in text
    assert f"Python: test_segments_errors.py:{first + 1}  with noted(log):" in text
