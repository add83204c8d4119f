"""Lists from outside of objects of one of the user's classes: ``for p in particles: p.x += p.vx``.

Each call makes columns of the attributes that the program reads or writes
(`fusejit.ir.columns.object_columns`), of which the kernel fills the pool of the class; what it has
written there the objects get when the kernels have run. A class has one such list: whether two
lists have an object in common is known to Python alone.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from operator import countOf
from types import CodeType, FunctionType
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.ir.columns.list_columns import ListColumn
from fusejit.ir.columns.object_columns import ObjectsClass, attributes_of
from fusejit.ir.host import Path
from fusejit.support.frame_readers import codes_in, names_read
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.lists.argument_list import (
    ArgumentList,
    ItemsInColumns,
    is_part,
    key_of,
    may_have_columns,
    note_way,
)
from fusejit.tracer.lists.columns import read_columns
from fusejit.tracer.lists.item_forms import ObjectForm
from fusejit.tracer.lists.object_pool import Given, ObjectPool, fits
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.values.pooled_objects import (
    POOLS,
    PooledObjects,
    Refused,
    may_have_pool,
    refuse_pool,
)

_EARLY = ("given objects",), "found early"
"""The key of what is found before the program runs, by paths."""
_SEVERAL = "has several lists of {0} objects from outside"


@dataclass(frozen=True, slots=True)
class _Filled:
    """What the pool of a class begins with."""

    given: Given
    rows: ArgumentList


class GivenObjects(dict[type, _Filled]):
    """The objects from outside of one trace, by class.

    Attributes
    ----------
    names_read : frozenset of str
        Globals and attributes in the code of the program.
    """

    names_read: frozenset[str] = frozenset()


def given_objects(trace: Trace, path: Path, items: list[Any]) -> ArgumentList | None:
    """The list at a path, if kernels are to read attributes of its items."""
    key, kind = key_of(path), type(items[0]) if items else None
    if kind is None or countOf(map(type, items), kind) != len(items):
        return None
    pools = trace.table.get(POOLS, {})
    if not may_have_columns(trace, path, items) or isinstance(pools.get(kind), Refused):
        return None
    others = trace.owned(GivenObjects)
    if kind in others:
        trace.table[POOLS][kind] = Refused(_SEVERAL.format(kind.__name__), "put them into one list")
        return None
    if kind not in pools and not may_have_pool(kind):
        return None
    objects = [*{id(obj): obj for obj in items}.values()]
    wanted = others.names_read | _names_in_methods(kind)
    names = pools.get(kind) or tuple(n for n in sorted(wanted) if fits(kind, n, objects))
    if not names or not all(fits(kind, name, objects) for name in names):
        return None
    rows = ItemsInColumns.of([*attributes_of(names, objects)])
    if rows is None:
        return None
    _require_early(trace, path, items)
    trace.table.setdefault(POOLS, {})[kind] = names
    note_way(trace, path, items)
    of = ObjectsClass(kind, names, rows.list_class)
    numbers, *columns = read_columns(trace, path, of, items)
    at = path.column(ListColumn(of, 1 + len(columns)))
    attributes = rows.listed(trace, (key, "attributes"), columns)
    others[kind] = _Filled(Given(at, of, tuple(objects)), attributes)
    return ArgumentList(trace, key, ObjectForm(kind), [], [numbers])


def _require_early(trace: Trace, path: Path, items: list[Any]) -> None:
    """Start again with a list that is found before the program runs: the pool begins with it."""
    early = trace.table.setdefault(_EARLY, {})
    if not is_part(path) or path in early:
        return
    owners = (Path(path.root, path.name, path.steps[:k]) for k in range(len(path.steps)))
    seen = {owner: trace.captured_reads.seen(owner) for owner in owners}
    early |= {owner: obj for owner, obj in seen.items() if obj is not None} | {path: items}
    raise Retrace


def find_given(trace: Trace) -> None:
    """Find the lists that attributes and globals hold, before the program runs."""
    for path, obj in [*trace.table.get(_EARLY, {}).items()]:
        trace.captured_reads.read(path, obj)


def _names_in_methods(kind: type) -> set[str]:
    """The names of globals and attributes in the methods of a class."""
    held = (member for base in kind.__mro__[:-1] for member in vars(base).values())
    functions = (getattr(member, "fget", member) for member in held)
    found = (attribute_names(one.__code__) for one in functions if isinstance(one, FunctionType))
    return set().union(*found)


def attribute_names(code: CodeType) -> frozenset[str]:
    """The names in a code that may be those of attributes, also in strings: ``getattr(p, "x")``."""
    constants = (constant for one in codes_in(code) for constant in one.co_consts)
    strings = (one for one in constants if isinstance(one, str) and one.isidentifier())
    return frozenset((*names_read(code), *strings))


def fill_pools(trace: Trace) -> None:
    """Give the pools their first objects, before all loops and conditionals."""
    pools = trace.owned(PooledObjects).pools
    for kind, one in trace.owned(GivenObjects).items():
        trace.inlined(_fill, (pools[kind], one.rows))
        pools[kind].given = one.given
        pools[kind].order.clear()  # that of the columns


def require_alone(trace: Trace) -> None:
    """At the end, start again if an object of such a class was found in another way, too.

    It may be one of the list, in this call or in another one.
    """
    for kind in trace.owned(GivenObjects):
        if trace.captured_reads.paths_to_type(kind):
            what = f"finds {kind.__name__} objects in a list and elsewhere"
            refuse_pool(trace, kind, what, "find them in the list alone")


def _fill(pool, rows):
    for k in range(len(rows)):
        put(pool, rows[k])


def put(pool, row):
    """Another object with the attributes of a row."""


@primitive(put)
def _put(pool: ObjectPool, row: Any) -> None:
    number = pool.new()
    for name, value in zip(pool.attributes, row, strict=True):
        pool.store(name, number, value)
