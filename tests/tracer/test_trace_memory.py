"""Indexing, views, stores and what comes out: NumPy's memory semantics."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit.errors import ConcretizationError, UnsupportedError
from fusejit.ir.ops import Alloc, Store
from fusejit.ir.text.printer import print_graph
from fusejit.tracer.capture.entry import trace_function
from fusejit.tracer.program.fallback import Fallback


def grid(*shape: int) -> np.ndarray:
    return np.arange(float(np.prod(shape))).reshape(shape)


# ------------------------------------------------------------------------------------- indexing
@pytest.mark.parametrize(
    "index",
    [
        np.s_[1:],
        np.s_[:-1],
        np.s_[1:-1],
        np.s_[::2],
        np.s_[::-1],
        np.s_[::-2],
        np.s_[4:1:-1],
        np.s_[-2::-3],
        np.s_[10:],
        np.s_[:100],
        np.s_[-100:3],
        np.s_[5:2],
        np.s_[100::-1],
        np.s_[:-100:-1],
        np.s_[2],
        np.s_[-1],
        np.s_[1, 2],
        np.s_[-1, -2],
        np.s_[..., 0],
        np.s_[0, ...],
        np.s_[None],
        np.s_[:, None, 1:],
        np.s_[1, None],
        np.s_[()],
        np.s_[...],
        np.s_[1:4, ::-1],
        np.s_[::3, -1],
    ],
    ids=str,
)
def test_basic_indices(check: Any, index: Any) -> None:
    fn = lambda x: (x[index] * 2, x[index])  # noqa: E731
    for order in "CF":
        x = np.array(grid(6, 5), order=order)
        check(fn, x)
        check(lambda x: (x + 1)[index], x)


@given(
    size=st.integers(0, 7),
    other=st.integers(0, 9),
    start=st.none() | st.integers(-9, 9),
    stop=st.none() | st.integers(-9, 9),
    step=st.none() | st.integers(-3, 3).filter(bool),
)
@settings(max_examples=300, deadline=None)
def test_a_slice_is_right_at_every_size_its_guards_admit(
    check: Any, size: int, other: int, start: int | None, stop: int | None, step: int | None
) -> None:
    def fn(x: np.ndarray, a: Any, b: Any) -> np.ndarray:
        return x[a:b:step] + 0.0

    traced = trace_function(fn, (grid(size), start, stop), {})
    for n in (size, other):
        for shift in (0, 1, -2):
            a = None if start is None else start + shift
            b = None if stop is None else stop - shift
            call = (grid(n), a, b)
            if check.refuses(traced, fn, *call):
                assert (n, shift) != (size, 0)
            else:
                np.testing.assert_array_equal(check.run(traced, fn, *call), fn(*call))


def test_a_slice_has_few_guards(check: Any) -> None:
    fn = lambda x: x[1:-1] + x[2:] + x[:-2]  # noqa: E731
    traced = check(fn, grid(7), also=[(grid(2),), (grid(3),), (grid(100),)])
    assert len(traced.graph.guards) == 1
    assert check.refuses(traced, fn, grid(1))


def test_indices_out_of_bounds_decline() -> None:
    for bad in (3, -4, (0, 0), (slice(None), 0)):
        with pytest.raises(Fallback, match="IndexError"):
            trace_function(lambda x, i=bad: x[i], (grid(3),), {})
    with pytest.raises(Fallback, match="step"):
        trace_function(lambda x: x[::0], (grid(3),), {})


def test_run_time_indices(check: Any) -> None:
    fn = lambda x, i: (x[i] + 0, x[i:] + 0, x[:-i] * 1)  # noqa: E731
    traced = check(fn, grid(6), 2, also=[(grid(6), 3), (grid(9), 4)])
    assert check.refuses(traced, fn, grid(6), 7)
    assert check.refuses(traced, fn, grid(6), -1)
    check(fn, grid(6), -2)


def test_what_is_not_traced_is_refused_with_the_line() -> None:
    for fn in (
        lambda x: x[True, 0],
        lambda x: np.linalg.eigvals(x[None] * x[:, None]),
        lambda x: np.apply_along_axis(np.sum, 0, x),
    ):
        with pytest.raises(UnsupportedError, match="test_trace_memory"):
            trace_function(fn, (grid(4),), {})


def test_values_of_arrays_are_not_known() -> None:
    for fn in (
        lambda x: operator.contains(x, 1.0),
        lambda x: (x + 1).tobytes(),
    ):
        with pytest.raises((ConcretizationError, UnsupportedError), match="test_trace_memory"):
            trace_function(fn, (grid(4),), {})


# --------------------------------------------------------------------------------------- stores
def test_stores_into_local_arrays(check: Any) -> None:
    def stencil(x: np.ndarray) -> np.ndarray:
        out = np.zeros_like(x)
        out[1:-1] = (x[2:] - x[:-2]) / 2
        out[0] = x[0]
        out[-1] = 7
        return out

    check(stencil, grid(6), also=[(grid(9),)])
    check(stencil, np.asfortranarray(grid(6, 4)))

    def later_mutated(x: np.ndarray) -> Any:
        t = x + 1
        s = t * 2
        t += 1
        v = t[1:]
        v *= 3
        t[0] = s[0]
        return t, s, v

    check(later_mutated, grid(5))

    def empty(x: np.ndarray) -> Any:
        out = np.empty((len(x), 2))
        out[:, 0] = x
        out[:, 1] = x[::-1]
        out.T[0] += 1
        return out

    check(empty, grid(5), also=[(grid(8),)])

    def whole(x: np.ndarray) -> Any:
        out = np.empty(x.shape, dtype=np.float32)
        out[...] = x
        view = out.T
        out *= 2
        return view + 1

    check(whole, grid(3, 4))


def test_a_value_that_is_only_replaced_needs_no_memory() -> None:
    def fn(x: np.ndarray) -> np.ndarray:
        t = np.empty_like(x)
        t[:] = x + 1
        t *= 2
        t[t > 3] = 0
        return t

    ops = trace_function(fn, (grid(5),), {}).graph.block.ops
    assert not any(isinstance(o, Alloc | Store) for o in ops)


def test_stores_into_arguments(check: Any) -> None:
    def f(x: np.ndarray, y: np.ndarray) -> Any:
        x[1:] -= x[:-1]
        x[:] = x[::-1]
        y += 1
        y[..., 0] = 5
        return x

    check(f, grid(6), grid(2, 3), also=[(grid(4), grid(5, 2))])
    check(lambda a: a.__iadd__(a.T), grid(4, 4))

    def swap(x: np.ndarray, y: np.ndarray) -> Any:
        for _ in range(3):
            y[1:-1] = x[:-2] + x[2:]
            x, y = y, x
        return x, y

    check(swap, grid(6), grid(6) * 2)

    def masked(x: np.ndarray, c: float) -> None:
        x[x > 2] = c
        x[x == 0] = 1
        m = x < 4
        x[m] = x[0, 0]

    check(masked, grid(3, 4), 1.5)

    def casts(i: np.ndarray, f: np.ndarray) -> None:
        i[...] = 2.9
        f[:] = i
        i[:1] = f[1:2]
        f[None, :] = np.float64(1e10)

    check(casts, np.arange(4), np.zeros(4, np.float32))


def test_stores_that_numpy_refuses_decline() -> None:
    readonly = grid(3)
    readonly.flags.writeable = False

    def store(x: np.ndarray) -> None:
        x[0] = 1

    with pytest.raises(Fallback, match="read-only"):
        trace_function(store, (readonly,), {})
    with pytest.raises(Fallback):
        trace_function(store, (np.broadcast_to(grid(3), (2, 3)),), {})
    two = grid(2)
    for fn in (
        lambda x: x.__setitem__(slice(None), two),
        lambda x: np.broadcast_to(x, (2, 3)).__setitem__(0, 1),
        lambda x: x.sum().__setitem__((), 1),
        lambda x: x.astype(np.uint8).__setitem__(0, 300),
        lambda x: x.astype(int).__setitem__(0, np.nan),
    ):
        with pytest.raises(Fallback):
            trace_function(fn, (grid(3),), {})


def test_shared_arguments_decline_if_stored_into(check: Any) -> None:
    x = grid(5)

    def f(a: np.ndarray, b: np.ndarray) -> None:
        a[1:] = b[:-1]

    for pair in ((x, x), (x[1:], x[:-1])):
        with pytest.raises(Fallback, match="overlap in memory"):
            trace_function(f, pair, {})
    check(lambda a, b: a * b, x, x)


def test_printed_stores() -> None:
    def heat(u: np.ndarray, c: float) -> np.ndarray:
        un = np.zeros_like(u)
        un[1:-1] = u[1:-1] + c * (u[2:] - u[:-2])
        un *= 2
        u[0] = 1
        return un

    text = print_graph(trace_function(heat, (grid(6), 0.1), {}).graph)
    lines = [line.strip() for line in text.splitlines()]
    assert [line for line in lines if line.startswith(("guard", "buffer", "alloc", "store"))] == [
        'guard ge(s0, 2) is true "a slice does not end before it starts"',
        "buffer @u : s0 x f64 = arg:u class 0",
        "alloc @b0 : s0 x f64 class 1",
        "store @b0 v1 = %v0",
        "store @b0 v2 [(d0) -> (d0 + 1)] (s0 - 2) = %v7",
        "store @b0 v3 = %v9",
        "store @u v1 [() -> (0)] () = %v10",
    ]
    assert lines[-2] == "return @b0"


# -------------------------------------------------------------------------------------- results
def test_results_share_memory_as_in_numpy(check: Any) -> None:
    check(lambda x: x, grid(3))
    check(lambda x: (x, x, x[1:], x.T), grid(3, 3))

    def local(x: np.ndarray) -> Any:
        t = x + 1
        return t, t, t[1:], t.T, {"k": [t[0], None, "s", 3, x.shape]}

    check(local, grid(3, 4))
    check(lambda x: (x + 1).T, grid(3, 4))
    check(lambda x: (x[0], x[0], x[..., 0]), grid(4))
    check(lambda x: np.zeros(3), grid(2))
    check(lambda x: np.broadcast_to(x + 1, (3, 2)), grid(2))

    def twins(x: np.ndarray) -> Any:
        t = x + 1
        u = np.empty_like(t)
        u[:] = t
        return t, u, t.copy(), +t

    check(twins, grid(4))


# ---------------------------------------------------------------------------- random programs
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_random_mutation_programs(check: Any, data: Any) -> None:
    draw = data.draw
    steps = [
        (
            draw(st.sampled_from(["view", "store", "inplace", "new", "mask", "swap", "scalar"])),
            draw(st.integers(0, 3)),
            draw(st.integers(0, 3)),
            draw(st.integers(0, 2)),
            draw(st.integers(1, 2)),
            draw(st.sampled_from([1, -1, 2])),
        )
        for _ in range(draw(st.integers(1, 7)))
    ]

    def program(x: Any, y: Any) -> Any:
        pool = [x, y, x + 1, y[::-1]]
        for kind, i, j, offset, trim, step in steps:
            a, b = pool[i % len(pool)], pool[j % len(pool)]
            size = min(a.shape[0], b.shape[0])
            a1, b1 = a[:size][offset:][::step], b[:size][: size - offset][::step]
            if kind == "view":
                pool[j] = a[::step]
            elif kind == "store":
                a1[:] = b1 * 2
            elif kind == "inplace":
                a1 += b1
            elif kind == "new":
                pool[i] = b1 - a1 + trim
            elif kind == "mask":
                a[a > 5] = trim
            elif kind == "swap":
                pool[i % 4], pool[j % 4] = pool[j % 4], pool[i % 4]
            else:
                a[0] = b[-1]
        return pool

    check(program, grid(6), grid(8) * 3)
