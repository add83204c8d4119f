"""`StringView`: a string whose characters kernels read, or a part of one.

A string argument is a constant of its variant until the program asks for characters of which only
the kernel knows the place: ``for c in text``, ``text[i]``. Then the trace starts again, and each
call makes an array of its code points. A string with which the program does more than kernels can
is a constant again, in another attempt.

Where a view is put into a container or compared by its number, the call gives it one
(`fusejit.tracer.strings.string_table`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.columns.list_columns import TextClass
from fusejit.ir.host import Path
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Assert, Block
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.indexing.kernel_indices import bound_number
from fusejit.tracer.lists.columns import read_columns
from fusejit.tracer.lists.nested_list import as_affine_number
from fusejit.tracer.lists.places import ends_of, place_of
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.ops.kernel_numbers import (
    as_kernel_number,
    is_kernel_number,
    is_number,
    truth_of,
)
from fusejit.tracer.ops.traced_text import TEXT_OPS, TracedText, compared, is_string
from fusejit.tracer.program.fallback import Retrace, catcher
from fusejit.tracer.program.locations import MOVE_OUTSIDE
from fusejit.tracer.strings import string_methods
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.captured_reads import text_key
from fusejit.tracer.values.containers import TracedContainer, add_methods
from fusejit.tracer.values.operand_types import I64, Operand
from fusejit.tracer.values.symbolic_number import SymbolicNumber, affine_number, as_affine
from fusejit.tracer.values.union_scalar import is_union_scalar

_ZERO = AffineExpr.const(0)
Load = Callable[[AffineExpr], TracedText | str]
Refused = Callable[[str, str], None]


class StringView(TracedContainer):
    """Characters of a string of the kernel.

    Parameters
    ----------
    trace : Trace
    load : callable
        The character of the whole string at a place where there is one.
    start, length : AffineExpr
        The place of the first character, and how many there are.
    step : int
        From one character to the next.
    refused : callable or None
        ``refused(what, remedy)`` starts again without the characters, if the trace can.
    """

    python_type = str
    num_changes = 0
    is_changing = False  # whether the program may add characters
    path: Path | None = None  # where a call finds it, if it is all of a string from outside

    def __init__(
        self,
        trace: Trace,
        load: Load,
        start: AffineExpr,
        length: AffineExpr,
        step: int = 1,
        refused: Refused | None = None,
    ) -> None:
        self.trace, self.home, self.load = trace, trace.block, load
        self.start, self._length, self.step = start, length, step
        self._refused = refused
        self._number: tuple[Block, TracedArray] | None = None

    @property
    def number(self) -> TracedArray:
        """The number that the call gives the string."""
        known = self._number
        if known is None or known[0] not in self.trace.blocks or self.is_changing:
            known = self._number = self.trace.block, TEXT_OPS.number(self)
        return known[1]

    def length(self) -> AffineExpr:
        """The number of characters."""
        return self._length

    def character(self, at: AffineExpr) -> TracedText | str:
        """The character at a place where there is one."""
        return self.load(self.start + at * self.step)

    def size(self) -> Any:
        """``len(text)``."""
        return affine_number(self.trace, self.length())

    def truth(self) -> Any:
        """Whether there are characters."""
        return truth_of(self.size() > 0)

    def items(self) -> Items:
        """The items of a loop over it."""
        return Items(self.length(), self._item, containers=(self,))

    def _item(self, at: Any) -> TracedText | str:
        return self.character(as_affine(at))

    def __getitem__(self, index: Any) -> Any:
        if type(index) is not slice:
            what = "string index out of range"
            return self.character(place_of(self.trace, index, self.length(), "string", what))
        step = 1 if index.step is None else index.step
        if type(step) is not int or not step:
            self._refuse()
        first, count = map(as_affine_number, ends_of(self.trace, index, step, self.length()))
        start = self.start + first * self.step
        return StringView(self.trace, self.load, start, count, self.step * step, self._refused)

    # -- what programs do with it -----------------------------------------------------------------
    def refuse(self, what: str, remedy: str = MOVE_OUTSIDE) -> NoReturn:
        """Leave to Python what is done with it, and read the whole string in another way."""
        if self._refused is not None:
            self._refused(what, remedy)
        super().refuse(what, remedy)

    def require_not(self, other: Any) -> None:
        """Leave it to Python whether two equal strings are one object."""
        if is_string(other):
            self.refuse("asks whether strings are one object", "compare them with ==")

    def traced(self, function: Callable[..., Any], *texts: Any) -> Any:
        """``function(*texts)`` of strings, as it is written in Python."""
        return self.trace.inlined(function, tuple(map(self._as_view, texts)))

    def _as_view(self, text: Any) -> StringView:
        """A string as one whose characters kernels read."""
        if not is_string(text):
            self._refuse()
        view: StringView = TEXT_OPS.view(text)
        return view

    def contains(self, item: Any) -> Any:
        """``part in text``."""
        return self.traced(string_methods.contains, self, item)

    def split(self, separator: Any = None) -> Any:
        """``text.split(..)``."""
        if separator is None:
            return self.trace.inlined(string_methods.words, (self,))
        if type(separator) is str and len(separator) == 1:
            return self.trace.inlined(string_methods.fields, (self, separator))
        return self.traced(string_methods.parts, self, separator)

    def replace(self, old: Any, new: Any) -> Any:
        """``text.replace(old, new)``."""
        if type(old) is not str or not old:
            self.refuse("calls str.replace for a string that may be empty")
        return self.traced(string_methods.replace, self, old, new)

    def converted(self, kind: type) -> Any:
        """``int(text)``, of digits."""
        if kind is not int:
            self.refuse("makes a float of a string that only compiled code knows")
        if catcher():  # Python raises ValueError for others
            self.refuse("makes a number of a string that may be none")
        return self.trace.inlined(string_methods.integer, (self,))

    def point(self) -> Any:
        """``ord(text)``; Python raises TypeError for strings of other lengths."""
        is_one = as_kernel_number(truth_of(self.size() == 1)).value()
        reason = "ord() is given a character"
        self.trace.emit(Assert(condition=is_one, reason=reason, error=LEFT_TO_PYTHON))
        character: Any = self.character(_ZERO)
        return ord(character) if type(character) is str else character.point()

    def methods(self) -> frozenset[str]:
        """Those of Python's strings that are compiled."""
        return _METHODS

    def has_any(self) -> Any:
        """``any(text)``."""
        return self.truth()

    def has_all(self) -> bool:
        """``all(text)``: no character is empty."""
        return True

    def __eq__(self, other: object) -> Any:
        if _is_number(other):
            return compared(np.equal, (self, other))
        return is_string(other) and self.traced(string_methods.equals, self, other)

    def __ne__(self, other: object) -> Any:
        if _is_number(other):
            return compared(np.not_equal, (self, other))
        return not is_string(other) or self.traced(string_methods.differs, self, other)

    def __lt__(self, other: object) -> Any:
        return self.traced(string_methods.comes_before, self, other)

    def __gt__(self, other: object) -> Any:
        return self.traced(string_methods.comes_before, other, self)

    def __le__(self, other: object) -> Any:
        return self.traced(string_methods.is_at_most, self, other)

    def __ge__(self, other: object) -> Any:
        return self.traced(string_methods.is_at_most, other, self)

    def __add__(self, other: object) -> Any:
        if is_union_scalar(other):
            return NotImplemented  # which knows what it may be here
        return TEXT_OPS.added(self, other) if is_string(other) else self._refuse()

    def __radd__(self, other: object) -> Any:
        if is_union_scalar(other):
            return NotImplemented
        return TEXT_OPS.added(other, self) if is_string(other) else self._refuse()

    def __mul__(self, count: Any) -> Any:
        if not is_number(count):
            self._refuse()
        return self.trace.inlined(string_methods.repeated, (self, count))

    __rmul__ = __mul__

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        self.refuse("uses a string that only compiled code knows in a way that is not compiled")

    __bool__ = __len__ = __iter__ = __hash__ = __contains__ = _refuse
    __mod__ = __rmod__ = __str__ = __repr__ = _refuse
    __format__ = as_array = _refuse


