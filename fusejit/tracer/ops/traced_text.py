"""`TracedText`: a string that only the kernel knows: one character, or one that the program has.

The kernel has the number of the string: see `fusejit.ir.traced.Texts`.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from fusejit.ir.ops import Assert, Block
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.traced import CHARACTERS, Texts
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.ops.kernel_numbers import (
    arithmetic,
    as_kernel_number,
    as_python,
    as_strong,
    is_python_number,
    needs_kernel,
)
from fusejit.tracer.program.active_trace import makes_text
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.operand_types import BOOL, F64, I64

OF_TEXT = (Kind.TEXT, I64)
"""The type of strings among those of numbers."""
OF_NUMBER = (Kind.PYTHON, I64)
"""The type of their numbers."""
_ASCII = 128
_CASES = ord("a") - ord("A")


class TracedText(TracedContainer):
    """A string of the kernel.

    Parameters
    ----------
    trace : Trace
    number : TracedArray
        Its number, a Python int.
    is_character : bool
        Whether it is known to have one character.
    """

    python_type = str
    num_changes = 0

    def __init__(self, trace: Trace, number: TracedArray, is_character: bool = False) -> None:
        self.trace, self.number, self.is_character = trace, number, is_character

    @property
    def home(self) -> Block:  # type: ignore[override]
        """Where it was made."""
        return self.number.storage.home

    # -- checks -----------------------------------------------------------------------------------
    def _require(self, low: int, high: int, why: str) -> None:
        """Leave strings to Python whose numbers are not from ``low`` up to ``high``."""
        ok = _is_from(self.number, low, high)
        self.trace.emit(Assert(condition=ok.value(), reason=why, error=LEFT_TO_PYTHON))

    def require_character(self) -> None:
        """Leave a string to Python that has not one character."""
        if not self.is_character:
            self._require(1, CHARACTERS, "uses a string as one character")

    def require_short(self) -> None:
        """Leave a string to Python that has several characters; at once if there are such."""
        if self.trace.owned(Texts).has_longer():
            what = "joins strings of which some have several characters"
            self.refuse(what, "add their characters one by one")
        self._require(0, CHARACTERS, "joins a string of several characters")

    # -- what programs do with it -----------------------------------------------------------------
    def size(self) -> Any:
        """``len(text)``, of a character."""
        self.require_character()
        return 1

    def truth(self) -> TracedArray | bool:
        """Whether it is not empty."""
        if self.is_character:
            return True
        return arithmetic(np.not_equal, as_strong(self.number), 0)

    def require_not(self, other: Any) -> None:
        """Leave it to Python whether two equal strings are one object."""
        if is_string(other):
            self.refuse("asks whether strings are one object", "compare them with ==")

    def point(self) -> TracedArray:
        """``ord(text)``."""
        self.require_character()
        return arithmetic(np.subtract, self.number, 1)

    def digit(self) -> TracedArray:
        """``int(text)``, of a digit of ASCII."""
        self._require(1 + ord("0"), 1 + ord("9"), "makes a number of a string")
        return arithmetic(np.subtract, self.number, 1 + ord("0"))

    def has(self, property_: str) -> TracedArray:
        """``text.isdigit()`` and its like, of a character of ASCII."""
        self._require(0, _ASCII, "asks for the kind of a character")
        ranges = _RANGES[property_]

        def compute(builder: PayloadBuilder, refs: list[int]) -> int:
            made = builder.const(False, BOOL)
            for low, high in ranges:
                made = builder.op("logical_or", [made, _within(builder, refs[0], low, high)], BOOL)
            return made

        return emit_scalar(property_, [as_strong(self.number)], [I64], BOOL, compute)

    def in_case(self, low: str, high: str, by: int) -> TracedText:
        """The character in upper or lower case, of one of ASCII."""
        self._require(0, _ASCII, "changes the case of a character")

        def compute(builder: PayloadBuilder, refs: list[int]) -> int:
            is_other = _within(builder, refs[0], 1 + ord(low), 1 + ord(high))
            moved = builder.op("add", [refs[0], builder.const(by, I64)], I64)
            return builder.op("select", [is_other, moved, refs[0]], I64)

        made = emit_scalar("case", [as_strong(self.number)], [I64], I64, compute)
        return TracedText(self.trace, made, self.is_character)

    def upper(self) -> TracedText:
        """``text.upper()``."""
        return self.in_case("a", "z", -_CASES)

    def lower(self) -> TracedText:
        """``text.lower()``."""
        return self.in_case("A", "Z", _CASES)

    def methods(self) -> frozenset[str]:
        """Those of Python's strings that are compiled."""
        return _METHODS

    def __eq__(self, other: object) -> Any:
        return compared(np.equal, (self, other))

    def __ne__(self, other: object) -> Any:
        return compared(np.not_equal, (self, other))

    def __lt__(self, other: object) -> Any:
        return compared(np.less, (self, other))

    def __le__(self, other: object) -> Any:
        return compared(np.less_equal, (self, other))

    def __gt__(self, other: object) -> Any:
        return compared(np.greater, (self, other))

    def __ge__(self, other: object) -> Any:
        return compared(np.greater_equal, (self, other))

    def __repr__(self) -> str:
        if makes_text(self.trace):
            raise needs_python("makes text of a string that only compiled code knows", MOVE_OUTSIDE)
        return "<traced string>"

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        self.refuse("uses a string that only compiled code knows in a way that is not compiled")

    __bool__ = __len__ = __iter__ = __hash__ = __contains__ = __getitem__ = _refuse
    __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _refuse
    items = contains = has_any = has_all = as_array = _refuse

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    __str__ = __repr__


