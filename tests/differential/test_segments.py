"""Functions that run as compiled segments with Python between them: NumPy's results and effects.

The log is a list from outside: whatever is appended to it is one of Python's statements.
"""

from __future__ import annotations

import contextlib
import json
import math
import operator
import statistics
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.compare import Bound, PythonsList
from fusejit_testing.programs.segments_check import check_segments

X = np.arange(12.0) / 4 - 1
M = np.arange(12.0).reshape(3, 4)
SQUARE = np.array([[2.0, 1.0, 0.5], [0.25, 3.0, 1.0], [1.0, 0.5, 4.0]])
CLOSE = Bound(ulps=32, absolute=1e-12)
GLOBAL: list[Any] = []
TOTAL = 0.0
CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
WHOLE = ("attributes_in_a_loop", "shuffled_in_place", "sorted_list", "counted_list")


def case(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a program with its arguments."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, args))
        return function

    return enter


# ------------------------------------------------------------------- objects that see what happens
@dataclass
class Log:
    items: list[Any] = field(default_factory=list)
    last: Any = None
    count: int = 0

    def add(self, *values: Any) -> None:
        self.items.append(values)


class Model:
    def __init__(self, n: int) -> None:
        self.w = np.ones(n)
        self.b = 0.0
        self.history: list[float] = []

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Model)
        return np.array_equal(self.w, other.w) and self.history == other.history

    def __hash__(self) -> int:
        return 0

    def fit(self, x: Any, y: Any, steps: int) -> Any:
        for _ in range(steps):
            error = x @ self.w + self.b - y
            self.w -= 0.01 * (x.T @ error) / len(y)
            self.b -= 0.01 * error.mean()
            self.history.append(float((error**2).mean()))
        return self.w, self.b


class Louder(Log):
    def add(self, *values: Any) -> None:
        super().add("louder", *values)
        self.count += 1


@case(X, Log())
def method_of_the_users(x: Any, log: Any) -> Any:
    y = x * 2 + 1
    log.add(y.sum())
    return y - y[0]


@case(X, Louder())
def method_with_super(x: Any, log: Any) -> Any:
    y = x * 2
    log.add(y.max(), y)
    return y + 1


@case(X, 7, Log())
def in_a_loop(x: Any, n: int, log: Any) -> Any:
    for i in range(n):
        x = x * 0.5 + 1
        log.add(i, x[0])
    return x


@case(X, 5, Log())
def attributes_in_a_loop(x: Any, n: int, log: Any) -> Any:
    for _ in range(n):
        x = x * 0.5 + 1
        log.last = x.max()
        log.count += 1
    return x


@case(X, SimpleNamespace(total=0.0))
def augmented_attribute(x: Any, state: Any) -> Any:
    state.total += (x * x).sum()
    state.total *= 2
    return x + state.total


@case(M, {"a": 1.0, "best": None})
def dict_from_outside(x: Any, table: Any) -> Any:
    table["a"] += x.sum()
    table["b"] = x[0] * 2
    return table["b"] + table["a"]


@case(X, PythonsList())
def list_from_outside(x: Any, out: Any) -> Any:
    for i in range(4):
        out.append(x[i] * 2)
    out[0] = x
    return len(out)


@case(X, set())
def set_from_outside(x: Any, seen: Any) -> Any:
    y = np.round(x)
    for i in range(len(y)):
        seen.add(float(y[i]))
    return y