def argument_text(trace: Trace, path: Path, text: str) -> StringView | None:
    """The string at a path, if kernels are to read its characters."""
    if trace.table.get(text_key(path)) is not True:
        return None
    (points,) = read_columns(trace, path, TextClass(), text)
    refused = functools.partial(_as_constant, trace, path)
    made = StringView(trace, reader(trace, points), _ZERO, points.extents[0], refused=refused)
    made.path = path
    return made


def _as_constant(trace: Trace, path: Path, what: str, remedy: str) -> None:
    """Start again with a string argument as a constant."""
    if trace.table.get(text_key(path)) is True:
        trace.table[text_key(path)] = (what, remedy)
        raise Retrace


def part_of(
    points: TracedArray, refused: Refused, start: TracedArray, length: TracedArray
) -> StringView:
    """The string of some code points of an array."""
    trace = points.storage.trace
    numbers = (number.value() for number in (start, length))
    first, count = (bound_number(trace, number, _ZERO, None) for number in numbers)
    return StringView(trace, reader(trace, points), first, count, refused=refused)


def view_of_constant(trace: Trace, text: str) -> StringView:
    """A string of the program's text as one whose characters kernels read."""
    length = AffineExpr.const(len(text))
    if len(text) < 2:
        return StringView(trace, lambda at: text, _ZERO, length)
    (points,) = TextClass().columns(text) or ()
    return StringView(trace, reader(trace, trace.captured_reads.table(points)), _ZERO, length)


