"""Lists and dictionaries in the cost estimate: those that a kernel fills, and those it returns.

A kernel keeps the items of a list in columns of memory. An item costs it no more than an element of
an array, but what it returns is made into objects of Python's again: more than Python pays to
append a few numbers.
"""

from __future__ import annotations

from fusejit.ir.analysis.estimated_work import ASSUMED
from fusejit.ir.results import (
    ChoiceLeaf,
    ItemColumns,
    ListColumns,
    ObjectColumns,
    OptionalColumns,
    ResultDict,
    ResultList,
    ResultMapping,
    ResultSequence,
    ResultStructure,
    ResultWithObjects,
    ResultWithTexts,
    TupleColumns,
)
from fusejit.ir.traced import TracedFunction
from fusejit.ir.values import Buffer

# nanoseconds
MADE_LIST = 900  # a list of numbers that is returned
MADE_LISTS = 6000  # a list of lists that is returned, besides the items
MADE_ITEM = 20  # an item of a list that is returned
WRITTEN_ITEM = 100  # an item of a list that is changed
MADE_INNER = 150  # a list or tuple in a list that is returned
MADE_DICT = 1500

KERNELS = frozenset({"wrapped", "length", "field", "has_room"})
"""The names of ops that only a kernel needs: places and lengths in memory."""


def list_memory(traced: TracedFunction) -> frozenset[Buffer]:
    """The columns of the lists that a kernel fills."""
    graph = traced.graph
    constants = traced.constants.items()
    roots = {name for name, one in constants if any(one is room for room in traced.capacities)}
    rooms = {
        symbol.name
        for symbol in graph.symbols
        if symbol.expr.op == "path" and symbol.expr.attr.name in roots
    }
    return frozenset(
        buffer
        for buffer in graph.buffers
        if buffer.origin is None and any(rooms & e.symbols() for e in buffer.type.extents)
    )


def made_ns(structure: ResultStructure) -> float:
    """Nanoseconds that the lists and dictionaries of a result take, with a few items each."""
    if isinstance(structure, ResultList):
        return 0.0 if structure.columns is None else _columns_ns(structure.columns)
    if isinstance(structure, ResultWithTexts):
        return MADE_LIST + ASSUMED * MADE_ITEM + made_ns(structure.result)
    if isinstance(structure, ResultWithObjects):
        forms = [form for one in structure.classes for _, form in one.attributes if form]
        made = len(structure.classes) * ASSUMED * MADE_INNER + sum(map(_columns_ns, forms))
        return made + made_ns(structure.result)
    if isinstance(structure, ResultDict):
        return MADE_DICT + made_ns(structure.keys) + made_ns(structure.values)
    if isinstance(structure, ResultSequence | ResultMapping | ChoiceLeaf):
        return sum(map(made_ns, structure.items))
    return 0.0


def _columns_ns(form: ItemColumns) -> float:
    if isinstance(form, ListColumns):
        inner = 0.0 if form.item is None else _columns_ns(form.item)
        return MADE_LISTS + ASSUMED * MADE_INNER + inner
    if isinstance(form, ObjectColumns):
        return ASSUMED * MADE_ITEM
    if isinstance(form, OptionalColumns):
        return ASSUMED * MADE_ITEM + _columns_ns(form.item)
    if isinstance(form, TupleColumns):
        return ASSUMED * MADE_INNER + sum(map(_columns_ns, form.parts))
    return MADE_LIST + ASSUMED * MADE_ITEM
