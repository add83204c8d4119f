"""`StringTable`: the strings of several characters that a call is given or makes, with numbers.

Strings of one character, and the empty one, have numbers of their own (`fusejit.ir.traced.Texts`).
Of the others, those of the program's text come first. A string that is put into a container, is a
key or is carried by a loop is looked up by a hash of its characters, and appended if it is new.
Equal strings have one number, so that kernels compare and hash numbers.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.columns.list_columns import TextClass
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.results import CHARACTERS, Texts
from fusejit.ir.types import Kind
from fusejit.support.frame_readers import codes_in
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.indexing.kernel_indices import bound_number
from fusejit.tracer.keyed.keyed_container import KeyedContainer
from fusejit.tracer.lists.item_forms import NumberForm, TupleForm
from fusejit.tracer.lists.nested_list import as_affine_number
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.ops.changing_extents import rows
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, as_strong
from fusejit.tracer.ops.traced_text import OF_NUMBER, STRINGS, TracedText
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.strings import string_methods, table_methods
from fusejit.tracer.strings.string_view import StringView, view_of_constant
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, I64

_ZERO = AffineExpr.const(0)
_LONGEST_CONSTANT = 100
"""Characters of a string of the program's text; longer ones are documentation."""


class StringTables:
    """The table of a trace, if it has one, and how many strings it began with."""

    def __init__(self) -> None:
        self.made: StringTable | None = None
        self.num_constants = 0


class StringTable:
    """The strings of a call.

    Parameters
    ----------
    trace : Trace

    Attributes
    ----------
    codes : KeyedContainer
        The hash of each string.
    spans : TracedList
        Where the characters of each begin, and how many there are. The first of all is no string.
    points : TracedList
        The code points of all.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.codes = KeyedContainer(trace, ("strings", "codes"))
        self.spans = TracedList(trace, ("strings", "spans"))
        self.points = TracedList(trace, ("strings", "points"))
        number = NumberForm(OF_NUMBER)
        for items, form in (
            (self.codes.keys_list, number),
            (self.spans, TupleForm(tuple, (number, number))),
            (self.points, number),
        ):
            items.use_form(form)

    def begin(self, constants: tuple[str, ...]) -> None:
        """Begin with the strings of the program's text."""
        texts = self.trace.owned(Texts)
        for text in constants:
            texts.number(text)
        lengths = np.array([0, *map(len, constants)])
        _fill(self.spans, lengths.cumsum() - lengths, lengths)
        if constants:
            (points,) = TextClass().columns("".join(constants))
            _fill(self.points, points.astype(np.int64))
            _fill(self.codes.keys_list, np.array([*map(table_methods.code_of, constants)]))
            self.trace.inlined(table_methods.enter_all, (self.codes,))

    def string(self, entry: Any) -> StringView:
        """The string with the characters of a span."""
        start, size = self.spans.load(as_affine_number(entry))
        return StringView(self.trace, self._character, self._bound(start), self._bound(size))

    def _bound(self, number: TracedArray) -> AffineExpr:
        return bound_number(self.trace, number.value(), _ZERO, None)

    def _character(self, at: AffineExpr) -> TracedText:
        point = self.points.load(at)
        number = emit_scalar("character", [as_strong(point)], [I64], I64, _next)
        return TracedText(self.trace, number, is_character=True)

    def view(self, text: TracedText) -> StringView:
        """The string with a number, of one character or of more."""
        own = as_strong(text.number)
        entry = emit_scalar("entry", [own], [I64], I64, _entry)
        start, size = self.spans.load(as_affine_number(entry))
        length = emit_scalar("length", map(as_strong, (own, size)), [I64] * 2, I64, _length)

        def load(at: AffineExpr) -> TracedText:
            point = self.points.load(at)  # of a string of one character, one that nothing uses
            number = emit_scalar("character", map(as_strong, (own, point)), [I64] * 2, I64, _either)
            return TracedText(self.trace, number, is_character=True)

        return StringView(self.trace, load, self._bound(start), self._bound(length))


def _fill(items: TracedList, *columns: np.ndarray) -> None:
    """Give a list its first items."""
    trace, length = items.trace, AffineExpr.const(len(columns[0]))
    items.require_room(length - 1)
    for target, column in zip(items.columns, columns, strict=True):
        source = trace.captured_reads.table(column)
        trace.store(rows(target, (length,)).memory(), source.value())
    items.set_length(length)


