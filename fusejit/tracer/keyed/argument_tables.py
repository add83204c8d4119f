"""Dictionaries and sets from outside, of many items: each call makes columns of them.

The kernel fills a table of its own from the columns, in which it looks for keys. A program that
changes or returns such a container leaves it to Python, in another attempt to trace.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from typing import Any

from fusejit.ir.columns.list_columns import DictClass, SetClass, are_dicts
from fusejit.ir.host import Path
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.keyed.hashing import is_key
from fusejit.tracer.keyed.traced_dict import TracedDict
from fusejit.tracer.keyed.traced_set import TracedSet
from fusejit.tracer.lists.argument_list import ArgumentList, ItemsInColumns
from fusejit.tracer.lists.columns import read_columns
from fusejit.tracer.lists.item_forms import ItemForm, TextForm, TupleForm
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.unrolling import is_large


class ArgumentTables(list[tuple[TracedDict | TracedSet, ArgumentList, ArgumentList | None]]):
    """The containers of one trace that are to be filled, with their keys and values."""


def argument_table(trace: Trace, path: Path, obj: Any) -> TracedDict | TracedSet | None:
    """The dictionary or set at a path, if kernels are to have a table of it."""
    key = ("argument", str(path))
    if path.steps or path.root != "arg" or type(trace.table.get((key, "list"))) is tuple:
        return None
    is_asked = (key, "asked") in trace.table
    if type(obj) is dict and not is_asked and not is_large(obj, is_segment=trace.is_segment):
        return None
    keys = ItemsInColumns.of([*obj])
    rows = [*obj.values()] if type(obj) is dict else []
    has_dicts = are_dicts(rows)
    values = ItemsInColumns.of([[*row.items()] for row in rows] if has_dicts else rows)
    if keys is None or not _are_keys(keys.forms()) or (type(obj) is dict and values is None):
        return None
    trace.table[key, "list"] = True
    if type(obj) is set:
        columns = read_columns(trace, path, SetClass(keys.list_class), obj)
        trace.owned(ArgumentTables).append(
            (TracedSet(trace, key), keys.listed(trace, key, columns), None)
        )
    else:
        assert values is not None
        of_both = DictClass(keys.list_class, values.list_class, has_dicts)
        columns = read_columns(trace, path, of_both, obj)
        count = sum(map(len, keys.list_class.levels))
        first = keys.listed(trace, key, columns[:count])
        second = values.listed(trace, key, columns[count:])
        made = TracedDict(trace, key)
        made.has_dicts = has_dicts
        trace.owned(ArgumentTables).append((made, first, second))
    return trace.owned(ArgumentTables)[-1][0]


def ask_for_table(trace: Trace, path: Path) -> None:
    """Start again with a table of a dictionary of few items, unless there can be none."""
    key = ("argument", str(path))
    if not path.steps and path.root == "arg" and (key, "asked") not in trace.table:
        trace.table[key, "asked"] = True
        raise Retrace


def _are_keys(forms: tuple[ItemForm, ...]) -> bool:
    """Whether kernels look for items of such forms, which may have strings of the call."""
    form = forms[0]
    parts = form.parts if isinstance(form, TupleForm) else (form,)
    return len(forms) == 1 and all(isinstance(one, TextForm) or is_key(one) for one in parts)


def fill_tables(trace: Trace) -> None:
    """Fill the tables, before all loops and conditionals."""
    for made, keys, values in trace.owned(ArgumentTables):
        if values is None:
            trace.inlined(_fill_set, (made, keys))
        elif not values.holds_lists():
            trace.inlined(_fill, (made, keys, values))
        else:
            trace.inlined(_fill_with_lists, (made, keys, values))
        made.note_outside()


def _fill_set(made, keys):
    for key in keys:
        made.add(key)


def _fill(made, keys, values):
    for k in range(len(keys)):
        made[keys[k]] = values[k]


def _fill_with_lists(made, keys, values):
    for k in range(len(keys)):
        items = []
        for item in values[k]:
            items.append(item)
        made[keys[k]] = items
