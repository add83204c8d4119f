"""Named tuples made in a traced function were refused: their class was an unknown constructor."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from fusejit.errors import UnsupportedError
from fusejit_testing.oracle import check, decorate

Pair = collections.namedtuple("Pair", "a b")


class Typed(NamedTuple):
    a: Any
    b: int = 3


@pytest.mark.parametrize(
    "function",
    [
        lambda p: Pair(p.a, 2),
        lambda p: Typed(p.a + 1),
        lambda p: (Typed(b=2, a=p.a * 2), Typed(p.a).b),
        lambda p: p._replace(b=p.a + 1),
        lambda p: Pair._make([p.a + 1, p.b]),
        lambda p: Typed(p.a + p.b)._asdict(),
        lambda p: p,
    ],
)
def test_named_tuples_in_results(function: Callable[[Any], Any]) -> None:
    check(function, (Pair(np.ones(3), 1),), (Pair(np.ones(4), 1),))


def test_a_wrong_call_is_pythons_error() -> None:
    check(lambda p: Pair(p.a), (Pair(np.ones(3), 1),), variants=0)


def test_messages_about_arguments_name_the_function() -> None:
    def function(items: Any) -> Any:
        return items

    with pytest.raises(UnsupportedError, match=r"test_named_tuples\.py:\d+, in .*function"):
        decorate(function, jit=False, fullgraph=True)(i for i in range(3))


@pytest.mark.parametrize(
    "function",
    [
        lambda p: sum(p),
        lambda p: [item + 1 for item in p],
        lambda p: (lambda a, b: a + b)(*p),
        lambda p: p[0] + p[1],
        lambda p: (p, p._replace(b=0)),
    ],
)
def test_named_tuples_in_arguments_are_read_by_each_call(function: Callable[[Any], Any]) -> None:
    calls = [(Pair(np.arange(float(n)), n + 0.5),) for n in (3, 4)]
    check(function, *calls)
    fused = decorate(function, jit=False)
    assert repr([fused(*call) for call in calls]) == repr([function(*call) for call in calls])


class Row(tuple):
    """A tuple that is not a named tuple."""


class Column(collections.UserList):  # type: ignore[type-arg]
    """A list whose iteration runs in the standard library."""


@pytest.mark.parametrize("kind", [Row, Column])
def test_other_containers_are_refused(kind: type) -> None:
    with pytest.raises(UnsupportedError, match="pass its items"):
        decorate(lambda p: sum(p), jit=False, fullgraph=True)(kind([np.ones(3), 1.0]))
