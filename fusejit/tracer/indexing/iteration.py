"""What a ``for`` loop runs over: how many items, and the item of each number.

``range``, arrays (by rows), ``enumerate``, ``zip`` and ``reversed`` of them; any other iterable is
left to Python.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from fusejit.dataclass import dataclass, replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import Block
from fusejit.ir.payload import I64, PayloadBuilder
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.indexing.kernel_indices import (
    affine_index,
    bound_number,
    check_ends,
    counted,
    require_at_least,
    require_positive,
    scalar,
    symbol_of,
)
from fusejit.tracer.ops.kernel_numbers import is_kernel_number
from fusejit.tracer.program.active_trace import active_trace
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.symbolic_number import SymbolicNumber, affine_number, as_affine


@dataclass(slots=True)
class Cursor:
    """Where an iterator is: what was made in ``block`` can be run over once, and only there."""

    block: Block
    is_used: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A sequence of ``length`` items; ``item(k)`` is the one of number ``k``, an int or a number.

    It has none where the length is negative, as ``range(-1)``. An iterator, such as a ``zip``, has
    a cursor. Those of ``containers`` may become more, or fewer, while a loop runs over them; where
    they are items of one container, it ``follows``: it ends where there are no more. Of the keys of
    a dictionary, ``contains`` says whether one is among them.

    Python itself may iterate over it too, where the length is then exact.
    """

    length: AffineExpr
    item: Callable[[Any], Any]
    cursor: Cursor | None = None
    containers: tuple[TracedContainer, ...] = ()
    follows: bool = True
    contains: Callable[[Any], Any] | None = None

    def begin(self) -> None:
        """Note that something runs over the items."""
        if self.cursor is None:
            return
        if self.cursor.is_used or self.cursor.block is not current_trace().block:
            what = "may run over an iterator that was run over before"
            raise needs_python(what, "make another one where it is run over: zip(..)")
        self.cursor.is_used = True

    def refuse(self, *others: Any) -> NoReturn:
        """Leave to Python every use but a loop over it."""
        what = "does more with a range, a zip or the view of a dictionary than run over it"
        raise needs_python(what, "make a list of it, or do it outside the decorated function")

    user_attribute = __getitem__ = refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = refuse
    __hash__ = refuse
    __add__ = __sub__ = __mul__ = __and__ = __or__ = __xor__ = refuse
    __radd__ = __rsub__ = __rmul__ = __rand__ = __ror__ = __rxor__ = refuse

    def __repr__(self) -> str:
        if active_trace() is not None:
            raise needs_python(
                "makes text of an iterable of values that change with each call", MOVE_OUTSIDE
            )
        return f"<traced items, {self.length} of them>"

    def __iter__(self) -> Iterator[Any]:
        self.begin()
        count = current_trace().decisions.exactly(self.length, "the number of items of a loop")
        return (self.item(k) for k in range(count))

    def __len__(self) -> int:
        count = current_trace().decisions.exactly(self.length, "the number of items of a loop")
        return max(0, count)


def items_of(obj: Any) -> Items | None:
    """The items of something that a traced loop can run over."""
    if isinstance(obj, Items):
        return obj
    if isinstance(obj, TracedContainer):
        found: Items = obj.items()
        return found
    if type(obj) is range:
        start, step = obj.start, obj.step
        return Items(AffineExpr.const(len(obj)), lambda k: start + k * step)
    if isinstance(obj, TracedArray):
        if not obj.ndim:
            raise numpy_raises("TypeError: iteration over a 0-d array")
        return Items(obj.extents[0], lambda k: obj[k])
    if type(obj) is str:
        current_trace().captured_reads.ask_for_characters(obj)
    return None


def _affine(obj: Any) -> AffineExpr:
    if is_kernel_number(obj):
        return symbol_of(current_trace(), obj)
    return as_affine(obj, "TypeError: '{1}' object cannot be interpreted as an integer")


@primitive(range)
def range_of(*args: Any) -> Any:
    """``range`` with a bound that changes with each call or each iteration."""
    if not any(isinstance(a, SymbolicNumber) or is_kernel_number(a) for a in args):
        return NotImplemented
    if not 1 <= len(args) <= 3:
        raise numpy_raises("TypeError: range expected 1 to 3 arguments")
    start, stop = (0, args[0]) if len(args) == 1 else args[:2]
    step = args[2] if len(args) == 3 else 1
    trace = current_trace()
    varying = affine_index(trace, step)
    if varying is not None:
        return _range_of_steps(trace, start, stop, step, varying)
    step = step.__index__()
    if step == 0:
        raise numpy_raises("ValueError: range() arg 3 must not be zero")
    first, last = _affine(start), _affine(stop)
    check_ends(trace, *((last, first) if step > 0 else (first, last)), abs(step))
    distance = last - first if step > 0 else first - last
    length = trace.decisions.canonical((distance + (abs(step) - 1)).floordiv(abs(step)))

    def item(k: Any) -> Any:
        return affine_number(trace, first) + k * step

    return Items(length, item)


