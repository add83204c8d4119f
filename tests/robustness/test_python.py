"""Ordinary Python around the array operations: NumPy's answer, or an error that says no."""

from __future__ import annotations

import collections
import dataclasses
import gc
import itertools
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit.dispatch.call_signatures import MAX_UNCOUNTED_VARIANTS
from fusejit.errors import FusejitError, UnsupportedError
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import compare_outcomes, run

pytestmark = pytest.mark.usefixtures("unjitted")

X, Y, Z = np.array([3.0, -1.0, 2.0]), np.array([1.0, 1.0, 4.0]), np.ones(2)
GRID = np.arange(6.0).reshape(3, 2)
SMALL = np.array([1, 2, 250], np.uint8)
WEIGHTS = np.array([1.0, 2.0, 3.0])
NAMES = ["a", "b"]

Case = tuple[Callable[..., Any], list[tuple[Any, ...]]]
CASES: list[Case] = []


def case(*calls: tuple[Any, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add a function to the table, with the arguments it is called with."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, list(calls)))
        return function

    return add


# ---------------------------------------------------------------------------------- exceptions
@case((X, Y), (X, Z))
def catches_numpys_error(x: Any, y: Any) -> Any:
    try:
        return x + y
    except ValueError:
        return x * 2


@case((X,))
def cleans_up(x: Any) -> Any:
    try:
        y = x + 1
    finally:
        x[0] = 9
    return y


@case((X,))
def raises(x: Any) -> Any:
    x[0] = 5
    raise KeyError("mine")


@case((X, 3), (X, 0), (X, 4))
def raises_for_some(x: Any, n: Any) -> Any:
    x[0] = n
    if n == 0:
        raise ValueError(f"bad {n}")
    return x / n


@case((SMALL, 3), (SMALL, 300), (SMALL, -1), (SMALL, 0))
def weak_integer(x: Any, s: Any) -> Any:
    return x + s


@case((X, 1), (X, 2), (X, 3), (X, -1), (X, -4))
def run_time_index(x: Any, i: Any) -> Any:
    return x[i]


@case((np.arange(3), 2), (np.arange(3), 0), (np.arange(3), -1))
def integer_power(x: Any, n: Any) -> Any:
    return x**n


@case((np.arange(3),))
def float_into_integers(x: Any) -> Any:
    x[0] = 7
    x += 0.5
    return x


@case((X,), (np.ones(0),), (np.ones(1),))
def maximum_of_nothing(x: Any) -> Any:
    return x.max()


# -------------------------------------------------------------------------------- control flow
@case((X, 0), (X, 1), (X, 3), (X, 7))
def trips(x: Any, n: Any) -> Any:
    for i in range(n):
        x = x + i
    return x


@case((X,))
def comprehensions(x: Any) -> Any:
    return [x[i] * 2 for i in range(3)], {k: x + k for k in (1, 2)}, sum(x[i] for i in range(3))


@case((GRID,))
def unpacking(x: Any) -> Any:
    a, *b = x
    a += b[0]
    return a, b


@case((X, Y))
def zipped(x: Any, y: Any) -> Any:
    return [a * b + i for i, (a, b) in enumerate(zip(x, y, strict=True))]


@case((X,))
def nonlocal_names(x: Any) -> Any:
    total = x

    def increment() -> None:
        nonlocal total
        total = total + 1

    increment()
    increment()
    return total


@case((X,))
def walrus(x: Any) -> Any:
    y = x + 1
    del y
    z = (w := x * 2)
    return z, w


@case((X, "a"), (X, "b"), (X, "a"))
def matching(x: Any, key: Any) -> Any:
    match key:
        case "a":
            return x + 1
        case _:
            return x - 1


@case((X, None), (X, Y), (X,))
def optional(x: Any, y: Any = None) -> Any:
    return x if y is None else x + y


# ------------------------------------------------------------------------- identity and kinds
@case((X, Y), (X, X), (X, Y))
def same_object(x: Any, y: Any) -> Any:
    if x is y:
        return x + 1
    return y


@case((X,))
def asks_for_the_type(x: Any) -> Any:
    if isinstance(x, np.ndarray) and type(x) is np.ndarray:
        return type(x).__name__, x.ndim, x.dtype.name, x + 1
    return x


@case((X,))
def compares_with_none(x: Any) -> Any:
    return x == None  # noqa: E711


@case((X,))
def new_attribute(x: Any) -> Any:
    x.unit = "m"
    return x


@case((X, 2.0), (X, float("nan")), (X, -0.0), (X, np.inf), (X, 2), (X, True), (X, np.float32(3)))
def scalar_kinds(x: Any, s: Any) -> Any:
    return x * s, s * 2, s


@case((np.array(2.0),), (np.array(5.0),))
def no_axes(x: Any) -> Any:
    x += 1
    return x, x * 2, x[()]


@case((X,))
def scalars_in_place(x: Any) -> Any:
    s = x[0]
    s += 1
    x[1] = s
    s *= 2
    return s, x


@case((X,))
def returns_everything(x: Any) -> Any:
    return x.shape, len(x), x.size, "s", None, 3, [1, 2], {"a": x}, WEIGHTS, NAMES


@case((X,))
def text_of_sizes(x: Any) -> Any:
    return f"{x.shape[0]} {x.ndim}", x + 1


# ----------------------------------------------------------------------- memory and containers
@case(([X, X],), ([X, Y],), ([X, X],))
def one_array_twice_in_a_list(arrays: Any) -> Any:
    arrays[0] += 1
    return arrays[1] * 2


@case(({"a": X, "b": Y},), ({"b": Y, "a": X},), ({"a": X, "b": Y, "c": Z},))
def dictionary(named: Any) -> Any:
    named["a"] += 1
    return {k: v * 2 for k, v in named.items()}


@case((X, Y))
def own_list(x: Any, y: Any) -> Any:
    arrays = [x]
    arrays.append(y)
    arrays[0] = arrays[0] + 1
    return arrays


@case((X, Y))
def swapped_names(x: Any, y: Any) -> Any:
    x, y = y, x
    x[0] = 100
    return x


@case((X,))
def out_argument(x: Any) -> Any:
    y = np.zeros(3)
    np.add(x, 1, y)
    r = np.multiply(x, y, out=y)
    return r is y, y


@case((X,))
def stores_of_sequences(x: Any) -> Any:
    x[...] = [1, 2, 3]
    x[:2] = (7, 8)
    x[1:] += np.array([1, 2])
    x[np.newaxis] *= 3
    return x


@case((GRID,))
def read_only_view(x: Any) -> Any:
    b = np.broadcast_to(x[0], (3, 2))
    try:
        b[0] = 1
    except ValueError:
        x[1] = 7
    return x


@case((X,))
def inner_errstate(x: Any) -> Any:
    with np.errstate(all="ignore"):
        return 1 / (x - x)


REFUSED_OR_RIGHT = {"same_object", "compares_with_none", "new_attribute"}


@pytest.mark.parametrize(("function", "calls"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_case(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    fused = fuse_jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        for args in calls:
            expected, actual = run(function, args), run(fused, args)
            if function.__name__ in REFUSED_OR_RIGHT and isinstance(actual.error, FusejitError):
                continue
            compare_outcomes(expected, actual)


def test_every_combination_of_kinds() -> None:
    def both(x: Any, y: Any) -> Any:
        return x + y, x * y

    grid = np.arange(6.0).reshape(2, 3)
    pool = [
        X,
        X[::-1],
        X.astype(np.float32),
        np.arange(3),
        np.array(2.0),
        np.float32(1.5),
        2,
        2.5,
        True,
        np.ones(1),
        grid,
        np.asfortranarray(grid),
        np.broadcast_to(X, (2, 3)),
        np.zeros(0),
        np.zeros((0, 3)),
        np.array([True, False, True]),
        SMALL,
    ]
    some = list(itertools.product(pool, pool))[::5]
    for chunk in (
        some[k : k + MAX_UNCOUNTED_VARIANTS] for k in range(0, len(some), MAX_UNCOUNTED_VARIANTS)
    ):
        fused = fuse_jit(both)
        for args in chunk:
            compare_outcomes(run(both, args), run(fused, args), where=f"{args}")
        assert not fused.variants.fallbacks


def test_a_store_into_the_view_that_it_reads_is_numpy_s() -> None:
    """NumPy copies forwards here, element by element, and reads what it has written."""

    def spread(x: Any) -> Any:
        x[::2] = x[: (x.shape[0] + 1) // 2]
        return x

    assert_same(spread(np.arange(7.0)), fuse_jit(spread)(np.arange(7.0)))


# ------------------------------------------------------------------------- state between calls
def test_results_are_fresh_in_every_call() -> None:
    @fuse_jit
    def make(x: Any) -> Any:
        return np.arange(3), np.array([1.0, 2.0]), np.zeros(2), [1, 2], {"a": [3]}, NAMES, WEIGHTS

    for _ in range(3):
        result: Any = make(X)
        expected = np.arange(3), np.array([1.0, 2.0]), np.zeros(2), [1, 2], {"a": [3]}
        assert_same(expected, result[:5])
        assert result[5] is NAMES
        assert result[6] is WEIGHTS
        for array in result[:3]:
            array[0] = 77
        result[3].append(5)
        result[4]["a"].append(1)


@pytest.mark.parametrize("known", [False, True])
def test_a_global_that_is_also_an_argument(known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def shift(x: Any) -> Any:
        x[1:] = WEIGHTS[:-1]
        return x + WEIGHTS

    fused = fuse_jit(shift)
    if known:
        fused(X.copy())
    outcomes = []
    for call in (shift, fused):
        array = np.array([1.0, 2.0, 3.0])
        monkeypatch.setitem(globals(), "WEIGHTS", array)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)
            outcomes.append((call(array), array))
    assert_same(outcomes[0], outcomes[1])


def test_stores_into_outside_arrays() -> None:
    total = np.zeros(3)

    def accumulate(x: Any, also: Any = np.zeros(3)) -> Any:  # noqa: B008
        total[...] += x
        also[1:] -= x[1:]
        return total, also

    fused = fuse_jit(accumulate)
    for times in (1, 2, 3):
        result, also = fused(X)
        assert result is total
        assert accumulate.__defaults__ is not None
        assert also is accumulate.__defaults__[0]
        assert_same(X * times, total)
        assert_same(np.array([0.0, 1.0, -2.0]) * times, also)


def test_nothing_is_kept_alive() -> None:
    @fuse_jit
    def pair(x: Any) -> Any:
        return x + 1, x[1:]

    argument = np.ones(100)
    result: Any = pair(argument)
    watched = [weakref.ref(argument), weakref.ref(result[0]), weakref.ref(result[1])]
    del argument, result
    gc.collect()
    assert [w() for w in watched[1:]] == [None, None]
    assert watched[0]() is None


def test_a_decorated_function_is_freed() -> None:
    def make() -> Any:
        @fuse_jit
        def add(x: Any) -> Any:
            return x + 1

        add(X)
        return weakref.ref(add)

    function = make()
    gc.collect()
    assert function() is None


def test_objects_as_arguments() -> None:
    @dataclasses.dataclass
    class Record:
        a: Any
        b: Any = 2

    Pair = collections.namedtuple("Pair", "a b")

    def product(p: Any) -> Any:
        return p.a * p.b

    fused = fuse_jit(product)
    record = Record(X)
    for value in (2, 3, 2.5, Y, np.float32(1)):
        record.b = value
        for p in (record, Record(Y, value), Pair(X, value)):
            assert_same(product(p), fused(p))

    class Computed(Record):
        @property
        def b(self) -> Any:
            return 10

        @b.setter
        def b(self, value: Any) -> None:
            pass

    assert_same(X * 10, fused(Computed(X)))


def test_trace_of_a_declined_call() -> None:
    fused = fuse_jit(lambda x: x + 1)
    with pytest.raises(UnsupportedError, match=r"has no graph .*: NumPy runs the call, because x"):
        fused.trace(np.ma.array([1.0]))
    with pytest.raises(TypeError, match="missing a required argument"):
        fused.trace()
