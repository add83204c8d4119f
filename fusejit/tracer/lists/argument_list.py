"""`ArgumentList`: a list from outside, of whose items each call makes columns.

A list of a few items, or of objects, is read item by item instead
(`fusejit.tracer.values.captured_reads`); so is one with which the program does more than kernels
can, in another attempt to trace.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.columns.list_columns import ListClass
from fusejit.ir.host import Path
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.results import ItemColumns, ListColumns
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.lists.any_list import AnyList
from fusejit.tracer.lists.arrays_of_lists import array_of_columns
from fusejit.tracer.lists.columns import read_columns
from fusejit.tracer.lists.item_forms import (
    ItemForm,
    ListForm,
    TextSource,
    form_of,
    has_texts,
    with_source,
)
from fusejit.tracer.lists.nested_list import NestedList
from fusejit.tracer.ops.traced_text import TEXT_OPS
from fusejit.tracer.program.callables import is_named_tuple
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.unrolling import is_large
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import I64

_ARGUMENT = ("argument",)
CHANGES = "changes"
"""The decision that the program changes a list: see `fusejit.tracer.lists.changed_lists`."""
_ONLY_WAY = "too long to be read item by item"
MAX_DEPTH = 8  # lists in lists
FEW = 4  # items of a list that is read item by item
_Forms = list[ItemForm]
_VALUES = (bool, int, float, complex, str, type(None))


class ArgumentList(AnyList):
    """A list that the program only reads.

    Parameters
    ----------
    trace : Trace
    key : tuple
        The key of the decisions about it.
    form : ItemForm
    inner : list of ItemForm
        Of a list of lists: the forms of their items, from the outermost to the innermost.
    columns : sequence of TracedArray
    """

    num_moves = 0
    may_change = False  # whether the program may be given a list that it can change

    def __init__(
        self,
        trace: Trace,
        key: tuple[Any, ...],
        form: ItemForm,
        inner: _Forms,
        columns: Sequence[TracedArray],
    ) -> None:
        self.trace, self.key, self.form = trace, key, form
        self.home = trace.blocks[0]
        count = 2 if isinstance(form, ListForm) else len(form.types())
        self._columns = tuple(columns[:count])
        if isinstance(form, ListForm):
            self.pools = {0: ArgumentList(trace, key, inner[0], inner[1:], columns[count:])}

    def refuse(self, what: str, remedy: str = "") -> NoReturn:
        """Start again, with items that are read one by one."""
        self.leave_to_python(what, remedy or "pass an array")

    def holds_lists(self) -> bool:
        """Whether its items are lists."""
        return isinstance(self.form, ListForm)

    def may_be_another(self) -> bool:
        """Each call decides which object it is."""
        return True

    @property
    def path(self) -> Path:
        """Where a call finds the first column."""
        origin = self._columns[0].storage.to_buffer().origin
        assert origin is not None
        path: Path = origin.attr
        return path

    def length(self) -> AffineExpr:
        """The number of items, which each call knows."""
        extent: AffineExpr = self._columns[0].extents[0]
        return extent

    def set_length(self, length: AffineExpr) -> None:
        """Start again with a list that may be changed, if there may be one."""
        table = self.trace.table
        if self.may_change and (self.key, CHANGES) not in table and not self.holds_lists():
            table[self.key, CHANGES] = True
            raise Retrace
        self.refuse("changes a list from outside", "change a copy: xs = xs[:]")

    def require_room(self, length: AffineExpr) -> None:
        """Refuse to change it."""
        self.set_length(length)

    def store(self, at: AffineExpr, item: Any) -> None:
        """Refuse to change it."""
        self.set_length(at)

    def store_field(self, field: int, at: AffineExpr, value: Value) -> None:
        """Refuse to change a list in it."""
        self.set_length(at)

    def note_moved(self) -> None:
        """Nothing moves."""

    def field(self, field: int, at: AffineExpr, kind: Kind) -> Value:
        """A number of an item; a list in it cannot grow."""
        if field == len(self._columns):
            self.set_length(at)
        place = IndexingMap(0, (at,))
        return TracedArray(self._columns[field].storage, place, (), kind).value()

    def load(self, at: AffineExpr) -> Any:
        """The item at a place where there is one."""
        if isinstance(self.form, ListForm):
            return NestedList(self, at)
        kinds = (kind for kind, _ in self.form.types())
        values = [self.field(field, at, kind) for field, kind in enumerate(kinds)]
        return self.form.item(self.trace, values)

    def as_array(self, dtype: np.dtype | None = None) -> TracedArray:
        """``np.array(xs)``."""
        return array_of_columns(self.form, self._columns, self.length(), dtype)


def argument_list(trace: Trace, path: Path, items: list[Any]) -> ArgumentList | None:
    """The list at a path, if kernels are to read its items in columns."""
    key = key_of(path)
    if is_part(path) or not may_have_columns(trace, path, items):
        return None
    columns_of = ItemsInColumns.of(items)
    if columns_of is None:
        return None
    note_way(trace, path, items)
    made = columns_of.listed(trace, key, read_columns(trace, path, columns_of.list_class, items))
    made.may_change = not trace.is_segment
    return made


def key_of(path: Path) -> tuple[Any, ...]:
    """The key of the decisions about a list."""
    return (*_ARGUMENT, str(path))


def may_have_columns(trace: Trace, path: Path, items: list[Any]) -> bool:
    """Whether a call may make columns of a list."""
    if type(trace.table.get((key_of(path), "list"))) is tuple:
        return False
    is_asked = path.name in trace.varying or (key_of(path), CHANGES) in trace.table
    return _is_long(items) or (is_asked and not is_part(path))


def is_part(path: Path) -> bool:
    """Whether a list is no argument itself: perhaps the function asks for little of it."""
    return bool(path.steps) or path.root != "arg"


def note_way(trace: Trace, path: Path, items: list[Any]) -> None:
    """Note that a call makes columns of a list, in this attempt."""
    is_only_way = trace.is_bounded and is_large(items, is_segment=trace.is_segment)
    trace.table[key_of(path), "list"] = _ONLY_WAY if is_only_way else True


class ItemsInColumns:
    """What columns of items hold.

    Parameters
    ----------
    forms : list of ItemForm
        Of the items, and of the items of these if they are lists.

    Attributes
    ----------
    list_class : ListClass
    """

    def __init__(self, forms: _Forms) -> None:
        self._source = TextSource()
        self._forms = [*forms[:-1], with_source(forms[-1], self._source)]
        columns = _item_columns(self._forms, itertools.count().__next__)
        self.list_class = ListClass(columns, _dtypes(self._forms))

    @classmethod
    def of(cls, items: Sequence[Any]) -> ItemsInColumns | None:
        """The columns for some items; None if columns cannot hold them."""
        forms = _forms(items)
        made = None if forms is None else cls(forms)
        return None if made is None or made.list_class.columns(items) is None else made

    def forms(self) -> tuple[ItemForm, ...]:
        """The forms of the items, and of the items of these if they are lists."""
        return tuple(self._forms)

    def listed(
        self, trace: Trace, key: tuple[Any, ...], columns: Sequence[TracedArray]
    ) -> ArgumentList:
        """The list of the items."""
        made = ArgumentList(trace, key, self._forms[0], self._forms[1:], columns)
        self._source.string = functools.partial(TEXT_OPS.part, columns[-1], made.refuse)
        return made


def read_by_items(table: dict[Any, Any]) -> bool:
    """Have the next attempt read lists item by item, as this one has failed.

    Returns whether there are any.
    """
    found = [key for key, known in table.items() if key[0][:1] == _ARGUMENT and known is True]
    for key in found:
        table[key] = ("does more with a list than a kernel can", "pass an array")
    return bool(found)


def _is_long(items: list[Any], depth: int = MAX_DEPTH) -> bool:
    if len(items) > FEW:
        return True
    return depth > 0 and any(type(item) is list and _is_long(item, depth - 1) for item in items)


def _forms(items: Sequence[Any], depth: int = MAX_DEPTH) -> _Forms | None:
    """The form of the items, and of the items of these if they are lists; None if there is none."""
    if not depth:  # a list that holds itself, perhaps
        return None
    found: ItemForm | None = None
    for item in items:
        form = form_of(item) if _can_be_item(item) else None
        found = form if found is None or form is None else found.joined(form)
        if found is None:
            return None
    if not isinstance(found, ListForm):
        return None if found is None else [found]
    inner = _forms([one for item in items for one in item], depth - 1)
    return None if inner is None else [found, *inner]


def _can_be_item(item: Any) -> bool:
    """Whether an item is a number or a string, or a list or tuple of such."""
    if type(item) is list:
        return True  # whose items are looked at together with those of the others
    if type(item) is tuple or is_named_tuple(item):
        return bool(item) and all(map(_can_be_item, item)) and list not in map(type, item)
    kind = type(item)
    return kind in _VALUES or (issubclass(kind, np.generic) and kind.__module__ == "numpy")


def _item_columns(forms: _Forms, place: Callable[[], int]) -> ItemColumns:
    """How the columns hold the items: each column has a number."""
    form, *inner = forms
    if isinstance(form, ListForm):
        return ListColumns(place(), place(), -1, _item_columns(inner, place))
    return form.columns(place)


def _dtypes(forms: _Forms) -> tuple[tuple[np.dtype, ...], ...]:
    """The dtypes of the columns, of each list of lists, and of the items."""
    lists = [(I64, I64) for form in forms if isinstance(form, ListForm)]
    points = [(np.dtype(np.uint32),)] if has_texts(forms[-1]) else []
    return (*lists, tuple(dtype for _, dtype in forms[-1].types()), *points)
