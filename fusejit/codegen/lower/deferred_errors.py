"""Errors that a kernel ends with: raised by the launcher, at the line of the user's program.

Where the caller's memory may have been modified, NumPy cannot run the call again; the kernel then
returns a status that names the failed `Assert`: its kind in the low bits, its number above. Between
them is the slot of the two numbers that the text names (`codegen.intrinsics.deferred_values`).
"""

from __future__ import annotations

import ast
import builtins
import linecache
import math
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fusejit.codegen.intrinsics.deferred_values import SLOT_BITS, SLOT_SHIFT, values_of
from fusejit.codegen.intrinsics.statuses import KINDS, Status
from fusejit.ir.graph import Graph
from fusejit.ir.host_calls import deferred_assertions
from fusejit.ir.inline_calls.inline_draws import BOUNDS
from fusejit.ir.ops import Assert
from fusejit.ir.source import Location
from fusejit.support.syntax import walk

_NUMBER_SHIFT = SLOT_SHIFT + SLOT_BITS


def _text(fails: Callable[[], object]) -> str:
    """How this Python, or NumPy, words an error."""
    try:
        fails()
    except (ArithmeticError, ValueError) as error:
        return str(error)
    raise AssertionError


_KINDS: dict[str, tuple[int, type[Exception], str]] = {
    "IndexError": (Status.LATE_INDEX, IndexError, "an index is out of bounds for its axis"),
    "OverflowError": (
        Status.LATE_OVERFLOW,
        OverflowError,
        "a Python integer is out of bounds for the dtype it meets",
    ),
    "ValueError": (Status.LATE_BROADCAST, ValueError, "operands could not be broadcast together"),
    "no max": (Status.LATE_NO_MAX, ValueError, _text(lambda: np.max(()))),
    "no min": (Status.LATE_NO_MIN, ValueError, _text(lambda: np.min(()))),
    "no argmax": (Status.LATE_NO_ARGMAX, ValueError, _text(lambda: np.argmax(()))),
    "no argmin": (Status.LATE_NO_ARGMIN, ValueError, _text(lambda: np.argmin(()))),
    "64 bits": (Status.LATE_64_BITS, OverflowError, "a Python int goes beyond 64 bits"),
    "53 bits": (
        Status.LATE_53_BITS,
        OverflowError,
        "an int that may be a float goes beyond 53 bits",
    ),
    "int / 0": (Status.LATE_TRUE_DIVISION, ZeroDivisionError, _text(lambda: 1 / 0)),
    "int // 0": (Status.LATE_FLOOR_DIVISION, ZeroDivisionError, _text(lambda: 1 // 0)),
    "int % 0": (Status.LATE_REMAINDER, ZeroDivisionError, _text(lambda: 1 % 0)),
    "float / 0": (Status.LATE_FLOAT_DIVISION, ZeroDivisionError, _text(lambda: 1.0 / 0.0)),
    "float // 0": (Status.LATE_FLOAT_FLOOR_DIVISION, ZeroDivisionError, _text(lambda: 1.0 // 0.0)),
    "float % 0": (Status.LATE_FLOAT_REMAINDER, ZeroDivisionError, _text(lambda: 1.0 % 0.0)),
    "math domain": (Status.LATE_MATH_DOMAIN, ValueError, _text(lambda: math.tan(math.inf))),
    "math range": (Status.LATE_MATH_RANGE, OverflowError, _text(lambda: math.exp(1e9))),
    "int of NaN": (Status.LATE_INT_OF_NAN, ValueError, _text(lambda: int(math.nan))),
    "float power": (Status.LATE_FLOAT_POWER, OverflowError, _text(lambda: 2.0**5000)),
    "0.0 ** -1": (Status.LATE_POWER_OF_ZERO, ZeroDivisionError, _text(lambda: 0.0**-1.0)),
    "complex power": (Status.LATE_COMPLEX_POWER, OverflowError, "a power is a complex number"),
    "left to Python": (
        Status.LATE_LEFT_TO_PYTHON,
        RuntimeError,
        "what happens can be told by Python only",
    ),
    "capacity": (Status.LATE_NO_ROOM, MemoryError, "a list has no room for another item"),
    "capacity of arrays": (
        Status.LATE_NO_ROOM_FOR_ARRAYS,
        MemoryError,
        "a list has no room for another array",
    ),
    "int of inf": (Status.LATE_INT_OF_INF, OverflowError, _text(lambda: int(math.inf))),
    "AssertionError": (Status.LATE_ASSERTION, AssertionError, ""),
    "TypeError": (Status.LATE_TYPE, TypeError, ""),
    "choice": (Status.LATE_CHOICE, ValueError, "invalid entry in choice array"),
    **{
        text: (Status.LATE_DRAW_BOUNDS + at, ValueError, text)
        for at, text in enumerate(BOUNDS.values())
    },
    "integer power": (Status.LATE_INTEGER_POWER, ValueError, _text(lambda: np.power(2, -1))),
    "SizeError": (Status.LATE_SIZE, ValueError, "negative dimensions are not allowed"),
}
NONE_TO_REDUCE = ("no max", "no min", "no argmax", "no argmin")
DEFERRED_TEXTS = frozenset(text for _, _, text in _KINDS.values())
_BY_KIND = {kind: (error, text) for kind, error, text in _KINDS.values()}
_RAISE = "raise "  # what a ``raise`` of the program becomes: its class follows

_ROLLED_BACK = {
    "64 bits": Status.BEYOND_64_BITS,
    "53 bits": Status.BEYOND_53_BITS,
    "complex power": Status.COMPLEX_POWER,
    "capacity": Status.NO_ROOM,
    "capacity of arrays": Status.NO_ROOM_FOR_ARRAYS,
    "left to Python": Status.LEFT_TO_PYTHON,
    "ValueError": Status.EXTENTS_DIFFER,
}
"""What NumPy has to answer, by the error of the check: the status once stores are undone."""


def rolled_back(graph: Graph) -> dict[int, int]:
    """By the status that it would come after stores: what a kernel returns once they are undone.

    NumPy then runs the call: Python's integers have no end, and extents of 1 are broadcast.
    """
    checks = [c for c in deferred_assertions(graph) if c.error in _ROLLED_BACK]
    return {deferred_status(graph, c): _ROLLED_BACK[c.error] for c in checks}


def deferred_status(graph: Graph, check: Assert) -> int:
    """What the kernel returns where ``check`` fails."""
    kind = Status.LATE_RAISE if check.error.startswith(_RAISE) else _KINDS[check.error][0]
    return kind | deferred_assertions(graph).index(check) << _NUMBER_SHIFT


class DeferredSite(NamedTuple):
    """Where a check stands, the axis that its text names, and what an ``assert`` or ``raise`` says.

    ``error`` is the name of the class after ``raise``.
    """

    location: Location
    axis: int
    message: str
    error: str


def deferred_sites(graph: Graph) -> tuple[DeferredSite, ...]:
    """The places of `deferred_assertions`."""
    return tuple(
        DeferredSite(c.location, c.shown.axis if c.shown else 0, c.reason, c.error)
        for c in deferred_assertions(graph)
    )


def raise_deferred(status: int, places: tuple[DeferredSite, ...]) -> None:
    """Raise the error of a status, if it is one of these.

    Parameters
    ----------
    status : int
    places : tuple of DeferredSite
        Where the checks of `deferred_assertions` stand.
    """
    kind = status & KINDS
    if status > 0 and kind == Status.LATE_RAISE:
        place = places[status >> _NUMBER_SHIFT]
        raise_at(_exception(place.error, place.message), place.location)
    if status > 0 and kind in _BY_KIND:
        error, text = _BY_KIND[kind]
        location, axis, message, _ = places[status >> _NUMBER_SHIFT]
        values = values_of(status)
        if values is not None and error is OverflowError:
            text = _beyond(*values, message.rpartition(" ")[2])
        elif values is not None:
            index, size = values
            text = f"index {index} is out of bounds for axis {axis} with size {size}"
        if error in (AssertionError, TypeError):
            raise_at(error(*([message] if message else [])), location)
        raise_at(error(text), location)


def _beyond(word: int, kind: int, dtype: str) -> str:
    """The text for an integer of 64 bits: signed (0), unsigned (1), or made of a float (2).

    Of a float beyond them it is the lowest integer.
    """
    if (kind == 1 and word < 0) or (kind == 2 and word == -(2**63)):
        return _text(lambda: np.int64(2**64))
    return f"Python integer {word} out of bounds for {dtype}"


def _exception(text: str, message: str) -> Exception:
    """The exception of ``raise ValueError(message)``; without one if the message is empty."""
    name = text.removeprefix(_RAISE)
    kind = np.linalg.LinAlgError if name == "LinAlgError" else getattr(builtins, name)
    made: Exception = kind(*([message] if message else []))
    return made


def raise_at(error: Exception, location: Location) -> NoReturn:
    """Raise an error with a traceback that ends at a line of the user's program."""

    def go_on() -> NoReturn:
        raise error

    place: Location | None = location
    run: Callable[[], Any] = go_on
    text = "raise e"
    while place is not None and place.line:
        run = _frame(place, text, {"e": error, "inner": run})
        text = "inner()"
        place = place.inlined_from
    run()
    raise error


def _frame(place: Location, text: str, names: dict[str, Any]) -> Callable[[], Any]:
    """A call of ``text`` as if it stood at a line of the user's program."""
    line = linecache.getline(place.file, place.line)
    tree = ast.parse(text)
    for node in walk(tree):
        if isinstance(node, ast.stmt | ast.expr):  # all of the line, so that nothing is underlined
            node.lineno = node.end_lineno = place.line
            node.col_offset = len(line) - len(line.lstrip())
            node.end_col_offset = max(node.col_offset, len(line.rstrip()))
    name = place.function.rpartition(".")[2] or "<module>"
    code = compile(tree, place.file, "exec").replace(co_name=name, co_qualname=place.function)
    return lambda: exec(code, names)
