"""Programs that are not compiled whole: under ``fullgraph=True`` an error that names the remedy.

Each row has a program, its arguments, what the message must contain, and the program as the remedy
has it, which must run as one compiled variant with NumPy's results. Line, function and variable are
named. Without ``fullgraph`` they run, with NumPy's results.

PYTEST_DONT_REWRITE: ``assert`` in a program stays as it is written.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.errors import ConcretizationError, UnsupportedError
from fusejit_testing.oracle import check, compare_outcomes, decorate, run

X = np.array([1.5, -2.0, 0.25, 4.0, -0.5, 3.0])
I = np.array([3, 1, 4, 1, 5, 2])  # noqa: E741
M = np.arange(12.0).reshape(3, 4)
COUNT = 0.0

Program = Callable[..., Any]
ROWS: list[tuple[Program, Program, tuple[Any, ...], tuple[Any, ...], tuple[str, ...]]] = []


def row(
    repaired: Program, *args: Any, says: tuple[str, ...], instead: tuple[Any, ...] | None = None
) -> Callable[[Program], Program]:
    """Enter a program; ``instead`` are the arguments of the repaired one if they differ."""

    def enter(function: Program) -> Program:
        ROWS.append((function, repaired, args, args if instead is None else instead, says))
        return function

    return enter


# ------------------------------------------------------------------------------- types that differ
def doubled_or_zeros(x: Any) -> Any:
    y = np.zeros(len(x))
    if x[0] > 0:
        y = x * 2
    return y


@row(doubled_or_zeros, X, says=("'y'", "None", "same shape and dtype"))
def doubled_or_none(x: Any) -> Any:
    y = None
    if x[0] > 0:
        y = x * 2
    return y


def last_scaled_or_zeros(x: Any) -> Any:
    found = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 3:
            found = x * x[i]
    return found


@row(last_scaled_or_zeros, X, says=("'found'", "of the same shape and dtype"))
def last_scaled_or_none(x: Any) -> Any:
    found = None
    for i in range(len(x)):
        if x[i] > 3:
            found = x * x[i]
    return found


def found_with_start(x: Any) -> Any:
    at = -1
    for i in range(len(x)):
        if x[i] > 3:
            at = i
            break
    return at


@row(found_with_start, X, says=("'at'", "at = -1"))
def found_or_unbound(x: Any) -> Any:
    for i in range(len(x)):
        if x[i] > 3:
            at = i
            break
    return at


def sign_as_number(x: Any) -> Any:
    return 1 if x[0] > 0 else -1


@row(sign_as_number, X, says=("'positive' or complex", "numbers of one type"))
def sign_as_text_or_number(x: Any) -> Any:
    return "positive" if x[0] > 0 else -1j


def padded_branch(x: Any) -> Any:
    y = x.copy()
    if x[0] > 0:
        y[0] = 0
    return y.sum()


@row(padded_branch, X, says=("'y'", "(s0 - 1)", "(s0)", "same shape and dtype"))
def shapes_of_branches(x: Any) -> Any:
    if x[0] > 0:
        y = x[1:]
    else:
        y = x
    return y.sum()


def one_dtype(x: Any) -> Any:
    return np.where(x[0] > 0, x.astype(np.float32), x)


@row(one_dtype, X, says=("float32", "int64", "make both sides"))
def dtype_by_value(x: Any) -> Any:
    return x.astype(np.float32 if x[0] > 0 else np.int64)


def total_of_its_type(x: Any) -> Any:
    s = np.uint64(0)
    i = 0
    while i < len(x) and x[i] < 5:
        s += x[i]
        i += 1
    return s


@row(total_of_its_type, I.astype(np.uint64), says=("'s'", "int, then np.uint64", "np.uint64(s)"))
def total_changes_its_type(x: Any) -> Any:
    s = 0
    i = 0
    while i < len(x) and x[i] < 5:
        s += x[i]
        i += 1
    return s


def smallest_of_one_type(x: Any) -> Any:
    return max(np.uint64(0), x[0])


@row(smallest_of_one_type, I.astype(np.uint64), says=("int or np.uint64", "int(..)"))
def smallest_of_two_types(x: Any) -> Any:
    return max(-1, x[0])


# ------------------------------------------------------------------------------ Python's own state
def returned_sum(x: Any) -> Any:
    return x, x.max()


@row(returned_sum, X, says=("'COUNT'", "return the new value"))
def global_write(x: Any) -> Any:
    global COUNT
    COUNT = x.max()
    return x


def counts_in_an_array(x: Any) -> Any:
    counts = np.zeros(10, np.int64)
    for i in range(len(x)):
        counts[x[i]] += 1
    return counts


@row(counts_in_an_array, X, says=("has keys of type", "use integers"), instead=(I,))
def last_places(x: Any) -> Any:
    seen = {}
    for i in range(len(x)):
        seen[x[i]] = i
    return seen


def largest_or_nan(x: Any) -> Any:
    best = np.nan
    for i in range(len(x)):
        if np.isnan(best) or x[i] > best:
            best = x[i] * 1.0
        elif x[i] < -1:
            best = np.nan
    return best


@row(largest_or_nan, X, says=("hash()", "outside the decorated function"))
def hash_of_an_element(x: Any) -> Any:
    return hash(x[0])


# ----------------------------------------------------------- values that only the kernel knows
def axis_as_argument(x: Any, k: int) -> Any:
    return x.max(axis=k)


@row(
    axis_as_argument,
    M,
    np.array([0, 1]),
    says=("an index or a size", "a Python int"),
    instead=(M, 1),
)
def axis_of_an_element(x: Any, k: Any) -> Any:
    return x.max(axis=k[1])


def arange_of_a_number(x: Any, n: int) -> Any:
    return np.arange(n) + x[0]


@row(arange_of_a_number, X, says=("np.arange", "as a Python int"), instead=(X, 3))
def arange_of_an_element(x: Any) -> Any:
    return np.arange(x[3]) + x[0]


def reshape_of_a_number(x: Any, n: int) -> Any:
    return x.reshape(n, -1) * 2


@row(reshape_of_a_number, X, says=("an index or a size", "a Python int"), instead=(X, 3))
def reshape_of_an_element(x: Any) -> Any:
    return x.reshape(int(x[0]), -1) * 2


def no_list(x: Any) -> Any:
    return x * 2


def any_equal(x: Any) -> Any:
    return (x == 4).any()


@row(any_equal, X, says=("`in`", "'x'", "(x == value).any()"))
def contained(x: Any) -> Any:
    return operator.contains(x, 4.0)


@row(no_list, X, says=("makes text", "outside"))
def sorted_by_text(x: Any) -> Any:
    return sorted(x, key=str)


@row(no_list, X, says=("makes text", "outside"))
def text(x: Any) -> Any:
    return f"{x.max():.2f}"


@row(no_list, X, says=("makes text", "outside"))
def text_by_percent(x: Any) -> Any:
    return "%g" % x[0]  # noqa: UP031


@row(no_list, X, says=("calls id", "outside"))
def identity(x: Any) -> Any:
    return id(x + 1)


def asserted_with_a_literal(x: Any) -> Any:
    x[0] = 7
    assert x.max() < 100, "large numbers"
    return x * 2


@row(asserted_with_a_literal, X, says=("asserts", "as a literal"))
def asserted(x: Any) -> Any:
    x[0] = 7
    assert x.max() < 100, f"{len(x)} numbers"
    return x * 2


# ---------------------------------------------------------------------- functions that call back
def where_instead(x: Any) -> Any:
    return np.where(x > 0, x * 2, 0.0)


@row(where_instead, X, says=("numpy.vectorize", "move it outside"))
def vectorized(x: Any) -> Any:
    return np.vectorize(lambda t: t * 2 if t > 0 else 0.0)(x)


@row(no_list, X, says=("numpy.fromiter", "move it outside"))
def from_iterator(x: Any) -> Any:
    return np.fromiter((t * 2 for t in x), float)


def a_power_instead(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += float(abs(x[i])) ** 2.5
    return s


@row(a_power_instead, X, says=("math.pow", "use x ** y"))
def pythons_pow(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += math.pow(abs(x[i]), 2.5)
    return s


NAMES = [function.__name__ for function, *_ in ROWS]


@pytest.mark.parametrize("at", range(len(ROWS)), ids=NAMES)
def test_message(at: int) -> None:
    """File and line, function, and what the row says."""
    function, _, args, _, says = ROWS[at]
    with pytest.raises((UnsupportedError, ConcretizationError)) as caught:
        decorate(function, jit=False, fullgraph=True)(*args)
    message = str(caught.value)
    lines, first = inspect.getsourcelines(inspect.unwrap(function))
    file, line = message.split(", in ")[0].rsplit(":", 1)
    assert file == __file__, message
    assert first <= int(line) < first + len(lines), message
    for part in says:
        assert part in message, message
    assert function.__name__ in message or ", in go:" in message, message


@pytest.mark.filterwarnings("ignore:Python runs a (loop|statement):fusejit.FuseWarning")
@pytest.mark.filterwarnings("ignore:.*runs as plain NumPy:fusejit.FuseWarning")
@pytest.mark.parametrize("at", range(len(ROWS)), ids=NAMES)
def test_python_between_segments(at: int) -> None:
    """Without fullgraph nothing is refused: what cannot be compiled is Python's, as in NumPy."""
    function, _, args, _, _ = ROWS[at]
    fused = decorate(function, jit=False)
    for _ in range(3):
        expected, actual = run(function, args), run(fused, args)
        if function is not identity:  # a new object has another identity
            compare_outcomes(expected, actual)


