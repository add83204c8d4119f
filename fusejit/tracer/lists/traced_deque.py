"""`TracedDeque`: a deque of the program whose items are in the memory of a kernel.

The items stand in a list. ``popleft`` leaves their first place; where most places are left, the
items move to the first ones.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.ir.payload import PayloadBuilder
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.kernel_indices import bound_number, scalar
from fusejit.tracer.lists import deque_methods, list_methods
from fusejit.tracer.lists.any_list import AnyList
from fusejit.tracer.lists.list_memory import lasting_memory
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, I64
from fusejit.tracer.values.symbolic_number import affine_number

_FEW = 256  # places that may be left


class TracedDeque(AnyList):
    """A deque that the function has made.

    Parameters
    ----------
    trace : Trace
    key : tuple
        A visit of the place in the program that makes it.
    maxlen : int, number of the trace or None
        How many items it holds at most.
    """

    python_type: type = deque
    keeps_size = True

    def __init__(self, trace: Trace, key: tuple[Any, ...], maxlen: Any = None) -> None:
        self.trace, self.key, self.home, self.maxlen = trace, key, trace.block, maxlen
        self._all = TracedList(trace, (key, "items"))
        self._first = lasting_memory(trace, "first", I64, ())
        self._num_left = 0
        self._set_first(AffineExpr.const(0))

    def changes(self) -> tuple[int, ...]:
        """How often it has changed so far; Python counts that, too, whatever its length is."""
        return (self._all.num_changes + self._num_left,) * 2

    # -- memory -----------------------------------------------------------------------------------
    def first(self) -> AffineExpr:
        """The place of the first item."""
        value = self._first.value()
        key = ("first", value)
        known = self.trace.locals.find_bound(key)
        if known is None:
            known = bound_number(self.trace, value, AffineExpr.const(0), None)
            self.trace.locals.note_bound(key, known)
        return known

    def _set_first(self, place: AffineExpr) -> None:
        value = scalar(self.trace, "first", I64, lambda builder, ref: ref(place))
        self.trace.store(self._first.memory(), value)
        self._num_left += 1

    def length(self) -> AffineExpr:
        """The number of items at this place of the program."""
        return self._all.length() - self.first()

    def set_length(self, length: AffineExpr) -> None:
        """Have it hold that many items."""
        self._all.set_length(self.first() + length)

    def require_room(self, length: AffineExpr) -> None:
        """Make room for an item after so many."""
        self._all.require_room(self.first() + length)

    def note_moved(self) -> None:
        """Note that another list may be where one of its lists was."""
        self._all.note_moved()

    def may_be_another(self) -> bool:
        """Whether another one of the trace may be the same object: none is copied."""
        return False

    def load(self, at: AffineExpr) -> Any:
        """The item at a place where there is one."""
        return self._all.load(self.first() + at)

    def store(self, at: AffineExpr, item: Any) -> None:
        """Store an item at a place where there is room."""
        self._all.store(self.first() + at, item)

    # -- parts of its methods ---------------------------------------------------------------------
    def lags(self) -> Any:
        """Whether most places are left."""
        first, end = self.first(), self._all.length()

        def compute(builder: PayloadBuilder, refs: Any) -> int:
            place = builder.index(first)
            many = builder.op("greater", [place, builder.const(_FEW, I64)], BOOL)
            most = builder.op("greater", [place, builder.index(end - first)], BOOL)
            return builder.op("logical_and", [many, most], BOOL)

        return emit_scalar("lags", [], [], BOOL, compute)

    def append_item(self, item: Any) -> None:
        """Append an item where there is room."""
        super().append(item)

    def pop_item(self) -> Any:
        """Take the last item away."""
        return super().pop()

    def advance(self) -> None:
        """Leave the first place."""
        self._set_first(self.first() + 1)
        self.note_moved()

    def has_place_before(self) -> Any:
        """Whether a place was left."""
        number: Any = affine_number(self.trace, self.first())
        return number > 0

    def retreat(self) -> None:
        """Take the place before the first one back."""
        self._set_first(self.first() - 1)
        self.note_moved()

    def compact(self) -> None:
        """Move the items to the first places, of which there are enough."""
        length = self.length()
        self._all.copy_items(self._all, self.first(), AffineExpr.const(0), length)
        self._all.set_length(length)
        self._set_first(AffineExpr.const(0))
        self.note_moved()

    # -- what programs do with it -----------------------------------------------------------------
    def methods(self) -> frozenset[str]:
        """Those of Python's deques that are compiled."""
        return _METHODS if self.maxlen is None else _BOUNDED

    def append(self, item: Any) -> None:
        """``q.append(item)``."""
        if self.maxlen is None:
            self.trace.inlined(deque_methods.push, (self, item))
        else:
            self.trace.inlined(deque_methods.push_bounded, (self, item, self.maxlen))

    def pop(self, *index: Any) -> Any:
        """``q.pop()``."""
        if index:
            raise numpy_raises("TypeError: deque.pop() takes no arguments")
        return self.trace.inlined(deque_methods.pop, (self,))

    def __getitem__(self, index: Any) -> Any:
        if type(index) is slice:
            raise numpy_raises("TypeError: sequence index must be integer, not 'slice'")
        return self.load(self._index(index, "deque index out of range"))

    def __setitem__(self, index: Any, item: Any) -> None:
        self.store(self._index(index, "deque index out of range"), item)
        self.note_moved()

    def as_array(self, dtype: Any = None) -> TracedArray:
        """``np.array(q)``."""
        return self.listed().as_array(dtype)

    def listed(self) -> TracedList:
        """``list(q)``."""
        made: TracedList = self.trace.inlined(list_methods.copied, (self,))
        return made


_WRITTEN_OUT = {
    function.__name__: function
    for function in (
        *(deque_methods.popleft, deque_methods.appendleft, deque_methods.extendleft),
        deque_methods.rotate,
    )
}
_METHODS = frozenset(
    (*_WRITTEN_OUT, "append", "pop", "clear", "extend", "index", "count", "reverse", "insert")
)
_BOUNDED = frozenset(("popleft", "append", "pop", "clear", "extend", "count"))


def _install(name: str, function: Any) -> None:
    def method(self: TracedDeque, *args: Any, **kwargs: Any) -> Any:
        return self.written_out(function, args, kwargs)

    method.__name__ = name
    setattr(TracedDeque, name, method)


for _name, _function in _WRITTEN_OUT.items():
    _install(_name, _function)
for _name in (
    *("lags", "append_item", "pop_item", "advance", "has_place_before", "retreat"),
    "compact",
):
    primitive(getattr(deque_methods, _name))(getattr(TracedDeque, _name))
