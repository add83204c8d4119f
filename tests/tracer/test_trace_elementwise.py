"""Elementwise operations: values, dtypes, kinds, axis order."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest

from fusejit.errors import NeedsPython, UnsupportedError
from fusejit.ir.ops import GenericOp
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS, UFUNC_ROWS
from fusejit.ir.text.printer import print_graph
from fusejit.ir.types import DTYPES
from fusejit.tracer.capture.entry import trace_function
from fusejit.tracer.program.fallback import Fallback

SEVERAL = ["i1", "u8", "i32", "i64", "f32", "f64"]
VALUES = [0, 1, 2, 3, 5, 7]


def sample(name: str) -> np.ndarray:
    return np.array(VALUES).astype(DTYPES[name])


@pytest.mark.parametrize("op", [row.name for row in UFUNC_ROWS.values()])
def test_each_row_is_reached(op: str) -> None:
    row = SCALAR_OPS[op]
    assert row.ufunc is not None
    reached = set()
    for name in DTYPES:
        args = tuple(sample(name) for _ in range(row.arity))
        try:
            traced = trace_function(lambda *a, f=row.ufunc: f(*a), args, {})
        except (Fallback, UnsupportedError):
            continue
        reached |= {
            i.op
            for o in traced.graph.block.ops
            if isinstance(o, GenericOp)
            for i in o.payload.instrs
        }
    assert op in reached


@pytest.mark.parametrize("ufunc", UFUNC_ROWS, ids=lambda u: u.__name__)
@pytest.mark.parametrize("left", SEVERAL)
def test_ufuncs_have_the_dtypes_and_values_of_numpy(check: Any, ufunc: np.ufunc, left: str) -> None:
    for right in SEVERAL if ufunc.nin == 2 else [left]:
        args = (sample(left), sample(right)[::-1].copy())[: ufunc.nin]
        try:
            with np.errstate(all="ignore"):
                expected = ufunc(*args)
        except (TypeError, ValueError):
            with pytest.raises(Fallback):
                trace_function(lambda *a: ufunc(*a), args, {})
            continue
        small = ufunc is np.signbit and args[0].itemsize == 1
        if expected.dtype == np.float16:
            with pytest.raises(NeedsPython, match="float16"):
                trace_function(lambda *a: ufunc(*a), args, {})
            continue
        if small:  # NumPy computes it in float16, and is called
            graph = trace_function(lambda *a: ufunc(*a), args, {}).graph
            assert "host" in print_graph(graph)
            continue
        check(lambda *a: ufunc(*a), *args)


OPERATORS = ["add", "sub", "mul", "truediv", "pow", "lt", "le", "gt", "ge", "eq", "ne"]
SCALARS = [2, -1, 0, 0.5, 2.0, True, np.float32(2), np.float64(0.5), np.int64(2), np.uint8(1)]


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", SEVERAL)
def test_scalars_follow_nep_50(check: Any, name: str, dtype: str) -> None:
    op = getattr(operator, name)
    x = sample(dtype)
    for scalar, swapped in itertools.product(SCALARS, [False, True]):

        def literal(a: np.ndarray, op: Any = op, s: Any = scalar, w: bool = swapped) -> Any:
            return op(s, a) if w else op(a, s)

        def argument(a: np.ndarray, s: Any, op: Any = op, w: bool = swapped) -> Any:
            return op(s, a) if w else op(a, s)

        for fn, args in ((literal, (x,)), (argument, (x, scalar))):
            try:
                with np.errstate(all="ignore"):
                    expected = fn(*args)
            except (TypeError, ValueError, OverflowError):
                with pytest.raises(Fallback):
                    trace_function(fn, args, {})
                continue
            if expected.dtype == np.float16:
                with pytest.raises(Fallback, match="float16"):
                    trace_function(fn, args, {})
                continue
            try:
                check(fn, *args)
            except UnsupportedError:
                assert expected.dtype.kind in "iu"
                assert name == "pow"


def test_python_ints_outside_the_dtype(check: Any) -> None:
    x = np.array([0, 200, 255], np.uint8)
    with pytest.raises(Fallback, match="OverflowError"):
        trace_function(lambda a: a + 300, (x,), {})
    with pytest.raises(Fallback, match="OverflowError"):
        trace_function(lambda a, k: a + k, (x, 300), {})
    for bound in (300, -1, 255, 0):
        check(lambda a, b=bound: (a < b, a >= b, a == b, a != b, b < a, b == a), x)
        check(lambda a, b: (a < b, a >= b, a == b, a != b, b < a, b == a), x, bound)
    fn = lambda a, k: a + k  # noqa: E731
    traced = check(fn, x, 3, also=[(x, 200), (x, 0)])
    assert check.refuses(traced, fn, x, 300)
    assert check.refuses(traced, fn, x, -1)


def test_run_time_exponents_guard_their_class(check: Any) -> None:
    x = np.array([0.5, 4.0, -2.0])
    fn = lambda a, p: a**p  # noqa: E731
    traced = check(fn, x, 2.0)
    assert not check.refuses(traced, fn, x, 2.0)
    assert check.refuses(traced, fn, x, 3.0)
    traced = check(fn, x, 3.0, also=[(x, 5.0)])
    assert check.refuses(traced, fn, x, 0.5)
    for p in (0.5, 1.0, -1.0, 0.0, -1, 0, 1, 2, 3):
        check(fn, x, p)
    with pytest.raises(Fallback, match="negative integer powers"):
        trace_function(fn, (np.arange(3), -1), {})


def layouts(shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    rank = len(shape)
    found = {}
    for order in itertools.permutations(range(rank)):
        base = np.arange(np.prod(shape) * 2.0).reshape([*(shape[a] for a in order), 2])
        dense = np.ascontiguousarray(base[..., 0])
        inverse = np.argsort(order)
        found[f"dense{order}"] = dense.transpose(inverse)
        found[f"strided{order}"] = base[..., 0].transpose(inverse)
        found[f"negative{order}"] = dense[::-1].transpose(inverse)
    return found


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4)])
def test_results_have_the_strides_of_numpy(check: Any, shape: tuple[int, ...]) -> None:
    found = layouts(shape)
    row = np.arange(float(shape[-1]))
    for x in found.values():
        check(
            lambda a, r: (
                a + 1,
                a * r,
                np.where(a > r, a, 0.0),
                -a.T,
                a.T + a.T,
                a[::-1] + 1,
                a[:, None] * 2,
            ),
            x,
            row,
        )
        check(lambda a: (a.astype(np.float32), a.copy(), np.copy(a), np.zeros_like(a), +a), x)
        check(lambda a: (a[..., ::3] + 1, a[::2] + a[::2], a[..., ::-2].astype("f4")), x)
    for x, y in itertools.islice(itertools.product(found.values(), repeat=2), 0, None, 7):
        check(lambda a, b: (a + b, b * a[:1], a[..., :1] + b), x, y)


def test_broadcast_operands_have_no_say_in_the_axis_order(check: Any) -> None:
    b = np.broadcast_to(np.arange(3.0), (4, 3))
    check(lambda a: (a + 1, a.T + 1, a.astype("f4"), a.T.astype("f4"), np.zeros_like(a)), b)
    check(lambda a: np.broadcast_to(a, (4, 3)).T + a[:, None], np.arange(3.0))


def test_zero_dimensional_results_are_scalars(check: Any) -> None:
    x = np.array(2.5)
    check(lambda a: (a + 1, a[()], a[...], a * np.ones(3), -a, a.astype("f4"), a.copy()), x)
    check(lambda a, s: a * s, np.float64(2.0), np.float32(3.0))
    check(lambda a: (a[0] + 1, a[1] * a, np.exp(a[0]), a[0] ** 2), np.arange(3.0) + 1)
    check(lambda a: np.where(a > 1, a, 0), x)


def test_out_and_in_place_operators(check: Any) -> None:
    def into(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Any:
        np.add(a, b, out=c)
        c *= 2
        np.multiply(c, c, c)
        return np.subtract(c, 1, out=a)

    check(into, np.ones((2, 3)), np.arange(3.0), np.zeros((2, 3)))

    def in_place(x: np.ndarray, f: np.ndarray) -> np.ndarray:
        x += 1
        x -= 2
        f += x
        x *= x
        return f

    check(in_place, np.arange(4), np.arange(4, dtype=np.float32))
    for bad in (1.5, np.float64(1), np.ones(3)):

        def mixed(x: np.ndarray, b: Any = bad) -> None:
            x += b

        with pytest.raises(Fallback, match="cast"):
            trace_function(mixed, (np.arange(3),), {})
    with pytest.raises(Fallback):
        trace_function(lambda x, y: np.add(x, y, out=x), (np.ones(3), np.ones((2, 3))), {})


def test_printed_graph_is_stable() -> None:
    def f(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(x > y, x**2, 0.5)

    text = print_graph(trace_function(f, (np.ones((2, 3)), np.ones(3)), {}).graph)
    assert text.splitlines()[0] == "graph @f"
    assert [line.split(" : ")[-1] for line in text.splitlines() if "generic" in line] == [
        "s0 x s1 x i1",
        "s0 x s1 x f64",
        "s0 x s1 x f64",
    ]
