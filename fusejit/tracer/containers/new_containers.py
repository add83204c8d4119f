"""The containers that a function makes: Python's, unless a loop was seen to change them."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from typing import Any

from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace, current_trace, running_trace
from fusejit.tracer.containers.filled_list import fill
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.keyed import dict_methods
from fusejit.tracer.keyed.dict_rows import DictRow
from fusejit.tracer.keyed.traced_dict import TracedDict
from fusejit.tracer.keyed.traced_set import TracedSet
from fusejit.tracer.lists import list_methods
from fusejit.tracer.lists.any_list import AnyList
from fusejit.tracer.lists.displays import Display, Displays, needs_kernel_keys
from fusejit.tracer.lists.traced_deque import TracedDeque
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.ops.kernel_numbers import is_number, needs_kernel
from fusejit.tracer.program.callables import CONSTANT_TYPES, is_traced_type
from fusejit.tracer.program.locations import current_location, needs_python
from fusejit.tracer.strings.joined_text import displayed_text
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer, is_tuple


def _is_traced(trace: Trace, key: tuple[Any, ...], is_changed: bool) -> bool:
    """Whether a container is to be the kernel's: it was seen to be changed, or its text says so."""
    if is_changed and (key, "list") not in trace.table:
        trace.table[key, "list"] = True
    return trace.table.get((key, "list")) is True


def displayed(kind: str, place: tuple[Any, ...], items: Any, is_changed: bool) -> Any:
    """The container of a display, from Python's own, or from a tuple of its items.

    "Pairs" are the items of a dictionary.
    """
    trace = running_trace()
    if trace is None:
        if kind == "Pairs":
            return dict(items)
        return {*items} if kind == "Set" and type(items) is tuple else items
    return _NEW[kind](trace, place, items, is_changed)


def _displayed_list(trace: Trace, place: tuple[Any, ...], items: Any, is_changed: bool) -> Any:
    key = trace.visit(("list", *place, current_location()))
    if not _is_traced(trace, key, is_changed):
        trace.owned(Displays).note(Display(items, key, trace.block))
        return items
    made = TracedList(trace, key, takes_arrays=True)
    for item in items:
        made.append(item)
    return made


def _displayed_dict(trace: Trace, place: tuple[Any, ...], items: Any, is_changed: bool) -> Any:
    return new_dict(trace, ("dict", *place), items, is_changed=is_changed)


def _displayed_set(trace: Trace, place: tuple[Any, ...], items: Any, is_changed: bool) -> Any:
    return new_set(trace, ("set", *place), items, is_changed)


def _displayed_text(trace: Trace, place: tuple[Any, ...], text: Any, is_changed: bool) -> Any:
    key = trace.visit(("text", *place, current_location()))
    return displayed_text(trace, key, text) if _is_traced(trace, key, is_changed) else text


_NEW = {
    "Text": _displayed_text,
    "List": _displayed_list,
    "Dict": _displayed_dict,
    "Pairs": _displayed_dict,
    "Set": _displayed_set,
}


def new_list(trace: Trace, items: Items | Sequence[Any], is_changed: bool) -> Any:
    """``list(items)``: Python's list, unless a loop was seen to change or to search it."""
    key = trace.visit(("list()", current_location()))
    if not _is_traced(trace, key, is_changed):
        listed = [*items]
        trace.owned(Displays).note(Display(listed, key, trace.block))
        return listed
    made = TracedList(trace, key, takes_arrays=True)
    trace.inlined(list_methods.extended, (made, items))
    return made


def extended(made: Any, items: Any) -> Any:
    """A new list with some items behind those that it has."""
    trace = running_trace()
    if isinstance(items, TracedContainer | Items) and trace is not None:
        trace.owned(Displays).require_traced(trace, made)
    if type(made) is list:
        made.extend([*items])
    else:
        current_trace().inlined(list_methods.extended, (made, items))
    return made


def new_set(trace: Trace, place: tuple[Any, ...], items: Any, is_changed: bool = False) -> Any:
    """A set that the program makes: Python's, unless a loop was seen to change it.

    ``items`` of the type ``set`` is that set itself.
    """
    key = trace.visit((*place, current_location()))
    is_looped = isinstance(items, TracedArray | TracedContainer | Items)
    is_changed |= is_looped or (type(items) is not range and any(map(_is_traced_item, items)))
    if not _is_traced(trace, key, is_changed):
        if is_looped:
            raise needs_python(*trace.table[key, "list"])
        listed = items if type(items) is set else {*items}
        trace.owned(Displays).note(Display(listed, key, trace.block))
        return listed
    made = TracedSet(trace, key)
    made.update(items)
    return made


def _is_traced_item(obj: Any) -> bool:
    return any(map(_is_traced_item, obj)) if is_tuple(obj) else is_traced_type(type(obj))


@primitive(deque, complex=True)
def _deque(items: Any = (), maxlen: Any = None) -> Any:
    if isinstance(items, TracedArray) and not items.ndim:
        return NotImplemented
    trace = current_trace()
    key = trace.visit(("deque()", current_location()))
    if not _is_traced(trace, key, is_changed=True):
        raise needs_python(*trace.table[key, "list"])
    made = TracedDeque(trace, key, maxlen)
    trace.inlined(list_methods.extended, (made, items))
    return made


