"""Comprehensions of lists, dictionaries and sets: a loop that fills one, or Python's own.

`fusejit.tracer.rewriting.generators` has written both. The loop is traced where what it runs over
is; if it cannot be, and is short, Python's comprehension is unrolled. One of very few items is
tried the other way round.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from fusejit.errors import ConcretizationError, UnsupportedError
from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.builder.trace import Trace, running_trace
from fusejit.tracer.containers.new_containers import new_dict, new_set
from fusejit.tracer.indexing.iteration import Items, items_of
from fusejit.tracer.keyed.traced_dict import TracedDict
from fusejit.tracer.keyed.traced_set import TracedSet
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.locations import current_location
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer

_KINDS: dict[str, Callable[..., TracedContainer]] = {
    "ListComp": functools.partial(TracedList, takes_arrays=True),
    "DictComp": TracedDict,
    "SetComp": TracedSet,
}
_UNROLLED = 4  # Python runs a comprehension of so many items
_MAX_UNROLLED = 256  # longer ones are not unrolled


def _key(place: tuple[Any, ...]) -> tuple[Any, ...]:
    return ("comprehension", *place)


def _items(items: Any) -> Items | None:
    """The items of a comprehension, if a loop can run over them."""
    return None if isinstance(items, TracedArray) and not items.ndim else items_of(items)


def _most(trace: Trace, items: Any) -> int | None:
    """How many items there are in this call; None where only the kernel knows."""
    found = _items(items)
    if found is None:
        return 0
    length = trace.decisions.canonical(found.length)
    return None if trace.decisions.is_local(length) else trace.decisions.hint(length)


def _is_tiny(trace: Trace, items: Any) -> bool:
    """Whether there are very few items in each call."""
    found = _items(items)
    known = None if found is None else trace.decisions.canonical(found.length).as_constant()
    return known is not None and known <= _UNROLLED


def looped_list(place: tuple[Any, ...], items: Any, kind: str) -> TracedContainer | None:
    """The container that a loop fills; None if Python makes it."""
    trace = running_trace()
    if trace is None or _items(items) is None:
        return None
    if trace.table.get((_key(place), "native"), _is_tiny(trace, items)):
        return None
    key = trace.visit((*_key(place), current_location()))
    if trace.table.setdefault((key, "list"), True) is not True:
        return None
    return _KINDS[kind](trace, key)


def comprehension(
    place: tuple[Any, ...], invoke: Callable[..., Any], function: Any, items: Any
) -> Any:
    """The list that ``function(items)`` makes."""
    trace = running_trace()
    try:
        made = invoke(function, (items,), {})
    except (UnsupportedError, ConcretizationError, Varies):
        key = (_key(place), "native")
        if trace is None or key in trace.table:
            raise
        most = _most(trace, items)
        if most is None or most > _MAX_UNROLLED:
            raise
        trace.table[key] = not _is_tiny(trace, items)
        raise Retrace from None
    if trace is None or type(made) not in (set, dict):
        return made
    new = new_set if type(made) is set else new_dict
    return new(trace, _key(place), made)  # of Python, until a loop changes it