@pytest.mark.parametrize("at", range(len(ROWS)), ids=NAMES)
def test_remedy(at: int) -> None:
    """The repaired program runs whole."""
    check(ROWS[at][1], ROWS[at][3])


# ------------------------------------------------------ what NumPy or Python refuses, they refuse
def range_of_a_float(x: Any) -> Any:
    s = 0
    for i in range(x[0]):
        s += i
    return s


def in_place_bool(x: Any) -> Any:
    y = x > 0
    y -= x > 1
    return y


def in_place_cast(x: Any) -> Any:
    y = x.astype(np.int64)
    for _ in range(len(x)):
        y /= 2
    return y


def too_many_to_unpack(x: Any) -> Any:
    a, b = x
    return a + b


def shapes_that_differ(x: Any) -> Any:
    for _ in range(len(x)):
        x = x + x[1:]
    return x


def raises_behind_a_store(x: Any) -> Any:
    for i in range(len(x)):
        x[i] = i
        if x[i] > 2:
            raise ValueError(f"too large: {i}")
    return x


def unbound(x: Any) -> Any:
    x[0] = 7
    if len(x) > 100:
        y = 1
    return y


REFUSED = [
    range_of_a_float,
    in_place_bool,
    in_place_cast,
    too_many_to_unpack,
    shapes_that_differ,
    unbound,
]


