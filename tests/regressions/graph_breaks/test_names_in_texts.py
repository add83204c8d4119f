"""`ne.evaluate("c + b")` raised KeyError after a segment: names in its text were not kept.

What a segment had bound and nothing but such a text read was not handed back, so that numexpr
raised a KeyError. Found by the examples in NumPy's docstrings (``np.bmat``).
"""

# ruff: noqa: F841 (texts read these names)
from __future__ import annotations

from typing import Any

import numexpr as ne
import numpy as np
import pytest

from fusejit.support.syntax import parse
from fusejit.tracer.source.live_names import named_in_texts
from fusejit_testing.oracle import check

pytestmark = pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")


def written(a: Any, b: Any) -> Any:
    c = a * 2
    return ne.evaluate("c + b")


def bound_to_a_name(a: Any, b: Any) -> Any:
    c = a * 2
    text = "c + b"
    total = c.sum()
    return ne.evaluate(text) + total


def in_a_loop(a: Any, b: Any) -> Any:
    c = a * 2
    for k in range(3):
        c = c + k
        b = ne.evaluate("c + b * k")
    return b


def given(text: str, a: Any, b: Any) -> Any:
    c = a * 2
    return ne.evaluate(text) + 1


def of_matrices(a: Any, b: Any) -> Any:
    A, B = np.asmatrix(a), np.asmatrix(b)
    return np.asarray(np.bmat("A, B; B, A"))


def of_arrays(a: Any, b: Any) -> Any:
    A = np.add.outer(a, b)
    return np.asarray(np.bmat("A, A; A, A"))


def bound_in_a_loop(a: Any, b: Any) -> Any:
    total = 0.0
    for k in range(3):
        c = a * k
        total = total + ne.evaluate("c + b")
    return total


def perhaps_unbound(a: Any, b: Any) -> Any:
    found = []
    for man in a[a > 5]:
        found.append(man)
    kind = np.dtype({"names": ["man", "b"], "formats": [np.int64, np.int64]})
    return a + b, kind.names


A, B = np.arange(3.0), np.ones(3)
CASES = (
    *(written, bound_to_a_name, in_a_loop, of_matrices, of_arrays, bound_in_a_loop),
    perhaps_unbound,
)


@pytest.mark.parametrize("function", CASES)
def test_names_in_texts_are_read(function: Any) -> None:
    check(function, (A, B), (A + 1, B * 2), variants=None)


def test_names_in_texts_that_are_given() -> None:
    check(given, ("c + b", A, B), ("c * a", A, B), variants=None)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("r = ne.evaluate('a + b')", {"a", "b"}),
        ("r = np.bmat('a, b')", {"a", "b"}),
        ("r = table.query('x > @c')", {"c"}),
        ("t = 'a + b'", {"a", "b"}),
        ("f(-x, rule='where(a > 0, b, 0)')", {"a", "b"}),
        ("print('a is', a, 'b')", set()),
        ("x['a'] = f(mode='b')", set()),
        ("t = f'a {b}'", set()),
        ("r = ne.evaluate(t)", {"a", "b", "c"}),
        ("r = ne.evaluate(f'a {op} 2')", {"a", "b", "c"}),
        ("r = tree.query(points)", set()),
        ("r = table.query('x > ' + limit)", {"a", "b", "c"}),
        ("r = np.bmat([[1, 2]])", set()),
    ],
)
def test_which_texts_name_variables(text: str, names: set[str]) -> None:
    assert named_in_texts(parse(text).body, {"a", "b", "c"}) == names
