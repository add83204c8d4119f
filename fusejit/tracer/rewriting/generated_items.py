"""What generators return whose items the kernel computes: one by one, or all when a loop begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import BuiltinFunctionType
from typing import Any, NoReturn

import numpy as np

from fusejit.dataclass import replace
from fusejit.errors import ConcretizationError, UnsupportedError
from fusejit.ir.ops import Assert, Block, walk
from fusejit.ir.types import Kind
from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.iteration import Items, items_of
from fusejit.tracer.np.elementwise.ufuncs import operator_call
from fusejit.tracer.ops.checks import BEYOND_RANGE, LEFT_TO_PYTHON
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, is_number
from fusejit.tracer.ops.traced_text import TracedText
from fusejit.tracer.program.callables import CONSTANT_TYPES
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.program.unrolling import native_iter
from fusejit.tracer.strings.string_view import StringView
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import is_tuple
from fusejit.tracer.values.operand_types import BOOL
from fusejit.tracer.values.union_scalar import is_union_scalar

MAX_STEPS = 1 << 22
"""Items, and passes of loops, of a generator that runs at once."""
_REFUSALS = (
    *(UnsupportedError, ConcretizationError, Varies, Fallback),
    *(ArithmeticError, LookupError, TypeError, ValueError),
)


class Generated:
    """A generator that has not begun.

    Parameters
    ----------
    source : callable
        What it runs over, found when it begins.
    item : callable
        Computes what it yields.
    """

    may_end_early = False  # whether all items may be computed when it begins

    def __init__(self, source: Callable[[], Any], item: Callable[[Any], Any]) -> None:
        self._source, self._item = source, item
        self._running: Iterator[Any] | None = None

    def items(self) -> Any:
        """What a loop runs over that begins now: items of the kernel, or Python's own."""
        source = self._source()
        is_number = isinstance(source, TracedArray) and not source.ndim
        found: Items | None = None if is_number else items_of(source)
        if found is None:
            return map(self._item, native_iter(source))
        at = found.item
        return replace(found, item=lambda place: self._item(at(place)))

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._running is None:
            self._running = native_iter(self.items())
        return next(self._running)

    def begun(self, ends_early: bool) -> Any:
        """What a loop runs over that begins now, and perhaps ends before the last item."""
        return self.items()

    def user_attribute(self, name: str) -> NoReturn:
        """Refuse what a generator has and this has not."""
        raise needs_python(f"reads {name!r} of a generator", MOVE_OUTSIDE)


class Listed(Generated):
    """A generator that has not begun and that may run at once: see `listed_generators`.

    Parameters
    ----------
    run : callable
        Makes the list of its items.
    leave : callable
        Starts again with Python's generator.
    is_short : bool
        Whether it has few items: a loop that may end early need not ask for all.
    """

    def __init__(
        self, run: Callable[[], Any], leave: Callable[[], NoReturn], is_short: bool
    ) -> None:
        super().__init__(run, lambda item: item)
        self._leave, self.may_end_early = leave, is_short

    def begun(self, ends_early: bool) -> Any:
        """The list of the items."""
        if ends_early and not self.may_end_early:
            self._leave()
        return self.items()

    def items(self) -> Any:
        """The list of the items."""
        if self._running is not None:
            self._leave()
        self._running = iter(())  # a generator runs once
        try:
            return _at_once(self._source)
        except _REFUSALS:
            self._leave()

    def __next__(self) -> Any:
        self._leave()

    def user_attribute(self, name: str) -> NoReturn:
        """Start again with Python's generator."""
        self._leave()


def _at_once(make: Callable[[], Any]) -> Any:
    """Run ``make``. Python runs the call if it raises: the exception may come later there."""
    block = current_trace().block
    first = len(block.ops)
    made = make()
    for op in walk(Block(ops=block.ops[first:])):
        if isinstance(op, Assert) and op.error not in BEYOND_RANGE:
            op.error = LEFT_TO_PYTHON
    return made


def few_steps(count: Any) -> None:
    """Leave a generator to Python that has made so many steps at once: it may have no end."""
    few = operator_call(np.less, (as_kernel_number(count), MAX_STEPS))
    condition = as_kernel_number(few, Kind.PYTHON, BOOL).value()
    reason = "asks a generator for ever more items"
    current_trace().emit(Assert(condition=condition, reason=reason, error=LEFT_TO_PYTHON))


def never_changes(obj: Any) -> bool:
    """Whether an object is a number, a string, a range or a builtin, or a tuple of such."""
    if is_tuple(obj):
        return all(map(never_changes, obj))
    if isinstance(obj, BuiltinFunctionType | type):
        return obj.__module__ == "builtins"
    is_range = type(obj) is range or (isinstance(obj, Items) and not obj.containers)
    is_given = is_range or isinstance(obj, (*CONSTANT_TYPES, StringView))
    return is_given or is_number(obj) or is_union_scalar(obj) or isinstance(obj, TracedText)
