"""Every kind of argument in every way of use: no call is served with another call's value.

Each cell of the matrix is one kind of argument, one way of using it, and one place where it stands
(a parameter, a tuple, an attribute, a closure cell, ..). The decorated function is called with the
first value of the kind, with the second, and with the first again; and in the other order. Value,
type, exception and, where Python hands out one object, identity are those of the undecorated
function.
"""

from __future__ import annotations

import datetime
import enum
import functools
import math
import operator
import warnings
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import decorate, no_faults


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 2


class Bits(enum.IntFlag):
    ONE = 1
    TWO = 2


class Flags(enum.Flag):
    ONE = 1
    TWO = 2


class Name(enum.StrEnum):
    SUM = "sum"
    MAX = "max"


class Whole(int):
    pass


class Real(float):
    pass


class Text(str):
    pass


class Pair(tuple):
    pass


class Raw(bytes):
    pass


class Wave(complex):
    pass


class Items(list):
    pass


class Table(dict):
    pass


class Day(datetime.date):
    pass


Point = namedtuple("Point", "x y")


class Place(Point):
    pass


@dataclass
class Settings:
    value: int
    real: float = 0.5


@dataclass(frozen=True)
class Fixed:
    value: int
    real: float = 0.5


class Plain:
    def __init__(self, value: Any) -> None:
        self.value = value


def twice(x: Any) -> Any:
    return x * 2


def thrice(x: Any) -> Any:
    return x * 3


def named(text: str) -> str:
    """A text that is no interned constant."""
    return "".join(list(text))


KINDS: dict[str, tuple[Any, Any]] = {
    "bool": (False, True),
    "int": (1, 2),
    "float": (0.0, 2.0),
    "float that is zero": (0.0, -0.0),
    "complex": (1j, 2 + 0j),
    "text": (named("sum"), named("max")),
    "bytes": (b"sum", b"max"),
    "None": (None, 1),
    "Enum": (Color.RED, Color.BLUE),
    "IntEnum": (Level.LOW, Level.HIGH),
    "IntFlag": (Bits.ONE, Bits.TWO),
    "Flag": (Flags.ONE, Flags.TWO),
    "StrEnum": (Name.SUM, Name.MAX),
    "int subclass": (Whole(1), Whole(2)),
    "equal ints": (Whole(1), Whole(1)),
    "float subclass": (Real(0.0), Real(2.0)),
    "equal floats": (Real(0.0), Real(-0.0)),
    "text subclass": (Text("sum"), Text("max")),
    "tuple subclass": (Pair((1, 2)), Pair((2, 3))),
    "bytes subclass": (Raw(b"sum"), Raw(b"max")),
    "complex subclass": (Wave(1j), Wave(2)),
    "list subclass": (Items([1, 2]), Items([2, 3])),
    "dict subclass": (Table(a=1), Table(a=2)),
    "date": (datetime.date(2024, 1, 1), datetime.date(2025, 1, 1)),
    "date subclass": (Day(2024, 1, 1), Day(2025, 1, 1)),
    "bool_": (np.bool_(False), np.bool_(True)),
    "float32": (np.float32(0), np.float32(2)),
    "float64": (np.float64(0), np.float64(2)),
    "int64": (np.int64(1), np.int64(2)),
    "uint8": (np.uint8(1), np.uint8(2)),
    "complex128": (np.complex128(1j), np.complex128(2)),
    "float16": (np.float16(0), np.float16(2)),
    "str_": (np.str_("sum"), np.str_("max")),
    "datetime64": (np.datetime64("2024-01-01"), np.datetime64("2025-01-01")),
    "timedelta64": (np.timedelta64(1, "D"), np.timedelta64(2, "D")),
    "slice": (slice(1, None), slice(2, None)),
    "range": (range(1, 2), range(2, 3)),
    "function": (twice, thrice),
    "builtin function": (math.sqrt, math.exp),
    "lambda": (lambda x: x + 1, lambda x: x + 2),
    "partial": (functools.partial(np.add, 1), functools.partial(np.add, 2)),
    "method": (Plain(1).__eq__, Plain(2).__eq__),
    "ufunc": (np.add, np.multiply),
    "class": (Whole, Real),
    "dtype": (np.dtype("f4"), np.dtype("i8")),
    "scalar type": (np.float32, np.int64),
    "module": (math, operator),
    "named tuple": (Point(1, 2), Point(2, 3)),
    "named tuple subclass": (Place(1, 2), Place(2, 3)),
    "dataclass": (Settings(1), Settings(2)),
    "frozen dataclass": (Fixed(1), Fixed(2)),
    "object": (Plain(1), Plain(2)),
    "tuple": ((1, 2), (2, 3)),
    "list": ([1, 2], [2, 3]),
    "dict": ({"a": 1}, {"a": 2}),
    "set": ({1}, {2}),
    "frozenset": (frozenset({1}), frozenset({2})),
    "nested": (
        (Level.LOW, [Whole(1), {"a": Text("x")}]),
        (Level.HIGH, [Whole(2), {"a": Text("y")}]),
    ),
    "Ellipsis": (..., 1),
    "array": (np.arange(2.0), np.arange(1.0, 3.0)),
    "two kinds": (Level.LOW, Whole(0)),
}