@case(X, deque(maxlen=3))
def deque_from_outside(x: Any, recent: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        recent.append(x[i])
        s += sum(recent) / len(recent)
    return s, list(recent)


@case(M, 3)
def global_names(x: Any, n: int) -> Any:
    global TOTAL
    TOTAL = 0.0
    for _ in range(n):
        x = x + 1
        TOTAL += x.sum()
    GLOBAL.clear()
    GLOBAL.append(TOTAL)
    return x * TOTAL, list(GLOBAL)


# --------------------------------------------------------------------------- calls and their values
@case(X)
def of_numpy(x: Any) -> Any:
    y = x * 2
    z = np.polynomial.polynomial.polyfromroots(y[:5])
    return z * 2


@case(SQUARE)
def dtype_by_data(x: Any) -> Any:
    w = np.linalg.eigvals(x + 1)
    return np.sort(w.real) * 2


@case(X)
def text_of_results(x: Any) -> Any:
    y = x * 2
    return f"{y.sum():.3f} of {y.size}", str(y[0]), repr(y[:2])


@case(X)
def through_json(x: Any) -> Any:
    text = json.dumps({"mean": float(x.mean()), "first": x[:3].tolist()})
    back = json.loads(text)
    return np.array(back["first"]) * back["mean"] + x[:3]


@case(X)
def python_statistics(x: Any) -> Any:
    return statistics.median(x.tolist()) + x.max()


@case(X)
def clock(x: Any) -> Any:
    start = time.perf_counter()
    y = x * 2 + 1
    taken = time.perf_counter() - start
    return y, 0 <= taken < 60


@case(X)
def sorted_list(x: Any) -> Any:
    ordered = sorted((x * 3 % 5).tolist(), key=lambda t: -t)
    return np.array(ordered) + x


@case(np.array([3, 1, 3, 2, 1, 3]))
def counted_list(x: Any) -> Any:
    counts = Counter((x + 1).tolist())
    return sorted(counts.items()), x * counts[4]


@case(X, operator.itemgetter(0))
def same_object_back(x: Any, first: Any) -> Any:
    y = x * 2
    v = first((y, 1))
    v[0] = 9
    u = first((x, 1))
    u[1] = 8
    return y, v, u


@case(X)
def bytes_and_back(x: Any) -> Any:
    y = (x + 1).tobytes()
    return np.frombuffer(y) * 2


@case(X, np.random.default_rng(3))
def shuffled_in_place(x: Any, rng: Any) -> Any:
    y = x + 1
    for _ in range(3):
        rng.shuffle(y)
        y = y * 2
    return y


def smoothed(x: Any, log: Any) -> Any:
    log.append(x.sum())
    y = (x[1:] + x[:-1]) / 2
    log.append(y[0])
    return y


@case(X, PythonsList())
def helper_that_logs(x: Any, log: Any) -> Any:
    y = smoothed(x, log)
    y = smoothed(y * 2, log)
    return y + len(log)


@case(M, np.arange(3.0), Model(4), 6)
def method_that_trains(x: Any, y: Any, model: Any, steps: int) -> Any:
    w, b = model.fit(x, y, steps)
    return w * 2, b, model.history[-1]


def factorial(n: int, log: Any) -> Any:
    log.append(n)
    return 1 if n <= 1 else n * factorial(n - 1, log)


@case(X, PythonsList())
def recursion(x: Any, log: Any) -> Any:
    return x * factorial(4, log)


# ------------------------------------------------------------------------------------ control flow
@case(X, 50, 1e-3, PythonsList())
def left_by_break(x: Any, n: int, tol: float, log: Any) -> Any:
    for i in range(n):
        y = 0.5 * x + 1
        change = np.abs(y - x).max()
        log.append(float(change))
        if change < tol:
            break
        if i == 3:
            continue
        x = y
    else:
        return x, "no"
    return x, i, change


@case(X, 1e-2, PythonsList())
def left_by_return(x: Any, tol: float, log: Any) -> Any:
    k = 0
    while True:
        y = 0.5 * x + 1
        log.append(k)
        k += 1
        if np.abs(y - x).max() < tol:
            return y, k
        for j in range(3):
            if y[j] > 1e9:
                return j
        x = y


@case(X, 6, PythonsList())
def first_iteration_differs(x: Any, n: int, log: Any) -> Any:
    total = 0.0
    for i in range(n):
        y = np.abs(x) * i
        if i > 0:
            log.append((y - previous).sum())  # noqa: F821
            total += (y * previous).sum()  # noqa: F821
        previous = y  # noqa: F841
    return total


@case(M, PythonsList())
def rows_and_views(x: Any, log: Any) -> Any:
    for i, row in enumerate(x):
        row *= 2
        log.append(row.sum())
        row[i] = -1
    last = x[-1]
    log.append(last)
    x += 1
    return last, x


@case(X, PythonsList())
def conditions(x: Any, log: Any) -> Any:
    y = x * 2
    if y.sum() > 0:
        log.append("positive")
        y = y - 1
    elif y[0] < -100:
        return None
    else:
        log.append(y.sum())
        z = y + 1
        y = z * z
    return y


@case(X, PythonsList())
def handled(x: Any, log: Any) -> Any:
    y = x * 2
    try:
        y = y + 1
        log.append(y[0])
        z = y * 2
        y = np.linalg.inv(z)
    except np.linalg.LinAlgError:
        log.append("singular")
        y = y - 100
    finally:
        log.append(y.sum())
    return y


@case(X, PythonsList())
def with_a_context(x: Any, log: Any) -> Any:
    @contextlib.contextmanager
    def noted(name: str) -> Iterator[None]:
        log.append(name)
        yield
        log.append("end")

    with noted("first"):
        y = x * 2 + 1
    with noted("second"), np.errstate(all="ignore"):
        z = np.sqrt(y)
        log.append(z.size)
    return y + 1


@case(X, PythonsList())
def lambdas_that_remember(x: Any, log: Any) -> Any:
    k = 1.0
    scaled = lambda t: t * k  # noqa: E731
    log.append(scaled(x).sum())
    k = 3.0
    log.append(scaled(x)[0])

    def shifted(t: Any) -> Any:
        return scaled(t) + k

    k = 5.0
    return shifted(x) + scaled(x)


@case(X, PythonsList())
def inner_function_counts(x: Any, log: Any) -> Any:
    calls = 0

    def step(t: Any) -> Any:
        nonlocal calls
        calls += 1
        return t * 0.5 + 1

    for _ in range(3):
        x = step(x)
        log.append(x[0])
    return x, calls


@case(X, PythonsList())
def order_of_evaluation(x: Any, log: Any) -> Any:
    def noted(name: str, value: Any) -> Any:
        log.append(name)
        return value

    state = SimpleNamespace(n=1.0)

    def doubled() -> Any:
        state.n *= 2
        return state.n

    state.n += doubled() + (x * 2).sum()
    pair = (state.n, doubled(), state.n)
    return noted("a", x).sum() + noted("b", x * 2).max() * noted("c", 2), pair


@case(X, PythonsList())
def deleted_and_unpacked(x: Any, log: Any) -> Any:
    a = b = x + 1
    (c, d), *rest = (a * 2, b), 1, 2
    log.append(rest)
    del a
    c, d = d, c
    log.append(n := c.size)
    return c, d, b is d, n


@case(X, PythonsList(), 2)
def comprehensions(x: Any, log: Any, k: int) -> Any:
    parts = [x * i for i in range(3)]
    log.append(len(parts))
    total = sum(p.sum() for p in parts)
    log.append(total)
    return [p + k for p in parts], {i: p[0] for i, p in enumerate(parts)}


@case(X, PythonsList())
def matched(x: Any, log: Any) -> Any:
    y = x * 2
    log.append(y[0])
    match len(log):
        case 1:
            y = y + 1
        case _:
            y = y + 2
    return y * 3


# ------------------------------------------------------------------------------------------- tests
@pytest.mark.parametrize(("function", "args"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_segments(function: Any, args: tuple[Any, ...]) -> None:
    whole = function.__name__ in WHOLE
    check_segments(function, args, bound=CLOSE, may_be_whole=whole)


def test_signature_and_defaults() -> None:
    log: list[Any] = []

    def program(x: Any, /, y: Any = 2.0, *more: Any, scale: float = 3.0, **options: Any) -> Any:
        log.append(scale)
        total = x * y + scale
        for part in more:
            total = total + part
        return total, sorted(options)

    fused = fuse_jit(program)
    for args, kwargs in (
        ((X,), {}),
        ((X, X), {"scale": 1.0}),
        ((X, 1.0, X, 2.0), {"name": "a", "scale": 2}),
    ):
        expected, actual = program(*args, **kwargs), fused(*args, **kwargs)  # type: ignore[arg-type]
        np.testing.assert_array_equal(actual[0], expected[0])
        assert actual[1] == expected[1]
    assert log == [3.0, 3.0, 1.0, 1.0, 2, 2]
    assert fused.variants.newest_segmented is not None


def test_segments_are_compiled_once() -> None:
    """For all iterations, calls and sizes."""
    log: list[Any] = []

    def program(x: Any, n: int) -> Any:
        for i in range(n):
            x = np.sin(x) + i
            log.append(float(x.sum()))
        return x

    fused = fuse_jit(program)
    for size, n in ((5, 3), (50, 20), (7, 1)):
        fused(np.arange(float(size)), n)
    assert fused.variants.newest_segmented is not None
    (segment,) = fused.variants.newest_segmented.segments
    assert len(segment.state.variants) == 1
    assert len(log) == 24


def test_numbers_of_python_do_not_become_variants() -> None:
    """Text, and lists that grow, are read by Python's statements only."""
    log: list[Any] = []

    def program(x: Any, n: int) -> Any:
        values = []
        name = ""
        for i in range(n):
            x = x * 0.5 + 1
            values.append(math.floor(x[0].item() * 100))
            name = f"step {i} of {n}: {x[0]:.3f}"
            log.append(name)
            x = x + len(values)
        return x, values, name

    fused = fuse_jit(program)
    for n in (40, 50):
        log.clear()
        expected = program(X, n)
        told = list(log)
        log.clear()
        actual = fused(X, n)
        np.testing.assert_allclose(actual[0], expected[0])
        assert actual[1:] == expected[1:]
        assert log == told
    for state in _states(fused):
        assert len(state.variants) <= 2
        assert not state.variants.fallbacks


def _states(fused: Any) -> Iterator[Any]:
    pending = [fused.variants.newest_segmented]
    while pending:
        segmented = pending.pop()
        for segment in segmented.segments:
            if segment.state is not None and segment.state.variants.newest_segmented is not None:
                pending.append(segment.state.variants.newest_segmented)
            elif segment.state is not None:
                yield segment.state


def test_an_error_between_segments_leaves_what_was_done() -> None:
    def program(x: Any, log: Any) -> Any:
        x += 1
        log.append(x.sum())
        x[0] = 7
        log[5] = 1
        x[1] = 8
        return x

    x, log = X.copy(), []  # type: ignore[var-annotated]
    with pytest.raises(IndexError, match="list assignment index out of range"):
        fuse_jit(program)(x, log)
    assert x[0] == 7
    assert x[1] == X[1] + 1
    assert len(log) == 1


def test_explain_shows_boundaries_and_segments() -> None:
    def program(x: Any, log: Any) -> Any:
        y = np.exp(x) * 2
        log.append(y.sum())
        return y - y[0]

    fused = fuse_jit(program)
    log: Any = PythonsList()
    before = fused.explain(X, log, detail=True)
    assert not log
    assert "not called yet" in before
    fused(X, log)
    text = fused.explain(X, log, detail=True)
    assert len(log) == 1
    line = program.__code__.co_firstlineno + 2
    assert f"Python: test_segments.py:{line}  log.append(y.sum())" in text
    assert "log.append" in text.partition("Python:")[2]
    assert "exp, multiply" in text
    assert "not called yet" not in text
    assert "2 loop nests in 1 kernel" in text
    assert f"Python runs lines {line}" in repr(fused.variants)


def test_methods_in_a_class() -> None:
    class Simulation:
        def __init__(self) -> None:
            self.x = np.arange(5.0)
            self.log: list[float] = []

        @fuse_jit
        def step(self, dt: float) -> Any:
            self.x = self.x + dt * np.cos(self.x)
            self.log.append(float(self.x.sum()))
            return self.x

        def plain(self, dt: float) -> Any:
            self.x = self.x + dt * np.cos(self.x)
            self.log.append(float(self.x.sum()))
            return self.x

    one, other = Simulation(), Simulation()
    for _ in range(4):
        result = one.step(0.1)
        np.testing.assert_allclose(result, other.plain(0.1))
        assert result is one.x
    np.testing.assert_allclose(one.log, other.log)
