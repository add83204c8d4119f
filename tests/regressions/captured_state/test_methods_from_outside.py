"""`push = log.append` added a traced number to the list: a bound C method ran in tracing.

``push(y.sum())`` with a ``push`` that is ``log.append``, from outside or from another segment, was
called while the function was traced: the list got a traced number. One that was returned was that
of the first call's object.
"""

from __future__ import annotations

import queue
from collections import deque
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.programs.segments_check import check_segments

X = np.arange(4.0)


def passed(x: Any, log: Any, push: Any) -> Any:
    y = x * 2
    push(y.sum())
    return y + 1


def under_a_name(x: Any, log: Any) -> Any:
    push = log.append
    for _ in range(3):
        x = x + 1
        push(x.sum())
    push(x)
    put = log.__setitem__
    put(0, x.max())
    return x


def of_dicts_and_sets(x: Any, table: Any, seen: Any) -> Any:
    put, add = table.update, seen.add
    put(a=x.sum())
    add(float(x.sum()))
    return x * 2


@pytest.mark.parametrize("make", [list, deque], ids=lambda m: m.__name__)
def test_a_method_that_is_passed(make: Any) -> None:
    fused = fuse_jit(passed)
    for _ in range(2):
        log = make()
        np.testing.assert_array_equal(fused(X, log, log.append), X * 2 + 1)
        assert [type(item) for item in log] == [np.float64]
        assert list(log) == [12.0]


def test_methods_under_names() -> None:
    check_segments(under_a_name, (X, []))
    check_segments(of_dicts_and_sets, (X, {}, set()))


def test_a_method_is_that_of_each_calls_object() -> None:
    def put(x: Any, q: Any) -> Any:
        put = q.put
        y = x + 1
        put(y.sum())
        return y, q.put

    fused = fuse_jit(put)
    for k in range(3):
        q: Any = queue.SimpleQueue()
        _, method = fused(X + k, q)
        method("end")
        assert [q.get() for _ in range(q.qsize())] == [(X + k + 1).sum(), "end"]
