"""Numbers, shapes, guards and the classes of arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.affine_parser import parse_affine_expr
from fusejit.ir.host_affine import host_of
from fusejit.ir.results import HostLeaf, PathLeaf
from fusejit.ir.traced import CheckKind
from fusejit.ir.values import Layout
from fusejit.tracer.builder.shapes import Decisions
from fusejit.tracer.capture.entry import trace_function
from fusejit.tracer.program.fallback import Fallback


def test_sizes_stay_symbolic(check: Any) -> None:
    def f(x: np.ndarray) -> Any:
        n, m = x.shape
        return n * m, (n + 2 * m - 1) // 2, n % 3, n / m, -n, min(n, m), max(n, 2), x.size, len(x)

    traced = check(f, np.ones((4, 6)), also=[(np.ones((5, 9)),), (np.ones((8, 6)),)])
    assert [str(g.expr) for g in traced.graph.guards] == ["eq(s1, 0)"]  # n / m would raise


def test_numbers_meet_arrays(check: Any) -> None:
    def f(x: np.ndarray, k: int, c: float, s: Any) -> Any:
        n = x.shape[0]
        return x * k, x / n, x + c * 2, x * s, (k + 1) * c, x * math.sqrt(c), s * c, x ** (k - 1)

    for x in (np.arange(3.0), np.arange(3, dtype=np.float32), np.arange(3)):
        for s in (np.float32(1.5), np.float64(0.1)):
            check(f, x, 3, 0.3, s)
    check(lambda x, k: x * k, np.arange(3, dtype=np.float32), 2**60 + 1)
    check(lambda x, b: x + b, np.arange(3), True)


def test_decisions_become_guards(check: Any) -> None:
    def f(x: np.ndarray, k: int, c: float) -> Any:
        if x.shape[0] > 3 and k != 2:
            return x + 1
        if c > 0.5:
            return x * c
        return -x

    x = np.ones(5)
    traced = check(f, x, 1, 0.0, also=[(np.ones(9), 7, 1.0)])
    assert check.refuses(traced, f, x, 2, 0.0)
    assert check.refuses(traced, f, np.ones(3), 1, 0.0)
    traced = check(f, x, 2, 0.75, also=[(x, 2, 0.9)])
    assert check.refuses(traced, f, x, 2, 0.25)
    check(f, x, 2, 0.25)


EXPRESSIONS = [
    "n * m",
    "n + k",
    "n // 2",
    "k % 3",
    "-k",
    "abs(k - n)",
    "min(n, k)",
    "max(m, k - 3)",
    "n * k // 2",
    "k ** 2",
    "n // (k * k + 1)",
    "k << 1",
    "k & 5",
    "int(c)",
    "int(n / 2)",
    "round(c)",
    "n > m",
    "k == n",
    "-(-n // 2)",
    "divmod(n, k * k + 2)",
    "c ** 2 + math.exp(c)",
    "1 if n * m > 10 else 2",
    "1 if k % 2 and not c > 0.5 else 2",
    "[1, 2][n - m == k]",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_host_arithmetic_at_other_values(check: Any, text: str) -> None:
    fn = eval(f"lambda x, k, c, n=3, m=2: (lambda n, m: {text})(*x.shape)", {"math": math})
    calls = [
        (np.ones((n, m)), k, c)
        for n, m, k, c in [(3, 2, 1, 0.5), (6, 5, -3, 2.5), (4, 4, 4, 0.1), (2, 3, 0, -1.5)]
    ]
    for first in calls:
        traced = check(fn, *first)
        for other in calls:
            if not check.refuses(traced, fn, *other):
                assert check.run(traced, fn, *other) == fn(*other)


def test_exact_ints_guard_their_value(check: Any) -> None:
    def f(x: np.ndarray, k: int) -> Any:
        for i in range(k):
            x = x + i
        return x, [0.0] * k

    traced = check(f, np.ones(3), 3, also=[(np.ones(8), 3)])
    assert check.refuses(traced, f, np.ones(3), 4)


def test_extents_that_must_be_equal(check: Any) -> None:
    f = lambda x, y, z: x + y[1:] * z[:, None]  # noqa: E731
    traced = check(
        f,
        np.ones((3, 4)),
        np.ones((4, 4)),
        np.ones(3),
        also=[(np.ones((7, 2)), np.ones((8, 2)), np.ones(7))],
    )
    assert check.refuses(traced, f, np.ones((3, 4)), np.ones((5, 4)), np.ones(3))
    assert check.refuses(traced, f, np.ones((3, 4)), np.ones((4, 4)), np.ones(4))
    for a, b in (((3,), (4,)), ((2, 3), (3, 2)), ((0,), (2,))):
        with pytest.raises(Fallback, match="broadcast"):
            trace_function(lambda x, y: x + y, (np.ones(a), np.ones(b)), {})


def test_axes_of_length_one_are_specialised(check: Any) -> None:
    f = lambda x, y: x + y  # noqa: E731
    one = np.ones((1, 3))
    traced = check(f, one, np.ones((4, 3)), also=[(np.ones((1, 5)), np.ones((2, 5)))])
    assert check.refuses(traced, f, np.ones((4, 3)), np.ones((4, 3)))
    check(f, one, one.T)
    g = lambda x: x[1:-1] * x  # noqa: E731
    check(g, np.arange(3.0), also=[])
    with pytest.raises(Fallback):
        trace_function(g, (np.arange(4.0),), {})


def test_empty_arrays(check: Any) -> None:
    f = lambda x: (x + 1, x[1:], x[::-1], x.T * 2, np.zeros_like(x), x[:, None] * x)  # noqa: E731
    for shape in ((0, 3), (3, 0), (0, 0)):
        check(f, np.ones(shape))


def test_errors_of_host_arithmetic_decline() -> None:
    for fn in (lambda k: 1 / k, lambda k: 1 // k, lambda k: 5 % k, lambda k: math.log(k)):
        with pytest.raises(Fallback):
            trace_function(fn, (0,), {})


# ------------------------------------------------------------------------------------ arguments
def test_arguments_that_are_declined() -> None:
    class Subclass(np.ndarray):
        pass

    unaligned = np.frombuffer(bytes(33), np.uint8)[1:].view(np.float64)
    for bad in (
        np.ones(3).view(Subclass),
        np.ma.masked_array([1.0]),
        np.ones(3, np.clongdouble),
        np.ones(3, np.float16),
        np.array([None]),
        np.array(["a"]),
        np.zeros(2, [("a", int)]),
        np.zeros(2, "M8[s]"),
        np.ones(3, ">f8"),
        unaligned,
        np.clongdouble(1),
        2**70,
    ):
        with pytest.raises(Fallback):
            trace_function(lambda x: x, (bad,), {})
    with pytest.raises(Fallback, match="call itself"):
        trace_function(lambda x: x, (), {})


def test_classes_of_arrays() -> None:
    x = np.zeros((4, 6, 8))
    cases = {
        "c": (x, (0, 1, 2), Layout.CONTIGUOUS),
        "f": (x.T, (2, 1, 0), Layout.CONTIGUOUS),
        "permuted": (x.transpose(1, 0, 2), (1, 0, 2), Layout.CONTIGUOUS),
        "unit": (x[:, 1:3], (0, 1, 2), Layout.UNIT),
        "strided": (x[..., ::2], (0, 1, 2), Layout.STRIDED),
        "negative": (x[..., ::-1], (0, 1, 2), Layout.STRIDED),
        "ones": (x[:, :1, :].transpose(1, 2, 0), (0, 2, 1), Layout.UNIT),
        "both": (np.zeros((1, 5)).T, (0, 1), Layout.CONTIGUOUS),
    }
    for array, order, layout in cases.values():
        traced = trace_function(lambda a: a + 1, (array,), {})
        (expected,) = [c.expected for c in traced.checks if c.kind is CheckKind.ARRAY]
        assert (expected.order, expected.layout, expected.writeable) == (order, layout, False)


def test_structured_arguments_and_results(check: Any) -> None:
    def f(p: dict[str, Any], q: Any, flag: bool, name: str, none: None = None) -> Any:
        w = p["w"] * p["lr"] if flag else p["w"]
        return {"w": w, "n": name, "q": [a + 1 for a in q]}, p["w"], none, p

    check(f, {"w": np.ones(3), "lr": 0.1}, (np.zeros(2), np.arange(2)), True, "x")
    traced = trace_function(lambda x, n: (x, n + 1), (np.ones(2), 3), {})
    assert isinstance(traced.structure.items[0], PathLeaf)  # type: ignore[union-attr]
    assert isinstance(traced.structure.items[1], HostLeaf)  # type: ignore[union-attr]

    def appends(items: list[Any]) -> None:
        items.append(1)

    with pytest.raises(UnsupportedError, match="items"):
        trace_function(appends, ([np.ones(2)],), {})
    check(lambda x: {len(x): x + 1, (x.ndim, x.shape[0]): (np.exp, ...)}, np.ones(3))
    check(lambda x: (x.sum().T, x.sum()[...]), np.ones(3))
    for fn in (lambda x: frozenset([1, 2]), lambda x: iter([x]), lambda x: slice(x.shape[0])):
        with pytest.raises(UnsupportedError, match="returns an object"):
            trace_function(fn, (np.ones(2),), {})


def test_tracing_twice_gives_the_same_graph() -> None:
    from fusejit.ir.text.printer import print_graph

    def f(x: np.ndarray, k: int) -> np.ndarray:
        x[k:] += np.sin(x[: x.shape[0] - k]) * k
        return x.sum()

    texts = {print_graph(trace_function(f, (np.ones(7), 2), {}).graph) for _ in range(2)}
    assert len(texts) == 1


# ------------------------------------------------------------------------------------ decisions
def test_what_follows_is_not_asked_again() -> None:
    d = Decisions()
    n = d.add_symbol("n", 9, 0, 1 << 47)
    m = d.add_symbol("m", 9, 0, 1 << 47)
    assert d.nonnegative(n)
    assert not d.nonnegative(-n - 1)
    assert d.guards == []
    assert d.nonnegative(n - 2)
    assert d.nonnegative(n - 1)
    assert not d.nonnegative(1 - n)
    assert not d.equal(n, 1)
    assert len(d.guards) == 1
    assert d.equal(n, m)
    assert d.equal(m - 1, n - 1)
    assert d.nonnegative(m - 2)
    assert len(d.guards) == 2
    assert d.nonnegative(n - ((n + 1).floordiv(2)))  # n >= ceil(n / 2)
    assert d.nonnegative((n - 2).floordiv(2))
    assert len(d.guards) == 2
    assert not d.equal(n - m + 4, 0)
    assert [str(g.expr) for g in d.guards] == ["ge(n, 2)", "eq(m, n)"] or len(d.guards) == 2


@pytest.mark.parametrize("text", ["2 * a - b + 3", "(a + 1) floordiv 2 - 4 * b", "-a mod 3", "7"])
def test_host_form_of_affine_expressions(text: str) -> None:
    expr = parse_affine_expr(text)
    names = {"a": 11, "b": 5}
    assert host_of(expr).evaluate(lambda path: None, names) == expr.evaluate((), names)


def test_affine_constants() -> None:
    assert Decisions().constant(AffineExpr.const(3)) == 3