@pytest.mark.parametrize("function", REFUSED)
def test_what_numpy_refuses(function: Program) -> None:
    """The same exception, the same text, the same partial effects."""
    compare_outcomes(run(function, (X,)), run(decorate(function, jit=False), (X,)))


@pytest.mark.filterwarnings("ignore:.*runs as plain NumPy:fusejit.FuseWarning")
def test_raise_under_a_condition() -> None:
    """Plain NumPy runs it: whether it raises is known only there; fullgraph names the cause."""
    compare_outcomes(
        run(raises_behind_a_store, (X,)), run(decorate(raises_behind_a_store, jit=False), (X,))
    )
    with pytest.raises(UnsupportedError, match="raises ValueError under a condition"):
        decorate(raises_behind_a_store, jit=False, fullgraph=True)(X.copy())


@pytest.mark.filterwarnings("ignore:.*runs as plain NumPy:fusejit.FuseWarning")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.astype(object),
        lambda x: np.zeros(len(x), dtype=[("a", float)])["a"] + x,
        lambda x: x.astype(np.longdouble) * 2,
    ],
    ids=["object", "structured", "longdouble"],
)
def test_dtypes_outside_the_machinery_run_as_numpy(function: Program) -> None:
    decorated = decorate(function, jit=False)
    np.testing.assert_array_equal(decorated(X), function(X))
    assert not len(decorated.variants)