def is_text(obj: Any) -> TypeGuard[TracedText | str]:
    """Whether the program sees a string that has a number in kernels."""
    return type(obj) is str or isinstance(obj, TracedText)


def is_string(obj: Any) -> bool:
    """Whether the program sees a string."""
    return type(obj) is str or is_kernel_string(obj)


def is_kernel_string(obj: Any) -> bool:
    """Whether it is a string that only the kernel knows."""
    return isinstance(obj, TracedContainer) and obj.python_type is str


def number_of_text(obj: TracedText | str) -> Any:
    """The number of a string: an int, of one of the program."""
    if isinstance(obj, TracedText):
        return obj.number
    return current_trace().owned(Texts).number(obj)


def kernel_number_of_text(obj: TracedText | str) -> TracedArray:
    """The number of a string as a value of the kernel."""
    return as_kernel_number(number_of_text(obj), Kind.PYTHON, I64)


def compared(ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
    """A comparison of two objects, of which one is a string of the kernel."""
    if not all(map(is_text, operands)):
        if ufunc not in (np.equal, np.not_equal) or hasattr(operands[1], "__array_ufunc__"):
            return NotImplemented
        return ufunc is np.not_equal
    if ufunc not in (np.equal, np.not_equal):
        for text in operands:  # numbers of others are not in the order of the strings
            if type(text) is str and len(text) > 1:
                raise needs_python("compares strings of several characters", MOVE_OUTSIDE)
            if isinstance(text, TracedText) and not text.is_character:
                text._require(0, CHARACTERS, "compares strings of several characters")
    return as_python(arithmetic(ufunc, *map(number_of_text, operands)))


def contained(text: TracedText, others: Any) -> Any:
    """``text in others``: one of a string's characters, or of some strings."""
    if type(others) is str:
        if not text.is_character:
            text._require(0, CHARACTERS, "looks for a string in another one")
        return _any([text == one for one in ("", *dict.fromkeys(others))])
    return _any([text == one for one in others if is_text(one)])


def _any(found: list[Any]) -> Any:
    made: Any = False
    for one in found:
        if one is True:
            return True
        if one is not False:
            made = one if made is False else arithmetic(np.logical_or, made, one)
    return made if made is False else as_python(made)


def _is_from(number: TracedArray, low: int, high: int) -> TracedArray:
    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        return _within(builder, refs[0], low, high)

    return emit_scalar("is_from", [as_strong(number)], [I64], BOOL, compute)


def _within(builder: PayloadBuilder, ref: int, low: int, high: int) -> int:
    above = builder.op("greater_equal", [ref, builder.const(low, I64)], BOOL)
    below = builder.op("less_equal", [ref, builder.const(high, I64)], BOOL)
    return builder.op("logical_and", [above, below], BOOL)


def _ranges(property_: str) -> tuple[tuple[int, int], ...]:
    """The numbers of the characters of ASCII that have a property, as ranges."""
    numbers = [1 + k for k in range(_ASCII) if getattr(chr(k), property_)()]
    starts = [k for k in numbers if k - 1 not in numbers]
    ends = [k for k in numbers if k + 1 not in numbers]
    return tuple(zip(starts, ends, strict=True))


_PROPERTIES = ("isalpha", "isdigit", "isdecimal", "isnumeric", "isalnum", "isspace")
_RANGES = {name: _ranges(name) for name in (*_PROPERTIES, "isupper", "islower")}
_METHODS = frozenset((*_RANGES, "upper", "lower"))


def _install(name: str) -> None:
    def method(self: TracedText) -> TracedArray:
        return self.has(name)

    method.__name__ = name
    setattr(TracedText, name, method)


for _name in _RANGES:
    _install(_name)


@primitive(ord)
def _ord(text: Any) -> Any:
    return text.point() if isinstance(text, TracedText) else NotImplemented


@primitive(chr)
def _chr(point: Any) -> Any:
    if not is_python_number(point) or not needs_kernel(point):
        return NotImplemented
    number = arithmetic(np.add, as_kernel_number(point, Kind.PYTHON, I64), 1)
    made = TracedText(current_trace(), number, is_character=True)
    made._require(1, CHARACTERS, "makes a character of a number that is none")
    return made


def converted(text: TracedText, kind: type) -> Any:
    """``int(text)``, ``float(text)``, of a digit."""
    return text.digit() if kind is int else as_kernel_number(text.digit(), Kind.PYTHON, F64)
