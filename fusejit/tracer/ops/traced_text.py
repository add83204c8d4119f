"""`TracedText`: a string that only the kernel knows, by its number.

The number is that of one character or of a string of the program's text
(`fusejit.ir.traced.Texts`), or one that the call has given to a string that it was given or has
made (`fusejit.tracer.strings.string_table`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.ops import Assert, Block
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.results import CHARACTERS, Texts
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
    number_type,
)
from fusejit.tracer.program.active_trace import makes_text
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.operand_types import BOOL, F64, I64
from fusejit.tracer.values.operations import TextOperations
from fusejit.tracer.values.union_scalar import is_union_scalar

OF_TEXT = (Kind.TEXT, I64)
"""The type of strings among those of numbers."""
OF_CHARACTER = (Kind.TEXT, np.dtype(np.uint32))
"""The type of strings of one character."""
OF_NUMBER = (Kind.PYTHON, I64)
"""The type of their numbers."""
STRINGS = ("strings",), "constants"
"""The key of the decision that calls number strings: those of the program's text, in order."""
_ASCII = 128
_LAST_SPACE = 0x3000
"""The last character for which ``isspace`` is true."""
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

    def may_be_long(self) -> bool:
        """Whether it may have several characters."""
        if self.is_character:
            return False
        return STRINGS in self.trace.table or self.trace.owned(Texts).has_longer()

    def view(self) -> Any:
        """The string as one whose characters kernels read."""
        return TEXT_OPS.view(self)

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
        """Leave a string to Python that has several characters."""
        self._require(0, CHARACTERS, "joins a string of several characters")

    # -- what programs do with it -----------------------------------------------------------------
    def size(self) -> Any:
        """``len(text)``."""
        if self.may_be_long():
            return self.view().size()
        self.require_character()
        return 1

    def truth(self) -> TracedArray | bool:
        """Whether it is not empty."""
        if self.is_character:
            return True
        found: TracedArray = as_python(arithmetic(np.not_equal, as_strong(self.number), 0))
        return found

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

    def has(self, property_: str) -> Any:
        """``text.isdigit()`` and its like, of characters of ASCII; of all for ``isspace``."""
        if self.may_be_long():
            return getattr(self.view(), property_)()
        if property_ != "isspace":
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

    def upper(self) -> Any:
        """``text.upper()``."""
        return self.view().upper() if self.may_be_long() else self.in_case("a", "z", -_CASES)

    def lower(self) -> Any:
        """``text.lower()``."""
        return self.view().lower() if self.may_be_long() else self.in_case("A", "Z", _CASES)

    def items(self) -> Any:
        """The items of a loop over it."""
        return self.view().items()

    def contains(self, item: Any) -> Any:
        """``part in text``."""
        return self.view().contains(item)

    def has_any(self) -> Any:
        """``any(text)``."""
        return self.truth()

    def has_all(self) -> bool:
        """``all(text)``: no character is empty."""
        return True

    def __getitem__(self, index: Any) -> Any:
        return self.view()[index]

    def __mul__(self, count: Any) -> Any:
        return self.view() * count

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        if is_union_scalar(other):
            return NotImplemented  # which knows what it may be here
        return TEXT_OPS.added(self, other) if is_string(other) else self._refuse()

    def __radd__(self, other: Any) -> Any:
        if is_union_scalar(other):
            return NotImplemented
        return TEXT_OPS.added(other, self) if is_string(other) else self._refuse()

    def user_attribute(self, name: str) -> Any:
        """``text.name`` in the user's program."""
        return getattr(self, name) if name in _METHODS else self.view().user_attribute(name)

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

    __bool__ = __len__ = __iter__ = __hash__ = __contains__ = as_array = _refuse
    __mod__ = __rmod__ = _refuse

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    __str__ = __repr__


def is_string(obj: Any) -> bool:
    """Whether the program sees a string."""
    return type(obj) is str or is_kernel_string(obj)


def is_kernel_string(obj: Any) -> bool:
    """Whether it is a string that only the kernel knows."""
    return isinstance(obj, TracedContainer) and obj.python_type is str