# ------------------------------------------------------------------------------------- ways of use
def branch(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if g else a + 3


def greater(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if g > 1 else a + 3


def equal(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if g == first else a + 3


def same(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if g is first else a + 3


def member(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if g in (first, 7) else a + 3


def member_of_set(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if g in {first, 7} else a + 3


def contains(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if 1 in g else a + 3


def times(a: Any, g: Any, first: Any) -> Any:
    return a * g


def plus(a: Any, g: Any, first: Any) -> Any:
    return a + 1, g + 1


def choice(a: Any, g: Any, first: Any) -> Any:
    return np.where(g > 1, a, -a)


def element(a: Any, g: Any, first: Any) -> Any:
    return a[g] + 1


def lookup(a: Any, g: Any, first: Any) -> Any:
    return a * (3, 5, 7)[g]


def key(a: Any, g: Any, first: Any) -> Any:
    return a * {first: 2}.get(g, 3)


def part(a: Any, g: Any, first: Any) -> Any:
    return a[:, :g] + 1


def shape(a: Any, g: Any, first: Any) -> Any:
    return np.zeros(g) + a[0, 0]


def axis(a: Any, g: Any, first: Any) -> Any:
    return a.sum(axis=g)


def dtype(a: Any, g: Any, first: Any) -> Any:
    return a.astype(g)


def keyword(a: Any, g: Any, first: Any) -> Any:
    return np.sum(a, 0, keepdims=g)


def text(a: Any, g: Any, first: Any) -> Any:
    return a + 1, f"{g}", f"{g!r:>5}", str(g)


def attribute(a: Any, g: Any, first: Any) -> Any:
    return a * g.value


def name(a: Any, g: Any, first: Any) -> Any:
    return a + 1, g.name, type(g)


def real(a: Any, g: Any, first: Any) -> Any:
    return a * g.real


def instance(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if isinstance(g, int) else a + 3


def converted(a: Any, g: Any, first: Any) -> Any:
    return a * float(g), int(g)


def length(a: Any, g: Any, first: Any) -> Any:
    return a * len(g)


def items(a: Any, g: Any, first: Any) -> Any:
    for v in g:
        a = a * v
    return a


def called(a: Any, g: Any, first: Any) -> Any:
    return g(a)


def method(a: Any, g: Any, first: Any) -> Any:
    return getattr(a, g)()


def counted(a: Any, g: Any, first: Any) -> Any:
    total = a
    for k in range(g):
        total = total + k
    return total


def returned(a: Any, g: Any, first: Any) -> Any:
    return a + 1, g


def returned_alone(a: Any, g: Any, first: Any) -> Any:
    return g


def inner(a: Any, g: Any, first: Any) -> Any:
    def inside() -> Any:
        return a * 2 if g == first else a + 3

    return inside()


def matched(a: Any, g: Any, first: Any) -> Any:
    match g:
        case 2:
            return a * 2
        case "sum":
            return a.sum()
    return a + 3


WAYS = [
    *(branch, greater, equal, same, member, member_of_set, contains, times, plus, choice, element),
    *(lookup, key, part, shape, axis, dtype, keyword, text, attribute, name, real, instance),
    *(converted, length, items, called, method, counted, returned, returned_alone, inner, matched),
]


# --------------------------------------------------------------------------- where the value stands
def in_tuple(a: Any, t: Any, first: Any) -> Any:
    return (a * 2 if t[0] == first else a + 3), f"{t[0]}", t[0], t


def in_list(a: Any, t: Any, first: Any) -> Any:
    return (a * 2 if t[0] == first else a + 3), f"{t[0]}", t[0], t


def in_dict(a: Any, t: Any, first: Any) -> Any:
    return (a * 2 if t["k"] == first else a + 3), f"{t['k']}", t["k"], t


def among_all(a: Any, first: Any, *t: Any) -> Any:
    return (a * 2 if t[0] == first else a + 3), f"{t[0]}", t[0]


def by_keyword(a: Any, first: Any, *, g: Any) -> Any:
    return (a * 2 if g == first else a + 3), f"{g}", g


def by_any_keyword(a: Any, first: Any, **t: Any) -> Any:
    return (a * 2 if t["g"] == first else a + 3), f"{t['g']}", t["g"]


def in_attribute(a: Any, o: Any, first: Any) -> Any:
    return (a * 2 if o.value == first else a + 3), f"{o.value}", o.value


PLACES: list[tuple[Callable[..., Any], Callable[[Any], Any]]] = [
    (in_tuple, lambda g: ((g, 1),)),
    (in_list, lambda g: ([g, 1],)),
    (in_dict, lambda g: ({"k": g},)),
    (in_attribute, lambda g: (Plain(g),)),
    (in_attribute, lambda g: (Settings(g),)),
    (in_attribute, lambda g: (Fixed(g),)),
]


def captured(g: Any, first: Any) -> Callable[[Any], Any]:
    def in_closure(a: Any) -> Any:
        return (a * 2 if g == first else a + 3), f"{g}", g

    return in_closure


# ------------------------------------------------------------------------------------- comparison
Call = tuple[tuple[Any, ...], dict[str, Any]]
A = np.arange(6.0).reshape(2, 3) + 1


def outcome(function: Callable[..., Any], call: Call) -> Any:
    """What a call returns, or its exception."""
    args, kwargs = call
    with np.errstate(all="ignore"):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            return error


def difference(actual: Any, expected: Any, again: Any) -> str | None:
    """How two outcomes differ; ``again`` is that of the undecorated function a second time."""
    if expected is again and expected is not actual:
        return f"{actual!r} is not the object {expected!r}"
    if type(actual) is not type(expected):
        return f"{actual!r} instead of {expected!r}"
    if isinstance(expected, BaseException):
        return None if str(actual) == str(expected) else f"{actual!r} instead of {expected!r}"
    if isinstance(expected, list | tuple) and expected is not again:
        if len(actual) != len(expected):
            return f"{actual!r} instead of {expected!r}"
        parts = map(difference, actual, expected, again)
        return next((part for part in parts if part), None)
    if isinstance(expected, np.ndarray | np.generic):
        agree = actual.dtype == expected.dtype and actual.shape == expected.shape
        agree = agree and actual.strides == expected.strides
        bits = operator.methodcaller("tolist" if expected.dtype.hasobject else "tobytes")
        agree = agree and bits(actual) == bits(expected)
        return None if agree else f"{actual!r} instead of {expected!r}"
    return None if repr(actual) == repr(expected) else f"{actual!r} instead of {expected!r}"


def failures(function: Callable[..., Any], calls: dict[str, Call], folder: Any) -> list[str]:
    """What differs where a decorated function is called with the first, second, first value."""
    found = []
    one, other = calls
    for order in ((one, other, one), (other, one, other)):
        decorated = decorate(function, jit=False, reports=folder)
        for at, label in enumerate(order):
            expected, again = outcome(function, calls[label]), outcome(function, calls[label])
            actual = outcome(decorated, calls[label])
            message = difference(actual, expected, again)
            if message:
                found.append(f"{function.__name__}, call {at} with the {label} value: {message}")
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_ways_of_use(kind: str) -> None:
    first, second = KINDS[kind]
    found = []
    with warnings.catch_warnings(), no_faults() as folder:
        warnings.simplefilter("ignore")
        for way in WAYS:
            calls = {"first": ((A, first, first), {}), "second": ((A, second, first), {})}
            found += failures(way, calls, folder)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("kind", KINDS)
def test_places(kind: str) -> None:
    values = dict(zip(("first", "second"), KINDS[kind], strict=True))
    first = values["first"]
    found = []
    with warnings.catch_warnings(), no_faults() as folder:
        warnings.simplefilter("ignore")
        for function, stands in PLACES:
            calls = {k: ((A, *stands(v), first), {}) for k, v in values.items()}
            found += failures(function, calls, folder)
        found += failures(among_all, {k: ((A, first, v), {}) for k, v in values.items()}, folder)
        for function in (by_keyword, by_any_keyword):
            calls = {k: ((A, first), {"g": v}) for k, v in values.items()}
            found += failures(function, calls, folder)
    assert not found, "\n".join(found)
