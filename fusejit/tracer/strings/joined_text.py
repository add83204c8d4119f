"""`JoinedText`: a string that the program makes of characters: ``out += c``, ``"".join(xs)``.

Its characters are the items of a list of its own. ``out += c`` appends to it where no other name
has the string, as CPython does, and to a copy elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from fusejit.ir.affine import AffineExpr
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.host import effects
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.lists.aliases import ContainersByKey
from fusejit.tracer.lists.item_forms import NumberForm
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.ops.kernel_numbers import is_kernel_integer
from fusejit.tracer.ops.traced_text import (
    OF_CHARACTER,
    TEXT_OPS,
    TracedText,
    is_kernel_string,
    is_string,
)
from fusejit.tracer.ops.union_types import only
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.locations import MOVE_OUTSIDE, current_location
from fusejit.tracer.program.python_state import has_one_name
from fusejit.tracer.strings import string_methods
from fusejit.tracer.strings.string_view import StringView, characters_of, view_of_constant
from fusejit.tracer.values.captured_reads import LONG_TEXT
from fusejit.tracer.values.containers import TracedContainer

_ZERO = AffineExpr.const(0)


class JoinedText(StringView):
    """A string that the program makes.

    Parameters
    ----------
    trace : Trace
    key : tuple
        A visit of the place in the program that makes it.

    Attributes
    ----------
    added_to : object
        The string that it was copied from, where the program adds to that.
    """

    added_to: Any = None
    is_changing = True

    def __init__(self, trace: Trace, key: tuple[Any, ...]) -> None:
        super().__init__(trace, self._load, _ZERO, _ZERO)
        self.key = key
        trace.owned(ContainersByKey)[key] = self
        self.pieces = TracedList(trace, (key, "pieces"))
        self.pieces.use_form(NumberForm(OF_CHARACTER))

    def _load(self, at: AffineExpr) -> TracedText:
        return TracedText(self.trace, self.pieces.load(at).number, is_character=True)

    def length(self) -> AffineExpr:
        """The number of characters at this place of the program."""
        return self.pieces.length()

    def refuse(self, what: str, remedy: str = MOVE_OUTSIDE) -> NoReturn:
        """Start again with Python's string."""
        if self.trace.table.get((self.key, "list")) is True:
            self.trace.table[self.key, "list"] = (what, remedy)
            raise Retrace
        super().refuse(what, remedy)

    # -- a container that names are bound to ------------------------------------------------------
    def is_like(self, other: Any) -> bool:
        """Whether another object is such a string."""
        return isinstance(other, JoinedText)

    def made_like(self, key: tuple[Any, ...]) -> JoinedText:
        """A new string, which is empty."""
        return JoinedText(self.trace, key)

    def require_form_of(self, other: JoinedText) -> None:
        """Nothing: all have characters."""

    def moves_from(self, other: JoinedText) -> list[Any]:
        """The stores that give this string the characters of another one."""
        return self.pieces.moves_from(other.pieces)

    def take(self, other: JoinedText) -> None:
        """Have the characters of another string."""
        self.pieces.take(other.pieces)

    # -- what programs do with it -----------------------------------------------------------------
    def __getitem__(self, index: Any) -> Any:
        part = super().__getitem__(index)
        return copied(part) if type(index) is slice else part  # this one's memory may change

    def __iadd__(self, other: object) -> Any:
        made = self if self.is_changing and has_one_name(self) else copied(self)
        made.append(only(other, strings=True))
        return made

    def append(self, other: Any) -> None:
        """Append the characters of a string."""
        if isinstance(other, TracedText) and not other.may_be_long():
            if not other.is_character:
                other.require_short()
            self.trace.inlined(string_methods.append_some, (self.pieces, other))
        elif is_string(other):
            self.trace.inlined(string_methods.append_all, (self.pieces, TEXT_OPS.view(other)))
        else:
            self.refuse(f"adds an object of type {type(other).__name__} to a string")