@primitive(set, complex=True)
def _set(*args: Any, **kwargs: Any) -> Any:
    items = args[0] if args else ()
    if len(args) > 1 or kwargs or (isinstance(items, TracedArray) and not items.ndim):
        return NotImplemented
    trace = current_trace()
    if isinstance(items, TracedArray | TracedContainer | Items | range):
        return new_set(trace, ("set()",), items)
    if type(items) not in (tuple, list, set, frozenset) or not all(map(is_hashed_natively, items)):
        return NotImplemented
    items = set(items) if type(items) in (set, frozenset) else items  # in CPython's order
    return new_set(trace, ("set()",), items)


def is_hashed_natively(obj: Any) -> bool:
    """Whether an object is traced, or a constant: its hash calls nothing of the program's."""
    if is_tuple(obj):
        return all(map(is_hashed_natively, obj))
    return is_traced_type(type(obj)) or type(obj) in CONSTANT_TYPES


def new_dict(
    trace: Trace,
    place: tuple[Any, ...],
    items: Any,
    factory: Any = None,
    is_changed: bool = False,
) -> Any:
    """A dictionary that the program makes: Python's, unless a loop was seen to change it.

    ``items`` of the type ``tuple`` are pairs.
    """
    key = trace.visit((*place, current_location()))
    is_pairs = type(items) is tuple
    is_changed |= is_pairs and needs_kernel_keys(tuple(one for one, _ in items))
    if not _is_traced(trace, key, is_changed):
        items = dict(items) if is_pairs else items
        trace.owned(Displays).note(Display(items, key, trace.block))
        return items
    made = TracedDict(trace, key, dict if is_pairs else type(items), factory)
    for one, value in items if is_pairs else items.items():
        made[one] = value
    return made


def merged(place: tuple[Any, ...], left: Any, right: Any, is_changed: bool) -> Any:
    """``{**left, **right}``; ``left`` is a new dictionary."""
    is_traced = isinstance(right, TracedDict | DictRow)
    right = right if is_traced else {**right}
    if not isinstance(left, TracedDict):
        if not is_traced:
            return displayed("Dict", ("merged", *place), {**left, **right}, is_changed)
        left = new_dict(right.trace, ("merged", *place), left, is_changed=True)
        if not isinstance(left, TracedDict):
            what = "joins dictionaries that a compiled loop changes in a way that is not compiled"
            raise needs_python(what, "join them with update")
    left.trace.inlined(dict_methods.update, (left, right))
    return left


@primitive(defaultdict)
def _defaultdict(factory: Any = None, *args: Any, **kwargs: Any) -> Any:
    if args or kwargs or factory is None:
        return NotImplemented
    return new_dict(current_trace(), ("defaultdict",), defaultdict(factory), factory)


@primitive(dict, complex=True)
def _dict(*args: Any, **kwargs: Any) -> Any:
    trace = current_trace()
    if not args and not kwargs:
        return new_dict(trace, ("dict()",), {})
    if len(args) > 1 or kwargs or not isinstance(args[0], Items | TracedContainer):
        return NotImplemented
    (items,) = args
    pairs = items.pairs() if isinstance(items, TracedDict | DictRow) else items
    return trace.inlined(dict_methods.of_pairs, (pairs,))


@primitive(dict.fromkeys, complex=True)
def _fromkeys(*args: Any) -> Any:
    if not args or not isinstance(args[0], Items | TracedContainer | list | tuple | dict | range):
        return NotImplemented
    if len(args) > 1 and isinstance(args[1], TracedContainer | list | dict | set):
        what = "gives all keys of a dictionary one container"
        raise needs_python(what, "make one for each: {key: [] for key in keys}")
    return current_trace().inlined(dict_methods.of_keys, args)


@primitive(Counter)
def _counter(*args: Any, **kwargs: Any) -> Any:
    if len(args) > 1 or kwargs:
        return NotImplemented
    trace = current_trace()
    if not args:
        return new_dict(trace, ("Counter",), Counter())
    if not isinstance(args[0], TracedArray | TracedContainer | Items):
        return NotImplemented
    made = TracedDict(trace, trace.visit(("Counter", current_location())), Counter)
    trace.inlined(dict_methods.counted, (made, args[0]))
    return made


def joined(place: tuple[Any, ...], left: Any, right: Any, is_changed: bool) -> Any:
    """``left + right``, lists of which one is a display."""
    trace = running_trace()
    if trace is None:
        return left + right
    key = trace.visit(("joined", *place, current_location()))
    is_changed |= isinstance(left, AnyList) or isinstance(right, AnyList)
    if not _is_traced(trace, key, is_changed):
        if isinstance(left, AnyList) or isinstance(right, AnyList):
            raise needs_python(*trace.table[key, "list"])
        made = left + right
        trace.owned(Displays).note(Display(made, key, trace.block))
        return made
    filled = TracedList(trace, key, takes_arrays=True)
    for items in (left, right):
        trace.inlined(list_methods.extended, (filled, items))
    return filled


def repeated(place: tuple[Any, ...], items: Any, count: Any, is_changed: bool) -> Any:
    """``[x, y] * count``: Python's list, unless the count is known only in the kernel."""
    trace = running_trace()
    if trace is None or type(items) is not list:
        return items * count
    key = trace.visit(("repeated", *place, current_location()))
    is_changed |= type(count) is not int and (bool(trace.regions) or needs_kernel(count))
    if not _is_traced(trace, key, is_changed) or not is_number(count):
        made = items * count
        if type(made) is list:
            trace.owned(Displays).note(Display(made, key, trace.block))
        return made
    filled = TracedList(trace, key, takes_arrays=True)
    if len(items) == 1:
        fill(filled, items[0], count)
    else:
        trace.inlined(list_methods.extended, (filled, items))
        filled = trace.inlined(list_methods.repeated, (filled, count))
    return filled