def _next(builder: PayloadBuilder, refs: list[int]) -> int:
    return builder.op("add", [refs[0], builder.const(1, I64)], I64)


def _is_longer(builder: PayloadBuilder, number: int) -> int:
    return builder.op("greater", [number, builder.const(CHARACTERS, I64)], BOOL)


def _entry(builder: PayloadBuilder, refs: list[int]) -> int:
    behind = builder.op("subtract", [refs[0], builder.const(CHARACTERS, I64)], I64)
    return builder.op("maximum", [behind, builder.const(0, I64)], I64)


def _length(builder: PayloadBuilder, refs: list[int]) -> int:
    short = builder.op("minimum", [refs[0], builder.const(1, I64)], I64)
    return builder.op("select", [_is_longer(builder, refs[0]), refs[1], short], I64)


def _either(builder: PayloadBuilder, refs: list[int]) -> int:
    point = _next(builder, refs[1:])
    return builder.op("select", [_is_longer(builder, refs[0]), point, refs[0]], I64)


# ------------------------------------------------------------------------------- the trace's table
def begin_table(trace: Trace, code: CodeType) -> None:
    """Make the table of a trace that needs one, before all loops and conditionals."""
    known = trace.table.get(STRINGS)
    if known is not None:
        constants = tuple(dict.fromkeys((*known, *_constants_of(code))))
        trace.table[STRINGS] = constants
        tables = trace.owned(StringTables)
        tables.made, tables.num_constants = StringTable(trace), len(constants)
        tables.made.begin(constants)


def require_all_strings(trace: Trace) -> None:
    """At the end, start again if the program has strings that the table did not begin with."""
    if len(trace.table.get(STRINGS, ())) != trace.owned(StringTables).num_constants:
        raise Retrace


def _constants_of(code: CodeType) -> Iterator[str]:
    """The strings of several characters in a function."""
    constants = (constant for one in codes_in(code) for constant in one.co_consts)
    strings = (constant for constant in constants if type(constant) is str)
    return (text for text in strings if 1 < len(text) <= _LONGEST_CONSTANT)


def string_table(trace: Trace) -> StringTable:
    """The table of a trace, which starts again if it has none."""
    made = trace.owned(StringTables).made
    if made is None:
        trace.table[STRINGS] = trace.owned(Texts).longer
        raise Retrace
    return made


def view_of(text: Any) -> StringView:
    """A string as one whose characters kernels read."""
    trace = current_trace()
    if isinstance(text, StringView):
        return text
    if type(text) is str:
        return view_of_constant(trace, text)
    if text.may_be_long():
        return string_table(trace).view(text)
    character = TracedText(trace, text.number, is_character=True)
    if text.is_character:
        return StringView(trace, lambda at: text, _ZERO, _ZERO + 1)
    text.require_short()
    size = as_kernel_number(text.truth(), Kind.PYTHON, I64).value()
    length = bound_number(trace, size, _ZERO, _ZERO + 1)
    return StringView(trace, lambda at: character, _ZERO, length)


def compared(ufunc: np.ufunc, left: Any, right: Any) -> Any:
    """The order of two strings."""
    left, right = view_of(left), view_of(right)
    if ufunc in (np.greater, np.greater_equal):
        left, right = right, left
    is_strict = ufunc in (np.less, np.greater)
    function = string_methods.comes_before if is_strict else string_methods.is_at_most
    return current_trace().inlined(function, (left, right))


def number_of(text: StringView) -> Any:
    """The number that the call gives a string."""
    trace = current_trace()
    return trace.inlined(table_methods.number_of, (string_table(trace), text))


@primitive(table_methods.slots_of)
def _slots_of(table: StringTable) -> Any:
    return table.codes.table


@primitive(table_methods.is_string)
def _is_string(table: StringTable, entry: Any, text: StringView) -> Any:
    return table.string(entry) == text


@primitive(table_methods.add)
def _add(table: StringTable, text: StringView, code: Any, slot: Any) -> Any:
    start = table.points.size()
    table.trace.inlined(table_methods.append_points, (table.points, text))
    table.spans.append((start, text.size()))
    return table.codes.add_key(code, slot) + 1


@primitive(table_methods.hash_of)
def _hash_of(text: StringView) -> Any:
    return current_trace().inlined(table_methods.code_of, (text,))
