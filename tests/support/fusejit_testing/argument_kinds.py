"""Two values of every kind of argument, for tests of what a call is served with."""

from __future__ import annotations

import datetime
import enum
import functools
import math
import operator
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np


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


class Pair(tuple[Any, ...]):
    pass


class Raw(bytes):
    pass


class Wave(complex):
    pass


class Items(list[Any]):
    pass


class Table(dict[str, Any]):
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