def added(left: Any, right: Any) -> JoinedText:
    """``left + right``."""
    made = copied(TEXT_OPS.view(left))
    made.append(right)
    made.added_to = left
    return fixed(made)


def of_string(name: str, left: Any, right: Any) -> Any:
    """``text + other``, ``text * n`` of a string of Python's; NotImplemented if it is Python's."""
    sides = (left, right)
    if name == "add" and max(len(side) for side in sides if type(side) is str) > LONG_TEXT:
        for side in sides:
            if type(side) is str:
                current_trace().captured_reads.ask_for_characters(side)
    if name == "mul":
        text, count = sides if type(left) is str else reversed(sides)
        if is_kernel_integer(count):
            return view_of_constant(current_trace(), text) * count
    return NotImplemented


def decimal(number: Any) -> JoinedText:
    """``str(number)``, of an integer that only the kernel knows."""
    made: JoinedText = current_trace().inlined(string_methods.decimal, (number,))
    return made


def f_string(
    exact: Callable[[Any], Any], invoke: Callable[..., Any], is_printed: bool, *parts: Any
) -> Any:
    """An f-string: its literal parts, and its values with conversion and format.

    ``exact`` is what text is made of, and ``invoke`` calls a function of the program.
    """
    if is_printed:
        return invoke(effects.text, parts, {})
    pieces = [_piece(exact, part) for part in parts]
    if all(type(piece) is str for piece in pieces):
        return "".join(pieces)
    trace = current_trace()
    made = JoinedText(trace, trace.visit(("f-string", current_location())))
    for piece in pieces:
        made.append(piece)
    return fixed(made)


def _piece(exact: Callable[[Any], Any], part: Any) -> Any:
    """The string of a part of an f-string."""
    if type(part) is str:
        return part
    value, conversion, spec = part
    is_unformatted = conversion in (-1, ord("s")) and not spec
    if is_unformatted and is_kernel_string(value):
        return value
    if is_unformatted and is_kernel_integer(value):
        return decimal(value)
    return effects.formatted(exact(value), conversion, spec)


def fixed(made: JoinedText) -> JoinedText:
    """A string that is complete: what adds to it makes another one."""
    made.is_changing = False
    return made


def copied(text: StringView) -> JoinedText:
    """A string of its own."""
    trace = text.trace
    made = JoinedText(trace, trace.visit(("copied text", current_location())))
    made.append(text)
    return made


def displayed_text(trace: Trace, key: tuple[Any, ...], text: str) -> JoinedText:
    """A string of the program's text to which a loop adds."""
    made = JoinedText(trace, key)
    made.append(text)
    return made


@primitive(str.join)
def _join(separator: Any, items: Any) -> Any:
    is_listed = type(items) in (list, tuple) and any(map(is_kernel_string, items))
    if not is_listed and not isinstance(items, TracedContainer | Items):
        return NotImplemented
    trace = current_trace()
    made = JoinedText(trace, trace.visit(("joined text", current_location())))
    trace.inlined(string_methods.join_all, (made, separator, items))
    return fixed(made)


@primitive(string_methods.empty)
def _empty() -> JoinedText:
    trace = current_trace()
    return JoinedText(trace, trace.visit(("new text", current_location())))


primitive(string_methods.fixed)(fixed)


@primitive(string_methods.add)
def _add(text: JoinedText, piece: Any) -> None:
    text.append(piece)


@primitive(str.split)
def _split(text: Any, *separator: Any) -> Any:
    if len(text) > LONG_TEXT:
        current_trace().captured_reads.ask_for_characters(text)
    return NotImplemented


def _of_constant(name: str) -> None:
    """A method of a constant string with a string of the kernel."""

    @primitive(getattr(str, name))
    def call(text: Any, *args: Any) -> Any:
        if len(args) != 1 or not is_string(args[0]) or type(args[0]) is str:
            return NotImplemented
        return characters_of(text).user_attribute(name)(*args)

    call.__name__ = name


for _name in ("find", "index", "count", "startswith", "endswith"):
    _of_constant(_name)
