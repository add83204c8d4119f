"""`AnyList`: what programs do with lists, whatever memory their items are in."""

from __future__ import annotations

from typing import Any, NoReturn

from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import Assert
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.values import Value
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.indexing.kernel_indices import scalar
from fusejit.tracer.lists import list_methods
from fusejit.tracer.lists.comparisons import type_in_program
from fusejit.tracer.lists.item_forms import has_arrays
from fusejit.tracer.lists.places import INDEX_ERROR, ends_of, place_of
from fusejit.tracer.ops.kernel_numbers import truth_of
from fusejit.tracer.program.fallback import Retrace, numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer, add_methods
from fusejit.tracer.values.operand_types import BOOL, I64
from fusejit.tracer.values.symbolic_number import SymbolicNumber, affine_number, as_affine


class AnyList(TracedContainer):
    """A list of the kernel: the operations of Python's lists over a few of its memory.

    Attributes
    ----------
    trace : Trace
    key : tuple
        The key of the decisions about it.
    num_changes : int
        Of its length, so far.
    """

    python_type: type = list
    trace: Trace
    key: tuple[Any, ...]
    num_changes = 0
    is_long = False  # whether a long loop has put arrays into it
    is_own = False  # whether its items are in columns of its own, which can be copied

    # -- memory -----------------------------------------------------------------------------------
    def length(self) -> AffineExpr:
        """The number of items at this place of the program."""
        raise NotImplementedError

    def set_length(self, length: AffineExpr) -> None:
        """Have it hold that many items."""
        raise NotImplementedError

    def require_room(self, length: AffineExpr) -> None:
        """Make room for an item after so many."""
        raise NotImplementedError

    def note_moved(self) -> None:
        """Note that another list may be where one of its lists was."""
        raise NotImplementedError

    def load(self, at: AffineExpr) -> Any:
        """The item at a place where there is one."""
        raise NotImplementedError

    def store(self, at: AffineExpr, item: Any) -> None:
        """Store an item at a place where there is room."""
        raise NotImplementedError

    def has_at(self, at: AffineExpr, item: Any) -> bool:
        """Whether an item is the very one that is at a place, in memory."""
        return False

    # -- length -----------------------------------------------------------------------------------
    def size(self) -> SymbolicNumber | int:
        """``len(xs)``."""
        return affine_number(self.trace, self.length())

    def truth(self) -> TracedArray | bool:
        """Whether there are items."""
        size: Any = self.size()
        found: TracedArray | bool = truth_of(size > 0)
        return found

    # -- checks -----------------------------------------------------------------------------------
    def refuse(self, what: str, remedy: str = MOVE_OUTSIDE) -> NoReturn:
        """Leave an operation to Python; in a loop or a conditional, the whole list.

        So is a list of arrays that short loops have filled: they are unrolled.
        """
        is_of_arrays = has_arrays(getattr(self, "form", None))
        if self.trace.regions or (is_of_arrays and not self.is_long):
            self.leave_to_python(what, remedy)
        super().refuse(what, remedy)

    def leave_to_python(self, what: str, remedy: str) -> NoReturn:
        """Start again with Python's list."""
        if self.trace.table.get((self.key, "list")) is True:
            self.trace.table[self.key, "list"] = (what, remedy)
            raise Retrace
        super().refuse(what, remedy)

    def _check(self, condition: Value, error: str, reason: str) -> None:
        self.trace.emit(Assert(condition=condition, reason=reason, error=error))

    def _require_items(self, length: AffineExpr, what: str) -> None:
        """Raise IndexError where there are no items."""

        def has_items(builder: PayloadBuilder, ref: Any) -> int:
            return builder.op("greater", [ref(length), builder.const(0, I64)], BOOL)

        self._check(scalar(self.trace, "has_items", BOOL, has_items), INDEX_ERROR, what)

    def _index(self, index: Any, what: str) -> AffineExpr:
        """An index, counted from the start; raises IndexError where there is no such item."""
        return place_of(self.trace, index, self.length(), "list", what)

    # -- what programs do with it -----------------------------------------------------------------
    def require_not(self, other: Any) -> None:
        """Leave it to Python whether two lists are one where the trace may have two copies."""
        if not isinstance(other, AnyList) or other.python_type is not self.python_type:
            return
        if self.python_type is tuple:
            self.refuse("asks whether tuples are one")
        if self.may_be_another() and other.may_be_another():
            self.refuse("asks whether lists are one that were bound under a condition")

    def may_be_another(self) -> bool:
        """Whether another list of the trace may be the same object of the program."""
        raise NotImplementedError

    def methods(self) -> frozenset[str]:
        """Those of Python's lists, or tuples, that are compiled."""
        return _OF_TUPLES if self.python_type is tuple else _METHODS

    def append(self, item: Any) -> None:
        """``xs.append(item)``."""
        length = self.length()
        self.require_room(length)
        self.store(length, item)
        self.set_length(length + 1)

    def pop(self, *index: Any) -> Any:
        """``xs.pop()``; see `list_methods.pop` for other places than the end."""
        if index and not (type(index[0]) is int and index[0] == -1):
            return self.trace.inlined(list_methods.pop, (self, *index))
        length = self.length()
        self._require_items(length, "pop from empty list")
        item = _taken(self.load(length - 1))
        self.set_length(length - 1)
        self.note_moved()
        return item

    def taken(self) -> Any:
        """What stands for it when it is taken out of the list that it is in."""
        return self

    def clear(self) -> None:
        """``xs.clear()``."""
        self.set_length(AffineExpr.const(0))
        self.note_moved()

    def __getitem__(self, index: Any) -> Any:
        if type(index) is slice:
            return self._part(index)
        what = f"{self.python_type.__name__} index out of range"
        return self.load(self._index(index, what))

    def __setitem__(self, index: Any, item: Any) -> None:
        if self.python_type is tuple:
            raise numpy_raises("TypeError: 'tuple' object does not support item assignment")
        if type(index) is slice:
            self._put_part(index, item)
            return
        at = self._index(index, "list assignment index out of range")
        if not self.has_at(at, item):
            self.store(at, item)
            self.note_moved()

    def _part(self, index: slice) -> Any:
        """``xs[i:j:k]``, a list of its own."""
        step = 1 if index.step is None else index.step
        if type(step) is not int or not step:
            self._refuse()
        made = self.trace.inlined(list_methods.part, (self, *self._ends(index, step), step))
        return of_kind(made, self.python_type)

    def _put_part(self, index: slice, items: Any) -> None:
        """``xs[i:j:k] = ys``."""
        step = 1 if index.step is None else index.step
        if type(step) is not int or not step or self.python_type is not list:
            self._refuse()
        if type_in_program(items) not in _SEQUENCES:
            items = self.trace.inlined(list_methods.copied, (items,))
        if step == 1:
            self.trace.inlined(list_methods.put_part, (self, *self._ends(index, 1), items))
        else:
            ends = self._ends(index, step)
            self.trace.inlined(list_methods.put_steps, (self, *ends, step, items))

    def _ends(self, index: slice, step: int) -> tuple[Any, Any]:
        """The first place of a slice, and how many there are."""
        return ends_of(self.trace, index, step, self.length())

    def has_any(self) -> Any:
        """``any(xs)``."""
        return self.trace.inlined(list_methods.has_any, (self,))

    def has_all(self) -> Any:
        """``all(xs)``."""
        return self.trace.inlined(list_methods.has_all, (self,))

    def contains(self, item: Any) -> Any:
        """``item in xs``."""
        return self.trace.inlined(list_methods.contains, (self, item))

    def __eq__(self, other: object) -> Any:
        if type_in_program(other) is not self.python_type:  # a deque never equals a list
            return False
        return self.trace.inlined(list_methods.equals, (self, other))

    def __ne__(self, other: object) -> Any:
        if type_in_program(other) is not self.python_type:
            return True
        return self.trace.inlined(list_methods.differs, (self, other))

    def __lt__(self, other: Any) -> Any:
        return self.trace.inlined(list_methods.comes_first, (self, other))

    def __gt__(self, other: Any) -> Any:
        return self.trace.inlined(list_methods.comes_first, (other, self))

    def __le__(self, other: Any) -> Any:
        return self.trace.inlined(list_methods.comes_not_last, (self, other))

    def __ge__(self, other: Any) -> Any:
        return self.trace.inlined(list_methods.comes_not_last, (other, self))

    __hash__ = TracedContainer.__hash__

    def __add__(self, other: Any) -> Any:
        return self._joined(self, other)

    def __radd__(self, other: Any) -> Any:
        return self._joined(other, self)

    def _joined(self, left: Any, right: Any) -> Any:
        """``left + right``, both lists or both tuples."""
        for one in (left, right):
            _require_kind(one, self.python_type)
        made = self.trace.inlined(list_methods.joined, (left, right))
        return of_kind(made, self.python_type)

    def __iadd__(self, other: Any) -> Any:
        if self.python_type is tuple:
            return self + other
        self.trace.inlined(list_methods.extended, (self, other))
        return self

    def __imul__(self, count: Any) -> Any:
        if self.python_type is tuple:
            return self * count
        self.trace.inlined(list_methods.multiplied, (self, count))
        return self

    def __mul__(self, count: Any) -> Any:
        _require_kind(self, self.python_type)
        made = self.trace.inlined(list_methods.repeated, (self, count))
        return of_kind(made, self.python_type)

    __rmul__ = __mul__

    def items(self) -> Items:
        """The items of a loop over it."""
        return Items(self.length(), self._item, containers=(self,))

    def _item(self, at: Any) -> Any:
        return self.load(as_affine(at))

    def __delitem__(self, index: Any) -> None:
        if self.python_type is tuple:
            raise numpy_raises("TypeError: 'tuple' object does not support item deletion")
        if type(index) is not slice:
            self.trace.inlined(list_methods.delete, (self, index))
            return
        if index.step not in (None, 1) or self.python_type is not list:
            self._refuse()
        self.trace.inlined(list_methods.delete_part, (self, *self._ends(index, 1)))


@primitive(list_methods.taken)
def _taken(item: Any) -> Any:
    return item.taken() if isinstance(item, AnyList) else item


_WRITTEN_OUT = {
    "copy": list_methods.copied,
    "extend": list_methods.extended,
    **{
        function.__name__: function
        for function in (
            *(list_methods.insert, list_methods.index, list_methods.count, list_methods.remove),
            *(list_methods.reverse, list_methods.sort),
        )
    },
}
_OF_TUPLES = frozenset(("index", "count", "__getitem__"))
_SEQUENCES = (list, tuple, range)
_METHODS = frozenset(("append", "pop", "clear", "__getitem__", *_WRITTEN_OUT))


def of_kind(made: Any, kind: type) -> Any:
    """The same new list, as a tuple if that is the ``kind``."""
    if type(made) is list:  # left to Python
        return made if kind is list else tuple(made)
    made.python_type = kind
    return made


def _require_kind(obj: Any, wanted: type) -> None:
    kind = type_in_program(obj)
    if kind is not wanted or wanted not in (list, tuple):
        what = f"makes a {wanted.__name__} of a {kind.__name__} by + or *"
        raise needs_python(what, "convert it with list(..)")


add_methods(AnyList, _WRITTEN_OUT)