def characters_of(text: str) -> StringView:
    """A string of which the program asks for characters at places that only kernels know."""
    trace = current_trace()
    trace.captured_reads.ask_for_characters(text)
    return view_of_constant(trace, text)


def needs_places(index: Any) -> bool:
    """Whether an index or a slice has an integer that changes with each call or iteration."""
    ends = (index.start, index.stop) if type(index) is slice else (index,)
    return any(is_kernel_number(end) or isinstance(end, SymbolicNumber) for end in ends)


def reader(trace: Trace, points: TracedArray) -> Load:
    """What loads the characters of an array of code points."""

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        return builder.op("add", [builder.cast(refs[0], I64), builder.const(1, I64)], I64)

    def load(at: AffineExpr) -> TracedText:
        element = TracedArray(points.storage, IndexingMap(0, (at,)), (), Kind.SCALAR)
        operand = Operand(points.dtype, array=element)
        number = emit_scalar("character", [operand], [points.dtype], I64, compute)
        return TracedText(trace, number, is_character=True)

    return load


def _is_number(obj: Any) -> bool:
    """Whether it is a string that is better compared by its number."""
    return isinstance(obj, TracedText) and obj.may_be_long()


_OF_PARTS = {
    function.__name__: function
    for function in (
        *(string_methods.find, string_methods.index, string_methods.count),
        *(string_methods.startswith, string_methods.endswith),
    )
}
_WRITTEN_OUT = {
    function.__name__: function
    for function in (
        *(string_methods.lower, string_methods.upper, string_methods.strip),
        *(string_methods.lstrip, string_methods.rstrip, string_methods.isalpha),
        *(string_methods.isdigit, string_methods.isalnum, string_methods.isspace),
        *(string_methods.isupper, string_methods.islower),
    )
}
_METHODS = frozenset((*_OF_PARTS, *_WRITTEN_OUT, "split", "replace"))


def _install(name: str, function: Callable[..., Any]) -> None:
    def method(self: StringView, *parts: Any) -> Any:
        if len(parts) != 1 or not is_string(parts[0]):
            self.refuse(f"calls str.{name} with arguments that are not compiled")
        return self.traced(function, self, *parts)

    method.__name__ = name
    setattr(StringView, name, method)


for _name, _function in _OF_PARTS.items():
    _install(_name, _function)
add_methods(StringView, _WRITTEN_OUT)


@primitive(string_methods.is_stripped)
def _is_stripped(character: Any, characters: Any) -> Any:
    if characters is None:
        return character.isspace()
    return TEXT_OPS.view(characters).contains(character)


@primitive(string_methods.find_in)
def _find_in(text: StringView, part: StringView) -> Any:
    return text.traced(string_methods.find, text, part)