def type_of_text(obj: Any) -> tuple[Kind, np.dtype]:
    """The type of a string."""
    is_character = len(obj) == 1 if type(obj) is str else getattr(obj, "is_character", False)
    return OF_CHARACTER if is_character else OF_TEXT


def number_of_text(obj: Any) -> Any:
    """The number of a string: an int, of one of the program."""
    if type(obj) is not str:
        return obj.number
    trace = current_trace()
    texts, known = trace.owned(Texts), trace.table.get(STRINGS)
    if known is not None and not texts.knows(obj):
        trace.table[STRINGS] = (*known, obj)  # the end of the trace starts it again
    return texts.number(obj)


def kernel_number_of_text(obj: Any) -> TracedArray:
    """The number of a string as a value of the kernel."""
    return as_kernel_number(number_of_text(obj), Kind.PYTHON, I64)


def compared(ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
    """A comparison of two objects, of which one is a string of the kernel."""
    if not all(map(is_string, operands)):
        if ufunc not in (np.equal, np.not_equal) or hasattr(operands[1], "__array_ufunc__"):
            return NotImplemented
        return ufunc is np.not_equal
    is_order = ufunc not in (np.equal, np.not_equal)  # numbers of others are not in that of strings
    if is_order and any(map(_may_be_long, operands)):
        return TEXT_OPS.compared(ufunc, *operands)
    if is_order:
        for text in operands:
            if isinstance(text, TracedText) and not text.is_character:
                text._require(0, CHARACTERS, "compares strings of several characters")
    return as_python(arithmetic(ufunc, *map(number_of_text, operands)))


def _may_be_long(text: Any) -> bool:
    if type(text) is str:
        return len(text) > 1
    return not isinstance(text, TracedText) or text.may_be_long()


def contained(text: TracedText, others: Any) -> Any:
    """``text in others``: one of a string's characters, or of some strings."""
    if type(others) is str:
        if text.may_be_long():
            return TEXT_OPS.view(others).contains(text)
        if not text.is_character:
            text._require(0, CHARACTERS, "looks for a string in another one")
        return _any([text == one for one in ("", *dict.fromkeys(others))])
    return _any([text == one for one in others if is_string(one)])


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
    """The numbers of the characters that have a property, as ranges; of ASCII for most."""
    last = _LAST_SPACE if property_ == "isspace" else _ASCII - 1
    numbers = {1 + k for k in range(last + 1) if getattr(chr(k), property_)()}
    starts = sorted(k for k in numbers if k - 1 not in numbers)
    ends = sorted(k for k in numbers if k + 1 not in numbers)
    return tuple(zip(starts, ends, strict=True))


_PROPERTIES = ("isalpha", "isdigit", "isdecimal", "isnumeric", "isalnum", "isspace")
_RANGES = {name: _ranges(name) for name in (*_PROPERTIES, "isupper", "islower")}
_METHODS = frozenset((*_RANGES, "upper", "lower"))
TEXT_OPS = TextOperations()


def _install(name: str) -> None:
    def method(self: TracedText) -> Any:
        return self.has(name)

    method.__name__ = name
    setattr(TracedText, name, method)


for _name in _RANGES:
    _install(_name)


@primitive(ord)
def _ord(text: Any) -> Any:
    return NotImplemented if type(text) is str or not is_string(text) else text.point()


@primitive(chr)
def _chr(point: Any) -> Any:
    if not is_python_number(point) or not needs_kernel(point):
        return NotImplemented
    if number_type(point)[1].kind not in "bi":
        raise numpy_raises("TypeError: 'float' object cannot be interpreted as an integer")
    number = arithmetic(np.add, as_kernel_number(point, Kind.PYTHON, I64), 1)
    made = TracedText(current_trace(), number, is_character=True)
    made._require(1, CHARACTERS, "makes a character of a number that is none")
    return made


def converted(text: Any, kind: type) -> Any:
    """``int(text)``, ``float(text)``."""
    if _may_be_long(text):
        return TEXT_OPS.view(text).converted(kind)
    return text.digit() if kind is int else as_kernel_number(text.digit(), Kind.PYTHON, F64)
