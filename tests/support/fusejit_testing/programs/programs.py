"""Programs in IR text, each beside the NumPy function it means.

Together they use every kind of op: tests of the interpreter, of passes and of code generation run
them. A reference returns the list of results and writes into its arguments as the program does;
results are compared bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Program:
    """IR text, its meaning in NumPy, and arguments for it.

    ``arguments(rng, n)`` makes arguments of a size that grows with ``n >= 1``.
    """

    name: str
    text: str
    reference: Callable[..., list[Any]]
    arguments: Callable[[np.random.Generator, int], Arguments]


# ------------------------------------------------------------------------------------ control flow
TRIANGLE = """\
graph @triangle
  symbol s0 = size(arg:x, 0)
  guard eq(size(arg:x, 1), s0) is true "x is square"
  buffer @x : s0 x s0 x f64 = arg:x class 0 readonly
  scalar %scale : f64 python = arg:scale
{
  %zero = constant 0.0 : f64 scalar
  %zeros = generic "zeros" domain (s0) ins () outs (write) { t0 = const 0.0 : f64; yield t0 } : s0 x f64
  %sums, %total = for i0 = 0 to s0 step 1 carry (%s = %zeros : s0 x f64, %t = %zero : f64 scalar) {
    %row = load @x v0 [(d0) -> (i0, d0)] : i0 x f64
    %0 = generic "sum" domain (i0) iterators (reduction) ins (%row) outs (add [(d0) -> ()]) { yield in0 } : f64 scalar
    %1 = generic "place" domain (s0) ins (%s, %0 [(d0) -> ()], %scale [(d0) -> ()]) outs (write) { t0 = index (d0 - i0) : i64; t1 = const 0 : i64; t2 = equal t0, t1 : i1; t3 = multiply in1, in2 : f64; t4 = select t2, t3, in0 : f64; yield t4 } : s0 x f64
    %2 = generic "add" domain () ins (%t, %0) outs (write) { t0 = add in0, in1 : f64; yield t0 } : f64 scalar
    yield %1, %2
  } : s0 x f64, f64 scalar
  return %sums, %total
}
"""  # noqa: E501


def _triangle(x: np.ndarray, scale: float) -> list[Any]:
    n = len(x)
    sums, total = np.zeros(n), np.float64(0.0)
    for i in range(n):
        row_sum = np.sum(x[i, :i])
        sums[i] = row_sum * scale
        total = total + row_sum
    return [sums, total]


CONDITIONAL = """\
graph @conditional
  symbol s0 = size(arg:x, 0)
  buffer @x : s0 x f64 = arg:x class 0
  scalar %limit : f64 python = arg:limit
{
  %x = load @x v0 : s0 x f64
  %0 = generic "max" domain (s0) iterators (reduction) ins (%x) outs (max [(d0) -> ()]) { yield in0 } : f64 scalar
  %1 = generic "greater" domain () ins (%0, %limit) outs (write) { t0 = greater in0, in1 : i1; yield t0 } : i1 scalar
  %y = if %1 {
    %2 = generic "divide" domain (s0) ins (%x, %0 [(d0) -> ()]) outs (write) { t0 = divide in0, in1 : f64; yield t0 } : s0 x f64
    yield %2
  } else {
    store @x v3 [() -> (0)] () = %limit
    %3 = load @x v3 : s0 x f64
    %4 = generic "negative" domain (s0) ins (%3) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64
    yield %4
  } : s0 x f64
  %5 = load @x v4 [() -> (0)] : f64 scalar
  return %y, %5
}
"""  # noqa: E501


def _conditional(x: np.ndarray, limit: float) -> list[Any]:
    if x.max() > limit:
        y = x / x.max()
    else:
        x[0] = limit
        y = -x
    return [y, x[0]]


DOUBLING = """\
graph @doubling
  symbol s0 = size(arg:x, 0)
  buffer @x : s0 x f64 = arg:x class 0 readonly
  scalar %limit : f64 python = arg:limit
{
  %x = load @x v0 : s0 x f64
  %zero = constant 0 : i64 scalar
  %y, %count = while carry (%a = %x : s0 x f64, %n = %zero : i64 scalar) {
    %0 = generic "sum" domain (s0) iterators (reduction) ins (%a) outs (add [(d0) -> ()]) { t0 = absolute in0 : f64; yield t0 } : f64 scalar
    %1 = generic "less" domain () ins (%0, %limit, %n) outs (write) { t0 = less in0, in1 : i1; t1 = const 20 : i64; t2 = less in2, t1 : i1; t3 = logical_and t0, t2 : i1; yield t3 } : i1 scalar
    yield %1
  } do {
    %2 = generic "add" domain (s0) ins (%a) outs (write) { t0 = add in0, in0 : f64; yield t0 } : s0 x f64
    %3 = generic "add" domain () ins (%n) outs (write) { t0 = const 1 : i64; t1 = add in0, t0 : i64; yield t1 } : i64 scalar
    yield %2, %3
  } : s0 x f64, i64 scalar
  return %y, %count
}
"""  # noqa: E501


def _doubling(x: np.ndarray, limit: float) -> list[Any]:
    y, count = x.copy(), np.int64(0)
    while np.sum(np.abs(y)) < limit and count < 20:
        y = y + y
        count = count + np.int64(1)
    return [y, count]


# ------------------------------------------------------------------------------------------ stores
MASKED_STORE = """\
graph @masked_store
  symbol s0 = size(arg:x, 0)
  buffer @x : s0 x f64 = arg:x class 0
{
  %x = load @x v0 : s0 x f64
  %0 = generic "less" domain (s0) ins (%x) outs (write) { t0 = const 0.0 : f64; t1 = less in0, t0 : i1; yield t1 } : s0 x i1
  %1 = generic "square" domain (s0) ins (%x [(d0) -> (-d0 + s0 - 1)]) outs (write) { t0 = square in0 : f64; yield t0 } : s0 x f64
  store @x v1 = %1 mask %0
  %2 = load @x v1 : s0 x f64
  return %0, %2
}
"""  # noqa: E501


def _masked_store(x: np.ndarray) -> list[Any]:
    mask = x < 0.0
    x[mask] = np.square(x[::-1])[mask]
    return [mask, x.copy()]


SHIFT = """\
graph @shift
  symbol s0 = size(arg:x, 0)
  guard ge(s0, 1) is true
  buffer @x : s0 x f64 = arg:x class 0
{
  %0 = load @x v0 [(d0) -> (d0)] : (s0 - 1) x f64
  store @x v1 [(d0) -> (d0 + 1)] (s0 - 1) = %0
  return @x, @x [(d0) -> (-d0 + s0 - 1)] (s0)
}
"""


def _shift(x: np.ndarray) -> list[Any]:
    x[1:] = x[:-1]
    return [x, x[::-1]]


HEAT = """\
graph @heat
  symbol s0 = size(arg:u, 0)
  symbol steps = arg:steps
  guard ge(s0, 2) is true
  buffer @u : s0 x f64 = arg:u class 0
{
  alloc @history : steps x f64 class 1
  for i0 = 0 to steps step 1 {
    %left = load @u v1 [(d0) -> (d0)] : (s0 - 2) x f64
    %right = load @u v1 [(d0) -> (d0 + 2)] : (s0 - 2) x f64
    %0 = generic "average" domain (s0 - 2) ins (%left, %right) outs (write) { t0 = add in0, in1 : f64; t1 = const 0.5 : f64; t2 = multiply t0, t1 : f64; yield t2 } : (s0 - 2) x f64
    store @u v2 [(d0) -> (d0 + 1)] (s0 - 2) = %0
    %all = load @u v2 : s0 x f64
    %1 = generic "sum" domain (s0) iterators (reduction) ins (%all) outs (add [(d0) -> ()]) { yield in0 } : f64 scalar
    store @history v2 [() -> (i0)] () = %1
  }
  return @history
}
"""  # noqa: E501


def _heat(u: np.ndarray, steps: int) -> list[Any]:
    history = np.empty(steps)
    for i in range(steps):
        u[1:-1] = (u[:-2] + u[2:]) * 0.5
        history[i] = np.sum(u)
    return [history]


# ----------------------------------------------------------------------------- reductions, gathers
SOFTMAX = """\
graph @softmax
  symbol s0 = size(arg:x, 0)
  symbol s1 = size(arg:x, 1)
  buffer @x : s0 x s1 x f64 = arg:x class 0 readonly
{
  %x = load @x v0 : s0 x s1 x f64
  %0 = generic "max" domain (s0, s1) iterators (parallel, reduction) ins (%x) outs (max [(d0, d1) -> (d0)]) { yield in0 } : s0 x f64
  %1 = view %0 [(d0, d1) -> (d0)] : s0 x 1 x f64
  %2 = generic "exp" domain (s0, s1) ins (%x, %1 [(d0, d1) -> (d0, 0)]) outs (write) { t0 = subtract in0, in1 : f64; t1 = exp t0 : f64; yield t1 } : s0 x s1 x f64
  %3 = generic "sum" domain (s0, s1) iterators (parallel, reduction) ins (%2) outs (add [(d0, d1) -> (d0)]) { yield in0 } : s0 x f64
  %4 = generic "divide" domain (s0, s1) ins (%2, %3 [(d0, d1) -> (d0)]) outs (write) { t0 = divide in0, in1 : f64; yield t0 } : s0 x s1 x f64
  return %4
}
"""  # noqa: E501


def _softmax(x: np.ndarray) -> list[Any]:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return [e / e.sum(axis=1, keepdims=True)]


MATMUL = """\
graph @matmul
  symbol s0 = size(arg:a, 0)
  symbol s1 = size(arg:a, 1)
  symbol s2 = size(arg:b, 1)
  guard eq(size(arg:b, 0), s1) is true "a and b fit"
  buffer @a : s0 x s1 x f32 = arg:a class 0 readonly
  buffer @b : s1 x s2 x f32 = arg:b order(1, 0) layout unit class 1 readonly
{
  %a = load @a v0 : s0 x s1 x f32
  %b = load @b v0 : s1 x s2 x f32 order(1, 0)
  %c = generic "matmul" domain (s0, s2, s1) iterators (parallel, parallel, reduction) ins (%a [(d0, d1, d2) -> (d0, d2)], %b [(d0, d1, d2) -> (d2, d1)]) outs (add [(d0, d1, d2) -> (d0, d1)]) library_call "matmul" { t0 = multiply in0, in1 : f32; yield t0 } : s0 x s2 x f32
  %d = generic "add" domain (s2, s0) ins (%c [(d0, d1) -> (d1, d0)]) outs (write) { t0 = const 1.0 : f32; t1 = add in0, t0 : f32; yield t1 } : s2 x s0 x f32 order(1, 0)
  return %c, %d
}
"""  # noqa: E501


def _matmul(a: np.ndarray, b: np.ndarray) -> list[Any]:
    c = (a[:, None, :] * b.T[None, :, :]).sum(axis=2)
    return [c, (c + np.float32(1.0)).T]


GATHER = """\
graph @gather
  symbol s0 = size(arg:x, 0)
  symbol s1 = size(arg:k, 0)
  guard ge(s0, 1) is true
  buffer @x : s0 x f32 = arg:x layout strided class 0 readonly
  buffer @k : s1 x i32 = arg:k class 1 readonly
{
  %x = load @x v0 : s0 x f32
  %k = load @k v0 : s1 x i32
  %top, %taken = generic "take" domain (s1) iterators (reduction) ins (%x [(d0) -> (0)], %k) outs (max [(d0) -> ()], write) { t0 = extract in0[in1] : f32; yield t0, t0 } : f32 scalar, s1 x f32
  %sorted = host_call "numpy.sort"(%taken) : s1 x f32
  return %top, %taken, %sorted
}
"""  # noqa: E501


def _gather(x: np.ndarray, k: np.ndarray) -> list[Any]:
    taken = x[k]
    return [np.max(taken, initial=np.float32(-np.inf)), taken, np.sort(taken)]


# ------------------------------------------------------------------------------------------- table
def _vector(name: str, **others: Any) -> Callable[[np.random.Generator, int], Arguments]:
    return lambda rng, n: {name: rng.standard_normal(n + 1), **others}


def _matrices(rng: np.random.Generator, n: int) -> Arguments:
    b = np.asfortranarray(rng.standard_normal((n + 1, n + 3)).astype(np.float32))
    return {"a": rng.standard_normal((n, n + 1)).astype(np.float32), "b": b}


def _indices(rng: np.random.Generator, n: int) -> Arguments:
    x = rng.standard_normal(2 * n).astype(np.float32)[::-2]
    return {"x": x, "k": rng.integers(0, n, n + 2).astype(np.int32)}


PROGRAMS: dict[str, Program] = {
    program.name: program
    for program in (
        Program(
            "triangle",
            TRIANGLE,
            _triangle,
            lambda rng, n: {"x": rng.standard_normal((n, n)), "scale": 1.5},
        ),
        Program("conditional_then", CONDITIONAL, _conditional, _vector("x", limit=-10.0)),
        Program("conditional_else", CONDITIONAL, _conditional, _vector("x", limit=10.0)),
        Program("doubling", DOUBLING, _doubling, _vector("x", limit=1000.0)),
        Program("masked_store", MASKED_STORE, _masked_store, _vector("x")),
        Program("shift", SHIFT, _shift, _vector("x")),
        Program("heat", HEAT, _heat, _vector("u", steps=4)),
        Program(
            "softmax", SOFTMAX, _softmax, lambda rng, n: {"x": rng.standard_normal((n, n + 2))}
        ),
        Program("matmul", MATMUL, _matmul, _matrices),
        Program("gather", GATHER, _gather, _indices),
    )
}
HOST_FUNCTIONS: dict[str, Callable[..., Any]] = {"numpy.sort": np.sort}
