"""`StringView`: a string whose characters kernels read, or a part of one.

A string argument is a constant of its variant until the program asks for characters of which only
the kernel knows the place: ``for c in text``, ``text[i]``. Then the trace starts again, and each
call makes an array of its code points. A string with which the program does more than kernels can
is a constant again, in another attempt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from fusejit.ir.affine import AffineExpr
from fusejit.ir.host import Path
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.list_columns import TextClass
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.indexing.kernel_indices import bound_number
from fusejit.tracer.lists.columns import read_columns
from fusejit.tracer.lists.nested_list import as_affine_number
from fusejit.tracer.lists.places import ends_of, place_of
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, is_kernel_number, truth_of
from fusejit.tracer.ops.traced_text import TracedText, is_string
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.locations import MOVE_OUTSIDE
from fusejit.tracer.strings import string_methods
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.captured_reads import text_key
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.operand_types import I64, Operand
from fusejit.tracer.values.symbolic_number import SymbolicNumber, affine_number, as_affine

_ZERO = AffineExpr.const(0)
Load = Callable[[AffineExpr], TracedText | str]


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
    of : Path or None
        Where a call finds the whole string, if that is from outside.
    """

    python_type = str
    num_changes = 0
    path: Path | None = None  # where a call finds it, if it is all of a string from outside

    def __init__(
        self,
        trace: Trace,
        load: Load,
        start: AffineExpr,
        length: AffineExpr,
        step: int = 1,
        of: Path | None = None,
    ) -> None:
        self.trace, self.home, self.load = trace, trace.block, load
        self.start, self._length, self.step, self.of = start, length, step, of

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
        return StringView(self.trace, self.load, start, count, self.step * step, self.of)

    # -- what programs do with it -----------------------------------------------------------------
    def refuse(self, what: str, remedy: str = MOVE_OUTSIDE) -> NoReturn:
        """Start again, with the string as a constant."""
        table = self.trace.table
        if self.of is not None and table.get(text_key(self.of)) is True:
            table[text_key(self.of)] = (what, remedy)
            raise Retrace
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
        if isinstance(text, StringView):
            return text
        if type(text) is str:
            return view_of_constant(self.trace, text)
        if not isinstance(text, TracedText):
            self._refuse()
        if text.is_character:
            return StringView(self.trace, lambda at: text, _ZERO, _ZERO + 1)
        text.require_short()
        size = as_kernel_number(text.truth(), Kind.PYTHON, I64).value()
        length = bound_number(self.trace, size, _ZERO, _ZERO + 1)
        character = TracedText(self.trace, text.number, is_character=True)
        return StringView(self.trace, lambda at: character, _ZERO, length)

    def contains(self, item: Any) -> Any:
        """``part in text``."""
        return self.traced(string_methods.contains, self, item)

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
        return is_string(other) and self.traced(string_methods.equals, self, other)

    def __ne__(self, other: object) -> Any:
        return not is_string(other) or self.traced(string_methods.differs, self, other)

    def __lt__(self, other: object) -> Any:
        return self.traced(string_methods.comes_before, self, other)

    def __gt__(self, other: object) -> Any:
        return self.traced(string_methods.comes_before, other, self)

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        self.refuse("uses a string that only compiled code knows in a way that is not compiled")

    __bool__ = __len__ = __iter__ = __hash__ = __contains__ = __le__ = __ge__ = _refuse
    __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __rmod__ = __str__ = __repr__ = _refuse
    __format__ = as_array = _refuse


def argument_text(trace: Trace, path: Path, text: str) -> StringView | None:
    """The string at a path, if kernels are to read its characters."""
    if trace.table.get(text_key(path)) is not True:
        return None
    (points,) = read_columns(trace, path, TextClass(), text)
    made = StringView(trace, _reader(trace, points), _ZERO, points.extents[0], of=path)
    made.path = path
    return made


def view_of_constant(trace: Trace, text: str) -> StringView:
    """A string of the program's text as one whose characters kernels read."""
    length = AffineExpr.const(len(text))
    if len(text) < 2:
        return StringView(trace, lambda at: text, _ZERO, length)
    (points,) = TextClass().columns(text) or ()
    return StringView(trace, _reader(trace, trace.captured_reads.table(points)), _ZERO, length)


def characters_of(text: str) -> StringView:
    """A string of which the program asks for characters at places that only kernels know."""
    trace = current_trace()
    trace.captured_reads.ask_for_characters(text)
    return view_of_constant(trace, text)


def needs_places(index: Any) -> bool:
    """Whether an index or a slice has an integer that changes with each call or iteration."""
    ends = (index.start, index.stop) if type(index) is slice else (index,)
    return any(is_kernel_number(end) or isinstance(end, SymbolicNumber) for end in ends)


def _reader(trace: Trace, points: TracedArray) -> Load:
    """What loads the characters of an array of code points."""

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        return builder.op("add", [builder.cast(refs[0], I64), builder.const(1, I64)], I64)

    def load(at: AffineExpr) -> TracedText:
        element = TracedArray(points.storage, IndexingMap(0, (at,)), (), Kind.SCALAR)
        operand = Operand(points.dtype, array=element)
        number = emit_scalar("character", [operand], [points.dtype], I64, compute)
        return TracedText(trace, number, is_character=True)

    return load


_WRITTEN_OUT = {
    function.__name__: function
    for function in (
        *(string_methods.find, string_methods.index, string_methods.count),
        *(string_methods.startswith, string_methods.endswith),
    )
}
_METHODS = frozenset(_WRITTEN_OUT)


def _install(name: str, function: Callable[..., Any]) -> None:
    def method(self: StringView, *parts: Any) -> Any:
        if len(parts) != 1 or not is_string(parts[0]):
            self.refuse(f"calls str.{name} with arguments that are not compiled")
        return self.traced(function, self, *parts)

    method.__name__ = name
    setattr(StringView, name, method)


for _name, _function in _WRITTEN_OUT.items():
    _install(_name, _function)


@primitive(string_methods.find_in)
def _find_in(text: StringView, part: StringView) -> Any:
    return text.traced(string_methods.find, text, part)
