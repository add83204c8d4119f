"""`ObjectPool`: the attributes of all objects of a class that lists hold, as columns of memory.

Each attribute is a list as long as there are objects, so it may hold what items of lists may:
numbers, strings, tuples, lists, and other objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MemberDescriptorType
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.ir.columns.object_columns import ObjectsClass, attributes_of, have_none_of_their_own
from fusejit.ir.host import Path
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.lists.argument_list import ItemsInColumns
from fusejit.tracer.lists.form_guesses import Guesses
from fusejit.tracer.lists.item_forms import ObjectForm, has_objects
from fusejit.tracer.lists.nested_list import as_affine_number
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.values.pooled_objects import POOLS, PooledObjects, Refused, refuse_pool
from fusejit.tracer.values.symbolic_number import affine_number

_OF_ALL = frozenset(vars(object))  # what all objects have


@dataclass(frozen=True, slots=True)
class Given:
    """The objects from outside with which a pool begins.

    Attributes
    ----------
    path : Path
        Where a call finds them.
    of : ObjectsClass
        Which lists of them a variant serves.
    objects : tuple
        Those of the traced call.
    """

    path: Path
    of: ObjectsClass
    objects: tuple[Any, ...]


def fits(kind: type, name: str, objects: Sequence[Any]) -> bool:
    """Whether columns can hold what objects have under a name, which is no method or property."""
    held = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    if hasattr(type(held), "__get__") and not isinstance(held, MemberDescriptorType):
        return False
    try:
        return ItemsInColumns.of([*attributes_of((name,), objects)]) is not None
    except AttributeError:
        return False


class ObjectPool:
    """The objects of a class.

    Parameters
    ----------
    trace : Trace
    kind : type
        The class.
    names : tuple of str
        Of the attributes.

    Attributes
    ----------
    given : Given or None
        Those from outside.
    written : dict
        The names of the attributes that the program has written since then.
    order : dict
        The names of the attributes in the order in which a new object gets them.
    """

    def __init__(self, trace: Trace, kind: type, names: tuple[str, ...]) -> None:
        self.trace, self.kind = trace, kind
        self.objects = TracedList(trace, ("objects", kind))  # has no items, but a length
        self.attributes = {name: self._attribute(name) for name in names}
        self.given: Given | None = None
        self.written: dict[str, None] = {}
        self.order: dict[str, None] = {}
        self._newest: AffineExpr | None = None

    def _attribute(self, name: str) -> TracedList:
        key = ("attribute", self.kind, name)
        refused = self.trace.table.setdefault((key, "list"), True)
        if refused is not True:  # the list has been left to Python
            refuse_pool(self.trace, self.kind, *refused)
        return TracedList(self.trace, key, self.objects.capacity)

    def new(self) -> Any:
        """The number of another object."""
        number = self.objects.length()
        self.objects.require_room(number)
        self.objects.set_length(number + 1)
        self._newest = number
        return affine_number(self.trace, number)

    def has(self, name: str) -> bool:
        """Whether objects have an attribute of their own."""
        return name in self.attributes

    def require(self, name: str) -> None:
        """Start again where objects from outside have an attribute that the pool has not."""
        given = self.given
        if given is None or name in self.attributes or name in _OF_ALL:
            return
        if fits(self.kind, name, given.objects):
            self.trace.table[POOLS][self.kind] = (*self.attributes, name)
            raise Retrace
        if not have_none_of_their_own(self.kind, name, given.objects):
            what = f"reads {name!r} of {self.kind.__name__} objects from outside"
            refuse_pool(self.trace, self.kind, what, "keep numbers, strings or tuples in it")
        given.of.not_own.add(name)

    def load(self, name: str, number: Any) -> Any:
        """What an attribute holds."""
        return self.attributes[name].load(as_affine_number(number))

    def store(self, name: str, number: Any, value: Any) -> None:
        """Have it hold something else."""
        if self.given is not None:
            self.written[name] = None
        at = as_affine_number(number)
        if at == self._newest:
            self.order[name] = None
        held = self.attributes[name]
        held.store(at, value)
        held.note_moved()

    def ordered(self) -> list[tuple[str, TracedList]]:
        """The attributes, as a new object gets them."""
        return [(name, self.attributes[name]) for name in {**self.order, **self.attributes}]


def begin_pools(trace: Trace) -> None:
    """Make the pools that earlier attempts have asked for."""
    known = trace.table.get(POOLS, {})
    pools, guesses = trace.owned(PooledObjects).pools, trace.owned(Guesses)
    for kind, names in [*known.items()]:
        if not isinstance(names, Refused):
            pools[kind] = ObjectPool(trace, kind, names)
            *others, of_lists = guesses.forms
            guesses.forms = (*others, ObjectForm(kind), of_lists)


def holds_objects(items: Any) -> bool:
    """Whether items of a list, or of the lists in it, have objects with numbers."""
    return isinstance(items, TracedList) and (
        has_objects(items.form) or any(has_objects(pool.form) for pool in items.pools.values())
    )