def _range_of_steps(trace: Trace, start: Any, stop: Any, step: Any, by: AffineExpr) -> Items:
    """A ``range`` whose step only the kernel knows, which must be positive."""
    require_positive(trace, by)
    first, last = _affine(start), _affine(stop)
    check_ends(trace, last, first, 1)

    def length(builder: PayloadBuilder, ref: Callable[[AffineExpr], int]) -> int:
        return counted(builder, ref(last - first), ref(by))

    count = scalar(trace, "length", I64, length)
    return Items(
        bound_number(trace, count, AffineExpr.const(0), None),
        lambda k: affine_number(trace, first) + k * step,
    )


def _iterator(length: AffineExpr, item: Callable[[Any], Any], *of: Items) -> Items:
    """Items that can be run over once, which runs over those that they are made of."""
    for items in of:
        items.begin()
    containers = tuple(one for items in of for one in items.containers)
    follows = length == of[0].length and len(of) == 1 and of[0].follows
    return Items(length, item, Cursor(current_trace().block), containers, follows)


@primitive(enumerate, complex=True)
def enumerate_of(iterable: Any, start: Any = 0) -> Any:
    """``enumerate`` of what a traced loop can run over."""
    items = _traced_items(iterable)
    if items is None:
        return NotImplemented
    first = affine_number(current_trace(), _affine(start))
    return _iterator(items.length, lambda k: (k + first, items.item(k)), items)


@primitive(builtins.reversed, complex=True)
def reversed_of(sequence: Any) -> Any:
    """``reversed`` of what a traced loop can run over."""
    items = _traced_items(sequence)
    if items is None:
        return NotImplemented
    if items.cursor is not None:
        raise numpy_raises("TypeError: an iterator is not reversible")
    last = affine_number(current_trace(), items.length - 1)
    made = _iterator(items.length, lambda k: items.item(last - k), items)
    return replace(made, follows=False)


@primitive(zip, complex=True)
def zip_of(*iterables: Any, **kwargs: Any) -> Any:
    """``zip`` of arrays and ranges; the shortest decides, with ``strict`` they are equally long."""
    strict = kwargs.pop("strict", False)
    if (
        kwargs
        or type(strict) is not bool
        or not any(_traced_items(i) is not None for i in iterables)
    ):
        return NotImplemented
    parts = [items_of(i) for i in iterables]
    if any(p is None for p in parts):
        return NotImplemented if strict else _zip_of_few(iterables, parts)
    known = [p for p in parts if p is not None]
    decisions = current_trace().decisions
    length = known[0].length
    for part in known[1:]:
        if strict:
            if not decisions.equal(length, part.length, "the sequences of a zip are equally long"):
                raise numpy_raises("ValueError: zip() arguments of different lengths")
        else:
            length = _shorter(length, part.length)
    return _iterator(length, lambda k: tuple(p.item(k) for p in known), *known)


def _zip_of_few(iterables: tuple[Any, ...], parts: list[Items | None]) -> Any:
    """``zip(p, xs)`` of a tuple or list of known length, which no other is shorter than."""
    short = [one for one, part in zip(iterables, parts, strict=True) if part is None]
    if not all(isinstance(one, tuple | list) for one in short):
        return NotImplemented
    count = min(map(len, short))
    return zip(
        *(
            one if part is None else _first_items(part, count)
            for one, part in zip(iterables, parts, strict=True)
        ),
        strict=False,
    )


def _first_items(items: Items, count: int) -> Iterator[Any]:
    """The first ``count`` items, or all of them if there are fewer."""
    trace, reason = current_trace(), "the shortest sequence of a zip"
    items.begin()
    if trace.decisions.is_local(items.length):
        require_at_least(trace, items.length, count, reason)
    elif not trace.decisions.at_most(count, items.length, reason):
        count = trace.decisions.exactly(items.length, reason)
    return (items.item(k) for k in range(count))


def _shorter(one: AffineExpr, other: AffineExpr) -> AffineExpr:
    """The smaller of two lengths, which a zip has."""
    trace = current_trace()
    try:
        is_one = trace.decisions.at_most(one, other, "the shortest sequence of a zip")
        return one if is_one else other
    except Varies:
        pass

    def least(builder: PayloadBuilder, ref: Callable[[AffineExpr], int]) -> int:
        return builder.op("minimum", [ref(one), ref(other)], I64)

    return bound_number(trace, scalar(trace, "shorter", I64, least), None, None)


def _traced_items(obj: Any) -> Items | None:
    """Items whose number is not an int of the program's text."""
    is_traced = isinstance(obj, Items | TracedArray | TracedContainer)
    return items_of(obj) if is_traced or type(obj) is str else None
